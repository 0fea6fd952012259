// The theme, for the button that changes it. `www/public/style/theme.js`, which each page loads first, shows and stores it.

export type Theme = "light" | "dark";

declare global {
  interface Window {
    /** Shows a theme in all tabs, now and from now on. */
    chooseTheme(theme: Theme): void;
  }
}

/** The theme that is shown. */
export function currentTheme(): Theme {
  const { theme } = document.documentElement.dataset;
  if (theme === "light" || theme === "dark") return theme;
  return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}

/** Calls back when somebody chooses a theme, here or in another tab; returns what ends that. */
export function onThemeChange(changed: () => void): () => void {
  const observer = new MutationObserver(changed);
  observer.observe(document.documentElement, { attributeFilter: ["data-theme"] });
  return () => observer.disconnect();
}
