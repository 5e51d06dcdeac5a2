/** Write a bot for referee: a function from a turn to one of its legal moves. Names are those of the protocol. */

/** Time control: `delay_ms` of each answer are free, the rest comes from the bank. Milliseconds. */
export interface Clock {
  readonly delay_ms: number;
  readonly bank_ms: number;
  readonly increment_ms: number;
}

/** The start of a match in which the bot has `seat`. */
export interface Start {
  readonly match: string;
  readonly game: string;
  /** The version of the game's rules. */
  readonly rules: number;
  readonly options: Readonly<Record<string, unknown>>;
  readonly seat: number;
  /** The name and the number of the side of each seat. */
  readonly seats: readonly { readonly name: string; readonly team: number }[];
  /** Null: there is no limit. */
  readonly clock: Clock | null;
  readonly deal: string | null;
  /** The SHA-256 commitment to the seed. */
  readonly commitment: string;
  /** True: a nonce returned by `start` is mixed into the randomness of the match. */
  readonly nonce: boolean;
  /** True: the legal moves have no list, or it is hidden, so `legal` of a turn may be empty. */
  readonly unlisted: boolean;
}

/** Something that happened in a match; its other fields depend on `kind`. */
export interface Event {
  readonly kind: string;
  readonly [field: string]: unknown;
}

/** A request for a decision. It is self-contained, so a bot can be stateless. */
export interface Turn<View = unknown> {
  readonly match: string;
  readonly seat: number;
  /** The request's id. */
  readonly turn: number;
  /** The position as visible to the seat, see `referee-bot/games`; an empty object if `wants` omits it. */
  readonly view: View;
  /** Every legal move, sorted; empty if `wants` omits it. */
  readonly legal: readonly string[];
  /** The bank, and the total time for this answer. Milliseconds. */
  readonly clock: { readonly bank_ms: number; readonly limit_ms: number } | null;
  /** The banks of all seats by seat, null for a seat without a clock; null: no seat has one. */
  readonly banks_ms: readonly (number | null)[] | null;
  readonly turns_left: number | null;
  /** True: `ACCEPT_DRAW` is a valid answer. */
  readonly draw_offered: boolean;
  /** Why the answer to the request `of` was rejected. */
  readonly retry: { readonly of: number; readonly code: string; readonly message: string } | null;
  /** The start of this match. */
  readonly start: Start;
  /** What happened in this match since its previous turn. */
  readonly events: readonly Event[];
}

/** The end of a match. Ranks count from 1, scores range from 0 to 1, both by seat; null when it was aborted. */
export interface End {
  readonly match: string;
  readonly seat: number;
  readonly ended_by: string;
  readonly reason: string;
  readonly ranks: readonly number[] | null;
  readonly scores: readonly number[] | null;
  /** What each seat gets, in the unit of the game; null when it was aborted, and in games without amounts. */
  readonly amounts: readonly number[] | null;
  readonly fault: { readonly seat: number; readonly code: string; readonly detail?: string } | null;
  readonly reveal: {
    readonly seed: string;
    readonly salt: string;
    readonly deal: string;
    readonly nonces: readonly string[];
  } | null;
}

/** A move with optional fields. */
export interface Move {
  readonly move: string;
  /** Offers a draw, in games with draws by agreement. */
  readonly offer_draw?: boolean;
  /** Information about the search; recorded; at most 4 KiB of JSON. */
  readonly info?: Readonly<Record<string, unknown>>;
}

/** Resigns the match. */
export const RESIGN: unique symbol;
/** Accepts the draw offer. */
export const ACCEPT_DRAW: unique symbol;

/** The bot has no move. */
export class Unable {
  /**
   * `no_legal_move`: what chooses the moves named none that is legal, a fault. `unavailable`: what chooses them cannot be
   * reached. Then the match is void where the organiser trusts bots; elsewhere it is a fault.
   */
  readonly because: "no_legal_move" | "unavailable";
  /** As in `Move`. */
  readonly info?: Move["info"];
  constructor(because: Unable["because"], info?: Unable["info"]);
}

/** A string is a plain move. */
export type Reply = string | Move | typeof RESIGN | typeof ACCEPT_DRAW | Unable;

/** A bot that handles other messages too. With `slots` above 1 it plays concurrent matches, identified by `match`. */
export interface Bot<View = unknown> {
  /** Prepares for a match; may return a nonce, lower-case hex of at most 64 bytes. */
  start?(start: Start): string | void | Promise<string | void>;
  event?(match: string, seat: number, event: Event): void;
  choose(turn: Turn<View>): Reply | Promise<Reply>;
  end?(end: End): void;
}

/** The bot's `hello`. */
export interface Hello {
  /** 1 to 64 of ASCII letters, digits, `.`, `_`, `-` and space. */
  name: string;
  version?: string;
  author?: string;
  /** What identifies how the bot plays, such as its model and settings: at most 32 texts of at most 256 characters. Recorded. */
  details?: Readonly<Record<string, string>>;
  /** The games that the bot plays; absent: any. */
  games?: readonly string[];
  /** The number of concurrent matches; 1 when absent. */
  slots?: number;
  /** The fields and messages that the referee sends; absent: all. */
  wants?: readonly ("view" | "legal" | "event")[];
  /** True: events arrive immediately instead of with the turn. */
  push?: boolean;
}

/**
 * Plays every match that the referee starts; resolves after its `bye` or at the end of the input.
 *
 * Without the option `--connect` in `args` (by default those of the process) the referee is at stdin and stdout, and what
 * the bot prints goes to stderr. Rejects if `hello` is not what the protocol allows, or the referee cannot be reached.
 */
export function run<View = any>(
  bot: Bot<View> | ((turn: Turn<View>) => Reply | Promise<Reply>),
  hello: Hello,
  args?: readonly string[],
): Promise<void>;

/** The command line options that `run` reads, for `util.parseArgs` in a bot with its own options. */
export const options: {
  readonly connect: { readonly type: "string" };
  readonly tls: { readonly type: "boolean" };
  readonly ca: { readonly type: "string" };
  readonly "token-file": { readonly type: "string" };
  readonly name: { readonly type: "string" };
};
