import { read } from "./forms.js";

const square = "(?:[1-9]|[12][0-9]|3[0-2])";
const path = (text) => text.split(/[-x]/).map(Number);
const forms = [
  [RegExp(`^(${square}-${square})$`), (text) => ({ kind: "step", path: path(text) })],
  [RegExp(`^(${square}(?:x${square})+)$`), (text) => ({ kind: "capture", path: path(text) })],
];

export const readMove = (text) => read(text, "checkers", forms);
export const writeMove = ({ kind, path }) => path.join(kind === "step" ? "-" : "x");
