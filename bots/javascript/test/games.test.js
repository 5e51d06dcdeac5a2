// Moves of every game are read and written as the shared vectors say.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import * as games from "../src/games/index.js";

const vectors = readFileSync(new URL("../../vectors/moves.jsonl", import.meta.url), "utf8").trim().split("\n").map(JSON.parse);

test("moves are read and written", () => {
  for (const { game, move, read } of vectors) {
    const { readMove, writeMove } = games[game];
    if (read === null) {
      assert.throws(() => readMove(move), /is no move of/, `${game}: ${move}`);
    } else {
      assert.deepEqual(readMove(move), read);
      assert.equal(writeMove(read), move);
    }
  }
});
