// Compares every turn with the position that `referee imagine` has, then plays the best of its playouts. Run by
// tests/cli/imagine.rs.

import assert from "node:assert/strict";
import { run } from "../src/index.js";
import { ImagineError, Imaginer } from "../src/imagine.js";

await assert.rejects(new Imaginer("/no/such/referee").ask({}), /cannot start .*REFEREE/);
await assert.rejects(new Imaginer("true").ask({}), /has ended/);

const game = process.env.IMAGINE_GAME;
const imaginer = new Imaginer(undefined, game ? [game] : []);

async function choose(turn) {
  const { seat, legal } = turn;
  const position = await imaginer.imagine(turn, { worlds: 4, seed: turn.turn });
  const state = await position.explore([], { world: position.worlds - 1, viewOf: seat });
  assert.deepEqual(state.legal.get(seat), legal);
  assert.deepEqual(state.view, turn.view);
  assert.equal(state.turns_left, turn.turns_left);
  await assert.rejects(position.explore([{ seat, move: "?" }]), (error) => {
    return error instanceof ImagineError && error.code === "illegal_move" && /`\?` is not a legal move/.test(error.message);
  });
  const lines = legal.map((move) => [{ seat, move }]);
  const scores = (await position.playouts(lines, 3)).map((scores) => scores[seat]);
  assert.ok(scores.every((score) => score >= 0 && score <= 1));
  return legal[scores.indexOf(Math.max(...scores))];
}

await run(choose, { name: "imagine", wants: ["view", "legal"] });
