// What every page has to hold, whatever it shows: it fits all screens, and axe-core finds nothing to complain about.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const WIDTHS = [320, 390, 640, 860, 1280, 1920];

/** Nothing is wider than the screen, from a small phone to a large one. */
export async function fits(page) {
  const before = page.viewportSize();
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 844 });
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    assert.equal(wide, width, `${page.url()} is wider than ${width} px`);
  }
  await page.setViewportSize(before);
}

/** No violation of the rules of axe-core, and no id twice, on a desk and on a phone, in light and in dark: in a long run at three widths, in both on each. */
export async function isAccessible(page) {
  const before = page.viewportSize();
  const looks = process.env.LONG_TESTS ? [1280, 390, 1920].flatMap((width) => [[width, "light"], [width, "dark"]]) : [[1280, "light"], [390, "dark"]];
  for (const [width, colorScheme] of looks) {
    await page.setViewportSize({ width, height: 844 });
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    // The policy of the page allows no script but its own.
    if (!await page.evaluate(() => "axe" in window)) await page.evaluate(axe);
    const { violations } = await page.evaluate(() => window.axe.run({ preload: false, resultTypes: ["violations"] }));
    const found = violations.map(({ id, nodes }) => `${id}: ${nodes.slice(0, 3).map(({ html, failureSummary }) => `${html} ${failureSummary}`).join("; ")}`);
    assert.deepEqual(found, [], `${page.url()} at ${width} px, ${colorScheme}`);
    const ids = await page.evaluate(() => [...document.querySelectorAll("[id]")].map(({ id }) => id));
    assert.deepEqual(ids.filter((id, n) => ids.indexOf(id) !== n), [], `${page.url()}: ids are unique`);
  }
  await page.emulateMedia({ colorScheme: null, reducedMotion: null });
  await page.setViewportSize(before);
}

/** The keyboard reaches every control, and shows where it is. */
export async function hasKeyboard(page) {
  const controls = await page.evaluate(() => [...document.querySelectorAll("a[href], button, input, select, summary, [tabindex='0']")]
    .filter((control) => control.checkVisibility({ visibilityProperty: true }) && !control.disabled).length);
  await page.evaluate(() => { document.activeElement?.blur(); scrollTo(0, 0); });
  const reached = new Set();
  for (let n = 0; n < controls + 2; n++) {
    await page.keyboard.press("Tab");
    const at = await page.evaluate(() => {
      const now = document.activeElement;
      if (!now || now === document.body) return null;
      now.dataset.reached ??= String(Math.random());
      const { outlineStyle } = getComputedStyle(now);
      return { id: now.dataset.reached, hasOutline: outlineStyle !== "none", html: now.outerHTML.slice(0, 100) };
    });
    if (!at) continue;
    assert.ok(at.hasOutline, `${page.url()}: no sign of the keyboard at ${at.html}`);
    reached.add(at.id);
  }
  assert.ok(reached.size >= controls, `${page.url()}: the keyboard reaches ${reached.size} of ${controls} controls`);
}

/** What other sites show of the page, and its icon. */
export async function hasCard(page) {
  const { title, card, icon } = await page.evaluate(() => ({
    title: document.title,
    card: [...document.querySelectorAll("meta[property^='og:']")].map(({ content }) => content),
    icon: document.querySelector("link[rel=icon]")?.href ?? "",
  }));
  assert.ok(title && card.length >= 3 && card.every(Boolean), `${page.url()}: ${title} ${card}`);
  assert.ok(icon.startsWith("data:image/svg+xml,%3Csvg"), `${page.url()} has no icon`);
}
