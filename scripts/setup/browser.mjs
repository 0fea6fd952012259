// Chromium and its driver, for tests that need a browser.
import { which } from "../lib/run.mjs";
import { log, task } from "../lib/status.mjs";
import { aptInstall, aptRefusal } from "./apt.mjs";

// Chromium without the parts that only a screen needs: a page costs a third less CPU in it. Playwright uses it by default.
const SHELL = "chromium-headless-shell";

/** The programs, where they are known. `headless` is Chromium's headless shell where there is one, else Chromium. */
export function browserPrograms() {
  const chromium = process.env.CHROMIUM ?? which("chromium") ?? which("google-chrome");
  const chromedriver = process.env.CHROMEDRIVER ?? which("chromedriver");
  if (!chromium || !chromedriver) return undefined;
  return { chromium, chromedriver, headless: process.env.CHROMIUM ?? which(SHELL) ?? chromium };
}

/**
 * Makes sure of Chromium and chromedriver where that is possible.
 * @returns {Promise<{ chromium: string, chromedriver: string, headless: string } | undefined>} undefined when there is none;
 *   why has then been printed
 */
export async function browser() {
  const refusal = aptRefusal();
  const found = browserPrograms();
  // Older releases of Debian lack the shell.
  if (found && !refusal && !which(SHELL))
    await task("Chromium's headless shell from Debian's packages", (detail) => aptInstall([SHELL], detail)).catch(
      () => {},
    );
  if (found) return browserPrograms();
  if (!refusal) {
    const packages = ["chromium", "chromium-driver"];
    await task("Chromium from Debian's packages", (detail) =>
      aptInstall([...packages, SHELL], detail).catch(() => aptInstall(packages, detail)),
    );
    return browserPrograms();
  }
  log(`! Chromium and chromedriver are missing and cannot be installed: ${refusal}.`);
  log("  Install both, or point CHROMIUM and CHROMEDRIVER at them, to run the tests that need a browser.");
  return undefined;
}
