import { read } from "./forms.js";

const forms = [
  [/^reroll ([12])$/, (die) => ({ kind: "reroll", die: +die })],
  [/^turn ([12]) ([1-5])$/, (die, face) => ({ kind: "turn", die: +die, face: +face })],
  [/^(place|score|pay|insure) ([1-5]) ([1-5])$/, (kind, row, column) => ({ kind, row: +row, column: +column })],
];

export const readMove = (text) => read(text, "Saxum", forms);
export const writeMove = ({ kind, die, face, row, column }) =>
  [kind, die, face, row, column].filter((part) => part !== undefined).join(" ");
