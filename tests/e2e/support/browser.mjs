// Starts a headless Chromium for tests.
import { chromium } from "playwright-core";
import { browserPrograms } from "../../../scripts/setup/browser.mjs";

/**
 * Arguments that save a quarter of Chromium's CPU time: one process renders all pages of a site in a context, and pages keep
 * their cache. Chromium resolves no host names, so that no request leaves the machine.
 */
const FRUGAL_ARGS = [
  "--process-per-site",
  "--renderer-process-limit=1",
  "--enable-features=NetworkServiceInProcess2",
  "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1 , EXCLUDE localhost , EXCLUDE *.localhost",
];

/**
 * Starts Chromium. The caller closes it; otherwise it exits with this process. `full`: instead of the headless shell, in
 * which a tab opened by Ctrl+click sometimes never finishes loading. `keepsPages`: with the back/forward cache, which the shell
 * lacks, and which Playwright switches off because its `goBack` waits for a page to load. `frugal`: false for benchmarks.
 */
export function launch(args = [], { keepsPages = false, full = keepsPages, frugal = !full } = {}) {
  const programs = browserPrograms();
  if (!programs) throw new Error("Chromium was not found. `node scripts/setup.mjs --browser` shows the reason.");
  // Chromium's sandbox needs rights that containers and root lack. The pages are trusted.
  const ignoreDefaultArgs = keepsPages ? ["--disable-back-forward-cache"] : [];
  const executablePath = full ? programs.chromium : programs.headless;
  return chromium.launch({
    executablePath,
    chromiumSandbox: false,
    args: [...(frugal ? FRUGAL_ARGS : []), ...args],
    ignoreDefaultArgs,
  });
}

/** Opens a page and records its errors: { page, faults, close() }. `script` runs before the scripts of the page. */
export async function open(browser, url, script = () => {}) {
  const context = await browser.newContext();
  const page = await context.newPage();
  const faults = [];
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) faults.push(`console ${message.type()}: ${message.text()}`);
  });
  page.on("pageerror", (error) => faults.push(`page error: ${error.stack ?? error}`));
  page.on("requestfailed", (request) => {
    const reason = request.failure()?.errorText;
    // Navigation aborts the requests of a page.
    if (reason !== "net::ERR_ABORTED") faults.push(`failed: ${request.method()} ${request.url()}: ${reason}`);
  });
  page.on("response", (response) => {
    if (response.status() >= 400) faults.push(`${response.status()}: ${response.request().method()} ${response.url()}`);
  });
  await page.addInitScript(script);
  await page.goto(url);
  return { page, faults, close: () => context.close() };
}
