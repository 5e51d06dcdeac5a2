// Runs a bot as a process, which the referee starts or which connects to the referee.

import { randomBytes } from "node:crypto";
import { fromArgs, open } from "./connection.js";
import { check } from "./hello.js";
import { eachLine } from "./lines.js";
import { Loss } from "./reconnect.js";
import { Session } from "./session.js";

export async function run(bot, hello, args = process.argv.slice(2)) {
  const connection = fromArgs(args);
  const introduction = connection.name === undefined ? hello : { ...hello, name: connection.name };
  check(introduction);
  // What all connections of this process have in common, so that a new one continues the matches of a lost one.
  const instance = connection.address && randomBytes(8).toString("hex");
  const player = typeof bot === "function" ? { choose: bot } : bot;
  const session = new Session(player, introduction, connection.token, instance);
  let streams = await open(connection);
  let loss;
  while (streams) {
    const { hasHeard, isOver } = await play(session, streams);
    if (isOver || !session.reconnects) break;
    if (!loss || hasHeard) loss = new Loss();
    streams = await loss.reconnect(connection);
  }
  if (session.refusal) throw session.refusal;
}

/** Plays until the end of the stream. Resolves to whether there was a message, and whether the last one is a final `bye`. */
async function play(session, { input, output }) {
  output.on("error", () => input.destroy()); // it reads no more: nothing is left to do
  let hasHeard = false;
  let isOver = false;
  let failure;
  const fail = (error) => {
    failure ??= error;
    input.destroy();
  };
  const say = (answer) => answer && output.write(JSON.stringify(answer) + "\n");
  await eachLine(input, (line) => {
    const message = parse(line);
    if (!message) return;
    if (message.type === "bye" && session.isRemote) {
      console.error(`referee-bot: the referee closes the connection: ${message.reason}`);
    }
    // After `bye` with `reconnect` the connection ends, and the bot connects again.
    isOver = message.type === "bye" && !(session.reconnects && message.reconnect === true);
    if (isOver) return input.destroy();
    hasHeard = true;
    try {
      const answer = session.handle(message);
      // Not waited for: a bot that thinks without blocking plays its other matches meanwhile.
      if (answer instanceof Promise) answer.then(say, fail);
      else say(answer);
    } catch (error) {
      fail(error);
    }
  });
  await new Promise(setImmediate); // flushes pending answers
  output.end();
  if (failure) throw failure;
  return { hasHeard, isOver };
}

function parse(line) {
  try {
    const message = JSON.parse(line);
    if (typeof message === "object" && message !== null && !Array.isArray(message)) return message;
    console.error("referee-bot: skipped a line that is no JSON object");
  } catch (error) {
    if (line.trim() !== "") console.error(`referee-bot: skipped a line that is not JSON: ${error.message}`);
  }
  return null;
}
