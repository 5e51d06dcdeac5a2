// A bot speaks the protocol; what the shared vectors do not show.

import assert from "node:assert/strict";
import { test } from "node:test";
import { begin, hello, start, turn } from "./fake_referee.js";

test("what the bot prints does not reach the referee", async () => {
  const referee = start(`
    await run((turn) => { console.log("loud"); process.stdout.write("raw"); return turn.legal[0]; }, { name: "loud" });
    console.log("after");`);
  referee.send(begin("m1"), turn("m1", ["a"]));
  assert.equal((await referee.receive()).type, "ready");
  assert.equal((await referee.receive()).move, "a");
  const { status, stderr } = await referee.finish();
  assert.equal(status, 0);
  for (const text of ["loud", "raw", "after"]) assert.ok(stderr.includes(text), stderr);
});

test("a bot that waits for something plays its other matches meanwhile", async () => {
  const referee = start(`
    let go;
    const second = new Promise((resolve) => (go = resolve));
    await run(async ({ match, legal }) => {
      if (match === "m1") await second; else go();
      return legal[0];
    }, { name: "slow", slots: 2 });`);
  referee.send(begin("m1"), begin("m2"), turn("m1", ["a"]), turn("m2", ["b"]));
  await referee.receive();
  await referee.receive();
  assert.deepEqual([(await referee.receive()).match, (await referee.receive()).match], ["m2", "m1"]);
  assert.equal((await referee.finish()).status, 0);
});

for (const [name, code, reason] of [
  ["an exception", "() => { throw new Error('defect'); }", /defect/],
  ["a rejection", "async () => { throw new Error('defect'); }", /defect/],
  ["a forgotten return", "() => {}", /TypeError: choose returned undefined/],
]) {
  test(`${name} ends the bot with a reason`, async () => {
    const referee = start(`await run(${code}, { name: "broken" });`);
    referee.send(begin("m1"), turn("m1", ["a"]));
    const { status, stderr } = await referee.ended;
    assert.equal(status, 1);
    assert.match(stderr, reason);
  });
}

test("an exception in the last call of the bot is not lost", async () => {
  const referee = start("await run({ choose() {}, end() { throw new Error('defect'); } }, { name: 'broken' });");
  const end = { type: "end", match: "m1", seat: 0, ended_by: "aborted", reason: "aborted" };
  referee.send(begin("m1"), end, { type: "bye", reason: "done" });
  const { status, stderr } = await referee.ended;
  assert.equal(status, 1);
  assert.match(stderr, /defect/);
});

test("a name that the protocol forbids is refused at once", async () => {
  const { status, stderr } = await start("await run(() => 'a', { name: 'a/b' });").ended;
  assert.equal(status, 1);
  assert.match(stderr, /RangeError: name "a\/b": must be/);
});

test("a referee that reads no more ends the bot with status 0", async () => {
  const referee = start("await run(() => 'a', { name: 'first' });");
  referee.readNoMore();
  referee.send(hello());
  assert.equal((await referee.ended).status, 0);
});
