// Searches the standings of a site with 200 entrants in Chromium, opened from disk.
// Usage: node search.mjs CHROMIUM DIRECTORY
import assert from "node:assert/strict";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { fits, hasKeyboard, isAccessible } from "./look.mjs";
import { launch, open } from "./tab.mjs";

const [executablePath, directory] = process.argv.slice(2);
const browser = await launch(executablePath);
const complaints = [];
try {
  const page = await open(browser, (what) => complaints.push(what), () => {});
  const address = pathToFileURL(join(directory, "index.html")).href;
  await page.goto(address);
  const names = () => page.locator("#rows tbody .name a").allTextContents();
  const first = await names();
  assert.equal(first.length, 50);
  const nodes = await page.evaluate(() => document.querySelectorAll("*").length);
  assert.ok(nodes < 3000, `${nodes} nodes`);
  await page.fill("#q", "number 17");
  const found = await names();
  assert.equal(found.length, 11, found.join());
  assert.ok(found.every((name) => name.startsWith("Entrant number 17")), found.join());
  assert.equal(await page.textContent("#count"), "11 found");
  await page.fill("#q", "<b>nobody");
  assert.deepEqual(await names(), []);
  await page.fill("#q", "");
  assert.deepEqual(await names(), first);
  await isAccessible(page);
  await fits(page);
  await hasKeyboard(page);
  await page.fill("#q", "number 200");
  await page.click("#rows tbody .name a");
  assert.equal(await page.textContent("h1"), "Entrant number 200");
  await page.goBack();
  await page.click(".pager a:nth-child(4)");
  assert.equal((await names()).length, 50);
  assert.deepEqual(complaints, [], "the browser complains");
} finally {
  await browser.close();
}
