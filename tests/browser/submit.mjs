// Signs up with an invitation, hands in a program whose build fails, reads its log, hands in one that passes, and waits until it plays.
// Usage: node submit.mjs CHROMIUM URL INVITATION BAD GOOD.
import assert from "node:assert/strict";
import { fits, hasKeyboard, isAccessible } from "./look.mjs";
import { launch, open } from "./tab.mjs";

const [executablePath, address, invitation, bad, good] = process.argv.slice(2);
const browser = await launch(executablePath);
const complaints = [];

try {
  const page = await open(browser, (what) => { if (!what.includes("401")) complaints.push(what); }, () => {});
  await page.goto(`${address}#${invitation}`);
  await page.waitForSelector("#sign-up:not([hidden])");
  await page.fill("#id", "ada");
  await page.click("#sign-up-form button");
  await page.waitForSelector("#submissions-part:not([hidden])");
  const handIn = async (file) => {
    await page.setInputFiles("#archive", file);
    await page.click("#submit-form button");
  };
  await handIn(bad);
  await page.waitForSelector("#submissions .tag:text-is('failed')");
  await page.click("#submissions summary");
  await page.waitForSelector("#submissions .log:has-text('no such book')");
  await fits(page);
  await isAccessible(page);
  await hasKeyboard(page);
  await page.click("#submissions summary");
  await handIn(good);
  await page.waitForSelector("#submissions b:text-is('mouse@2')");
  await page.waitForSelector("#submissions .tag:text-is('playing')");
  await page.waitForSelector("#matches summary");
  await page.click("#matches summary >> nth=0");
  await page.waitForSelector("#matches .log:has-text('standard error')");
  // What is no archive is refused with a reason.
  await page.setInputFiles("#archive", { name: "x.tar", mimeType: "application/x-tar", buffer: Buffer.from("no archive") });
  await page.click("#submit-form button");
  await page.waitForSelector("#submissions b:text-is('submission 3')");
  assert.deepEqual(complaints, [], "the browser complains");
} finally {
  await browser.close();
}
