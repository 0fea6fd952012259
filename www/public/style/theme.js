// Follows the system's theme unless the user has chosen one. Every page loads this script first, so that it never flashes
// in the wrong theme.
{
  const STORED = "theme";

  /** Applies a stored theme. Any value other than `light` and `dark` means the system's theme. */
  const show = (choice) => {
    const { dataset } = document.documentElement;
    if (choice === "light" || choice === "dark") dataset.theme = choice;
    else delete dataset.theme;
  };
  const showStored = () => {
    try {
      show(localStorage.getItem(STORED));
    } catch {
      // Storage is unavailable: follow the system.
    }
  };

  showStored();
  // Another tab changed the theme.
  addEventListener("storage", ({ key }) => {
    if (key === STORED || key === null) showStored();
  });
  window.chooseTheme = (theme) => {
    show(theme);
    try {
      localStorage.setItem(STORED, theme);
    } catch {
      // Storage is unavailable: the theme applies to this page only.
    }
  };
}
