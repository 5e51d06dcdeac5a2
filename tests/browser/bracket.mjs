// Looks at the live page of a knockout that has ended.
// Usage: node bracket.mjs CHROMIUM URL CHAMPION.
import assert from "node:assert/strict";
import { fits, isAccessible } from "./look.mjs";
import { launch, open } from "./tab.mjs";

const [executablePath, address, champion] = process.argv.slice(2);
const browser = await launch(executablePath);
const complaints = [];

try {
  const page = await open(browser, (what) => complaints.push(what), () => {});
  await page.goto(address);
  await page.waitForSelector("#bracket .stage");
  assert.deepEqual(await page.locator("#bracket h3").allTextContents(), ["Semi-finals", "Final"]);
  assert.equal(await page.textContent("#bracket .stage:last-child .won span:first-child"), champion);
  const tops = await page.evaluate(() => {
    const bracket = document.getElementById("bracket"), more = [0, 1, 2].map(() => bracket.lastElementChild.cloneNode(true));
    bracket.append(...more);
    const tops = [...bracket.children].map((stage) => stage.getBoundingClientRect().top);
    more.forEach((stage) => stage.remove());
    return tops;
  });
  assert.deepEqual(tops, Array(5).fill(tops[0]), "each round is a column, however many there are");
  assert.ok(await page.isHidden("#podium"), "points give no places in a knockout");
  await fits(page);
  await isAccessible(page);
  // Between matches the projector shows the bracket alone.
  await page.setViewportSize({ width: 1920, height: 1080 });
  await page.goto(new URL("?stage", address).href);
  await page.waitForSelector("#bracket .stage");
  for (const hidden of [".top", "#standings", "footer"]) assert.ok(await page.isHidden(hidden), hidden);
  // Only screen readers have the heading.
  assert.equal((await page.locator("h1").boundingBox()).height, 1);
  await isAccessible(page);
  assert.ok(await page.isVisible("#bracket"));
  assert.deepEqual(complaints, [], "the browser complains");
} finally {
  await browser.close();
}
