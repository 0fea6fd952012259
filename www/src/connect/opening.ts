// What the window is opened with: `/connect#token=st_…&platform=github`. What follows `#` reaches no server. It leaves the
// address before anything else happens, so that no history, bookmark or screenshot keeps it. The window stores nothing.
import { TOKEN } from "../session/link";

export interface Opening {
  /** Undefined if there is none, as after a reload, or if it can't be one. */
  token: string | undefined;
  /** Whether there was something in its place. */
  isDamaged: boolean;
  /** The platform to connect. */
  platform: string | undefined;
  /** The id of the connection to reconnect. */
  connection: string | undefined;
  /** The origin of the page that opened the window or contains it. */
  origin: string | undefined;
  /** Where a full page leads back to. */
  returnUrl: string | undefined;
}

/** Takes it out of the address. */
export function takeOpening(): Opening {
  const given = new URLSearchParams(location.hash.slice(1));
  if (location.hash !== "") history.replaceState(null, "", location.pathname);
  const member = (name: string) => given.get(name) || undefined;
  const token = member("token");
  const isToken = token !== undefined && TOKEN.test(token);
  return {
    token: isToken ? token : undefined,
    isDamaged: token !== undefined && !isToken,
    platform: member("platform")?.toLowerCase(),
    connection: member("connection")?.toLowerCase(),
    origin: originOf(member("origin")),
    returnUrl: member("returnUrl"),
  };
}

/** The origin of a URL of the web; undefined for anything else. */
export function originOf(url: string | undefined): string | undefined {
  try {
    const { origin, protocol } = new URL(url ?? "");
    return /^https?:$/.test(protocol) ? origin : undefined;
  } catch {
    return undefined;
  }
}
