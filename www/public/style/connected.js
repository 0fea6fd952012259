// Runs on the page where a connect attempt ends. It notifies the opener, then closes itself or returns to the app.
{
  const { attempt, status, origin, return: back } = document.documentElement.dataset;
  // A popup of an app returns to the connect window, which asks the app for its token again. If the app's page no
  // longer exists, the popup stays here.
  const isPopup = back?.startsWith(`${location.origin}/connect?`);
  if (window.opener && !isPopup) {
    window.opener.postMessage({ type: "connector-vault:connect", attempt, status }, origin);
    // The opener also asks the API for the outcome, so a lost message does no harm. A failure stays on this page,
    // unless the opener is the connect window, which shows it.
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
