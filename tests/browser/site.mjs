// Visits all pages of a site of `referee tournament report --site` in Chromium, opened from disk or over HTTP.
// Usage: node site.mjs CHROMIUM DIRECTORY ADDRESS RECORDS, where RECORDS is the directory of the records that it has.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { createServer } from "node:http";
import { readFile, readdir } from "node:fs/promises";
import { basename, extname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { fits, hasCard, hasKeyboard, isAccessible } from "./look.mjs";
import { launch, open } from "./tab.mjs";

const [executablePath, directory, from, records] = process.argv.slice(2);
const types = { ".html": "text/html", ".css": "text/css", ".js": "text/javascript" };

/** Serves the site as a plain web server does. */
async function serve() {
  const server = createServer(async ({ url }, answer) => {
    const path = join(directory, decodeURIComponent(new URL(url, "http://site").pathname));
    const body = await readFile(path).catch(() => null);
    answer.writeHead(body ? 200 : 404, { "Content-Type": types[extname(path)] || "text/plain" });
    answer.end(body || "not found");
  });
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  return server;
}

const server = from === "http" ? await serve() : null;
const top = server ? `http://127.0.0.1:${server.address().port}/` : pathToFileURL(directory).href + "/";
const browser = await launch(executablePath);
const complaints = [];

const hasPlayer = (page) => page.evaluate(() => document.getElementById("board") !== null);
const isReady = () => document.getElementById("place").textContent !== "";

try {
  const seen = new Set([top + "index.html"]), ahead = [...seen], replays = [], idsOf = new Map(), fragments = [];
  const note = (url) => {
    if (!url.startsWith(top) && !url.startsWith("data:")) complaints.push(`${page.url()} asks for ${url}`);
  };
  const page = await open(browser, (what) => complaints.push(`${page.url()}: ${what}`), note);
  while (ahead.length) {
    const address = ahead.shift();
    await page.goto(address);
    if (await hasPlayer(page)) {
      await page.waitForFunction(isReady);
      replays.push(address);
    }
    const { links, ids, policy, foreign, hacked } = await page.evaluate(() => ({
      links: [...document.querySelectorAll("a:not([download])")].map((link) => link.href),
      ids: [...document.querySelectorAll("[id]")].map((element) => element.id),
      policy: document.querySelector("meta[http-equiv]").content,
      foreign: [...document.querySelectorAll("img, iframe, object, style, script:not([src]):not([type])")].length,
      hacked: window.hacked,
    }));
    assert.equal(foreign, 0, `${address}: a name became markup`);
    assert.equal(hacked, undefined, `${address}: a name ran a script`);
    assert.equal(new Set(ids).size, ids.length, `${address}: ids are unique`);
    idsOf.set(address, ids);
    assert.ok(policy.startsWith("default-src 'none';") && !policy.includes("unsafe"), policy);
    assert.ok(links.length > 0, `${address}: a way out`);
    for (const link of links) {
      const [target, fragment] = link.split("#");
      assert.ok(target.startsWith(top), `${address} leads to ${link}`);
      if (fragment !== undefined) fragments.push([address, target, fragment]);
      if (!seen.has(target)) {
        seen.add(target);
        ahead.push(target);
      }
      const file = join(directory, decodeURIComponent(target.slice(top.length)));
      assert.ok(existsSync(file), `${address} leads to ${link}, which does not exist`);
    }
  }
  assert.equal(replays.length, (await readdir(records)).length, "every match has a replay");
  for (const [address, target, fragment] of fragments) {
    assert.ok(idsOf.get(target).includes(fragment), `${address} leads to ${target}#${fragment}`);
  }

  // The replay begins at the end, and plays.
  await page.goto(replays[0]);
  await page.waitForFunction(isReady);
  const [at, last] = (await page.textContent("#place")).split(" / ");
  assert.equal(at, last, "a replay opens at its end");
  assert.ok(await page.locator("#plots .plot").count() >= 2, "time use and lag are plotted");
  const drawn = () => page.evaluate(() =>
    [...document.querySelectorAll("#board g g")].map((g) => `${g.style.transform} ${g.innerHTML}`).sort());
  await page.keyboard.press("End");
  for (let n = 0; n < 4; n++) await page.keyboard.press("ArrowLeft");
  const first = await drawn();
  await page.selectOption("#speed", "60");
  await page.click("#play");
  await page.waitForFunction(() => document.getElementById("next").getAttribute("aria-disabled") === "true");
  assert.notDeepEqual(await drawn(), first);

  // The record is that of the match, byte by byte.
  for (let times = 0; times < 2; times++) {
    const [download] = await Promise.all([page.waitForEvent("download"), page.click("a[download]")]);
    const name = download.suggestedFilename();
    assert.equal(name, basename(replays[0]).replace(".html", ".jsonl"));
    const [given, kept] = [await readFile(await download.path()), await readFile(join(records, name))];
    assert.ok(given.equals(kept), `${name} differs from the record`);
  }

  // Every kind of page fits all screens, is accessible in light and dark and by keyboard, and says what it is.
  const colour = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  for (const name of ["index", "matches", "figures", "entrants/1"]) {
    const address = `${top}${name}.html`;
    await page.goto(address);
    await fits(page);
    if (from === "file") await isAccessible(page);
    await hasKeyboard(page);
    await hasCard(page);
    assert.doesNotMatch(await page.innerText("main"), /(^|[\s[])-\d|\d us\b|\w_move/, `${name}: signs and words of pages`);
    if (name === "index") {
      const lines = await page.evaluate(() => {
        const place = document.querySelector("#rows td"), range = document.createRange();
        place.textContent = "100";
        range.selectNodeContents(place);
        return range.getClientRects().length;
      });
      assert.equal(lines, 1, "a place of three digits stays in one line");
    }
    const light = await colour();
    await page.emulateMedia({ colorScheme: "dark" });
    assert.notEqual(await colour(), light);
    await page.emulateMedia({ colorScheme: null });
  }
  await page.goto(replays[0]);
  await page.waitForFunction(isReady);
  await fits(page);
  if (from === "file") await isAccessible(page);
  await hasCard(page);
  assert.deepEqual(complaints, [], "the browser complains");
  console.log(`${seen.size} pages, ${replays.length} replays`);
} finally {
  await browser.close();
  server?.close();
}
