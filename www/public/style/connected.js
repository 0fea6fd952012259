// Runs on the page where a connect attempt ends. Notifies the opener, then closes the page or returns to the app.
{
  const { attempt, status, origin, return: back } = document.documentElement.dataset;
  // A popup of an app returns to the connect window, which requests the token from the app again. If the app's page no
  // longer exists, the popup stays here.
  const isPopup = back?.startsWith(`${location.origin}/connect?`);
  if (window.opener && !isPopup) {
    window.opener.postMessage({ type: "connector-vault:connect", attempt, status }, origin);
    // A lost message does no harm, because the opener also polls the API for the outcome. A failure stays on this page,
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
