// Plays matches in Chromium on the page of `referee human --web`.
// Usage: node person.mjs CHROMIUM URL CHECK, where CHECK is one of `checks` below. The environment variable PICTURES names a folder
// for pictures.
import assert from "node:assert/strict";
import { fits, hasKeyboard, isAccessible } from "./look.mjs";
import { launch, open } from "./tab.mjs";

const [executablePath, address, name] = process.argv.slice(2);
const browser = await launch(executablePath);
const pictures = process.env.PICTURES;
const complaints = [], requests = [];

async function visit(options = {}) {
  const page = await open(browser, (what) => complaints.push(what), (url) => requests.push(url), options);
  await page.goto(address);
  await page.waitForSelector("#match:not([hidden])");
  return page;
}

async function picture(page, what) {
  if (pictures) await page.screenshot({ path: `${pictures}/person-${what}.png`, fullPage: true });
}

/** Pictures on a desk and on a phone, in light and in dark. */
async function album(page, what) {
  if (!pictures) return;
  const before = page.viewportSize();
  for (const [width, colorScheme] of [[1280, "light"], [1280, "dark"], [390, "light"]]) {
    await page.setViewportSize({ width, height: 844 });
    await page.emulateMedia({ colorScheme });
    await picture(page, `${what}-${width}-${colorScheme}`);
  }
  await page.emulateMedia({ colorScheme: null });
  await page.setViewportSize(before);
}

const asked = (page) => page.textContent("#ask");
const isOver = (page) => page.evaluate(() => document.getElementById("ask").textContent.startsWith("The match is over"));
const hasTurn = (page) => page.waitForFunction(() => /^(Your move|The match is over)/.test(document.getElementById("ask").textContent));
/** The names of the places of this kind. */
const places = (page, kind) => page.$$eval(`.hit.${kind}`, (hits) => hits.map((hit) => hit.getAttribute("aria-label")));
const click = (page, selector) => page.locator(selector).first().click();

/** Plays a move by its places and, if several are left, the first of the choices. */
async function move(page) {
  for (let clicks = 0; clicks < 12; clicks++) {
    await click(page, clicks ? ".hit.to" : ".hit.from, #choices button");
    const next = await page.evaluate(() => (!/^Your move: /.test(document.getElementById("ask").textContent) ? "played"
      : document.querySelector("#choices button") ? "choice" : "place"));
    if (next === "played") return;
    if (next === "choice") return page.click("#choices button >> nth=0");
  }
  assert.fail("a move has no end");
}

/** Plays until the match is over, at most so many moves. */
async function finish(page, most = 300) {
  for (let moves = 0; moves < most; moves++) {
    await hasTurn(page);
    if (await isOver(page)) return moves;
    await move(page);
  }
  assert.fail("the match does not end");
}

const checks = {
  /** A whole match by clicks, with a reload in the middle. */
  async clicks() {
    const page = await visit();
    await hasTurn(page);
    assert.equal(await asked(page), "Your move.");
    assert.ok((await places(page, "from")).includes("square 11: 11-15, 11-16"), `${await places(page, "from")}`);
    await album(page, "checkers");
    await click(page, ".hit[aria-label^='square 11:']");
    assert.deepEqual((await places(page, "to")).sort(), ["square 15: 11-15", "square 16: 11-16"]);
    assert.equal(await asked(page), "Your move: square 11, then …");
    await album(page, "checkers-chosen");
    await page.keyboard.press("Escape");
    assert.deepEqual(await places(page, "to"), []);
    await click(page, ".hit[aria-label^='square 11:']");
    await click(page, ".hit[aria-label='square 15: 11-15']");
    await page.waitForFunction(() => document.querySelectorAll("#moves li").length >= 3);
    assert.match(await page.textContent("#moves"), /1\.11-15/);
    await hasTurn(page);
    // The opponent's move is said.
    assert.match(await page.textContent("#live"), /\w: \d+[-x]\d/);
    // A slow click counts, too.
    await page.locator(".hit.from").first().hover();
    await page.mouse.down();
    await page.waitForTimeout(1200);
    await page.mouse.up();
    assert.match(await asked(page), /, then …$/);
    await page.keyboard.press("Escape");
    await fits(page);
    await isAccessible(page);
    await hasKeyboard(page);
    await page.click("summary");
    assert.match(await page.textContent(".prose"), /A capture lists every square that it visits/);
    const before = await places(page, "from"), listed = await page.textContent("#moves");
    await page.reload();
    await hasTurn(page);
    assert.deepEqual(await places(page, "from"), before);
    assert.equal(await page.textContent("#moves"), listed);
    await finish(page);
    assert.match(await page.textContent("#result"), /beat|drew/);
    assert.match(await page.textContent("#record"), /^Record: .*m1\.jsonl$/);
    await album(page, "checkers-over");
    await isAccessible(page);
  },

  /** The keyboard alone: places with arrows, a promotion from a choice. */
  async keyboard() {
    const page = await visit();
    await hasTurn(page);
    await page.locator(".hit[tabindex='0']").focus();
    for (let tries = 0; tries < 30 && !(await page.evaluate(() => document.activeElement.getAttribute("aria-label").startsWith("square b7"))); tries++) {
      await page.keyboard.press(tries % 2 ? "ArrowUp" : "ArrowLeft");
    }
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => document.getElementById("ask").textContent === "Your move: square b7, then …");
    assert.match(await page.evaluate(() => document.activeElement.getAttribute("aria-label")), /^square b7, chosen$/);
    await page.keyboard.press("ArrowUp");
    assert.match(await page.evaluate(() => document.activeElement.getAttribute("aria-label")), /^square b8/);
    await page.keyboard.press("Enter");
    await page.waitForSelector("#choices button");
    assert.deepEqual(await page.locator("#choices button").allTextContents(), ["b7b8b", "b7b8n", "b7b8q", "b7b8r"]);
    await album(page, "chess-promotion");
    await isAccessible(page);
    await page.locator("#choices button", { hasText: "b7b8q" }).focus();
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => document.getElementById("moves").textContent.includes("b7b8q"));
    await hasTurn(page);
    // A move as text.
    await page.focus("#move");
    await page.keyboard.type("z9");
    await page.keyboard.press("Enter");
    assert.equal(await page.textContent("#refused"), "“z9” is not a legal move.");
    const [text] = (await page.getAttribute(".hit.from", "aria-label")).match(/\w\d\w\d/);
    await page.fill("#move", text);
    await page.keyboard.press("Enter");
    await page.waitForFunction((text) => document.getElementById("moves").textContent.includes(text), text);
    await hasTurn(page);
    await page.focus("#resign");
    await page.keyboard.press("Enter");
    await page.keyboard.press("Shift+Tab");
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => document.getElementById("ask").textContent.startsWith("The match is over"));
    assert.match(await page.textContent("#result"), / beat human: resignation$/);
    assert.match(await page.textContent("#status"), / beat human: resignation$/, "nobody is to move");
    assert.match(await page.textContent("#words"), /^[^.]* beat human: resignation\./);
  },

  /** A draw is offered by the person. */
  async draw() {
    const page = await visit();
    await hasTurn(page);
    await page.check("#offer");
    await move(page);
    await page.waitForFunction(() => document.getElementById("ask").textContent.startsWith("The match is over"));
    assert.match(await page.textContent("#result"), /agree/);
  },

  /** A draw is offered to the person. */
  async accept() {
    const page = await visit();
    await page.waitForSelector("#offered:not([hidden])");
    assert.match(await page.textContent("#time"), /^(5:00|4:\d\d) left$/);
    assert.match(await page.textContent("#seats"), /test bot.* left/);
    await isAccessible(page);
    await page.click("#accept");
    await page.waitForFunction(() => document.getElementById("ask").textContent.startsWith("The match is over"));
    assert.match(await page.textContent("#result"), /agree/);
  },

  /** A stone on a point of Go; to pass is a button. */
  async stones() {
    const page = await visit();
    await hasTurn(page);
    assert.deepEqual(await page.locator("#choices button").allTextContents(), ["pass"]);
    await click(page, ".hit[aria-label='point C3: C3']");
    await page.waitForFunction(() => document.getElementById("moves").textContent.includes("C3"));
    await hasTurn(page);
    assert.ok(!(await places(page, "from")).includes("point C3: C3"), "a stone is no place");
    await album(page, "go");
    await fits(page);
    await isAccessible(page);
    await finish(page);
  },

  /** A piece of Shogi that moves, and one that is dropped. */
  async pieces() {
    const page = await visit();
    await hasTurn(page);
    await click(page, ".hit[aria-label^='square 2h:']");
    assert.ok((await places(page, "to")).includes("square 2f: 2h2f"), `${await places(page, "to")}`);
    await page.keyboard.press("Escape");
    await album(page, "shogi");
    await click(page, ".hit[aria-label^='hand black FU:']");
    await click(page, ".hit.to[aria-label='square 2f: P*2f']");
    await page.waitForFunction(() => document.getElementById("moves").textContent.includes("P*2f"));
    await fits(page);
    await isAccessible(page);
    await finish(page);
  },

  /** Any game to its end, as far as so many moves lead. */
  async any() {
    const page = await visit();
    await hasTurn(page);
    const game = (await page.textContent("#brand")).replace(/\W/g, "");
    for (let moves = 0; moves < 3 && !(await isOver(page)); moves++) {
      await move(page);
      await hasTurn(page);
    }
    await album(page, game);
    await fits(page);
    await finish(page);
    await picture(page, `${game}-over`);
  },

  /** Moves that nobody can list are typed. */
  async typed() {
    const page = await visit();
    await hasTurn(page);
    await page.fill("#move", "9 9 9");
    await page.keyboard.press("Enter");
    await page.waitForSelector("#refused:not([hidden])");
    assert.match(await page.textContent("#refused"), /9 9 9|coins/);
    await page.waitForFunction(() => document.getElementById("ask").textContent === "Your move.");
    for (const text of ["10 0 0", "4 3 3"]) {
      await hasTurn(page);
      assert.equal(await page.locator(".hit, #choices button").count(), 0);
      await page.fill("#move", text);
      await page.keyboard.press("Enter");
      await page.waitForFunction((text) => document.getElementById("moves").textContent.includes(text), text);
    }
    await page.waitForFunction(() => document.getElementById("ask").textContent.startsWith("The match is over"));
    await isAccessible(page);
  },

  /** A program of a ladder, from the page for visitors. */
  async visit() {
    const page = await open(browser, (what) => complaints.push(what), (url) => requests.push(url));
    await page.goto(address);
    await isAccessible(page);
    await fits(page);
    assert.deepEqual(await page.locator("#bot option").allTextContents(), ["Number <1>", "two"]);
    await page.selectOption("#bot", "one");
    await page.selectOption("#seat", "1");
    await picture(page, "visit");
    await page.click("#begin");
    await page.waitForSelector("#match:not([hidden])");
    await hasTurn(page);
    assert.equal(await page.locator("main p:text('This match is not rated')").count(), 1);
    await isAccessible(page);
    await finish(page);
    assert.match(await page.textContent("#result"), /visitor/);
    assert.equal(await page.isVisible("#record"), false);
  },

  /** Hands of others stay hidden, in the pictures and in all that the page gets. */
  async secrets() {
    const page = await visit();
    const got = await page.evaluate(() => new Promise((resolve) => {
      const stream = new EventSource("events"), found = [];
      for (const kind of ["snapshot", "step", "seat"]) {
        stream.addEventListener(kind, ({ data }) => {
          found.push(data);
          if (kind !== "seat" || !JSON.parse(data).turn) return;
          stream.close();
          resolve(found.join("\n"));
        });
      }
    }));
    assert.match(got, /seat 0: cards( \w+){1,5}/);
    for (const other of [1, 2, 3]) {
      assert.match(got, new RegExp(`seat ${other}: \\d cards`));
      assert.doesNotMatch(got, new RegExp(`seat ${other}: cards \\w|card-${other}-[\\dJQKA]`));
    }
    const { width } = await page.locator("#board").boundingBox();
    assert.ok(width >= 600, `a board with many things has more room: ${width}`);
    await isAccessible(page);
    await checks.any();
  },
};

try {
  await checks[name]();
  assert.deepEqual(complaints, [], "the browser complains");
  const others = requests.filter((url) => new URL(url).origin !== new URL(address).origin && url !== "data:,");
  assert.deepEqual(others, [], "the page asks no other server");
} finally {
  await browser.close();
}
