// Fonts for the scripts in the demo data: without them a picture of the console has boxes for letters.
import { tryRun, which } from "../lib/run.mjs";
import { log, task } from "../lib/status.mjs";
import { aptInstall, aptRefusal } from "./apt.mjs";

// Languages of the names that `npm run seed` makes, one for each script that few systems have a font for.
const LANGUAGES = ["ar", "he", "hi", "ja", "ko", "th", "zh-cn"];
const PACKAGES = ["fontconfig", "fonts-noto-core", "fonts-noto-cjk"];

const missing = () =>
  which("fc-list")
    ? LANGUAGES.filter((language) => tryRun("fc-list", [`:lang=${language}`, "family"]).out === "")
    : LANGUAGES;

/** Makes sure of the fonts where that is possible; says so when it is not. */
export async function fonts() {
  if (missing().length === 0) return;
  const refusal = aptRefusal();
  if (!refusal) {
    await task("Noto fonts from Debian's packages", (detail) => aptInstall(PACKAGES, detail));
    return;
  }
  log(`! There is no font for ${missing().join(", ")} and none can be installed: ${refusal}.`);
  log(
    `  Pictures will have boxes for their letters. Install ${PACKAGES.slice(1).join(" and ")}, or other fonts for them.`,
  );
}
