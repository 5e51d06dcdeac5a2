// A bot for any game of the referee.

import { createInterface } from "node:readline";

/** Chooses a move: `turn.view` is the position, `turn.legal` lists the legal moves. */
function choose(turn) {
  return turn.legal[Math.floor(Math.random() * turn.legal.length)];
}

for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line);
  const { type, match, seat, turn } = message;
  let answer;
  if (type === "hello") answer = { type: "hello", protocol: 1, name: "@NAME@" };
  else if (type === "start") answer = { type: "ready", match, seat };
  else if (type === "turn") answer = { type: "move", match, seat, turn, move: choose(message) };
  else if (type === "error") console.error(line);
  else if (type === "bye") break;
  if (answer) process.stdout.write(JSON.stringify(answer) + "\n");
}
