// What the window is opened with: `/connect#code=cc_…&platform=github`. What follows `#` reaches no server. It leaves the
// address before anything else happens, so that no history, bookmark or screenshot keeps it. The window stores nothing.
import { TOKEN, signedPattern } from "../session/link";

export interface LaunchParams {
  /** A code that is exchanged for a token, once. Undefined if there is none, as after a reload, or if it can't be one. */
  code: string | undefined;
  /** A token, from a page that left itself for this one. */
  token: string | undefined;
  /** Whether there was something in place of a code or a token. */
  isDamaged: boolean;
  /** The platform to connect. */
  platform: string | undefined;
  /** The id of the connection to reconnect. */
  connection: string | undefined;
  /** The origin of the page that opened the window or contains it. */
  origin: string | undefined;
  /** Where a full page leads back to. */
  returnUrl: string | undefined;
  /** The attempt with which a popup comes back from the platform. */
  resumed: { attempt: string; connection: string | undefined } | undefined;
}

const CODE_PATTERN = signedPattern("cc");

/** Takes it out of the address. */
export function takeLaunchParams(): LaunchParams {
  const given = new URLSearchParams(location.hash.slice(1));
  const attempt = new URLSearchParams(location.search).get("connect");
  if (location.hash !== "" || location.search !== "") history.replaceState(null, "", location.pathname);
  const member = (name: string) => given.get(name) || undefined;
  const [code, token] = [member("code"), member("token")];
  const isCode = code !== undefined && CODE_PATTERN.test(code);
  const isToken = token !== undefined && TOKEN.test(token);
  return {
    code: isCode ? code : undefined,
    token: isToken ? token : undefined,
    isDamaged: (code !== undefined && !isCode) || (token !== undefined && !isToken),
    platform: member("platform")?.toLowerCase(),
    connection: member("connection")?.toLowerCase(),
    origin: originOf(member("origin")),
    returnUrl: member("returnUrl"),
    resumed: attempt !== null && given.has("began") ? { attempt, connection: member("began") } : undefined,
  };
}

/** The address to which a popup comes back from the platform. Its page has no token, and asks the app for it again. */
export function popupReturnUrl(
  { platform, connection, origin }: LaunchParams,
  reconnected: string | undefined,
): string {
  const given = Object.entries({ platform, connection, origin }).filter(([, value]) => value !== undefined);
  const members = new URLSearchParams([["began", reconnected ?? ""], ...(given as [string, string][])]);
  return `${location.origin}${location.pathname}#${members}`;
}

/** The address that opens the window with the same again, with the token if a page sent it. */
export function launchUrl(
  { code, token, platform, connection, returnUrl }: LaunchParams,
  receivedToken: string | undefined,
): string {
  const members = {
    ...(receivedToken === undefined ? { code, token } : { token: receivedToken }),
    platform,
    connection,
    origin: location.origin,
    returnUrl,
  };
  const given = Object.entries(members).filter((member): member is [string, string] => member[1] !== undefined);
  return `${location.pathname}#${new URLSearchParams(given)}`;
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
