// The connection to the referee: over stdin and stdout, or over TCP.

import { readFileSync } from "node:fs";
import net from "node:net";
import tls from "node:tls";
import { parseArgs } from "node:util";

export const options = Object.freeze({
  connect: { type: "string" },
  tls: { type: "boolean" },
  ca: { type: "string" },
  "token-file": { type: "string" },
  name: { type: "string" },
});

/** Reads the options of the connection. What the command line holds beside them is the bot's own. */
export function fromArgs(args) {
  const { values } = parseArgs({ args, options, strict: false });
  for (const [name, { type }] of Object.entries(options)) {
    if (type === "string" && values[name] === true) throw new TypeError(`--${name} needs a value`);
  }
  const file = values["token-file"];
  const token = file ? readFileSync(file, "utf8").trim() : process.env.REFEREE_TOKEN || undefined;
  const address = values.connect === undefined ? undefined : readAddress(values.connect);
  return { address, tls: values.tls === true, ca: values.ca, token, name: values.name };
}

function readAddress(text) {
  const found = /^(?:\[(.+)\]|(.+)):([0-9]{1,5})$/.exec(text);
  if (!found) throw new TypeError(`'${text}' is not HOST:PORT`);
  return { host: found[1] ?? found[2], port: Number(found[3]) };
}

/** Resolves to a readable and a writable stream. Rejects if the referee cannot be reached or fails TLS verification. */
export function open(connection) {
  if (!connection.address) return Promise.resolve(takeStdio());
  const { host, port } = connection.address;
  return new Promise((resolve, reject) => {
    const servername = net.isIP(host) ? undefined : host;
    const ca = connection.ca && readFileSync(connection.ca);
    const where = { host, port, allowHalfOpen: true };
    const socket = connection.tls ? tls.connect({ ...where, servername, ca }) : net.connect(where);
    socket.setNoDelay(true);
    socket.setKeepAlive(true, 15_000); // detects a referee that has vanished
    socket.once("error", reject);
    socket.once(connection.tls ? "secureConnect" : "connect", () => {
      socket.off("error", reject);
      resolve({ input: socket, output: socket });
    });
  });
}

/** Takes stdout for the messages alone: what else is printed there must not come between them and goes to stderr. */
function takeStdio() {
  const { stdin, stdout, stderr } = process;
  const write = stdout.write.bind(stdout);
  stdout.write = stderr.write.bind(stderr);
  return { input: stdin, output: { write, on: (...args) => stdout.on(...args), end() {} } };
}
