/** Xe Queo!: squares are `a1` to `g7`, pawns are named by colour and are neutral. */
export type Pawn = "red" | "orange" | "yellow" | "green" | "blue" | "purple" | "black";

export const PAWNS: readonly Pawn[];

export interface View {
  /** From 1. */
  readonly round: number;
  readonly phase: "ring" | "choose" | "play" | "over";
  /** Both seats in phase `choose`. */
  readonly to_move: readonly number[];
  /** What each seat has won. */
  readonly rings: readonly [number, number];
  /** The square of each. */
  readonly pawns: Readonly<Record<Pawn, string>>;
  /** Null until it is placed. */
  readonly ring: string | null;
  /** The pawn that the viewer has chosen in secret; null before that. */
  readonly choice: Pawn | null;
  /** The moves of this round: seat, pawn and final square. */
  readonly moves: readonly (readonly [seat: number, pawn: Pawn, square: string])[];
  readonly last_round: {
    readonly winner: number;
    /** By seat. */
    readonly choices: readonly [Pawn, Pawn];
    readonly reason: "entered" | "entered_rival" | "accused" | "accused_wrongly";
  } | null;
}

export type Move =
  | { readonly kind: "ring"; readonly square: string }
  | { readonly kind: "choose" | "accuse"; readonly pawn: Pawn }
  /** `square` is where the pawn goes; its path is not part of the message. */
  | { readonly kind: "move"; readonly pawn: Pawn; readonly square: string };

/** Throws a RangeError if the text is no move. */
export function readMove(text: string): Move;
export function writeMove(move: Move): string;
