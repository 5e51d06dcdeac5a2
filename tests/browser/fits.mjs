// Looks whether pages fit all screens and are accessible.
// Usage: node fits.mjs CHROMIUM URL...
import assert from "node:assert/strict";
import { fits, hasCard, isAccessible } from "./look.mjs";
import { launch, open } from "./tab.mjs";

const [executablePath, ...urls] = process.argv.slice(2);
const browser = await launch(executablePath);
const complaints = [];

try {
  const page = await open(browser, (what) => complaints.push(what), () => {});
  for (const url of urls) {
    await page.goto(url);
    await page.waitForSelector("h1");
    await fits(page);
    await isAccessible(page);
    await hasCard(page);
  }
  assert.deepEqual(complaints, [], "the browser complains");
} finally {
  await browser.close();
}
