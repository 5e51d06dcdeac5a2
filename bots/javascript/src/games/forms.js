// How the texts of moves are read.

/** What the first form that fits makes of a text: `[pattern, (...groups) => move]`. */
export function read(text, game, forms) {
  for (const [pattern, make] of forms) {
    const found = pattern.exec(text);
    if (found) return make(...found.slice(1));
  }
  throw new RangeError(`${JSON.stringify(text)} is no move of ${game}`);
}
