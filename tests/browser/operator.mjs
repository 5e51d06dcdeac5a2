// Reveals a match with a key on the page of the operator, and looks at the stage.
// Usage: node operator.mjs CHROMIUM OPERATOR STAGE.
import assert from "node:assert/strict";
import { fits, isAccessible } from "./look.mjs";
import { launch, open } from "./tab.mjs";

const [executablePath, operator, stage] = process.argv.slice(2);
const browser = await launch(executablePath);
const complaints = [];

try {
  const shown = await open(browser, (what) => complaints.push(what), () => {});
  await shown.goto(stage);
  await shown.waitForSelector("#bracket .stage");
  assert.equal(await shown.locator("#bracket .won").count(), 0);
  const page = await open(browser, (what) => complaints.push(what), () => {});
  await page.goto(operator);
  await page.waitForSelector("#waiting li");
  assert.match(await page.textContent("#state"), /^3 matches wait to be revealed/);
  await fits(page);
  await isAccessible(page);
  await page.keyboard.press(" ");
  await page.waitForSelector("#waiting .tag:text-is('revealed')");
  await page.keyboard.press("s");
  await shown.waitForSelector("#bracket .won", { state: "attached" });
  assert.equal(await shown.locator("#bracket .won").count(), 1);
  assert.deepEqual(complaints, [], "the browser complains");
} finally {
  await browser.close();
}
