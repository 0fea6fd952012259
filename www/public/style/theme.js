// Follows the system's theme unless the user has chosen one. Every page loads this script first, so that it never flashes
// in the wrong theme.
{
  const STORAGE_KEY = "theme";

  /** Applies a stored theme. Any value other than `light` and `dark` means the system's theme. */
  const applyTheme = (choice) => {
    const { dataset } = document.documentElement;
    if (choice === "light" || choice === "dark") dataset.theme = choice;
    else delete dataset.theme;
  };
  const applyStoredTheme = () => {
    try {
      applyTheme(localStorage.getItem(STORAGE_KEY));
    } catch {
      // Storage is unavailable: follow the system.
    }
  };

  applyStoredTheme();
  // Another tab changed the theme.
  addEventListener("storage", ({ key }) => {
    if (key === STORAGE_KEY || key === null) applyStoredTheme();
  });
  window.chooseTheme = (theme) => {
    applyTheme(theme);
    try {
      localStorage.setItem(STORAGE_KEY, theme);
    } catch {
      // Storage is unavailable: the theme applies to this page only.
    }
  };
}
