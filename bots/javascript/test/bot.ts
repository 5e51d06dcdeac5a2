// What a bot in TypeScript looks like. tsc checks that the types allow it, and what they forbid.

import { ACCEPT_DRAW, RESIGN, Unable, run, type Bot, type Turn } from "../src/index.js";
import { keezen, saxum } from "../src/games/index.js";
import { Imaginer } from "../src/imagine.js";

await run((turn) => turn.legal[0], { name: "first" });
await run(async (turn: Turn<saxum.View>) => turn.legal[turn.view.points[turn.seat]], { name: "slow", slots: 8 });

const bot: Bot<keezen.View> = {
  start: ({ nonce }) => (nonce ? "00ff" : undefined),
  event: (match, seat, { kind }) => console.log(match, seat, kind),
  choose({ view, legal, draw_offered, clock }) {
    if (draw_offered) return ACCEPT_DRAW;
    if (view.hand === null || (clock && clock.limit_ms < 10)) return RESIGN;
    if (legal.length === 0) return new Unable("no_legal_move", { text: "z9" });
    const swap = legal.find((text) => keezen.readMove(text).kind === "swap");
    return { move: swap ?? legal[0], offer_draw: true, info: { score: 1 } };
  },
  end: ({ scores }) => console.log(scores?.[0]),
};
await run(bot, { name: "kind", wants: ["view", "legal"] }, ["--connect", "localhost:7000"]);

// @ts-expect-error: a bot has a name
await run(bot, {});
// @ts-expect-error: a number is no move
await run(() => 1, { name: "first" });
// @ts-expect-error: a reason of its own
await run(() => new Unable("tired"), { name: "first" });
// @ts-expect-error: a claim names no field
keezen.writeMove({ kind: "claim" });

const move = saxum.readMove("turn 1 4");
if (move.kind === "turn") console.log(move.die + move.face);
// @ts-expect-error: only a turned die has a face
console.log(move.face);

const imaginer = new Imaginer();
await run(async (turn) => {
  const position = await imaginer.imagine(turn, { worlds: 2 });
  const { legal } = await position.explore<saxum.View>([{ seat: turn.seat, move: turn.legal[0] }], { viewOf: 0 });
  return legal.get(turn.seat)?.[0] ?? turn.legal[0];
}, { name: "imagines" });
