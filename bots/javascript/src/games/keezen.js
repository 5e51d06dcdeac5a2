import { read } from "./forms.js";

const track = "(t(?:0|[1-9][0-9]?))";
const pawn = "(t(?:0|[1-9][0-9]?)|h[0-5]\\.[0-3])";
const split = (pawn, steps, other, otherSteps) => ({
  kind: "split",
  pawn,
  steps: +steps,
  other,
  other_steps: +otherSteps,
});
const forms = [
  [/^([AK]) enter$/, (card) => ({ kind: "enter", card })],
  [/^([AK]) enter ([0-5])$/, (card, seat) => ({ kind: "enter", card, seat: +seat })],
  [RegExp(`^(A|[2-9]|10|Q) ${pawn}$`), (card, pawn) => ({ kind: "step", card, pawn })],
  ...[1, 2, 3, 4, 5, 6].map((steps) => [RegExp(`^7 ${pawn} (${steps}) ${pawn} (${7 - steps})$`), split]),
  [RegExp(`^J ${track} ${track}$`), (pawn, other) => ({ kind: "swap", pawn, other })],
];

export const readMove = (text) => read(text, "Keezen", forms);

export function writeMove(move) {
  switch (move.kind) {
    case "enter":
      return move.seat === undefined ? `${move.card} enter` : `${move.card} enter ${move.seat}`;
    case "step":
      return `${move.card} ${move.pawn}`;
    case "split":
      return `7 ${move.pawn} ${move.steps} ${move.other} ${move.other_steps}`;
    case "swap":
      return `J ${move.pawn} ${move.other}`;
  }
}
