// The theme switch. `www/public/style/theme.js`, which each page loads first, applies and stores the theme.

export type Theme = "light" | "dark";

declare global {
  interface Window {
    /** Sets the theme in all tabs and stores it. */
    chooseTheme(theme: Theme): void;
  }
}

export function currentTheme(): Theme {
  const { theme } = document.documentElement.dataset;
  if (theme === "light" || theme === "dark") return theme;
  return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}

/** Calls `onChange` when the theme changes, in this tab or in another. Returns a function that unsubscribes. */
export function onThemeChange(onChange: () => void): () => void {
  const observer = new MutationObserver(onChange);
  observer.observe(document.documentElement, { attributeFilter: ["data-theme"] });
  return () => observer.disconnect();
}
