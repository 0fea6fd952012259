// Chromium and its driver, for tests that need a browser.
import { which } from "../lib/run.mjs";
import { log, task } from "../lib/status.mjs";
import { aptInstall, aptRefusal } from "./apt.mjs";

// Chromium without display support, Playwright's default: pages use a third less CPU in it.
const HEADLESS_SHELL = "chromium-headless-shell";

/** The paths of the programs, if found. `headless` is Chromium's headless shell if available, else Chromium. */
export function browserPrograms() {
  const chromium = process.env.CHROMIUM ?? which("chromium") ?? which("google-chrome");
  const chromedriver = process.env.CHROMEDRIVER ?? which("chromedriver");
  if (!chromium || !chromedriver) return undefined;
  return { chromium, chromedriver, headless: process.env.CHROMIUM ?? which(HEADLESS_SHELL) ?? chromium };
}

/**
 * Installs Chromium and chromedriver if they are missing and this user can install them.
 * @returns {Promise<{ chromium: string, chromedriver: string, headless: string } | undefined>} undefined if there is
 *   none; the reason has then been printed
 */
export async function browser() {
  const refusal = aptRefusal();
  const programs = browserPrograms();
  // Older releases of Debian lack the package of the headless shell.
  if (programs && !refusal && !which(HEADLESS_SHELL))
    await task("Chromium's headless shell from Debian's packages", (detail) =>
      aptInstall([HEADLESS_SHELL], detail),
    ).catch(() => {});
  if (programs) return browserPrograms();
  if (!refusal) {
    const packages = ["chromium", "chromium-driver"];
    await task("Chromium from Debian's packages", (detail) =>
      aptInstall([...packages, HEADLESS_SHELL], detail).catch(() => aptInstall(packages, detail)),
    );
    return browserPrograms();
  }
  log(`! Chromium and chromedriver are missing, and cannot be installed: ${refusal}.`);
  log("  To run the tests that need a browser, install both, or set CHROMIUM and CHROMEDRIVER to their paths.");
  return undefined;
}
