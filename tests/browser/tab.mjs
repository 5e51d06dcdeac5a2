// Tabs of Chromium that note what goes wrong in their pages.
import { chromium } from "playwright-core";

/** A time in milliseconds that only a page that hangs exceeds, even on a busy machine. */
const TIMEOUT = 120_000;

export function launch(executablePath) {
  return chromium.launch({ executablePath, timeout: TIMEOUT, args: ["--no-sandbox", "--disable-gpu"] });
}

/** Opens a tab. `complain` gets messages, errors and violated policies of its pages, `note` the addresses that they load. */
export async function open(browser, complain, note, options) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, ...options });
  page.setDefaultTimeout(TIMEOUT);
  // By default a condition is tested at every frame, which makes the page draw all the time.
  const wait = page.waitForFunction.bind(page);
  page.waitForFunction = (condition, argument) => wait(condition, argument, { polling: 50 });
  page.on("console", (message) => complain(`console: ${message.text()}`));
  page.on("pageerror", (error) => complain(`error: ${error.message}`));
  page.on("dialog", (dialog) => { complain(`dialog: ${dialog.message()}`); dialog.dismiss(); });
  page.on("request", (request) => note(request.url()));
  await page.addInitScript(() => {
    document.addEventListener("securitypolicyviolation", (event) => console.error(`policy: ${event.violatedDirective}`));
  });
  return page;
}
