/** Checkers: squares are numbered 1 to 32, seat 0 is Black. */
export interface View {
  readonly to_move: readonly number[];
  /** A letter for each square from 1: `b` and `w` men, `B` and `W` kings, `.` empty. */
  readonly board: string;
  /** The same as PDN's FEN. */
  readonly fen: string;
  /** Plies in a row without a capture or a crowning. */
  readonly quiet_plies: number;
}

/** `path` has every square that the piece visits. */
export interface Move {
  readonly kind: "step" | "capture";
  readonly path: readonly number[];
}

/** Throws a RangeError if the text is no move. */
export function readMove(text: string): Move;
export function writeMove(move: Move): string;
