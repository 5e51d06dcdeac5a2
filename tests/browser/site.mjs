// Visits all pages of a site of `referee tournament report --site` in Chromium, opened from disk or over HTTP.
// Usage: node site.mjs CHROMIUM DIRECTORY ADDRESS MATCHES, where MATCHES is the number of replays that it has.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { createServer } from "node:http";
import { readFile } from "node:fs/promises";
import { extname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { launch, open } from "./tab.mjs";

const [executablePath, directory, from, matches] = process.argv.slice(2);
const types = { ".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".gz": "application/gzip" };

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

async function visit(address, options = {}) {
  const note = (url) => {
    if (!url.startsWith(top) && !url.startsWith("data:")) complaints.push(`${address} asks for ${url}`);
  };
  const page = await open(browser, (what) => complaints.push(`${address}: ${what}`), note, options);
  await page.goto(address);
  return page;
}

const hasPlayer = (page) => page.evaluate(() => document.getElementById("board") !== null);
const isReady = () => document.getElementById("place").textContent !== "";

try {
  const seen = new Set([top + "index.html"]), ahead = [...seen], replays = [], records = [];
  const page = await visit(ahead[0]);
  while (ahead.length) {
    const address = ahead.shift();
    await page.goto(address);
    if (await hasPlayer(page)) {
      await page.waitForFunction(isReady);
      replays.push(address);
    }
    const { links, ids, policy, foreign, hacked } = await page.evaluate(() => ({
      links: [...document.querySelectorAll("a")].map((link) => link.href),
      ids: [...document.querySelectorAll("[id]")].map((element) => element.id),
      policy: document.querySelector("meta[http-equiv]").content,
      foreign: [...document.querySelectorAll("img, iframe, object, style, script:not([src]):not([type])")].length,
      hacked: window.hacked,
    }));
    assert.equal(foreign, 0, `${address}: a name became markup`);
    assert.equal(hacked, undefined, `${address}: a name ran a script`);
    assert.equal(new Set(ids).size, ids.length, `${address}: ids are unique`);
    assert.ok(policy.startsWith("default-src 'none';") && !policy.includes("unsafe"), policy);
    assert.ok(links.length > 0, `${address}: a way out`);
    for (const link of links) {
      const [target, fragment] = link.split("#");
      assert.ok(target.startsWith(top), `${address} leads to ${link}`);
      if (fragment !== undefined) assert.ok(target === address && ids.includes(fragment), `${address} leads to ${link}`);
      else if (target.endsWith(".gz")) records.push(target);
      else if (!seen.has(target)) {
        seen.add(target);
        ahead.push(target);
      }
      const file = join(directory, decodeURIComponent(target.slice(top.length)));
      assert.ok(existsSync(file), `${address} leads to ${link}, which does not exist`);
    }
  }
  assert.equal(replays.length, Number(matches), "every match has a replay");
  assert.equal(records.length, Number(matches), "every replay has a record");

  // The replay plays.
  await page.goto(replays[0]);
  await page.waitForFunction(isReady);
  const drawn = () => page.evaluate(() =>
    [...document.querySelectorAll("#board g g")].map((g) => `${g.style.transform} ${g.innerHTML}`).sort());
  const first = await drawn();
  await page.selectOption("#speed", "60");
  await page.click("#play");
  await page.waitForFunction(() => document.getElementById("next").getAttribute("aria-disabled") === "true");
  assert.notDeepEqual(await drawn(), first);
  const [download] = await Promise.all([page.waitForEvent("download"), page.click("a[download]")]);
  assert.match(download.suggestedFilename(), /^m\d+(\.\d+)?\.jsonl\.gz$/);

  // Every kind of page fits a phone, and has a dark form.
  for (const address of [top + "index.html", top + "matches.html", top + "entrants/1.html", replays[0]]) {
    const phone = await visit(address, { viewport: { width: 390, height: 844 } });
    assert.equal(await phone.evaluate(() => document.documentElement.scrollWidth), 390, `${address} is too wide`);
    const dark = await visit(address, { colorScheme: "dark" });
    const colour = (page) => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    assert.notEqual(await colour(dark), await colour(phone));
    await phone.close();
    await dark.close();
  }
  assert.deepEqual(complaints, [], "the browser complains");
  console.log(`${seen.size} pages, ${replays.length} replays`);
} finally {
  await browser.close();
  server?.close();
}
