// Does what bots/vectors/README.md says.

import { ACCEPT_DRAW, RESIGN, Unable, run } from "../src/index.js";

const ended = [];

await run(
  {
    start: ({ nonce }) => (nonce ? "00ff" : undefined),
    choose({ view, legal, draw_offered, retry, clock, banks_ms, turns_left, events, start }) {
      if (draw_offered) return ACCEPT_DRAW;
      if (retry) return RESIGN;
      if (view.unable) return new Unable(view.unable.because, view.unable.info);
      const info = { game: start.game, events: events.length, limit_ms: clock?.limit_ms ?? null, ended, ...(banks_ms && { banks_ms }) };
      return { move: start.unlisted ? "unlisted" : legal[0], offer_draw: turns_left === 1 || undefined, info };
    },
    end: ({ ended_by }) => void ended.push(ended_by),
  },
  { name: "vector", version: "1.0", details: { kind: "test" }, slots: 64 },
);
