// The page on which an attempt to connect ends: tells the window that opened it what became of it, then closes itself or
// goes back to the app.
{
  const { attempt, status, origin, return: back } = document.documentElement.dataset;
  if (window.opener) {
    window.opener.postMessage({ type: "connector-vault:connect", attempt, status }, origin);
    // The opener asks the API for the outcome, so that a message that nobody hears does no harm.
    if (!back) window.close();
  }
  if (back) location.replace(back);
}
