// Looks at rulings on the pages of a ladder: one that is public, and one whose reason is not.
// Usage: node rulings.mjs CHROMIUM URL MATCH REASON OTHER_MATCH.
import assert from "node:assert/strict";
import { fits, isAccessible } from "./look.mjs";
import { launch, open } from "./tab.mjs";

const [executablePath, address, match, reason, other] = process.argv.slice(2);
const browser = await launch(executablePath);
const complaints = [];

try {
  const page = await open(browser, (what) => complaints.push(what), () => {});
  await page.goto(address);
  await page.waitForSelector("#rulings li:nth-child(2)");
  const [latest, first] = await page.locator("#rulings li").allTextContents();
  assert.match(latest, new RegExp(`^${other} is awarded to one.*Ruling 2`));
  assert.ok(first.startsWith(`${match} is void${reason}`), first);
  await page.waitForFunction(() => document.querySelectorAll("#ended .tag.warn").length === 2);
  await page.evaluate(() => { for (const tag of document.querySelectorAll("#ended .tag")) tag.textContent += " of a-bot-with-a-name-as-long-as-names-may-be"; });
  await fits(page);
  await isAccessible(page);
  await page.click(`#rulings a:text-is("${match}")`);
  await page.waitForSelector("#ruling:not([hidden])");
  const said = await page.textContent("#ruling");
  assert.ok(said.startsWith("This match is void by ruling 1 of ") && said.endsWith(reason), said);
  await page.waitForSelector("#board g g");
  await fits(page);
  await isAccessible(page);
  await page.goto(new URL(`matches/${other}`, address).href);
  await page.waitForSelector("#ruling:not([hidden])");
  assert.match(await page.textContent("#ruling"), /^This match is awarded to one by ruling 2 of \S+\.$/);
  assert.deepEqual(complaints, [], "the browser complains");
} finally {
  await browser.close();
}
