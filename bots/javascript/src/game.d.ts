/**
 * The rules of a game: an object whose methods are functions of the position.
 *
 * `referee spec games` describes the messages; field names are those of the specification.
 */

/** Who sees a position: a seat, spectators (`public`), or the record (`all`). */
export type Viewer = number | "public" | "all";

/** What comes next: who decides, what the referee draws, or the result. */
export type Turn =
  | {
      /** The seats that decide, in ascending order, without seeing each other's decisions. */
      readonly decide: readonly {
        readonly seat: number;
        /**
         * All legal moves, at least one, each once: printable ASCII without quote and backslash, at most 256 bytes each. Absent if
         * nobody can list them: the game then has `check`.
         */
        readonly legal?: readonly string[];
        /** Whether only the seat sees its move. */
        readonly secret?: boolean;
        /** Whether the others do not even see that the seat has moved. */
        readonly unseen?: boolean;
      }[];
    }
  | {
      /** `settle` gets the number of each die; or one number below `pick`; or the numbers below `shuffle` in random order. */
      readonly draw:
        | { readonly dice: { readonly count: number; readonly sides: number } }
        | { readonly pick: number }
        | { readonly shuffle: number };
    }
  | {
      readonly over: {
        /** For each side one more than the number of better sides: [1, 2] if side 0 wins. See `ranks`. */
        readonly ranks: readonly number[];
        /** What each side gets, in a game with `amounts` in the manifest. */
        readonly amounts?: readonly number[];
        /** One of the manifest, or `turn_limit`. */
        readonly reason: string;
      };
    };

/** A form of an event: a fact that bots cannot know from the moves, such as a card that was drawn. */
export interface Fact {
  readonly kind: string;
  readonly [field: string]: unknown;
}

/** An event: `all` goes to the record, `public` to spectators and to every seat without a form of its own in `seats`. */
export interface Event {
  readonly all: Fact;
  /** Absent: everyone gets `all`. Required in games with hidden information. Null: the others do not see the event. */
  readonly public?: Fact | null;
  /** Null: the seat does not see the event. */
  readonly seats?: { readonly [seat: number]: Fact | null };
}

/** A state, with the events on the way to it, at most 1,000. */
export class Step<State> {
  constructor(state: State, events?: readonly Event[]);
  readonly state: State;
  readonly events: readonly Event[];
}

/** `start` refuses the options. The text names the option, its value, and what would be right. */
export class BadOptions extends Error {}

/** `check` refuses a move. The text says why; the bot gets it. */
export class BadMove extends Error {}

/** `imagine` refuses the view. The text says what contradicts the rules. */
export class BadView extends Error {}

/** What a seat that decides knows. */
export interface Knowledge {
  readonly options: any;
  readonly seats: number;
  readonly seat: number;
  readonly view: any;
  /** The number of turns until the turn limit, if there is one. */
  readonly turns_left?: number;
  /** Draws a number from 0 to n - 1, for what the seat does not know: the same ones for the same request. */
  pick(n: number): number;
}

/** The ranks of sides with these scores, of which only the order counts: the highest is the best. */
export function ranks(scores: readonly number[]): number[];

/**
 * The rules of a game. The result of each method depends on its arguments alone: keep nothing elsewhere, and draw no random
 * numbers. A state is JSON unless `pack` and `unpack` translate it.
 */
export interface Game<State = any, Packed = any> {
  /** Returns the initial state, or throws `BadOptions`. `options` has all options of the manifest. */
  start(options: any, seats: number): State;
  /**
   * Returns the least and the most that a side can get; `amounts = "chips"` in the manifest names the unit. A side that forfeits
   * or resigns gets the least, its last opponent the most.
   */
  amounts?(options: any, seats: number): { readonly least: number; readonly most: number };
  /** Returns what comes next. */
  turn(state: State): Turn;
  /**
   * Returns the state after the decisions: a legal move of each seat that decides, in ascending order. It may change `state`
   * and return it, unless there is `unpack`.
   */
  play(state: State, moves: readonly { readonly seat: number; readonly move: string }[]): State | Step<State>;
  /**
   * Accepts a move of a decision without `legal`, of at most 16,384 bytes, or throws `BadMove`. `check = true` in the manifest.
   */
  check?(state: State, seat: number, move: string): void;
  /** Returns the state after a draw, in games with chance. It may change `state` and return it, unless there is `unpack`. */
  settle?(state: State, drawn: readonly number[]): State | Step<State>;
  /** Returns what a viewer may see of the state, an object. Bots and people get the same. */
  view(state: State, viewer: Viewer): object;
  /**
   * Returns a state in which the seat has the same view and the same legal moves, all such states with the same probability,
   * or throws `BadView`. Bots search in it; `imagine = true` in the manifest.
   */
  imagine?(knowledge: Knowledge): State;
  /**
   * Returns a finished match in a notation, such as SGF; `export = ["sgf"]` in the manifest names the forms. `match` has the fields
   * of the request: `options`, `names`, `moves`, `draws`, `ranks` and others, see `referee spec games`.
   */
  export?(form: string, match: any): string;
  /** Returns the number of turns until the turn limit, including this one. */
  turnsLeft?(state: State): number;
  /** Returns the board for terminals as the viewer may see it. */
  text?(state: State, viewer: Viewer): string;
  /** Returns the position as shapes as the viewer may see it. */
  scene?(state: State, viewer: Viewer): object;
  /** Returns the state as JSON, at most 64 KiB. */
  pack?(state: State): Packed;
  /** Returns the state that was packed. Unpacked states are kept for later requests, so no method may change them. */
  unpack?(packed: Packed): State;
}

/** Answers requests about a game, for tests. */
export class Program {
  constructor(game: Game);
  answer(request: object): any;
}

/**
 * Answers the referee until the end of the input. What the game prints goes to standard error. An exception ends the process,
 * with its stack trace there: the referee quotes it, and no bot is at fault.
 */
export function run(game: Game): void;
