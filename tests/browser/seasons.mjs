// Looks at the pages of a season that has ended.
// Usage: node seasons.mjs CHROMIUM URL SEASON WINNER.
import assert from "node:assert/strict";
import { fits, isAccessible } from "./look.mjs";
import { launch, open } from "./tab.mjs";

const [executablePath, address, season, winner] = process.argv.slice(2);
const browser = await launch(executablePath);
const complaints = [];

try {
  const page = await open(browser, (what) => complaints.push(what), () => {});
  await page.goto(address);
  await page.click(`#pages a:text-is("Seasons")`);
  await page.waitForURL("**/seasons");
  assert.ok((await page.textContent("#main li")).includes(`won by ${winner}`));
  await fits(page);
  await isAccessible(page);
  await page.click(`#main a:text-is("${season}")`);
  await page.waitForURL(`**/seasons/${season}`);
  assert.equal(await page.textContent("h1"), season);
  assert.ok((await page.textContent(".lede")).startsWith(`${winner} came first`));
  assert.equal(await page.textContent("tbody tr:first-child td.name a"), winner);
  assert.deepEqual(await page.locator("tbody td.name small").allTextContents(), ["club"], "the owner, if it has another name");
  await fits(page);
  await isAccessible(page);
  await page.click("section[aria-labelledby=matches-title] li a");
  await page.waitForSelector("#board g g");
  assert.deepEqual(complaints, [], "the browser complains");
} finally {
  await browser.close();
}
