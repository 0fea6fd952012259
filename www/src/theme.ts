// Light or dark: as the system has it, unless somebody has chosen.
import { keepIn, keptIn } from "./parts/storage";

export type Theme = "light" | "dark";
const STORED = "theme";

/** What was chosen; undefined for the system's. */
export function chosenTheme(): Theme | undefined {
  const stored = keptIn("localStorage", STORED);
  return stored === "light" || stored === "dark" ? stored : undefined;
}

/** What is shown. */
export function shownTheme(): Theme {
  return chosenTheme() ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
}

/** Chooses a theme; what the system has anyway is not kept. */
export function chooseTheme(theme: Theme): void {
  keepIn("localStorage", STORED, theme);
  showTheme(theme);
}

/** Lets the page know of the choice; its style sheet does the rest. */
export function showTheme(chosen = chosenTheme()): void {
  if (chosen) document.documentElement.dataset["theme"] = chosen;
  else delete document.documentElement.dataset["theme"];
}
