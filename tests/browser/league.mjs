// Looks at the pages of a ladder in Chromium, and writes the bot of the page "Join" to a file.
// Usage: node league.mjs CHROMIUM URL PLAYER FILE. The environment variable PICTURES names a folder for pictures.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { fits, hasCard, isAccessible } from "./look.mjs";
import { launch, open } from "./tab.mjs";

const [executablePath, address, player, file] = process.argv.slice(2);
const browser = await launch(executablePath);
const pictures = process.env.PICTURES;
const complaints = [];
const requests = [];

async function visit(path = "", options = {}) {
  const page = await open(browser, (what) => complaints.push(what), (url) => requests.push(url), options);
  await page.goto(new URL(path, address).href);
  return page;
}

async function picture(page, name) {
  if (pictures) await page.screenshot({ path: `${pictures}/${name}.png`, fullPage: true });
}

try {
  const start = await visit();
  await start.waitForSelector("#standings tbody tr");
  assert.match(await start.textContent("#standings tbody tr:last-child"), /fixed/, "the anchor comes last, without a place");
  assert.match(await start.textContent("#standings tbody tr:first-child td:first-child"), /^1/, "the first one has a place");
  assert.ok(await start.locator("#standings .online").count() >= 2, "programs are online");
  await start.waitForFunction(() => document.getElementById("brand").textContent.endsWith("short"));
  await start.waitForFunction(() => document.querySelectorAll("#podium li").length >= 1);
  assert.match(await start.textContent("#title"), /leads?( together|, \d+ Elo ahead of .*)?$/, "who leads");
  assert.match(await start.textContent("#why"), / won \d+ of /);
  await fits(start);
  await hasCard(start);
  await isAccessible(start);
  assert.ok(await start.isVisible("#legend"), "a rating is provisional");
  await picture(start, "ladder");

  await start.click("#join a");
  await start.waitForFunction(() => document.getElementById("bot").textContent);
  assert.match(await start.textContent("#title"), /^Join .*short$/);
  assert.ok(await start.locator("#online a").count() >= 2);
  writeFileSync(file, await start.textContent("#bot"));
  await start.click("#copy");
  await start.waitForFunction(() => document.getElementById("copy").textContent !== "Copy the bot");
  await picture(start, "join");
  await fits(start);
  await isAccessible(start);

  // The page follows the league, and what it has asked for arrives late: a link stays while somebody presses it.
  const late = (path) => path.endsWith("/ladder") || (path.includes("/matches/") && path.endsWith("/events"));
  await start.route((url) => late(url.pathname), async (route) => {
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    // The page may be gone.
    await route.continue().catch(() => {});
  });
  await start.goto(new URL("standings", address).href);
  assert.deepEqual(await start.locator("#pages a").allTextContents(), ["Overview", "Standings", "Matches", "Live", "Rules", "Join"]);
  assert.equal(await start.textContent("#pages [aria-current]"), "Standings");
  await start.click(`#standings a:text-is("${player}")`, { delay: 2_000 });
  await start.waitForURL(`**/players/${player}`);
  await start.unrouteAll({ behavior: "ignoreErrors" });
  // A rating that does not change is a line without a height.
  await start.waitForSelector("#plot .line", { state: "attached" });
  assert.match(await start.textContent("#figures"), /Rated matches/);
  assert.match(await start.getAttribute("#plot", "aria-label"), /^Rating from \d{4}-\d\d-\d\d to .* Elo$/);
  await picture(start, "player");
  await start.waitForSelector("#opponents tbody tr");
  assert.match(await start.textContent("#ended li"), /^[WDL]/, "how it ended for this player");
  assert.ok(await start.locator("#ended li").count() <= 10, "the others are one click away");
  await fits(start);
  await isAccessible(start);
  await start.click("#ended a");
  await start.waitForSelector("#board g g");
  assert.match(await start.textContent("#facts"), /^Began\d{4}-\d\d-\d\d \d\d:\d\d UTCEnded\d{4}-\d\d-\d\d \d\d:\d\d UTC.*Clock.*Duration.*Rated/);
  const [, moves] = (await start.textContent("#title")).match(/(?:in|after) (\d+) moves?$/);
  assert.match(await start.textContent("#facts"), new RegExp(`Moves${moves}Rated`), "as in the heading");
  const below = await start.evaluate(() => ["plots", "about"].map((id) => document.getElementById(id).getBoundingClientRect().left));
  assert.ok(below[0] < below[1], "the facts stand beside the plots");
  assert.equal(await start.textContent("#get a"), "Download the record");
  await fits(start);
  await isAccessible(start);
  await picture(start, "match");
  await start.click(`#seats a:text-is("${player}")`);
  await start.waitForURL(`**/players/${player}`);

  await start.close();
  const page = await visit("", { viewport: { width: 390, height: 844 }, colorScheme: "dark" });
  for (const path of ["", "standings", "matches", "join", `players/${player}`]) {
    await page.goto(new URL(path, address).href);
    await page.waitForFunction(() => document.querySelector("#standings tbody tr, #ended li a, #bot:not(:empty), #plot .line"));
    await fits(page);
    // The others are looked at above.
    if (["standings", "matches"].includes(path)) await isAccessible(page);
    await picture(page, `phone-${path.replace("/", "-") || "ladder"}`);
  }
  await page.goto(new URL("players/nobody", address).href);
  await page.waitForSelector("#told:text-is('There is no such player.')");
  assert.equal(await page.locator("section:visible").count(), 0, "nothing else is shown");

  await page.goto(new URL("no/such/page", address).href);
  assert.equal(await page.textContent("h1"), "There is no such page");
  assert.ok(await page.locator("#pages a").count() > 4, "the way to all pages");
  await fits(page);
  await isAccessible(page);
  await page.click("#pages a");
  await page.waitForURL(new URL("./", address).href);

  assert.deepEqual(complaints.filter((what) => !what.includes("404")), [], "the browser complains");
  const others = requests.filter((url) => new URL(url).origin !== new URL(address).origin && url !== "data:,");
  assert.deepEqual(others, [], "the pages ask no other server");
} finally {
  await browser.close();
}
