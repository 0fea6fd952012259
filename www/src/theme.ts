// Light or dark: as the system has it, unless somebody has chosen.

export type Theme = "light" | "dark";
const STORED = "theme";

/** What was chosen; undefined for the system's. */
export function chosenTheme(): Theme | undefined {
  const stored = localStorage.getItem(STORED);
  return stored === "light" || stored === "dark" ? stored : undefined;
}

/** What is shown. */
export function shownTheme(): Theme {
  return chosenTheme() ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
}

/** Chooses a theme; what the system has anyway is not kept. */
export function chooseTheme(theme: Theme): void {
  localStorage.setItem(STORED, theme);
  showTheme();
}

/** Lets the page know of the choice; its style sheet does the rest. */
export function showTheme(): void {
  const chosen = chosenTheme();
  if (chosen) document.documentElement.dataset["theme"] = chosen;
  else delete document.documentElement.dataset["theme"];
}
