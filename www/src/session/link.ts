// A link that opens the console for an end user: `#token=st_…`. The fragment never reaches a server. The console
// removes it from the URL immediately, so that no history, bookmark or screenshot contains it.

/** The token of a link, or `damaged` if it is malformed. */
export type Link = { token: string } | "damaged";

/**
 * The format of signed tokens and codes: prefix, environment, claims, a dot and a 32-byte signature, both in base64url.
 * Two characters before the signature name the account's shard, unless it is the first.
 */
export const signedPattern = (prefix: string) =>
  new RegExp(`^${prefix}_(?:test|live)_[\\w-]+(?:\\.\\w{2})?\\.[\\w-]{43}$`);
export const TOKEN_PATTERN = signedPattern("st");
const TOKEN_FRAGMENT_PREFIX = /^#token(?:=|%3d)/i;

/** Reads the link and removes it from the URL. */
export function takeLink(): Link | undefined {
  const { hash, pathname, search } = location;
  const start = TOKEN_FRAGMENT_PREFIX.exec(hash)?.[0];
  if (start === undefined) return undefined;
  history.replaceState(history.state, "", pathname + search);
  const token = hash.slice(start.length);
  return TOKEN_PATTERN.test(token) ? { token } : "damaged";
}

/** Calls `onOpen` when the user opens a link in the same page. */
export function onLink(onOpen: (link: Link) => void): void {
  addEventListener("hashchange", () => {
    const link = takeLink();
    if (link !== undefined) onOpen(link);
  });
}
