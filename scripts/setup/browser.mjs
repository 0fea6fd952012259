// Chromium and its driver, for tests that need a browser.
import { which } from "../lib/run.mjs";
import { say, task } from "../lib/status.mjs";
import { aptInstall, aptRefusal } from "./apt.mjs";

/** The programs, where they are known. */
export function browserPrograms() {
  const chromium = process.env.CHROMIUM ?? which("chromium") ?? which("google-chrome");
  const chromedriver = process.env.CHROMEDRIVER ?? which("chromedriver");
  return chromium && chromedriver ? { chromium, chromedriver } : undefined;
}

/**
 * Makes sure of Chromium and chromedriver where that is possible.
 * @returns {Promise<{ chromium: string, chromedriver: string } | undefined>} undefined when there is none;
 *   why has then been printed
 */
export async function browser() {
  const found = browserPrograms();
  if (found) return found;
  const refusal = aptRefusal();
  if (!refusal) {
    await task("Chromium from Debian's packages", (detail) => aptInstall(["chromium", "chromium-driver"], detail));
    return browserPrograms();
  }
  say(`! Chromium and chromedriver are missing and cannot be installed: ${refusal}.`);
  say("  Install both, or point CHROMIUM and CHROMEDRIVER at them, to run the tests that need a browser.");
  return undefined;
}
