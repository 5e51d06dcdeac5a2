// Looks at what bots reported on a page of a run, at the widths of a desk and a phone, in Chromium.
// Usage: node reported.mjs CHROMIUM URL TEXT, where TEXT is in the tables.
import assert from "node:assert/strict";
import { fits, isAccessible } from "./look.mjs";
import { launch, open } from "./tab.mjs";

const [executablePath, address, text] = process.argv.slice(2);
const browser = await launch(executablePath);
const complaints = [];
try {
  for (const width of [1280, 390]) {
    const page = await open(browser, (what) => complaints.push(what), () => {}, { viewport: { width, height: 800 } });
    await page.goto(address);
    await page.waitForSelector("#reported table");
    assert.deepEqual(await page.locator("#reported h2").allTextContents(), ["Answers", "Usage"]);
    assert.ok((await page.textContent("#reported")).includes(text));
    await fits(page);
    await isAccessible(page);
    if (process.env.PICTURES) await page.screenshot({ path: `${process.env.PICTURES}/reported-${width}.png`, fullPage: true });
  }
  assert.deepEqual(complaints, []);
} finally {
  await browser.close();
}
