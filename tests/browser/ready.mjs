// Looks at what pages of a ladder say of a player that has no result yet.
// Usage: node ready.mjs CHROMIUM URL PLAYER STATE.
import assert from "node:assert/strict";
import { fits, isAccessible } from "./look.mjs";
import { launch, open } from "./tab.mjs";

const [executablePath, address, player, state] = process.argv.slice(2);
const browser = await launch(executablePath);
const complaints = [];

try {
  const page = await open(browser, (what) => complaints.push(what), () => {});
  await page.goto(address);
  const row = `#standings tr:has(a:text-is("${player}"))`;
  await page.waitForSelector(`${row} small:text("${state}")`);
  assert.equal(await page.textContent(`${row} td:first-child`), "–", "it has no place yet");
  assert.ok(await page.isHidden("#join"), "only programs of the organiser play");
  await fits(page);
  await isAccessible(page);
  await page.click(`#standings a:text-is("${player}")`);
  await page.waitForSelector(`#state .tag:text("${state}")`);
  assert.match(await page.textContent("#told"), /^No rated match has ended yet/);
  await page.goto(new URL("join", address).href);
  await page.waitForSelector("#run:not([hidden])");
  assert.ok(await page.isHidden("#bot"), "there is nothing to connect to");
  assert.deepEqual(complaints, [], "the browser complains");
} finally {
  await browser.close();
}
