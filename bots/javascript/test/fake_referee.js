// The side of the referee in the protocol: it sends what a test passes to it, and has no rules.

import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

const INDEX = new URL("../src/index.js", import.meta.url);

/** Starts a bot that is written in the test. */
export function start(code, args = [], env = {}) {
  const program = `import { ACCEPT_DRAW, RESIGN, run } from "${INDEX}";\n${code}`;
  const bot = spawn(process.execPath, ["--input-type=module", "--eval", program, "--", "bot.js", ...args], {
    env: { ...process.env, ...env },
    timeout: 20_000,
  });
  let stderr = "";
  bot.stderr.setEncoding("utf8").on("data", (text) => (stderr += text));
  const lines = createInterface({ input: bot.stdout })[Symbol.asyncIterator]();
  const ended = new Promise((resolve) => bot.on("close", (status) => resolve({ status, stderr })));
  return {
    send: (...messages) => bot.stdin.write(messages.map((message) => JSON.stringify(message) + "\n").join("")),
    receive: async () => JSON.parse((await lines.next()).value),
    readNoMore: () => bot.stdout.destroy(),
    finish: () => {
      bot.stdin.end();
      return ended;
    },
    ended,
  };
}

export const hello = (auth = "none") => ({ type: "hello", protocol: 1, server: "fake", auth });

export function begin(match) {
  const seats = [{ name: "one", team: 0 }, { name: "two", team: 1 }];
  return { type: "start", match, game: "checkers", rules: 1, options: {}, seat: 0, seats, clock: null, nonce: false };
}

export const turn = (match, legal) => ({ type: "turn", match, seat: 0, turn: 0, view: {}, legal, clock: null });
