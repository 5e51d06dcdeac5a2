// Signs up with an invitation, adds a bot, lets it play, and looks at what only its owner sees.
// Usage: node owners.mjs CHROMIUM URL INVITATION ADDRESS.
import assert from "node:assert/strict";
import { createConnection } from "node:net";
import { createInterface } from "node:readline";
import { fits, hasKeyboard, isAccessible } from "./look.mjs";
import { launch, open } from "./tab.mjs";

const [executablePath, address, invitation, bots] = process.argv.slice(2);
const browser = await launch(executablePath);
const complaints = [], loaded = [];
/** The connection of the bot, which it makes again while it plays. */
let socket, isPlaying = true;

/** A bot that plays its first legal move. */
function connect(name, token) {
  const [host, port] = bots.split(":");
  const socket = createConnection({ host, port });
  const send = (message) => socket.write(`${JSON.stringify(message)}\n`);
  createInterface({ input: socket }).on("line", (line) => {
    const { type, match, turn, legal } = JSON.parse(line);
    if (type === "hello") send({ type, protocol: 1, name, token });
    if (type === "start") send({ type: "ready", match });
    if (type === "turn") send({ type: "move", match, turn, move: legal[0] });
  });
  return socket;
}

try {
  const page = await open(browser, (what) => { if (!/\b40[01]\b/.test(what)) complaints.push(what); }, (url) => loaded.push(url));
  // Without an invitation there is nothing to fill in but a token.
  await page.goto(address);
  await page.waitForSelector("#outside:not([hidden])");
  assert.ok(await page.isHidden("#sign-up"));
  await fits(page);
  await isAccessible(page);
  await page.goto("about:blank");
  await page.goto(`${address}#${invitation}`);
  await page.waitForSelector("#sign-up:not([hidden])");
  await page.fill("#id", "ada");
  await page.fill("#display", "Ada Lovelace");
  await page.fill("#affiliation", "<b>Low Tide Lab</b>");
  await page.click("#sign-up-form button");
  await page.waitForSelector("#new-token:not([hidden])");
  const token = await page.textContent("#new-token-text");
  assert.match(token, /^[0-9a-f]{64}$/);
  await page.setViewportSize({ width: 390, height: 844 });
  assert.ok(await page.evaluate(() => {
    const { scrollWidth, clientWidth } = document.getElementById("new-token-text");
    return scrollWidth <= clientWidth;
  }), "a phone shows all of the token");
  await page.click("#copy-token");
  await page.waitForFunction(() => document.getElementById("copy-token").textContent !== "Copy");
  await page.setViewportSize({ width: 1280, height: 800 });
  assert.ok(!page.url().includes(invitation), "the invitation is gone from the address");
  assert.ok((await page.textContent("#state")).includes("Ada Lovelace (ada)"));
  assert.equal(await page.textContent("#today"), "Bots0of at most 5Challenges4of 4 left");
  assert.equal(await page.inputValue("#own-affiliation"), "<b>Low Tide Lab</b>");

  await page.fill("#bot", "abacus");
  await page.click("#bot-form button");
  await page.waitForSelector("#bots b:text-is('abacus')");
  // A bot to begin with has all that it needs.
  await page.waitForSelector("#sample:not([hidden])");
  const sample = await page.textContent("#sample-text");
  assert.ok(sample.includes(`"name": "abacus"`) && sample.includes(`"token": "${token}"`) && sample.includes(bots.split(":")[1]), sample);
  // The server may not know of the bot yet.
  (function again() {
    if (!isPlaying) return;
    socket = connect("abacus", token);
    socket.on("close", () => setTimeout(again, 500));
  })();
  await page.waitForSelector("#matches details");
  await page.click("#matches summary >> nth=0");
  await page.waitForSelector("#matches .log");
  await fits(page);
  await isAccessible(page);
  await hasKeyboard(page);

  // The same bar leads to the pages of the ladder and back.
  const bar = () => page.locator("#pages a").allTextContents();
  const pages = await bar();
  assert.equal(await page.textContent(".own [aria-current]"), "Your bots");
  await page.click("#pages a:text-is('Standings')");
  await page.waitForSelector("#standings a:text-is('abacus')");
  assert.deepEqual(await bar(), pages);
  assert.equal(await page.textContent("#standings td.name:has(a:text-is('abacus')) small:last-child"), "Ada Lovelace · <b>Low Tide Lab</b>");
  await page.fill("#q", "tide lab");
  await page.waitForSelector("#count:text-is('1 to 1 of 1')");
  assert.equal(await page.textContent(".own a"), "Your bots");
  await page.goto(address);
  await page.waitForSelector("#own option", { state: "attached" });
  await page.selectOption("#others", "anchor");
  await page.click("#challenge-form button");
  await page.waitForSelector("#told p:text('It is played as soon as all are free.')");
  await page.click("#bots button:has-text('Pause')");
  await page.waitForSelector("#bots .tag:text-is('paused')");
  await page.click("#bots summary");
  await page.fill("#bots details input", "abacus ");
  await page.click("#bots details button");
  await page.waitForSelector("#told.bad p:text('to retire a bot, send its name')");
  await page.click("#bots summary");
  await page.fill("#bots details input", "abacus");
  await page.click("#bots details button");
  await page.waitForSelector("#bots .tag:text-is('retired')");

  await page.click("#token-form button");
  await page.waitForFunction((token) => {
    const { textContent: text } = document.getElementById("new-token-text");
    return text.length === token.length && text !== token;
  }, token);
  const second = await page.textContent("#new-token-text");
  await page.click("#sign-out");
  await page.waitForSelector("#outside:not([hidden])");
  await page.fill("#token", "wrong");
  await page.click("#sign-in-form button");
  await page.waitForSelector("#told.bad");
  await page.fill("#token", second);
  await page.click("#sign-in-form button");
  await page.waitForSelector("#inside:not([hidden])");
  assert.ok(loaded.every((url) => !url.includes(second) && !url.includes(token)), "no token is in an address");
  await page.click("summary:text('Leave the league')");
  await page.fill("#leave-id", "ada");
  await page.click("#leave-form button");
  await page.waitForSelector("#outside:not([hidden])");
  assert.deepEqual(complaints, [], "the browser complains");
} finally {
  isPlaying = false;
  socket?.destroy();
  await browser.close();
}
