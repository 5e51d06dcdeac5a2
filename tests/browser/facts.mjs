// Looks at what the page of a match in progress says of it.
// Usage: node facts.mjs CHROMIUM URL RATED.
import assert from "node:assert/strict";
import { launch, open } from "./tab.mjs";

const [executablePath, address, rated] = process.argv.slice(2);
const browser = await launch(executablePath);
const complaints = [];

try {
  const page = await open(browser, (what) => complaints.push(what), () => {});
  await page.goto(address);
  await page.waitForSelector("#state .live");
  assert.match(await page.textContent("#facts"), new RegExp(`^Began\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d UTCClock.*Rated${rated}$`));
  assert.deepEqual(complaints, [], "the browser complains");
} finally {
  await browser.close();
}
