// The evening of the finals: an operator reveals the matches of a knockout with keys, one after the other, before a projector.
// Usage: node evening.mjs CHROMIUM OPERATOR STAGE CHAMPION LADDER.
import assert from "node:assert/strict";
import { isAccessible } from "./look.mjs";
import { launch, open } from "./tab.mjs";

const [executablePath, operator, stage, champion, ladder] = process.argv.slice(2);
const browser = await launch(executablePath);
const complaints = [];

try {
  const of = await open(browser, (what) => complaints.push(what), () => {});
  await of.goto(ladder);
  await of.waitForSelector("#finals a:text-is('Finals of short')");
  assert.ok((await of.textContent("#finals")).endsWith("No match begins: the organiser has paused this ladder."));
  await of.close();
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
    if (revealed === 0) {
      const who = shown.locator("#boards .who").first();
      assert.equal(await who.evaluate((line) => getComputedStyle(line).fontSize), "48px");
      await who.locator(".score:text-is('0')").waitFor();
      await who.locator(".clock").filter({ hasText: /^\d+:\d\d$/ }).waitFor();
      const { height } = await shown.locator("#boards .board").boundingBox();
      assert.ok(height > 0.75 * projector.viewport.height, `the board is ${height} px high`);
      assert.ok(await shown.evaluate(() => document.documentElement.scrollHeight <= innerHeight), "all of it is on the projector");
    }
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
