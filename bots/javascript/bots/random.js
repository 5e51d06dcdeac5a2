#!/usr/bin/env node
// Plays a random legal move, in any game. `--seed N` makes its choices repeatable; `--slots N` plays that many matches at once.

import { parseArgs } from "node:util";
import { options, run } from "../src/index.js";
import { chance } from "./chance.js";

const own = { seed: { type: "string" }, slots: { type: "string", default: "1" } };
const { values } = parseArgs({ options: { ...options, ...own } });
const below = chance(values.seed && Number(values.seed));

// It looks at nothing but the legal moves, so it asks for nothing else.
await run((turn) => turn.legal[below(turn.legal.length)], {
  name: "random",
  version: "0.1.0",
  wants: ["legal"],
  slots: Number(values.slots),
});
