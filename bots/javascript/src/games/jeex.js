import { read } from "./forms.js";

const field = "([abde][123]|c[13])";
const direction = "(N|NE|E|SE|S|SW|W|NW)";
const forms = [
  [RegExp(`^(place|rotate) ${field} ${direction}$`), (kind, field, direction) => ({ kind, field, direction })],
  [RegExp(`^capture ${field} ${field}$`), (field, target) => ({ kind: "capture", field, target })],
  [/^claim$/, () => ({ kind: "claim" })],
];

export const readMove = (text) => read(text, "Jeex", forms);
export const writeMove = (move) => Object.values(move).join(" ");
