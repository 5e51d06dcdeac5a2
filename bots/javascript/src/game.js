// The rules of a game for referee: an object whose methods are functions of the position. See `game.d.ts`.
//
// This file needs Node.js 18 and nothing else: copied next to a game as `referee_game.mjs`, it serves the game on every machine.

// Unpacked states of a few dozen matches. A state has at most 64 KiB.
const MOST_KEPT = 256;

export class BadOptions extends Error {}

export class BadMove extends Error {}

export class BadView extends Error {}

export class Step {
  constructor(state, events = []) {
    this.state = state;
    this.events = events;
  }
}

export const ranks = (scores) => scores.map((score) => 1 + scores.filter((other) => other > score).length);

/** Answers the referee's requests about a game. */
export class Program {
  #game;
  #kept = new Map();

  constructor(game) {
    this.#game = game;
  }

  answer(request) {
    const { type } = request;
    if (type === "start") {
      try {
        const { options, seats } = request;
        const position = this.#position("start", this.#game.start(options, seats));
        return { ...position, amounts: this.#game.amounts?.(options, seats) };
      } catch (error) {
        if (error instanceof BadOptions) return { bad_options: error.message };
        throw error;
      }
    }
    if (type === "imagine") {
      const { options, seats, seat, view, turns_left, random } = request;
      try {
        const knowledge = { options, seats, seat, view, turns_left, pick: generator(random) };
        return this.#position("imagine", this.#game.imagine(knowledge));
      } catch (error) {
        if (error instanceof BadView) return { bad_view: error.message };
        throw error;
      }
    }
    if (type === "export") return { text: this.#game.export(request.form, request) };
    const state = this.#unpack(request.state);
    if (type === "play") return this.#position(type, this.#game.play(state, request.moves));
    if (type === "settle") return this.#position(type, this.#game.settle(state, request.drawn));
    if (type === "check") {
      try {
        this.#game.check(state, request.seat, request.move);
        return { ok: true };
      } catch (error) {
        if (error instanceof BadMove) return { bad_move: error.message };
        throw error;
      }
    }
    if (type === "show") {
      const { viewer } = request;
      return { view: this.#game.view(state, viewer), text: this.#game.text?.(state, viewer), scene: this.#game.scene?.(state, viewer) };
    }
    throw new TypeError(`unknown request \`${type}\`; expected \`start\`, \`play\`, \`settle\`, \`check\`, \`imagine\`, \`show\` or \`export\``);
  }

  #position(from, reached) {
    const { state, events } = reached instanceof Step ? reached : new Step(reached);
    if (state === undefined) throw new TypeError(`${from} returned undefined; expected a state`);
    const packed = this.#game.pack ? this.#game.pack(state) : state;
    if (this.#game.unpack) this.#keep(JSON.stringify(packed), state);
    return {
      state: packed,
      turn: this.#turn(state),
      events: events.length > 0 ? events : undefined,
      turns_left: this.#game.turnsLeft?.(state),
    };
  }

  #turn(state) {
    const turn = this.#game.turn(state);
    if (!turn?.decide) return turn;
    return { decide: turn.decide.map((seat) => ({ ...seat, view: this.#game.view(state, seat.seat) })) };
  }

  #unpack(packed) {
    if (!this.#game.unpack) return packed;
    const key = JSON.stringify(packed);
    const state = this.#kept.has(key) ? this.#kept.get(key) : this.#game.unpack(packed);
    this.#keep(key, state);
    return state;
  }

  #keep(key, state) {
    this.#kept.delete(key);
    this.#kept.set(key, state);
    // The first one was used the longest time ago.
    if (this.#kept.size > MOST_KEPT) this.#kept.delete(this.#kept.keys().next().value);
  }
}

/** Returns a function that draws a number from 0 to n - 1, always the same ones after the same seed (Marsaglia's xorshift). */
function generator([x, y, z, w]) {
  return (n) => {
    const mixed = x ^ (x << 11);
    [x, y, z] = [y, z, w];
    w = (w ^ (w >>> 19) ^ mixed ^ (mixed >>> 8)) >>> 0;
    return Math.floor((w / 2 ** 32) * n);
  };
}

export function run(game) {
  const { stdin, stdout, stderr } = process;
  const write = stdout.write.bind(stdout);
  stdout.write = stderr.write.bind(stderr);
  stdout.on("error", () => stdin.destroy()); // the referee reads no more
  const program = new Program(game);
  let rest = "";
  stdin.setEncoding("utf8").on("data", (chunk) => {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop();
    for (const line of lines) write(JSON.stringify(program.answer(JSON.parse(line))) + "\n");
  });
}
