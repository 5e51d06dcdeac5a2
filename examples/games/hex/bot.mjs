// Plays Hex: makes its own shortest way between its edges shorter, and the opponent's longer.

import { createInterface } from "node:readline";

const STONES = "rb";
const NEIGHBOURS = [[1, 0], [-1, 0], [0, -1], [1, -1], [0, 1], [-1, 1]];

/** The number of stones that a seat still needs to connect its edges. */
function missing(rows, seat) {
  const size = rows.length;
  const cost = (column, row) => ({ [STONES[seat]]: 0, ".": 1 })[rows[row]?.[column]];
  const best = new Map();
  const levels = [[], []];
  const reach = (distance, column, row) => {
    const step = cost(column, row);
    if (step === undefined || best.get(`${column} ${row}`) <= distance + step) return;
    best.set(`${column} ${row}`, distance + step);
    (levels[distance + step] ??= []).push([column, row]);
  };
  for (let at = 0; at < size; at++) reach(0, ...(seat === 0 ? [at, 0] : [0, at]));
  for (let distance = 0; distance < levels.length; distance++) {
    // Cells that cost nothing join the level while it is read.
    for (const [column, row] of levels[distance] ?? []) {
      if ((seat === 0 ? row : column) === size - 1) return distance;
      for (const [right, down] of NEIGHBOURS) reach(distance, column + right, row + down);
    }
  }
  return Infinity;
}

function choose({ view: { rows }, legal, seat }) {
  const middle = (rows.length - 1) / 2;
  let best;
  for (const move of legal) {
    if (move === "swap") continue;
    const [column, row] = [move.charCodeAt(0) - 97, Number(move.slice(1)) - 1];
    const after = rows.map((cells, at) => (at === row ? cells.slice(0, column) + STONES[seat] + cells.slice(column + 1) : cells));
    const far = Math.hypot(column - middle, row - middle) / rows.length;
    const value = missing(after, 1 - seat) - missing(after, seat) - far;
    if (!(best?.value >= value)) best = { move, value };
  }
  return best.move;
}

for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line);
  const { type, match, seat, turn } = message;
  let answer;
  if (type === "hello") answer = { type: "hello", protocol: 1, name: "shortest", games: ["hex"] };
  else if (type === "start") answer = { type: "ready", match, seat };
  else if (type === "turn") answer = { type: "move", match, seat, turn, move: choose(message) };
  else if (type === "bye") break;
  if (answer) process.stdout.write(JSON.stringify(answer) + "\n");
}
