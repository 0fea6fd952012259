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
function showTheme(chosen = chosenTheme()): void {
  if (chosen) document.documentElement.dataset.theme = chosen;
  else delete document.documentElement.dataset.theme;
}

/** Shows the page as chosen, now and whenever another tab chooses anew; `changed` is called then. */
export function followTheme(changed = () => {}): () => void {
  showTheme();
  const follow = ({ key }: StorageEvent) => {
    if (key !== STORED && key !== null) return;
    showTheme();
    changed();
  };
  addEventListener("storage", follow);
  return () => removeEventListener("storage", follow);
}
