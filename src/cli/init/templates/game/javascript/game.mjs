// The rules of @NAME@: see `rules.md`. `referee_game.mjs` is the SDK. Its README lists the methods.

import { BadOptions, run } from "./referee_game.mjs";

run({
  start({ sticks }) {
    if (!Number.isInteger(sticks) || sticks < 1 || sticks > 100) {
      throw new BadOptions(`sticks: ${sticks}; expected 1 to 100`);
    }
    return { sticks, seat: 0 };
  },
  turn({ sticks, seat }) {
    if (sticks === 0) return { over: { ranks: seat === 1 ? [1, 2] : [2, 1], reason: "last_stick" } };
    return { decide: [{ seat, legal: ["1", "2", "3"].slice(0, sticks) }] };
  },
  play: ({ sticks, seat }, [{ move }]) => ({ sticks: sticks - Number(move), seat: 1 - seat }),
  view: ({ sticks }, viewer) => ({ sticks }),
  // The seat knows everything: there is only this state.
  imagine: ({ view, seat }) => ({ sticks: view.sticks, seat }),
  scene({ sticks, seat }, viewer) {
    const stick = { form: "rect", at: [0, 0], width: 10, height: 160, radius: 5, fill: "orange" };
    const shapes = Array.from({ length: sticks }, (_, i) => ({ id: `stick ${i}`, at: [20 * i + 15, 20], parts: [stick] }));
    const words = sticks > 0 ? `seat ${seat} to move` : `seat ${1 - seat} wins`;
    const plate = { form: "rect", at: [-900, -75], width: 1800, height: 150, radius: 20, fill: "board" };
    if (sticks === 0) shapes.push({ id: "end", at: [1000, 100], parts: [plate, { form: "text", at: [0, 0], size: 90, text: words }] });
    return { width: 2000, height: 200, shapes, words: [words, `${sticks} sticks`] };
  },
});
