// Looks at the display name of a player on all pages of a ladder.
// Usage: node names.mjs CHROMIUM URL PLAYER NAME MATCH.
import assert from "node:assert/strict";
import { fits, isAccessible } from "./look.mjs";
import { launch, open } from "./tab.mjs";

const [executablePath, address, player, name, match] = process.argv.slice(2);
const browser = await launch(executablePath);
const complaints = [];

try {
  const page = await open(browser, (what) => complaints.push(what), () => {});
  const visit = (path) => page.goto(new URL(path, address).href);
  await visit("");
  await page.waitForSelector(`#standings a:text-is("${name}")`);
  const cell = await page.textContent(`#standings td.name:has(a:text-is("${name}"))`);
  assert.ok(cell.includes(player), "its id is beside it");
  assert.ok(await page.evaluate(() => [...document.querySelectorAll("#standings td.name")].filter((cell) => cell.querySelector(".online")).every((cell) => {
    const [name, dot] = [cell.querySelector("a"), cell.querySelector(".online")];
    const texts = document.createTreeWalker(name, NodeFilter.SHOW_TEXT), letters = document.createRange();
    letters.setStart(texts.nextNode(), 0);
    do letters.setEnd(texts.currentNode, texts.currentNode.length); while (texts.nextNode());
    // There is room for the name without the dot.
    cell.style.display = "block";
    cell.style.width = `${letters.getBoundingClientRect().width + 4}px`;
    return dot.getBoundingClientRect().top < [...letters.getClientRects()].at(-1).bottom;
  })), "the dot of who is online stays with the name");
  await page.reload();
  await page.waitForSelector(`#standings a:text-is("${name}")`);
  assert.ok((await page.textContent("#podium")).includes(name));
  assert.ok((await page.textContent("#title")).includes(name));
  assert.ok((await page.textContent("#ended li")).includes(name));
  await page.click(`#standings a:text-is("${name}")`);
  await page.waitForFunction((name) => document.getElementById("title").textContent === name, name);
  assert.ok((await page.textContent("#state")).includes(player), "its id is on its page");
  assert.ok((await page.textContent("#ended li")).includes(name));
  await fits(page);
  await isAccessible(page);
  await visit(`matches/${match}`);
  await page.waitForSelector("#board g g");
  assert.ok((await page.locator("#seats .name").allTextContents()).includes(name));
  assert.ok((await page.textContent("#title")).includes(name));
  await visit("join");
  await page.waitForSelector(`#online a:text-is("${name}")`);
  assert.deepEqual(complaints, [], "the browser complains");
} finally {
  await browser.close();
}
