#!/usr/bin/env node
// Plays a random legal move, in any game; resigns where the game does not list its moves. `--seed N` makes its choices repeatable; `--slots N` plays that many matches at once.

import { parseArgs } from "node:util";
import { RESIGN, options, run } from "../src/index.js";
import { chance } from "./chance.js";

const own = { seed: { type: "string" }, slots: { type: "string", default: "1" } };
const { values } = parseArgs({ options: { ...options, ...own } });
const below = chance(values.seed && Number(values.seed));

// It looks at nothing but the legal moves, so it asks for nothing else.
await run((turn) => (turn.legal.length > 0 ? turn.legal[below(turn.legal.length)] : RESIGN), {
  name: "random",
  version: "0.1.0",
  wants: ["legal"],
  slots: Number(values.slots),
});
