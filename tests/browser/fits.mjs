// Looks whether pages fit all screens and A4, and are accessible.
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
    // A4 without its margins, in light even where the screen is dark.
    await page.emulateMedia({ media: "print", colorScheme: "dark" });
    await page.setViewportSize({ width: 680, height: 960 });
    const print = await page.evaluate(() => [document.documentElement.scrollWidth, getComputedStyle(document.body).color, getComputedStyle(document.querySelector(".top")).display]);
    assert.deepEqual(print, [680, "rgb(27, 30, 33)", "none"], url);
    await page.emulateMedia({ media: null, colorScheme: null });
    await page.setViewportSize({ width: 1280, height: 800 });
  }
  assert.deepEqual(complaints, [], "the browser complains");
} finally {
  await browser.close();
}
