// Light or dark as the reader chose it in the console; without a choice the system decides.
try {
  const choice = localStorage.getItem("theme");
  if (choice === "light" || choice === "dark") document.documentElement.dataset.theme = choice;
} catch {
  // A browser that keeps nothing has no choice to follow.
}
