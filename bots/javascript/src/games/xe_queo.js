import { read } from "./forms.js";

export const PAWNS = Object.freeze(["red", "orange", "yellow", "green", "blue", "purple", "black"]);

const square = "([a-g][1-7])";
const pawn = `(${PAWNS.join("|")})`;
const forms = [
  [RegExp(`^ring ${square}$`), (square) => ({ kind: "ring", square })],
  [RegExp(`^(choose|accuse) ${pawn}$`), (kind, pawn) => ({ kind, pawn })],
  [RegExp(`^move ${pawn} ${square}$`), (pawn, square) => ({ kind: "move", pawn, square })],
];

export const readMove = (text) => read(text, "Xe Queo!", forms);
export const writeMove = ({ kind, pawn, square }) => [kind, pawn, square].filter((part) => part).join(" ");
