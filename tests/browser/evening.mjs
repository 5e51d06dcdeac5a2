// The evening of the finals: an operator reveals the matches of a knockout with keys, one after the other, before a projector.
// Usage: node evening.mjs CHROMIUM OPERATOR STAGE CHAMPION.
import assert from "node:assert/strict";
import { isAccessible } from "./look.mjs";
import { launch, open } from "./tab.mjs";

const [executablePath, operator, stage, champion] = process.argv.slice(2);
const browser = await launch(executablePath);
const complaints = [];

try {
  const projector = { viewport: { width: 1920, height: 1080 } };
  const shown = await open(browser, (what) => complaints.push(what), () => {}, projector);
  await shown.goto(stage);
  await shown.waitForSelector("#bracket .stage");
  const page = await open(browser, (what) => complaints.push(what), () => {});
  await page.goto(operator);
  await page.waitForSelector("#waiting li");
  const matches = await page.locator("#waiting li").count();
  for (let revealed = 0; revealed < matches; revealed++) {
    assert.match(await page.textContent("#state"), new RegExp(`^${matches - revealed} match(es)? waits? to be revealed`));
    const won = await shown.locator("#bracket .won").count();
    assert.ok(won <= revealed / 2, `${won} pairings are won after ${revealed} matches`);
    await page.keyboard.press(" ");
    await page.waitForSelector("#waiting .tag:text-is('revealed')");
    // Its board is on the projector, with who plays.
    await shown.waitForSelector("#boards svg g");
    await page.keyboard.press("s");
    await page.waitForFunction((left) => document.querySelectorAll("#waiting li").length === left, matches - revealed - 1);
    if (revealed === 0) await isAccessible(shown);
  }
  await shown.waitForSelector(`#bracket .stage:last-child .won:has-text("${champion}")`, { state: "attached" });
  // After the last result the bracket stands alone.
  await shown.waitForSelector("body.between #bracket .won");
  assert.equal(await shown.locator("#bracket .won").count(), matches / 2);
  await isAccessible(shown);
  assert.deepEqual(complaints, [], "the browser complains");
} finally {
  await browser.close();
}
