// Looks at the countdown to the next events of a league, on the pages of spectators and of owners.
// Usage: node events.mjs CHROMIUM URL...
import assert from "node:assert/strict";
import { fits, isAccessible } from "./look.mjs";
import { launch, open } from "./tab.mjs";

const [executablePath, ...addresses] = process.argv.slice(2);
const browser = await launch(executablePath);
const complaints = [];

try {
  for (const address of addresses) {
    // Who has not signed in is told so.
    const page = await open(browser, (what) => { if (!what.includes("401")) complaints.push(what); }, () => {});
    await page.goto(address);
    await page.waitForSelector("#events li");
    const lines = await page.locator("#events li").allTextContents();
    assert.equal(lines.length, 2, address);
    assert.match(lines[0], /^Deadline: no sign-ups, new versions or submissions, in \d+ d \d+ h 2999-01-01 00:00 UTC$/);
    assert.match(lines[1], /^Season autumn ends, in /);
    await fits(page);
    await isAccessible(page);
  }
  assert.deepEqual(complaints, [], "the browser complains");
} finally {
  await browser.close();
}
