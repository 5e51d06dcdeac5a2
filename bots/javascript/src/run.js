// Runs a bot as a process, which the referee starts or which connects to the referee.

import { fromArgs, open } from "./connection.js";
import { check } from "./hello.js";
import { lines } from "./lines.js";
import { Session } from "./session.js";

export async function run(bot, hello, args = process.argv.slice(2)) {
  const connection = fromArgs(args);
  const introduction = connection.name === undefined ? hello : { ...hello, name: connection.name };
  check(introduction);
  const session = new Session(typeof bot === "function" ? { choose: bot } : bot, introduction, connection.token);
  const { input, output } = await open(connection);
  output.on("error", () => input.destroy()); // it reads no more: nothing is left to do
  let failure;
  for await (const line of lines(input)) {
    const message = parse(line);
    if (message?.type === "bye") break;
    if (!message) continue;
    // Not waited for: a bot that thinks without blocking plays its other matches meanwhile.
    session.handle(message).then(
      (answer) => answer && output.write(JSON.stringify(answer) + "\n"),
      (error) => {
        failure ??= error;
        input.destroy();
      },
    );
  }
  await new Promise(setImmediate); // flushes pending answers
  output.end();
  failure ??= session.refusal;
  if (failure) throw failure;
}

function parse(line) {
  if (line.trim() === "") return null;
  try {
    const message = JSON.parse(line);
    if (typeof message === "object" && message !== null && !Array.isArray(message)) return message;
    console.error("referee-bot: skipped a line that is no JSON object");
  } catch (error) {
    console.error(`referee-bot: skipped a line that is not JSON: ${error.message}`);
  }
  return null;
}
