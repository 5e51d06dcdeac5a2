// A bot's side of the protocol, without I/O.

import * as hello from "./hello.js";
import { toMessage } from "./reply.js";

/** Turns each message of the referee into calls of the bot and at most one message back. */
export class Session {
  #bot;
  #hello;
  #token;
  #instance;
  #hasStarted = false;
  #error = null; // the referee's `error`, if it was the last message
  #plays = new Map(); // the seats in running matches: how they began, and the events since their previous turn
  /** Whether the matches go on when the connection is lost and the bot connects again. */
  reconnects = false;

  /** `instance` is what all connections of the bot have in common; without it, its matches end with their connection. */
  constructor(bot, hello, token, instance) {
    this.#bot = bot;
    this.#hello = hello;
    this.#token = token;
    this.#instance = instance;
  }

  /** Whether the bot is connected over TCP. */
  get isRemote() {
    return this.#instance !== undefined;
  }

  /** Why the referee refuses the bot, as an Error: the `error` that came last, where no match has started. */
  get refusal() {
    if (this.#hasStarted || !this.#error) return undefined;
    const { code, message } = this.#error;
    return Object.assign(new Error(`the referee refused the bot: ${code}: ${message}`), { code });
  }

  /** Handles a message; unknown ones are ignored. Returns the answer or a promise of it, if the message asks for one. */
  handle(message) {
    const { type, match, seat } = message;
    this.#error = type === "error" ? message : null;
    if (type === "hello") return this.#greet(message);
    if (type === "ping") return { type: "pong", id: message.id };
    if (type === "start") return this.#start(message);
    if (type === "error") return log("error", message);
    if (type !== "event" && type !== "turn" && type !== "end") return;
    const play = this.#plays.get(key(match, seat));
    if (!play && type === "end" && this.reconnects) return; // repeated after a lost connection
    if (!play) return log("ignored, no such match here", message);
    if (type === "turn") return this.#turn(play, message);
    if (type === "event") {
      const { n = play.nextEvent } = message;
      if (n < play.nextEvent) return; // repeated after a lost connection
      play.nextEvent = n + 1;
      play.events.push(message.event);
      this.#bot.event?.(match, seat, message.event);
    } else {
      this.#plays.delete(key(match, seat));
      this.#bot.end?.({ ranks: null, scores: null, amounts: null, fault: null, reveal: null, ...message });
    }
  }

  #greet({ auth, reconnect }) {
    this.reconnects = reconnect === true && this.isRemote;
    const token = auth === "token" ? this.#token : undefined;
    return hello.toMessage(this.#hello, token, this.reconnects ? this.#instance : undefined);
  }

  #start(message) {
    const { match, seat } = message;
    this.#hasStarted = true;
    const known = message.resumed ? this.#plays.get(key(match, seat)) : undefined;
    if (known) return known.ready;
    const start = { options: {}, clock: null, deal: null, nonce: false, unlisted: false, ...message };
    const play = { start, events: [], nextEvent: 0 };
    this.#plays.set(key(match, seat), play);
    play.ready = this.#begin(start);
    return play.ready;
  }

  #begin(start) {
    const { match, seat } = start;
    return then(this.#bot.start?.(start), (nonce) => ({ type: "ready", match, seat, nonce: nonce ?? undefined }));
  }

  #turn(play, message) {
    // The referee repeats a request if the connection is lost.
    if (play.asked !== message.turn) {
      play.asked = message.turn;
      play.answer = this.#choose(play, message);
    }
    return play.answer;
  }

  #choose(play, turn) {
    turn.view ??= {};
    turn.legal ??= [];
    turn.clock ??= null;
    turn.banks_ms ??= null;
    turn.turns_left ??= null;
    turn.draw_offered ??= false;
    turn.retry ??= null;
    turn.start = play.start;
    turn.events = play.events;
    play.events = [];
    return then(this.#bot.choose(turn), (reply) => toMessage(reply, turn));
  }
}

/** Passes a value on, or a promise of it: not every value as a promise, which would take as long as the rest of a turn. */
function then(value, next) {
  return typeof value?.then === "function" ? Promise.resolve(value).then(next) : next(value);
}

const key = (match, seat) => `${match} ${seat}`;

function log(what, message) {
  console.error(`referee-bot: ${what}: ${JSON.stringify(message)}`);
}
