// Uses every control of pages of `referee show --html` in Chromium, opened from disk.
// Usage: node replay.mjs CHROMIUM (PAGE CHECK,CHECK...)..., where a check is one of `checks` below.
import assert from "node:assert/strict";
import { readFile, readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { fits, isAccessible } from "./look.mjs";
import { launch, open } from "./tab.mjs";

const [executablePath, ...args] = process.argv.slice(2);
/** The time of a frame in milliseconds. */
const FRAME = 16;
/** The number of steps that are measured together. */
const STEPS = 20;
const browser = await launch(executablePath);

/** The page, what went wrong in it, and what it asked for. */
let address, complaints, requests;

async function visit(suffix = "", options = {}) {
  const page = await open(browser, (what) => complaints.push(what), (url) => requests.push(url), options);
  return load(page, suffix);
}

async function load(page, suffix) {
  await page.goto(address + suffix);
  await page.waitForFunction(() => document.getElementById("place").textContent);
  return page;
}

/** What is drawn: the places and the text of all shapes, whatever their order. */
const drawn = (page) => page.evaluate(() =>
  [...document.querySelectorAll("#board g g")].map((g) => `${g.style.transform} ${g.innerHTML}`).sort());
const step = async (page) => Number((await page.textContent("#place")).split(" / ")[0]);
const last = async (page) => Number((await page.textContent("#place")).split(" / ")[1]);

const checks = {
  /** Buttons, keys, the slider, the list of moves and the address all lead to the same positions. */
  async controls() {
    const page = await visit();
    const end = await last(page), at = async (n) => assert.equal(await step(page), n);
    await at(end);
    await page.click("#first");
    const seen = [await drawn(page)];
    for (let n = 1; n <= 3; n++) {
      await page.click("#next");
      await at(n);
      seen.push(await drawn(page));
      assert.notDeepEqual(seen[n], seen[n - 1], `step ${n} changes the board`);
    }
    await page.click("#back");
    assert.deepEqual(await drawn(page), seen[2], "a step back shows the position before");
    await page.keyboard.press("ArrowLeft");
    assert.deepEqual(await drawn(page), seen[1]);
    await page.keyboard.press("ArrowRight");
    assert.deepEqual(await drawn(page), seen[2]);
    await page.keyboard.press("End");
    await at(end);
    assert.equal(await page.getAttribute("#next", "aria-disabled"), "true");
    const title = await page.textContent("#title");
    assert.ok((await page.textContent("#notes")).includes(title), "the last step tells the result");
    await page.keyboard.press("Home");
    assert.deepEqual(await drawn(page), seen[0]);
    await page.click("#last");
    await at(end);
    await page.click("#first");
    await at(0);
    await page.fill("#slider", "3");
    assert.deepEqual(await drawn(page), seen[3]);
    assert.equal(await page.getAttribute("#slider", "aria-valuetext"), `3 of ${end}`);
    await page.click("#moves li:nth-child(3) button");
    assert.deepEqual(await drawn(page), seen[2], "the list of moves begins with the first position");
    assert.equal(await page.getAttribute("#moves li:nth-child(3) button", "aria-current"), "step");
    const link = await page.evaluate(() => location.hash);
    const linked = await visit(link);
    assert.deepEqual(await drawn(linked), seen[2], `${link} leads to the same position`);
    await page.evaluate(() => { location.hash = "#t=1"; });
    await page.waitForFunction(() => document.getElementById("place").textContent.startsWith("1 /"));
    await fits(page);
    await isAccessible(page);

    await page.click("#first");
    const upright = await drawn(page);
    await page.click("#flip");
    assert.equal(await page.getAttribute("#flip", "aria-pressed"), "true");
    assert.notDeepEqual(await drawn(page), upright);
    await page.keyboard.press("f");
    assert.deepEqual(await drawn(page), upright, "turned twice");

    await page.fill("#slider", String(end - 5));
    await page.selectOption("#speed", "60");
    await page.click("#play");
    await page.waitForFunction((end) => document.getElementById("place").textContent === `${end} / ${end}`, end);
    assert.equal(await page.getAttribute("#play", "aria-label"), "Play", "it pauses at the end");
    await page.keyboard.press("Home");
    await page.selectOption("#speed", "2000");
    await page.evaluate(() => document.activeElement.blur());
    await page.keyboard.press(" ");
    assert.equal(await page.getAttribute("#play", "aria-label"), "Pause");
    await page.keyboard.press(" ");
    assert.equal(await page.getAttribute("#play", "aria-label"), "Play");
  },

  /** A screen reader is told the move and the position. */
  async readers() {
    const page = await visit("#t=1");
    const [live, words] = [await page.textContent("#live"), await page.textContent("#words")];
    const move = (await page.textContent("#moves [aria-current] .move")).trim();
    assert.ok(live.includes(move), `${live} names ${move}`);
    assert.ok(live.includes(await page.textContent("#status")), live);
    assert.equal(await page.getAttribute("#board", "aria-labelledby"), "words");
    const [wide, narrow] = await page.evaluate(() => ["W", "i"].map((letter) => labelled("seat 0", 30, [{ name: letter.repeat(12) }])));
    assert.match(wide, /^W{2,7}…$/, "a name on a board is cut to its width");
    assert.equal(narrow, "i".repeat(12));
    const plate = (width) => page.evaluate((width) => parts([["r", "", 0, 0, 0, width, 40, 8], ["t", "", 0, 0, 0, 30, "seat 0"]], [{ name: "W".repeat(12) }])[1].textContent, width);
    assert.equal(await plate(600), "W".repeat(12), "a plate gives a name its width");
    assert.match(await plate(150), /^W{1,4}…$/);
    assert.ok(words.length > 20, words);
    const unnamed = await page.evaluate(() => [...document.querySelectorAll("button, input, select")]
      .filter((control) => !(control.textContent || control.ariaLabel || control.labels?.length)).map((c) => c.outerHTML));
    assert.deepEqual(unnamed, [], "every control has a name");
  },

  /** Each view shows the shapes and tells the words of the pictures beside the page, whose names are `VIEW-TURN.svg`. */
  async pictures() {
    const directory = dirname(fileURLToPath(address));
    const pictures = (await readdir(directory)).filter((name) => name.endsWith(".svg"));
    assert.ok(pictures.length > 1);
    const page = await visit();
    for (const name of pictures) {
      const [view, turn] = name.replace(".svg", "").split("-");
      await page.evaluate((turn) => new Promise((done) => {
        addEventListener("hashchange", done, { once: true });
        location.hash = `#t=${turn}`;
      }), turn);
      if (await page.isVisible("#view")) {
        await page.selectOption("#view", { all: "0", public: "1" }[view] ?? String(Number(view) + 2));
      }
      // Marks are those of moves as the first view sees them. The policy of the page rejects the style of the picture.
      const [played, drawn] = await page.evaluate((svg) => {
        const isMark = /^\S+ \S+ \w+ class=[fl]-mark /;
        const picture = new DOMParser().parseFromString(svg, "image/svg+xml");
        // Pictures name seats where the page names bots.
        const part = ({ tagName, attributes, textContent, previousElementSibling: below }) => {
          const size = Number(attributes["font-size"]?.value), plate = below?.tagName === "rect" ? below.getAttribute("width") - size : undefined;
          return [tagName, ...[...attributes].map(({ name, value }) => `${name}=${value}`).sort(), labelled(textContent, size, replay.seats, plate)].join(" ");
        };
        const shapes = (groups, transform) => [...groups].map((group) =>
          [...transform(group).match(/-?\d+/g), ...[...group.children].map(part)].join(" "))
          .filter((shape) => !isMark.test(shape)).sort();
        return [
          [document.getElementById("words").textContent,
            ...shapes(document.querySelectorAll("#board g g"), (group) => group.style.transform)],
          [picture.querySelector("desc").textContent,
            ...shapes(picture.querySelectorAll("g"), (group) => group.getAttribute("transform"))],
        ];
      }, (await readFile(join(directory, name), "utf8")).replace(/<style>[^]*<\/style>/, ""));
      assert.deepEqual(played, drawn, name);
    }
  },

  /** The page fits a phone, and has a dark and an embedded form. */
  async forms() {
    const page = await visit("", { viewport: { width: 390, height: 844 } });
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 390, "nothing is cut off");
    const colour = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const light = await colour();
    await page.emulateMedia({ colorScheme: "dark" });
    assert.notEqual(await colour(), light);
    await page.setViewportSize({ width: 1280, height: 800 });
    await load(page, "?embed#t=2");
    assert.equal(await page.isVisible("#moves"), false);
    assert.equal(await page.isVisible("#board") && await page.isVisible("#next"), true);
    assert.equal(await step(page), 2);
  },

  /** The button leads from fault to fault, in a circle. */
  async faults() {
    const page = await visit("#t=0");
    const marked = await page.locator("#moves li", { has: page.locator("button.fault") }).count();
    assert.ok(marked > 1);
    const steps = [];
    for (let n = 0; n <= marked; n++) {
      await (n % 2 ? page.keyboard.press("n") : page.click("#fault"));
      steps.push(await step(page));
      assert.match(await page.textContent("#notes .fault"), /^fault of illegal: illegal move/);
    }
    assert.equal(steps[marked], steps[0]);
    assert.equal(new Set(steps).size, marked);
    assert.ok((await page.textContent("#seats")).includes("⚑"));
  },

  /** Clocks and what bots said about their search are shown. */
  async info() {
    const page = await visit("#t=3");
    assert.equal(await page.textContent("#notes .info"), "eventful: score 12");
    assert.equal(await page.locator("#seats .clock").count(), 2);
  },

  /** What bots expected is plotted, and leads to the move that decided the match. */
  async scores() {
    const page = await visit();
    const plot = page.locator("#plots .plot").first();
    assert.match(await plot.locator("figcaption b").textContent(), /^Expected points of \S+, as each bot sees it$/);
    const lines = await plot.locator("polyline").evaluateAll((lines) => lines.map((line) => line.points.numberOfItems));
    assert.equal(lines.length, 2);
    assert.ok(lines.every((points) => points > 3), `${lines}`);
    assert.equal(await plot.locator("line.key").count(), 1, "the plot shows the moment");
    const ends = await page.locator("#plots path:is(.f1, .f2)").evaluateAll((paths) => paths.flatMap((path) =>
      [...path.getAttribute("d").matchAll(/M([\d.]+) 50h([\d.]+)/g)].map(([, left, width]) => Number(left) + Number(width))));
    assert.ok(ends.length > 3 && Math.max(...ends) < 1000.01, `the bars end within the plot: ${Math.max(...ends)}`);
    const text = await page.textContent("#moment-text");
    const told = text.match(/^(\S+) expected (\d\.\d\d) points when it played this, and (?:expected (\d\.\d\d) at its next move|got (\d\.\d\d) in the end): the largest fall of the match\.$/);
    assert.ok(told, text);
    assert.ok(Number(told[2]) - Number(told[3] ?? told[4]) >= 0.15, text);
    await page.click("#key");
    assert.ok((await page.textContent("#moment-step")).startsWith(`move ${await step(page)}`));
    const by = await page.textContent("#notes");
    assert.ok(by.includes(`${told[1]}: `), `${by} names ${told[1]}`);
  },

  /** Hidden choices of Xe Queo! appear to those who may see them. */
  async choices() {
    const page = await visit("#t=0");
    const hidden = () => page.evaluate(() =>
      [...document.querySelectorAll("#board text")].filter((text) => text.textContent === "?").length);
    const said = () => page.textContent("#words");
    await page.click("#next");
    await page.click("#next");
    assert.match(await page.textContent("#moves [aria-current]"), /choose \w+.*choose \w+/, "both chose in one step");
    for (const [view, count, knows] of [[0, 0, [0, 1]], [1, 2, []], [2, 1, [0]], [3, 1, [1]]]) {
      await page.selectOption("#view", String(view));
      assert.equal(await hidden(), count, `view ${view}`);
      for (const seat of [0, 1]) {
        assert.equal((await said()).includes(`seat ${seat} has chosen`), knows.includes(seat), `view ${view}`);
      }
      const secrets = (await page.textContent("#moves [aria-current]")).split("(secret)").length - 1;
      assert.equal(secrets, count, `view ${view} sees the moves that its seat saw`);
    }
    await page.evaluate(() => { document.querySelector("#view option").textContent = "a-bot-with-a-name-as-long-as-names-may-be ".repeat(3); });
    await fits(page);
  },

  /** Names, `info` and reasons are text, whatever they contain. */
  async hostile() {
    const page = await visit();
    const matches = await page.locator("#matches button").count();
    let names = 0;
    // Layout and drawing of such names take most of the time, and scripts run without them.
    await page.evaluate(() => { document.body.style.display = "none"; });
    for (let first = 0; first < matches; first += 50) {
      names += await page.evaluate(([first, end]) => {
        let names = 0;
        for (let n = first; n < end; n++) {
          document.querySelectorAll("#matches button")[n].click();
          for (const id of ["next", "last", "fault"]) document.getElementById(id).click();
          const { seats } = data.matches[n];
          const shown = [...document.querySelectorAll("#seats .name")].map((name) => name.textContent);
          if (shown.join("\n") !== seats.map(({ name }) => name).join("\n")) throw new Error(`${n}: ${shown}`);
          const markup = document.querySelector(":is(main, header) :is(img, script, iframe, a, style)");
          if (markup) throw new Error(`${n}: a name became markup: ${markup.outerHTML}`);
          names += seats.filter(({ name }) => name.includes("hacked")).length;
        }
        return names;
      }, [first, Math.min(first + 50, matches)]);
    }
    assert.ok(names >= 1000, `${names} hostile names`);
    assert.equal(await page.evaluate(() => window.hacked), undefined, "a name ran a script");
    console.log(`${names} hostile names in ${matches} matches`);
  },

  /** Several matches in one file. */
  async list() {
    const page = await visit("#m=2&t=1");
    assert.equal(await step(page), 1);
    const [first, second] = await page.locator("#matches button").allTextContents();
    assert.ok(second.endsWith(`: ${await page.textContent("#title")}`), second);
    await page.click("#matches button:nth-child(1)");
    const title = await page.textContent("#title");
    assert.ok(first.endsWith(`: ${title}`) && (await page.title()).startsWith(title), first);
  },

  /** A step takes a frame at most: the processor time of the thread that runs scripts and lays out the page. */
  async speed() {
    const page = await visit(), end = await last(page);
    const session = await page.context().newCDPSession(page);
    await session.send("Performance.enable", { timeDomain: "threadTicks" });
    const used = async () => {
      const { metrics } = await session.send("Performance.getMetrics");
      const value = (name) => metrics.find((metric) => metric.name === name).value;
      return 1000 * (value("ScriptDuration") + value("LayoutDuration") + value("RecalcStyleDuration"));
    };
    const times = [];
    // Several at once: between calls the browser draws, which takes most of the time.
    for (let n = 0, before = await used(); n < end; n += STEPS) {
      await page.evaluate((steps) => {
        for (let n = 0; n < steps; n++) {
          document.getElementById("next").click();
          document.body.getBoundingClientRect();
        }
      }, STEPS);
      const after = await used();
      times.push((after - before) / STEPS);
      before = after;
    }
    times.sort((a, b) => a - b);
    const at = (share) => times[Math.min(times.length - 1, Math.floor(times.length * share))].toFixed(1);
    console.log(`${end} steps, ${STEPS} at a time: median ${at(0.5)} ms, 99% ${at(0.99)} ms, longest ${at(1)} ms`);
    assert.ok(at(0.5) <= FRAME, `half of the steps take more than ${at(0.5)} ms`);
  },
};

try {
  for (let n = 0; n < args.length; n += 2) {
    address = pathToFileURL(args[n]).href;
    [complaints, requests] = [[], []];
    for (const name of args[n + 1].split(",")) {
      await checks[name]();
      for (const context of browser.contexts()) await context.close();
    }
    assert.deepEqual(complaints, [], `the browser complains about ${address}`);
    const asked = [...new Set(requests.map((url) => url.split(/[?#]/)[0]))];
    assert.deepEqual(asked, [address], "the page asks for nothing");
  }
} finally {
  await browser.close();
}
