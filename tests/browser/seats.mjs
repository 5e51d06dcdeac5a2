// Looks at the names of the seats on the page of a match.
// Usage: node seats.mjs CHROMIUM FILE NAME...
import assert from "node:assert/strict";
import { pathToFileURL } from "node:url";
import { launch, open } from "./tab.mjs";

const [executablePath, file, ...names] = process.argv.slice(2);
const browser = await launch(executablePath);
const complaints = [];

try {
  const page = await open(browser, (what) => complaints.push(what), () => {});
  await page.goto(pathToFileURL(file).href);
  await page.waitForSelector("#seats .name");
  assert.deepEqual((await page.locator("#seats .name").allTextContents()).sort(), names.sort());
  assert.deepEqual(complaints, [], "the browser complains");
} finally {
  await browser.close();
}
