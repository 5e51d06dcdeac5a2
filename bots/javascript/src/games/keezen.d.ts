/** Keezen: a pawn is named by its position: `base`, `t17` on the track, `h0.1` in the home of seat 0. */
export type Card = "A" | "2" | "3" | "4" | "5" | "6" | "7" | "8" | "9" | "10" | "J" | "Q" | "K";

export interface View {
  readonly to_move: readonly number[];
  /** How many squares the track has. */
  readonly track: number;
  /** The start square of each seat. */
  readonly starts: readonly number[];
  /** Where those of each seat stand. */
  readonly pawns: readonly (readonly string[])[];
  /** The viewer's cards; null for spectators. */
  readonly hand: readonly Card[] | null;
  /** Other hands that the viewer may see, by seat. */
  readonly hands: Readonly<Record<string, readonly Card[]>>;
  /** How many each hand holds. */
  readonly cards: readonly number[];
  readonly dealer: number;
  readonly cycle: number;
  /** 0 to 2 within the cycle. */
  readonly deal: number;
  /** Cards played and handed in within this cycle, in order. */
  readonly pile: readonly Card[];
  /** The seat whose pawns the seat to move plays. */
  readonly playing_for: number | null;
}

export type Move =
  /** Brings a pawn onto its start; `seat` when it is the partner's. */
  | { readonly kind: "enter"; readonly card: Card; readonly seat?: number }
  /** Moves one pawn by the worth of the card; a 4 goes backward. */
  | { readonly kind: "step"; readonly card: Card; readonly pawn: string }
  /** Splits a 7 over two pawns, in this order. */
  | {
      readonly kind: "split";
      readonly pawn: string;
      readonly steps: number;
      readonly other: string;
      readonly other_steps: number;
    }
  /** Plays a jack: an own pawn changes places with another player's. */
  | { readonly kind: "swap"; readonly pawn: string; readonly other: string };

/** Throws a RangeError if the text is no move. */
export function readMove(text: string): Move;
export function writeMove(move: Move): string;
