// A link that opens the console for an end user: `#token=st_…`. What comes after `#` reaches no server; it is taken out of
// the address before anything else happens, so that it stays in no history and no bookmark.
import { keepIn } from "../parts/storage";

/** The name under which the tab keeps what it was opened with. */
export const STORED = "connector-vault.secret";
const LINK = /^#token=(st_[\w.-]+)$/;

/** Takes the token out of the address and keeps it in this tab, instead of what was there; whether there was one. */
function takeToken(): boolean {
  const token = LINK.exec(location.hash)?.[1];
  if (token === undefined) return false;
  history.replaceState(history.state, "", location.pathname + location.search);
  keepIn("sessionStorage", STORED, token);
  return true;
}

/** To be called once, before anything is drawn. A link that is opened in this very page begins anew. */
export function openByLink(): void {
  takeToken();
  addEventListener("hashchange", () => {
    if (takeToken()) location.reload();
  });
}
