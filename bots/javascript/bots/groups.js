#!/usr/bin/env node
// Plays Saxum for large groups, keeping its insurance; in other games a random move. `--seed N` makes it repeatable;
// `--slots N` plays that many matches at once.

import { parseArgs } from "node:util";
import { options, run } from "../src/index.js";
import { saxum } from "../src/games/index.js";
import { chance } from "./chance.js";

const ROW = 25; // seven rows win as 177 points do
const INSURANCE = 8; // the points that an insurance stone is kept for
const LOST = 1000;

const own = { seed: { type: "string" }, slots: { type: "string", default: "1" } };
const { values } = parseArgs({ options: { ...options, ...own } });
const below = chance(values.seed && Number(values.seed));

/** How many stones are connected with the one at a place, itself included. */
function group(board, owner, row, column, seen = new Set()) {
  const place = row * 10 + column;
  if (board[row - 1]?.[column - 1] !== owner || seen.has(place)) return seen.size;
  seen.add(place);
  for (const [r, c] of [[row - 1, column], [row + 1, column], [row, column - 1], [row, column + 1]]) {
    group(board, owner, r, c, seen);
  }
  return seen.size;
}

function put(board, owner, row, column) {
  return board.map((line, i) => (i === row - 1 ? line.slice(0, column - 1) + owner + line.slice(column) : line));
}

/** What a stone put there is worth: the group that it makes, and the rows. */
function worth(board, owner, row, column) {
  const after = put(board, owner, row, column);
  const whole = owner.repeat(5);
  const rows = (after[row - 1] === whole) + (after.map((line) => line[column - 1]).join("") === whole);
  return group(after, owner, row, column) + ROW * [0, 1, 3][rows];
}

function value(view, seat, { kind, row, column }) {
  const { board, insurance } = view;
  const [own, enemy] = seat === 0 ? "01" : "10";
  switch (kind) {
    case "reroll":
      return 1; // a six turned costs six points
    case "place":
      return worth(board, own, row, column);
    case "score":
      return 3 * group(board, own, row, column);
    case "pay":
      return worth(board, own, row, column);
    case "insure": {
      const price = insurance[seat] > 1 ? INSURANCE : LOST;
      return worth(board, own, row, column) + group(board, enemy, row, column) - price;
    }
    default:
      return 0;
  }
}

function choose({ legal, view, seat, start }) {
  if (start.game !== "saxum") return legal[below(legal.length)];
  const values = legal.map((text) => value(view, seat, saxum.readMove(text)));
  const best = legal.filter((_, i) => values[i] === Math.max(...values));
  return best[below(best.length)];
}

await run(choose, {
  name: "groups",
  version: "0.1.0",
  wants: ["view", "legal"],
  slots: Number(values.slots),
});
