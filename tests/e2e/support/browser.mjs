// A headless Chromium.
import { chromium } from "playwright-core";
import { browserPrograms } from "../../../scripts/setup/browser.mjs";

/**
 * Starts Chromium; the caller closes it. It ends with this process at the latest. `full`: instead of the headless shell, in
 * which a tab opened by Ctrl+click sometimes never finishes loading. `keepsPages`: with the back/forward cache, which the shell
 * lacks, and which Playwright switches off because its `goBack` waits for a page to load.
 */
export function launch(args = [], { keepsPages = false, full = keepsPages } = {}) {
  const programs = browserPrograms();
  if (!programs) throw new Error("There is no Chromium. `node scripts/setup.mjs --browser` shows the reason.");
  // Chromium's own sandbox wants more rights than a container or root has; the pages are our own.
  const ignoreDefaultArgs = keepsPages ? ["--disable-back-forward-cache"] : [];
  const executablePath = full ? programs.chromium : programs.headless;
  return chromium.launch({ executablePath, chromiumSandbox: false, args, ignoreDefaultArgs });
}

/** Opens a page and takes note of all that goes wrong in it: { page, faults, close() }. `script` runs before its own ones. */
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
    // A page that is left ends its requests.
    if (reason !== "net::ERR_ABORTED") faults.push(`failed: ${request.method()} ${request.url()}: ${reason}`);
  });
  page.on("response", (response) => {
    if (response.status() >= 400) faults.push(`${response.status()}: ${response.request().method()} ${response.url()}`);
  });
  await page.addInitScript(script);
  await page.goto(url);
  return { page, faults, close: () => context.close() };
}
