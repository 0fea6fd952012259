// The page on which an attempt to connect ends: tells the window that opened it what became of it, then closes itself or
// goes back to the app.
{
  const { attempt, status, origin, return: back } = document.documentElement.dataset;
  // A popup of an app goes back to the window, which asks the app for its token again. Without the app, it ends here.
  const isPopup = back?.startsWith(`${location.origin}/connect?`);
  if (window.opener && !isPopup) {
    window.opener.postMessage({ type: "connector-vault:connect", attempt, status }, origin);
    // The opener asks the API for the outcome, so that a message that nobody hears does no harm. A failure stays on this
    // page, unless the opener is the window, which tells it.
    if (!back && (status === "succeeded" || isWindow(window.opener))) window.close();
  }
  if (back && (!isPopup || window.opener)) location.replace(back);
}

function isWindow(opener) {
  try {
    return opener.location.origin === location.origin;
  } catch {
    return false;
  }
}
