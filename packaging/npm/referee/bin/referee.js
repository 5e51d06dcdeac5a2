#!/usr/bin/env node
// Runs the program from the package of this platform, with the same streams, signals and exit code.
"use strict";

const { spawn } = require("node:child_process");
const { constants } = require("node:os");

const name = `referee-cli-${process.platform}-${process.arch}`;
let program;
try {
  program = require.resolve(`${name}/bin/referee`);
} catch {
  console.error(`referee: the package ${name} is missing. npm omits it on other platforms and with --omit=optional;`);
  console.error("on other platforms build the program: cargo install referee");
  process.exit(5);
}
const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
// Ctrl-C reaches the program itself, because it is in the same process group.
process.on("SIGINT", () => {});
for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
child.on("error", (error) => {
  console.error(`referee: ${program}: ${error.message}`);
  process.exit(5);
});
child.on("exit", (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
