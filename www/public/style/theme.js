// Light or dark: as the system has it, unless the reader has chosen. Every page loads this before it is drawn, so that
// none shows the other theme first.
{
  const STORED = "theme";

  /** Lets the style sheet know of a choice; anything else leaves it to the system. */
  const show = (choice) => {
    const { dataset } = document.documentElement;
    if (choice === "light" || choice === "dark") dataset.theme = choice;
    else delete dataset.theme;
  };
  const showStored = () => {
    try {
      show(localStorage.getItem(STORED));
    } catch {
      // A browser that stores nothing has no choice to follow.
    }
  };

  showStored();
  // Another tab has chosen.
  addEventListener("storage", ({ key }) => {
    if (key === STORED || key === null) showStored();
  });
  /** Shows a theme in all tabs, now and from now on. */
  window.chooseTheme = (theme) => {
    show(theme);
    try {
      localStorage.setItem(STORED, theme);
    } catch {
      // It holds for this page.
    }
  };
}
