// The whole way of an owner: signs up with an invitation, hands in a program whose build fails, reads its log, hands in one that passes,
// reads the log of a match, looks at the replay of a fault, asks for a match, finds a ruling, and is in the standings of the season.
// Usage: node submit.mjs CHROMIUM URL INVITATION BAD GOOD REFEREE LEAGUE.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { fits, hasKeyboard, isAccessible } from "./look.mjs";
import { launch, open } from "./tab.mjs";

const [executablePath, address, invitation, bad, good, referee, league] = process.argv.slice(2);
/** What the organiser does. */
const organise = (...args) => execFileSync(referee, ["league", ...args, "--league", league]);
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
  await page.waitForSelector("#failed .log:has-text('no such book')");
  assert.equal(await page.textContent("#failed-title"), "mouse@1 has failed");
  await page.click("#submissions summary");
  await page.waitForSelector("#submissions .log:has-text('no such book')");
  await fits(page);
  await isAccessible(page);
  await hasKeyboard(page);
  await page.click("#submissions summary");
  await handIn(good);
  await page.waitForSelector("#submissions b:text-is('mouse@2')");
  await page.waitForSelector("#submissions .tag:text-is('playing')");
  await page.waitForSelector("#failed", { state: "hidden" });
  await page.waitForSelector("#matches summary");
  await page.click("#matches summary >> nth=0");
  await page.waitForSelector("#matches .log:has-text('standard error')");
  // What is no archive is refused with a reason.
  await page.setInputFiles("#archive", { name: "x.tar", mimeType: "application/x-tar", buffer: Buffer.from("no archive") });
  await page.click("#submit-form button");
  await page.waitForSelector("#submissions b:text-is('submission 3')");
  assert.equal(await page.isVisible("#submissions li:has(b:text-is('mouse@2')) a:text('Download')"), true);

  await page.click("#faults summary");
  await page.waitForSelector("#faults .log:has-text('standard error')");
  const replay = await page.getAttribute("#faults a >> nth=0", "href");
  await page.goto(replay);
  await page.waitForSelector("#board g g");
  await page.waitForSelector("#main :text('illegal')");
  const pages = replay.replace(/matches\/.*/, "");

  await page.goto(address);
  await page.waitForSelector("#own option[value='mouse@2']", { state: "attached" });
  await page.selectOption("#own", "mouse@2");
  await page.selectOption("#others", "plain");
  await page.click("#challenge-form button");
  await page.waitForSelector("#told p:text('It is played as soon as all are free.')");
  await page.waitForFunction(async () => {
    const { matches } = await (await fetch("api/v1/owner/matches?limit=200")).json();
    return matches.some(({ id }) => id.startsWith("c"));
  });

  const id = replay.split("/").pop();
  organise("rule", "void", id, "--reason", "a power cut");
  // A page follows within a second, and is read once.
  for (let tries = 0; tries < 100 && await page.isHidden("#ruling"); tries += 1) {
    await page.waitForTimeout(300);
    await page.goto(replay);
    await page.waitForSelector("#board g g");
  }
  assert.ok((await page.textContent("#ruling")).includes("a power cut"));

  organise("season", "end", "autumn");
  await page.goto(`${pages}seasons/autumn`);
  await page.click("td.name a:text-is('mouse@2')");
  await page.waitForSelector("#title:text-is('mouse@2')");
  assert.deepEqual(complaints, [], "the browser complains");
} finally {
  await browser.close();
}
