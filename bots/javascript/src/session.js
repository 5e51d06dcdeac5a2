// A bot's side of the protocol, without I/O.

import * as hello from "./hello.js";
import { toMessage } from "./reply.js";

/** Turns each message of the referee into calls of the bot and at most one message back. */
export class Session {
  #bot;
  #hello;
  #token;
  #hasStarted = false;
  #error = null; // the referee's `error`, if it was the last message
  #plays = new Map(); // the seats in running matches: how they began, and the events since their previous turn

  constructor(bot, hello, token) {
    this.#bot = bot;
    this.#hello = hello;
    this.#token = token;
  }

  /** Why the referee refuses the bot, as an Error: the `error` that came last, where no match has started. */
  get refusal() {
    if (this.#hasStarted || !this.#error) return undefined;
    const { code, message } = this.#error;
    return Object.assign(new Error(`the referee refused the bot: ${code}: ${message}`), { code });
  }

  /** Handles a message; unknown ones are ignored. Resolves to the answer, if the message asks for one. */
  async handle(message) {
    const { type, match, seat } = message;
    this.#error = type === "error" ? message : null;
    if (type === "hello") return hello.toMessage(this.#hello, message.auth === "token" ? this.#token : undefined);
    if (type === "ping") return { type: "pong", id: message.id };
    if (type === "start") return this.#start(message);
    if (type === "error") return log("error", message);
    if (type !== "event" && type !== "turn" && type !== "end") return;
    const play = this.#plays.get(key(match, seat));
    if (!play) return log("ignored, no such match here", message);
    if (type === "turn") return this.#turn(play, message);
    if (type === "event") {
      play.events.push(message.event);
      this.#bot.event?.(match, seat, message.event);
    } else {
      this.#plays.delete(key(match, seat));
      this.#bot.end?.({ ranks: null, scores: null, fault: null, reveal: null, ...message });
    }
  }

  async #start(message) {
    const { match, seat } = message;
    this.#hasStarted = true;
    const start = { options: {}, clock: null, deal: null, nonce: false, ...message };
    this.#plays.set(key(match, seat), { start, events: [] });
    const nonce = await this.#bot.start?.(start);
    return { type: "ready", match, seat, nonce: nonce ?? undefined };
  }

  async #turn(play, message) {
    const { start, events } = play;
    play.events = [];
    const defaults = { view: {}, legal: [], clock: null, turns_left: null, draw_offered: false, retry: null };
    const turn = { ...defaults, ...message, start, events };
    return toMessage(await this.#bot.choose(turn), turn);
  }
}

const key = (match, seat) => `${match} ${seat}`;

function log(what, message) {
  console.error(`referee-bot: ${what}: ${JSON.stringify(message)}`);
}
