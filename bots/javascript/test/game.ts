// What a game in TypeScript looks like. tsc checks that the types allow it, and what they forbid.

import { BadOptions, ranks, run, Step, type Game } from "../src/game.js";

type Cards = { deck: number[]; shown: number };

const game: Game<Cards, string> = {
  start({ cards }, seats) {
    if (cards < seats) throw new BadOptions(`cards: ${cards}`);
    return { deck: [], shown: 0 };
  },
  turn: ({ deck, shown }) => {
    if (deck.length === 0) return { draw: { shuffle: 10 } };
    if (shown < 2) return { decide: [{ seat: shown, legal: ["show", "hide"], secret: true }] };
    return { over: { ranks: ranks([deck[0], deck[1]]), amounts: deck.slice(0, 2), reason: "shown" } };
  },
  play: ({ deck, shown }, [{ move }]) => ({ deck, shown: shown + (move === "show" ? 1 : 2) }),
  settle: (state, drawn) =>
    new Step({ ...state, deck: [...drawn] }, [{ all: { kind: "dealt", drawn }, public: { kind: "dealt" } }]),
  amounts: ({ cards }) => ({ least: 0, most: cards }),
  view: ({ deck }, viewer) => ({ card: typeof viewer === "number" ? deck[viewer] : null }),
  imagine: ({ view, pick }) => ({ deck: [view.card, pick(10)], shown: 0 }),
  pack: JSON.stringify,
  unpack: (packed) => JSON.parse(packed),
};
run(game);

// @ts-expect-error: a view is missing
run({ start: () => 0, turn: () => ({ draw: { pick: 2 } }), play: () => 0 });
// @ts-expect-error: an event without a kind
new Step(0, [{ all: { card: 1 } }]);
