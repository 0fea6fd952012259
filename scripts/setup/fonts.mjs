// Installs fonts for the writing systems of the demo data. Without them, screenshots of the console show boxes.
import { tryRun, which } from "../lib/run.mjs";
import { log, task } from "../lib/status.mjs";
import { aptInstall, aptRefusal } from "./apt.mjs";

// One language for each writing system that `npm run seed` uses and systems often lack a font for.
const LANGUAGES = ["ar", "he", "hi", "ja", "ko", "th", "zh-cn"];
const PACKAGES = ["fontconfig", "fonts-noto-core", "fonts-noto-cjk"];

const missingLanguages = () =>
  which("fc-list")
    ? LANGUAGES.filter((language) => tryRun("fc-list", [`:lang=${language}`, "family"]).out === "")
    : LANGUAGES;

/** Installs the fonts if they are missing and this user can install them; otherwise prints a warning. */
export async function fonts() {
  if (missingLanguages().length === 0) return;
  const refusal = aptRefusal();
  if (!refusal) {
    await task("Noto fonts from Debian's packages", (detail) => aptInstall(PACKAGES, detail));
    return;
  }
  log(`! There is no font for ${missingLanguages().join(", ")}, and none can be installed: ${refusal}.`);
  log(`  Screenshots will show boxes instead of letters. Install ${PACKAGES.slice(1).join(" and ")}, or other fonts.`);
}
