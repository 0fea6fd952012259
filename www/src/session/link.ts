// A link that opens the console for an end user: `#token=st_…`. What follows `#` reaches no server. It leaves the address
// before anything else happens, so that no history, bookmark or screenshot keeps it.

/** What a link holds: a token, or something that can't be one. */
export type Link = { token: string } | "damaged";

/**
 * The form of what the service signs: a prefix, the environment, the claims, a dot and a signature of 32 bytes, both in
 * base64url. Two digits before the signature name the account's database, if it is not the first.
 */
export const signedPattern = (prefix: string) =>
  new RegExp(`^${prefix}_(?:test|live)_[\\w-]+(?:\\.\\w{2})?\\.[\\w-]{43}$`);
export const TOKEN = signedPattern("st");
const START = /^#token(?:=|%3d)/i;

/** Takes the link out of the address; undefined when the address holds none. */
export function takeLink(): Link | undefined {
  const { hash, pathname, search } = location;
  const start = START.exec(hash)?.[0];
  if (start === undefined) return undefined;
  history.replaceState(history.state, "", pathname + search);
  const token = hash.slice(start.length);
  return TOKEN.test(token) ? { token } : "damaged";
}

/** Calls back when a link is opened in this very page. */
export function onLink(open: (link: Link) => void): void {
  addEventListener("hashchange", () => {
    const link = takeLink();
    if (link !== undefined) open(link);
  });
}
