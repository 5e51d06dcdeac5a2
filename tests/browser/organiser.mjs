// An organiser signs in, looks, pauses a ladder, bans an owner and announces something.
// Usage: node organiser.mjs CHROMIUM URL TOKEN.
import assert from "node:assert/strict";
import { fits, hasKeyboard, isAccessible } from "./look.mjs";
import { launch, open } from "./tab.mjs";

const [executablePath, address, token] = process.argv.slice(2);
const browser = await launch(executablePath);
const complaints = [];

try {
  const page = await open(browser, (what) => { if (!what.includes("401")) complaints.push(what); }, () => {});
  await page.goto(address);
  await page.waitForSelector("#outside:not([hidden])");
  await isAccessible(page);
  await page.fill("#token", token);
  await page.click("#sign-in-form button");
  await page.waitForSelector("#bots b:text-is('crab')");
  await page.waitForSelector("#bots li:has(b:text-is('crab')) .tag:text-is('never played')");
  await page.waitForSelector("#queues b:text-is('short')");
  await page.waitForSelector("#calm li:has(b:text-is('one'))", { state: "attached" });
  assert.deepEqual(await page.locator("#ladders a").allTextContents(), ["other", "short"], "the bar leads to both ladders");
  assert.match(await page.textContent("#events li"), /^Deadline: .* \(short\), in \d+ d \d+ h 2099-12-03 20:00 UTC$/);
  const closed = page.locator("#queues li:has(b:text-is('other'))");
  assert.match(await closed.textContent(), /closed.*Closed by an event at 2026-01-02 09:00 UTC until 2099-12-04 09:00 UTC\./);
  assert.equal(await closed.locator("button:has-text('Resume')").count(), 0, "what an event has closed cannot be resumed");
  await fits(page);
  await isAccessible(page);
  await hasKeyboard(page);
  await page.click("#queues li:has(b:text-is('short')) button:has-text('Pause')");
  await page.waitForSelector("#queues .tag:text-is('paused')");
  await page.click("#owners li:has(b:has-text('ada')) button:has-text('Ban')");
  await page.waitForSelector("#owners .tag:text-is('banned')");
  await page.fill("#announce-heading", "Finals on Friday");
  await page.fill("#announce-text", "In room **5**.");
  await page.click("#announce-form button");
  await page.waitForSelector("#told p:text('It is announced.')");
  await page.waitForSelector("#log li:has-text('organiser jury')");
  // What is removed has to be named.
  await page.click("#bots li:has(b:text-is('crab')) summary:has-text('Remove')");
  await page.fill("#bots li:has(b:text-is('crab')) details[open] input", "one");
  await page.click("#bots li:has(b:text-is('crab')) details[open] button");
  await page.waitForSelector("#told.bad");
  await page.click("#sign-out");
  await page.waitForSelector("#outside:not([hidden])");
  assert.deepEqual(complaints, [], "the browser complains");
} finally {
  await browser.close();
}
