// The reader's choice of light or dark, which the console keeps; without one the system decides.
const KEY = "theme";

function show(choice: string | null) {
  if (choice === "light" || choice === "dark") document.documentElement.dataset.theme = choice;
  else delete document.documentElement.dataset.theme;
}

/** Shows the page as chosen, now and whenever another tab chooses anew. */
export function followTheme() {
  try {
    show(localStorage.getItem(KEY));
  } catch {
    // A browser that keeps nothing has no choice to follow.
  }
  addEventListener("storage", ({ key, newValue }) => {
    if (key === KEY || key === null) show(newValue);
  });
}
