import { read } from "./forms.js";

const square = "([a-h][1-8])";
const forms = [
  [RegExp(`^${square}${square}$`), (start, target) => ({ kind: "move", start, target })],
  [RegExp(`^${square}${square}([qrbn])$`), (start, target, piece) => ({ kind: "promote", start, target, piece })],
];

export const readMove = (text) => read(text, "chess", forms);
export const writeMove = ({ start, target, piece = "" }) => start + target + piece;
