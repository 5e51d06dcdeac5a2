/** Jeex: fields are `a1` to `e3` but for the centre `c2`, seat 0 is White. */
export type Direction = "N" | "NE" | "E" | "SE" | "S" | "SW" | "W" | "NW";

export interface View {
  readonly to_move: readonly number[];
  /** `opening` until both first stones are placed. */
  readonly phase: "opening" | "play";
  /** By field: the owner's seat and the direction. */
  readonly stones: Readonly<Record<string, readonly [owner: number, direction: Direction]>>;
  /** What each seat can still place. */
  readonly supply: readonly [number, number];
  /** Stones that are out of the game. */
  readonly removed: number;
  /** Rotations in a row. */
  readonly quiet_plies: number;
}

export type Move =
  | { readonly kind: "place" | "rotate"; readonly field: string; readonly direction: Direction }
  /** The stone on `field` captures the one on `target`. */
  | { readonly kind: "capture"; readonly field: string; readonly target: string }
  | { readonly kind: "claim" };

/** Throws a RangeError if the text is no move. */
export function readMove(text: string): Move;
export function writeMove(move: Move): string;
