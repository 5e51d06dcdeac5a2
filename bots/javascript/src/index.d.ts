/** Write a bot for referee: a function from a turn to one of its legal moves. Names are those of the protocol. */

/** Time control: `delay_ms` of each answer are free, the rest comes from the bank. Milliseconds. */
export interface Clock {
  readonly delay_ms: number;
  readonly bank_ms: number;
  readonly increment_ms: number;
}

/** A match begins, and the bot has `seat` in it. */
export interface Start {
  readonly match: string;
  readonly game: string;
  /** The version of the game's rules. */
  readonly rules: number;
  readonly options: Readonly<Record<string, unknown>>;
  readonly seat: number;
  /** Names, and the number of the side that each seat plays for. */
  readonly seats: readonly { readonly name: string; readonly team: number }[];
  /** Null: there is no limit. */
  readonly clock: Clock | null;
  readonly deal: string | null;
  /** The SHA-256 that binds the referee to its seed. */
  readonly commitment: string;
  /** True: a nonce returned by `start` is mixed into the chance of the match. */
  readonly nonce: boolean;
}

/** Something that happened in a match; its other fields depend on `kind`. */
export interface Event {
  readonly kind: string;
  readonly [field: string]: unknown;
}

/** The referee asks for a decision. It is complete: a bot needs to remember nothing. */
export interface Turn<View = unknown> {
  readonly match: string;
  readonly seat: number;
  /** The request's id. */
  readonly turn: number;
  /** What the seat may see, see `referee-bot/games`; an empty object when `wants` left it out. */
  readonly view: View;
  /** Every legal move, sorted; empty when `wants` left it out. */
  readonly legal: readonly string[];
  /** What the bank holds, and all the time there is for this answer. Milliseconds. */
  readonly clock: { readonly bank_ms: number; readonly limit_ms: number } | null;
  readonly turns_left: number | null;
  /** True: `ACCEPT_DRAW` is an answer too. */
  readonly draw_offered: boolean;
  /** Why the answer to the request `of` was refused. */
  readonly retry: { readonly of: number; readonly code: string; readonly message: string } | null;
  /** How this match began. */
  readonly start: Start;
  /** What happened in this match since its previous turn. */
  readonly events: readonly Event[];
}

/** A match is over. Ranks count from 1, scores go from 0 to 1, both by seat; null when it was aborted. */
export interface End {
  readonly match: string;
  readonly seat: number;
  readonly ended_by: string;
  readonly reason: string;
  readonly ranks: readonly number[] | null;
  readonly scores: readonly number[] | null;
  readonly fault: { readonly seat: number; readonly code: string; readonly detail?: string } | null;
  readonly reveal: {
    readonly seed: string;
    readonly salt: string;
    readonly deal: string;
    readonly nonces: readonly string[];
  } | null;
}

/** A move with what may go along with it. */
export interface Move {
  readonly move: string;
  /** Offers a draw, in games that know draws by agreement. */
  readonly offer_draw?: boolean;
  /** What the bot thought: recorded, at most 4 KiB of JSON. */
  readonly info?: Readonly<Record<string, unknown>>;
}

/** Gives up the match. */
export const RESIGN: unique symbol;
/** Takes the draw that is on offer. */
export const ACCEPT_DRAW: unique symbol;

/** A string is a plain move. */
export type Reply = string | Move | typeof RESIGN | typeof ACCEPT_DRAW;

/** A bot that sees more than its turns. With `slots` above 1 it plays several matches at once: `match` tells them apart. */
export interface Bot<View = unknown> {
  /** Prepares for a match; may return a nonce, lower-case hex of at most 64 bytes. */
  start?(start: Start): string | void | Promise<string | void>;
  event?(match: string, seat: number, event: Event): void;
  choose(turn: Turn<View>): Reply | Promise<Reply>;
  end?(end: End): void;
}

/** What the bot says of itself. */
export interface Hello {
  /** 1 to 64 of ASCII letters, digits, `.`, `_`, `-` and space. */
  name: string;
  version?: string;
  author?: string;
  /** What it plays; left out: anything. */
  games?: readonly string[];
  /** How many matches it plays at once; 1 when left out. */
  slots?: number;
  /** What it is sent; left out: all. */
  wants?: readonly ("view" | "legal" | "event")[];
  /** True: events come at once instead of with the turn. */
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

/** The command line options that `run` reads, for `util.parseArgs` in a bot that has options of its own. */
export const options: {
  readonly connect: { readonly type: "string" };
  readonly tls: { readonly type: "boolean" };
  readonly ca: { readonly type: "string" };
  readonly "token-file": { readonly type: "string" };
  readonly name: { readonly type: "string" };
};
