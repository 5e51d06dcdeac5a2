// The same bot plays over TCP, and over TLS with a referee that can show who it is.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import net from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, test } from "node:test";
import tls from "node:tls";
import { hello, start } from "./fake_referee.js";

const BOT = "await run((turn) => turn.legal[0], { name: 'first' });";
const folder = mkdtempSync(join(tmpdir(), "referee-bot-"));
after(() => rmSync(folder, { recursive: true }));

function makeCertificate(host) {
  const [key, cert] = [join(folder, "key.pem"), join(folder, "ca.pem")];
  const names = ["-subj", `/CN=${host}`, "-addext", `subjectAltName=DNS:${host}`];
  const kind = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"];
  execFileSync("openssl", ["req", "-x509", ...kind, "-keyout", key, "-out", cert, ...names], { stdio: "ignore" });
  return { key: readFileSync(key), cert: readFileSync(cert) };
}

/** Asks a bot that connects for its token and resolves to what it says, and how it ends. */
async function talk(args, { certificate, env } = {}) {
  let said = null;
  const serve = (socket) => {
    socket.on("error", () => {});
    socket.write(JSON.stringify(hello("token")) + "\n");
    createInterface({ input: socket }).once("line", (line) => {
      said = JSON.parse(line);
      socket.end();
    });
  };
  const server = certificate ? tls.createServer(certificate, serve) : net.createServer(serve);
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const bot = start(BOT, ["--connect", `localhost:${server.address().port}`, ...args], env);
  const ended = await bot.ended;
  server.close();
  return { said, ...ended };
}

test("the token is read from a file, or from the environment", async () => {
  const path = join(folder, "token");
  writeFileSync(path, "from a file\n");
  const env = { REFEREE_TOKEN: "from the environment" };
  const [one, two, none] = [await talk(["--token-file", path], { env }), await talk([], { env }), await talk([])];
  assert.deepEqual([one.said.token, one.status], ["from a file", 0]);
  assert.equal(two.said.token, "from the environment");
  assert.ok(!("token" in none.said));
});

test("a referee with a certificate of the named authority is trusted", async () => {
  const certificate = makeCertificate("localhost");
  const { said, status, stderr } = await talk(["--tls", "--ca", join(folder, "ca.pem")], { certificate });
  assert.deepEqual([said?.name, status], ["first", 0], stderr);
});

test("a referee that cannot prove its identity gets no token", async () => {
  const unknown = await talk(["--tls"], { certificate: makeCertificate("localhost") });
  const certificate = makeCertificate("elsewhere.example");
  const wrong = await talk(["--tls", "--ca", join(folder, "ca.pem")], { certificate });
  for (const { said, status, stderr } of [unknown, wrong]) {
    assert.deepEqual([said, status], [null, 1]);
    assert.match(stderr, /DEPTH_ZERO_SELF_SIGNED_CERT|ERR_TLS_CERT_ALTNAME_INVALID/);
  }
});

test("an address without a port is refused with a reason", async () => {
  const { status, stderr } = await start(BOT, ["--connect", "localhost"]).ended;
  assert.equal(status, 1);
  assert.match(stderr, /'localhost' is not HOST:PORT/);
});

test("a referee that is not there is an error", async () => {
  const server = net.createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  const { status, stderr } = await start(BOT, ["--connect", `127.0.0.1:${port}`]).ended;
  assert.equal(status, 1);
  assert.match(stderr, /ECONNREFUSED/);
});
