// Looks at the pages of `--watch` in Chromium.
// Usage: node watch.mjs CHROMIUM URL GO CHECK..., where a check is one of `checks` below, and GO is the file for which the
// bots of the first match wait. The environment variable PICTURES names a folder for pictures.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { fits, hasCard, hasKeyboard, isAccessible } from "./look.mjs";
import { launch, open } from "./tab.mjs";

const [executablePath, address, goFile, ...names] = process.argv.slice(2);
const browser = await launch(executablePath);
const pictures = process.env.PICTURES;

/** What went wrong in a page, and what it asked for. */
const complaints = [];
const requests = [];

async function visit(path = "", options = {}, prepare = () => {}) {
  const page = await open(browser, (what) => complaints.push(what), (url) => requests.push(url), options);
  await prepare(page);
  await page.goto(new URL(path, address).href);
  return page;
}

/** Saves a picture for people, if a folder for them is named. */
async function picture(page, name) {
  if (!pictures) return;
  const game = (await page.title()).replace(/\W+/g, "-").slice(0, 20);
  await page.screenshot({ path: `${pictures}/${name}-${game}.png`, fullPage: true });
}

/** Texts that become scripts where markup is made of them. */
const HOSTILE = JSON.parse(readFileSync(new URL("hostile.json", import.meta.url), "utf8"));

const place = (page) => page.evaluate(() => document.getElementById("place").textContent.split(" / ").map(Number));
const drawn = (page) => page.evaluate(() =>
  [...document.querySelectorAll("#board g g")].map((g) => `${g.style.transform} ${g.innerHTML}`).sort());

const checks = {
  /** The start page lists the matches in progress and the standings. */
  async overview() {
    const page = await visit();
    await page.waitForSelector("#boards li");
    assert.ok(await page.locator("#standings tbody tr").count() >= 2);
    assert.match(await page.textContent("#boards li"), /one.*two|two.*one/);
    assert.deepEqual(await page.locator("#pages a").allTextContents(), ["Overview", "Standings", "Matches", "Live", "Rules"]);
    assert.match(await page.textContent("#title"), /: no result yet$/, "the first sentence says who leads");
    // Boards of matches in progress are drawn on the start page.
    await page.waitForSelector("#boards svg g");
    assert.ok(requests.some((url) => url.includes("/api/v1/boards?")), "one request for all boards");
    assert.deepEqual(requests.filter((url) => /matches\/.*\/events/.test(url)), [], "none for each");
    await fits(page);
    await hasCard(page);
    await hasKeyboard(page);
    await isAccessible(page);
    await picture(page, "overview");
    await page.click("#all-running");
    await page.waitForURL("**/live");
    await page.waitForSelector("#boards li svg g");
    const [above] = await page.locator("#boards li:first-child .who").evaluateAll((lines) => lines.map((line) => line.firstChild.className));
    assert.notEqual(above, "badge b-white", "White is at the bottom, as on its board");
    await fits(page);
    await isAccessible(page);
    await page.click("#boards a");
    await page.waitForSelector("#board g g");
    assert.match(page.url(), /\/matches\/m\d$/);
  },

  /** The start page lists matches of an earlier part of the run, which have replays. */
  async earlier() {
    const page = await visit();
    await page.waitForSelector("#ended a");
    assert.deepEqual(await page.locator("#ended a").allTextContents(), ["m3", "m2", "m1"]);
    await page.click("#ended li:last-child a");
    await page.waitForFunction(() => document.getElementById("result")?.textContent.length > 4);
    await page.waitForSelector("#board g g");
    assert.match(await page.title(), /^ann (beat bob in|and bob drew after) \d+ moves, Checkers$|^bob beat ann in \d+ moves, Checkers$/);
  },

  /** The start page of a tournament that was played: its name, who won, and a replay for each match. */
  async afterwards() {
    const page = await visit();
    await page.waitForSelector("#ended a");
    assert.equal(await page.textContent("#brand"), "Spring cup");
    assert.match(await page.textContent("#title"), / won Spring cup$| share the first place$/);
    assert.match(await page.textContent("#state"), /^Checkers · 0 in progress, 3 ended$/);
    assert.equal(await page.locator("#standings tbody tr").count(), 3);
    await fits(page);
    await isAccessible(page);
    await picture(page, "afterwards");
    for (const id of ["m1", "m2", "m3"]) {
      await page.goto(new URL(`matches/${id}`, address).href);
      await page.waitForSelector("#board g g");
      const [at, last] = await place(page);
      assert.ok(at === last && last > 0, "a replay opens at its end");
    }
  },

  /** The page of a match follows it to its end. A viewer who has gone back stays there. */
  async live() {
    const page = await visit("matches/m1");
    await page.waitForFunction(() => document.getElementById("place").textContent.split(" / ")[1] >= 5);
    assert.equal(await page.textContent("#state"), "Live");
    const [at, last] = await place(page);
    assert.equal(at, last, "it follows the match");
    const labels = await page.locator("#board text").allTextContents();
    assert.deepEqual(labels.filter((label) => /^seat \d/.test(label)), [], "labels are names");
    assert.match(await page.textContent("#facts"), /^Began\d{4}-\d\d-\d\d \d\d:\d\d UTCClock/, "the date before its end");
    assert.ok(await page.isHidden("#get"), "there is no record yet");
    await picture(page, "live");
    await page.click("#first");
    const first = await drawn(page);
    writeFileSync(goFile, "1000000");
    await page.waitForFunction((last) => document.getElementById("place").textContent.split(" / ")[1] > last, last);
    assert.equal((await place(page))[0], 0, "the viewer stays at the first position");
    assert.deepEqual(await drawn(page), first);
    await page.click("#last");
    await page.waitForFunction(() => document.getElementById("state").textContent.startsWith("ended"));
    const [end, of] = await place(page);
    assert.equal(end, of);
    assert.ok((await page.textContent("#result")).length > 4);
    assert.equal(await page.locator("#moves li").count(), of + 1);
    const final = await drawn(page);
    await picture(page, "ended");
    await page.click("#state button");
    await page.waitForFunction(() => document.getElementById("result")?.textContent.length > 4);
    if (await page.isVisible("#view")) await page.selectOption("#view", { label: "Spectator" });
    await page.keyboard.press("End");
    assert.deepEqual(await drawn(page), final, "the replay ends with the last live position");
    assert.equal((await place(page))[1], of, "the live board had all steps of the replay");
    await picture(page, "replay");
  },

  /** Names, moves and results are text, whatever they contain: here those of another server behind the same pages. */
  async hostile() {
    const names = Array.from({ length: 1000 }, (_, n) => HOSTILE[n % HOSTILE.length].replaceAll("NNN", n));
    const match = (name, n) => ({
      id: name, began_at: name, number: n + 1, not_rated: name, rated: false, seats: [{ name, display_name: name, team: 0 }, { name, team: 1 }], board: "replay", moves: 1, faults: null,
      ruling: { id: 1, outcome: name, at: name, reason: name },
      result: { ranks: null, scores: null, ended_by: "fault", reason: name, text: name },
    });
    const standing = (name) => ({ place: 1, name, display_name: name, matches: 1, wins: 1, draws: 0, losses: 0, points: 1 });
    const listed = names.map(match);
    const run = {
      referee: names[0], run: "00000000", name: names[3], game: { id: names[1], title: names[2] }, delay: 0, running: listed,
      running_count: 1000, ended: listed, ended_count: 1000, standings: names.map(standing), standings_count: 1000, ladder: null,
      story: { heading: names[4], why: [{ text: names[5] }, { text: names[6], match: names[7] }] },
      next: names.map((name) => ({ id: null, sides: [name], display_names: [name], why: name })), rulings_count: names.length,
      rulings: names.map((name) => ({ id: 1, at: name, act: "void", decision: name, matches: [name], name, reason: name, undone_at: name })),
      reported: [{ title: names[8], headings: names.slice(9, 11), rows: names.map((name) => [name, name]), note: names[11] }],
      bracket: names.slice(0, 30).map((name, n) => ({
        round: n + 1, title: name, pairs: [{ entrants: [name, null], is_bye: false, points: [1, 0.5], matches: [name], winner: name }],
      })),
    };
    const notes = names.map((name, n) => [1, ["move", "fault", "event", "fallback"][n % 4], n, name]);
    const step = { n: 0, c: [[1, 0, 5, 5, 0, 2]], w: [[1, 0, names[0]]], s: notes };
    const replay = {
      match: names[3], game: names[4], seats: names.map((name, n) => ({ name, team: n, tone: "red" })), views: [names[5]],
      size: [100, 100], result: "", looks: [[["t", "f-ink", 0, 0, 0, 9, names[6]]]], steps: [step],
    };
    const event = (kind, data, number) => `id: 00000000-${number}\nevent: ${kind}\ndata: ${JSON.stringify(data)}\n\n`;
    const stream = (body) => (route) => route.fulfill({ contentType: "text/event-stream", body });
    // Layout of such names takes most of the time, and scripts run without it.
    const hidden = (page) => page.addInitScript(() => document.addEventListener("DOMContentLoaded", () => {
      document.body.style.display = "none";
    }));
    const pages = [];
    for (const [path, list, count] of [["", "#bracket .stage", 30], ["live", "#running li", 1000], ["standings", "#standings tbody tr", 1000], ["matches", "#ended li", 1000]]) {
      const page = await visit(path, {}, async (page) => {
        await hidden(page);
        await page.route("**/api/v1/events", stream(event("snapshot", run, 1)));
      });
      await page.waitForFunction(([list, count]) => document.querySelectorAll(list).length === count, [list, count]);
      if (path === "standings") assert.deepEqual(await page.locator("#standings td:nth-child(2)").allTextContents(), names.map((name) => name + name));
      pages.push(page);
    }
    const board = await visit("matches/m1", {}, async (page) => {
      await hidden(page);
      await page.route("**/api/v1/matches/*", (route) => route.fulfill({ json: { ...match("m1", 0), seats: names.map((name, team) => ({ name: "m1", display_name: name, team })) } }));
      const events = event("snapshot", replay, 0) + event("step", { step, looks: [] }, 1)
        + event("end", { result: names[7], replay: true }, 2);
      await page.route("**/api/v1/matches/*/events", stream(events));
    });
    await board.waitForFunction(() => document.getElementById("state").textContent.startsWith("ended"));
    assert.deepEqual(await board.locator("#seats .name").allTextContents(), names);
    for (const page of [...pages, board]) {
      assert.equal(await page.evaluate(() => window.hacked), undefined, "a name ran a script");
      const elements = await page.evaluate(() => [...document.querySelectorAll("main *, header *, nav *")]
        .map((element) => element.localName).filter((name) => ["img", "script", "iframe", "style"].includes(name)));
      assert.deepEqual(elements, [], "a name became markup");
    }
  },

  /** Pages and searches of the standings are part of the address, and an update takes no focus. The rows are those of another server. */
  async pages() {
    const rows = Array.from({ length: 120 }, (_, n) => ({
      place: n + 1, name: `bot-${n + 1}`, matches: 1, wins: 1, draws: 0, losses: 0, points: 1, faulted: 0, online: true, provisional: !n,
      rating: { value: -5, low: -10, high: 0 }, owner: n === 99 ? "Лаборатория Желудь-и-Дуб" : "Low Tide Lab", affiliation: "Πολυτεχνείο",
    }));
    const run = {
      referee: "", run: "00000000", name: "Cup", game: { id: "checkers", title: "Checkers" }, delay: 0, running: [], running_count: 0, ended: [],
      ended_count: 0, standings: rows.slice(0, 50), standings_count: 120, ladder: null, story: { heading: "Cup", why: [] }, next: [],
      rulings: [], rulings_count: 0, reported: [], bracket: null,
    };
    let updates = 0;
    const page = await visit("standings", {}, async (page) => {
      await page.route("**/api/v1/events", (route) => {
        updates++;
        return route.fulfill({ contentType: "text/event-stream", body: `retry: 200\nid: 00000000-1\nevent: snapshot\ndata: ${JSON.stringify(run)}\n\n` });
      });
      await page.route("**/api/v1/standings?*", (route) => {
        const query = new URL(route.request().url()).searchParams, from = Number(query.get("offset"));
        const found = rows.filter(({ name, owner }) => `${name} ${owner}`.includes(query.get("search")));
        if (query.get("order") === "name") found.sort((one, other) => (one.name < other.name ? -1 : 1));
        return route.fulfill({ json: { standings: found.slice(from, from + Number(query.get("limit"))), count: found.length } });
      });
    });
    const first = (name) => page.waitForSelector(`#standings tbody tr:first-child a:text-is("${name}")`);
    const search = () => new URL(page.url()).search;
    await first("bot-1");
    assert.match(await page.textContent("#standings tbody tr .lead"), /^−5 ± 5 \?$/, "the sign for minus, and a mark instead of a word");
    assert.deepEqual((await page.locator("#standings thead th").allTextContents()).filter((text) => !text.trim()), [], "each column has a header");
    await page.click("#pager button:nth-child(2)");
    await first("bot-51");
    assert.equal(search(), "?page=2");
    await page.focus("#standings tbody tr:nth-child(3) a");
    const seen = updates;
    while (updates < seen + 2) await page.waitForTimeout(50);
    await first("bot-51");
    assert.equal(await page.evaluate(() => document.activeElement.textContent), "bot-53");
    await page.reload();
    await first("bot-51");
    await page.fill("#q", "bot-12");
    await first("bot-12");
    assert.equal(search(), "?q=bot-12");
    await page.reload();
    await first("bot-12");
    assert.equal(await page.inputValue("#q"), "bot-12");
    await page.fill("#q", "Желудь");
    await first("bot-100");
    assert.match(await page.textContent("#standings td.name small"), /^Лаборатория Желудь-и-Дуб · Πολυτεχνείο$/);
    await page.fill("#q", "");
    await page.selectOption("#order", "name");
    await page.click("#pager button:nth-child(3)");
    await first("bot-81");
    assert.equal(search(), "?order=name&page=3");
    await page.reload();
    await first("bot-81");
    assert.match(await page.textContent("#standings tbody tr td"), /^81/);
    // The buttons below the list are drawn again, too.
    await page.focus("#pager button:nth-child(2)");
    const then = updates;
    while (updates < then + 2) await page.waitForTimeout(50);
    assert.equal(await page.evaluate(() => document.activeElement.textContent), "51–100");
    // A server that is gone, also one whose proxy answers for it, is named until it is back.
    await page.route("**/api/v1/events", (route) => route.fulfill({ status: 502, body: "" }));
    await page.waitForSelector("#lost");
    await isAccessible(page);
    await page.unroute("**/api/v1/events");
    await page.route("**/api/v1/events", (route) => route.fulfill({ contentType: "text/event-stream", body: `retry: 200\nid: 00000000-1\nevent: snapshot\ndata: ${JSON.stringify(run)}\n\n` }));
    await page.waitForSelector("#lost", { state: "detached" });
    await fits(page);
    await isAccessible(page);
  },

  /** What bots say of their searches appears at the moves that it belongs to, three moves later. */
  async late() {
    const page = await visit("matches/m1");
    await page.waitForFunction(() => document.getElementById("place").textContent.split(" / ")[1] >= 12);
    const said = () => page.locator("#notes .info").allTextContents();
    await page.keyboard.press("End");
    assert.deepEqual(await said(), []);
    for (let moves = 0; moves < 3; moves++) await page.keyboard.press("ArrowLeft");
    assert.deepEqual(await said(), ["ann: thought-0-4"]);
    await page.keyboard.press("End");
    await page.keyboard.press("ArrowLeft");
    assert.deepEqual(await said(), []);
    writeFileSync(goFile, "1000000");
    await page.waitForFunction(() => document.querySelector("#notes .info")?.textContent === "ann: thought-0-5");
  },

  /** The pages fit a phone. */
  async phone() {
    const page = await visit("", { viewport: { width: 390, height: 844 } });
    for (const path of ["", "matches/m2"]) {
      await page.goto(new URL(path, address).href);
      await page.waitForSelector(path ? "#board g g" : "#standings tbody tr");
      await fits(page);
      await isAccessible(page);
      await picture(page, path ? "phone-match" : "phone");
    }
    await page.goto(new URL("matches/m2?embed", address).href);
    await page.waitForSelector("#board g g");
    await isAccessible(page);
  },
};

try {
  for (const name of names) {
    await checks[name]();
    // Its pages would follow the match on.
    for (const context of browser.contexts()) await context.close();
  }
  // That of a proxy whose server is gone.
  assert.deepEqual(complaints.filter((what) => !what.includes("502")), [], "the browser complains");
  const others = requests.filter((url) => new URL(url).origin !== new URL(address).origin && url !== "data:,");
  assert.deepEqual(others, [], "the pages ask no other server");
} finally {
  await browser.close();
}
