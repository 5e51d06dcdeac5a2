// Chance that a seed makes repeatable, which Math.random is not.

/** A function that returns numbers from 0 to below n (splitmix32). */
export function chance(seed = Math.random() * 2 ** 32) {
  let state = seed | 0;
  return (n) => {
    state = (state + 0x9e3779b9) | 0;
    let x = Math.imul(state ^ (state >>> 16), 0x21f0aaad);
    x = Math.imul(x ^ (x >>> 15), 0x735a2d97);
    return Math.floor((((x ^ (x >>> 15)) >>> 0) / 2 ** 32) * n);
  };
}
