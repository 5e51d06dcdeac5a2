/** Chess: squares are `a1` to `h8`, seat 0 is White. */
export interface View {
  readonly to_move: readonly number[];
  /** A letter for each square from a8 to h8, then a7 to h7, to h1: those of FEN, `.` empty. */
  readonly board: string;
  readonly fen: string;
  /** The squares of the pieces that give check. */
  readonly checks: readonly string[];
  /** How often the position has occurred, including now. */
  readonly occurrences: number;
  /** What led here since the last capture, move of a pawn or loss of a castling right. */
  readonly since: Line;
}

/** A position and the moves that follow it. */
export interface Line {
  readonly fen: string;
  readonly moves: readonly string[];
}

/** `move` is castling, too: the king's move, in Chess960 to the square of its rook. */
export type Move =
  | { readonly kind: "move"; readonly start: string; readonly target: string }
  | { readonly kind: "promote"; readonly start: string; readonly target: string; readonly piece: "q" | "r" | "b" | "n" };

/** Throws a RangeError if the text is no move. */
export function readMove(text: string): Move;
export function writeMove(move: Move): string;
