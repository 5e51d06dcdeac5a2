// Runs the WebAssembly module of a game as a program: `node wasm_rules.mjs FILE`.
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";

const module = new WebAssembly.Module(readFileSync(process.argv[2]));
for await (const line of createInterface({ input: process.stdin })) {
  const { memory, alloc, handle } = new WebAssembly.Instance(module).exports;
  const request = new TextEncoder().encode(line);
  const at = alloc(request.length);
  new Uint8Array(memory.buffer).set(request, at);
  const answer = BigInt.asUintN(64, handle(at, request.length));
  const [offset, length] = [Number(answer >> 32n), Number(answer & 0xffffffffn)];
  console.log(new TextDecoder("utf-8", { fatal: true }).decode(new Uint8Array(memory.buffer, offset, length)));
}
