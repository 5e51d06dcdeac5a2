// Imagined positions, from a running `referee imagine`.

import { spawn } from "node:child_process";
import { eachLine } from "./lines.js";

const POSITIONS = 64; // so many positions are kept

/** `referee imagine` rejected a request; `code` says why. */
export class ImagineError extends Error {
  constructor({ code, message }) {
    super(`${code}: ${message}`);
    this.code = code;
  }
}

class Position {
  constructor(imaginer, number, worlds) {
    this.worlds = worlds;
    this._request = (fields, moves = []) => {
      if (imaginer._positions[number] !== this) {
        throw new Error(`this position was replaced: ${POSITIONS} newer ones have been imagined`);
      }
      return imaginer.ask({ ...fields, position: number, moves });
    };
  }

  async explore(moves, { world, seed, viewOf } = {}) {
    const answer = await this._request({ type: "explore", world, seed, view_of: viewOf }, moves);
    const { decisions, view = null, turns_left = null, over = null } = answer;
    return { legal: new Map(decisions.map(({ seat, legal }) => [seat, legal])), view, turns_left, over };
  }

  async playouts(lines, count, { world, seed } = {}) {
    const played = lines.map((moves) => this._request({ type: "playouts", count, world, seed }, moves));
    return (await Promise.all(played)).map(({ scores }) => scores);
  }
}

/** Those that run. They end with the bot, which waits for that. */
const running = new Set();
process.on("beforeExit", () => {
  for (const imaginer of running) imaginer.close();
});

export class Imaginer {
  constructor(program = process.env.REFEREE || "referee", games = []) {
    this._positions = [];
    this._imagined = 0;
    this._waiting = []; // the requests without an answer, in order
    this._failure = null;
    const words = games.flatMap((game) => ["--game", game]);
    this._process = spawn(program, ["imagine", ...words], { stdio: ["pipe", "pipe", "inherit"] });
    this._process.on("error", ({ message }) => {
      this._fail(new Error(`cannot start \`${program}\` (${message}): install referee, or name its program in REFEREE`));
    });
    this._process.stdin.on("error", () => {}); // The end of the output tells it too.
    running.add(this);
    this._process.on("exit", () => running.delete(this));
    this._process.unref();
    this._hold(false);
    this._read();
  }

  async imagine(turn, { worlds, seed } = {}) {
    const { game, rules, options, seats } = turn.start;
    const position = this._imagined++ % POSITIONS;
    const { seat, view, turns_left } = turn;
    const request = { type: "imagine", position, game, rules, options, seats: seats.length, seat, view, worlds, seed };
    const answer = this.ask(turns_left === null ? request : { ...request, turns_left });
    this._positions[position] = null;
    return (this._positions[position] = new Position(this, position, (await answer).worlds));
  }

  ask(request) {
    if (this._failure) return Promise.reject(this._failure);
    return new Promise((resolve, reject) => {
      this._waiting.push({ resolve, reject });
      this._hold(true);
      this._process.stdin.write(`${JSON.stringify(request)}\n`);
    });
  }

  close() {
    running.delete(this);
    this._process.stdin.end();
    this._process.ref();
  }

  async _read() {
    await eachLine(this._process.stdout, (line) => {
      const { resolve, reject } = this._waiting.shift();
      this._hold(this._waiting.length > 0);
      const answer = JSON.parse(line);
      if (answer.type === "error") reject(new ImagineError(answer));
      else resolve(answer);
    });
    // The reason why it could not be started comes later.
    setImmediate(() => this._fail(new Error("`referee imagine` has ended")));
  }

  _fail(error) {
    this._failure ??= error;
    for (const { reject } of this._waiting.splice(0)) reject(this._failure);
    this._hold(false);
  }

  /** Keeps the process of the bot alive, or not: a bot that has finished does not wait for the program. */
  _hold(isHeld) {
    for (const stream of [this._process.stdin, this._process.stdout]) {
      if (isHeld) stream.ref?.();
      else stream.unref?.();
    }
  }
}
