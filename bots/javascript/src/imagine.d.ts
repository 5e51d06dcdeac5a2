/**
 * Imagined positions for search bots: legal moves, views, results and playouts without rules of one's own.
 *
 * They come from the program `referee imagine`, which runs beside the bot, in the bot's time, and knows only the views that
 * the bot passes to it. `referee spec imagine` specifies its messages.
 */

import type { Turn } from "./index.js";

/** A move of a seat. */
export interface SeatMove {
  readonly seat: number;
  readonly move: string;
}

/** A position after some moves. */
export interface State<View = unknown> {
  /** The legal moves of each seat that decides; empty when the game is over. */
  readonly legal: ReadonlyMap<number, readonly string[]>;
  /** The view of the seat `viewOf`. */
  readonly view: View | null;
  readonly turns_left: number | null;
  /** The result, when the game is over: ranks and scores by seat, amounts if the game has them, and the rule that ended it. */
  readonly over: {
    readonly ranks: readonly number[];
    readonly scores: readonly number[];
    readonly amounts?: readonly number[];
    readonly reason: string;
  } | null;
}

/** An imagined position: one or more worlds that agree with what a seat knows. 64 are kept. */
export interface Position {
  /** The number of worlds; 1 in games without hidden information. */
  readonly worlds: number;
  /** Returns the position after these moves of all seats, in a world. Dice and shuffles derive from `seed`. */
  explore<View = unknown>(
    moves?: readonly SeatMove[],
    options?: { world?: number; seed?: number; viewOf?: number },
  ): Promise<State<View>>;
  /**
   * Plays `count` random continuations after each of these lines of moves. Returns for each line the mean score of each seat.
   * Without `world`, each playout begins in a random one.
   */
  playouts(
    lines: readonly (readonly SeatMove[])[],
    count: number,
    options?: { world?: number; seed?: number },
  ): Promise<number[][]>;
}

/** `referee imagine` rejected a request; `code` says why. */
export class ImagineError extends Error {
  readonly code: string;
}

/** A running `referee imagine`. It ends with the bot at the latest. */
export class Imaginer {
  /**
   * Starts the program: by default the one that the environment variable `REFEREE` names, or `referee` on the `PATH`. `games` are the
   * directories of games whose rules are programs, beside the games of the referee.
   */
  constructor(program?: string, games?: readonly string[]);
  /** Samples positions, at most 256, that agree with what the seat of a turn knows. */
  imagine(turn: Turn, options?: { worlds?: number; seed?: number }): Promise<Position>;
  /** Sends a request as it is specified, and returns its answer. */
  ask(request: Readonly<Record<string, unknown>>): Promise<Record<string, unknown>>;
  /** Ends the program. */
  close(): void;
}
