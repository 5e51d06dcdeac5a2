/** Saxum: dice, rows and columns are numbered from 1. Pairs are by seat. */
export interface View {
  readonly to_move: readonly number[];
  /** `six` while a six has to be resolved. */
  readonly phase: "six" | "field";
  /** The faces of die 1 and die 2; null when no roll lies on the table, which no turn shows. */
  readonly dice: readonly [number, number] | null;
  /** The rows, in each a letter for each column: `0` and `1` the stones of the seats, `.` free. */
  readonly board: readonly string[];
  readonly points: readonly [number, number];
  /** Rows scored. */
  readonly rows: readonly [number, number];
  /** Insurance stones left. */
  readonly insurance: readonly [number, number];
  /** Stones not on the board. */
  readonly supply: readonly [number, number];
}

export type Move =
  | { readonly kind: "reroll"; readonly die: number }
  /** Turns a die to a face, for points. */
  | { readonly kind: "turn"; readonly die: number; readonly face: number }
  /** `pay` and `insure` replace an enemy stone, for points or for an insurance stone. */
  | { readonly kind: "place" | "score" | "pay" | "insure"; readonly row: number; readonly column: number };

/** Throws a RangeError if the text is no move. */
export function readMove(text: string): Move;
export function writeMove(move: Move): string;
