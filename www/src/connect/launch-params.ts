// The parameters in the window's URL: `/connect#code=cc_…&platform=github`. The fragment never reaches a server. The
// window removes the code or token from the URL immediately, so that no history, bookmark or screenshot contains it. A
// full page has no embedder to ask again, so its tab keeps the parameters for a reload, until the account is connected.
import { readStorage, writeStorage } from "../components/storage";
import { TOKEN_PATTERN, signedPattern } from "../session/link";

export interface LaunchParams {
  /** The window exchanges it once for a token. Undefined if it is malformed or absent, as after a reload. */
  code: string | undefined;
  /** The token of a page that navigated here itself. */
  token: string | undefined;
  /** Whether a code or token is present but malformed. */
  isMalformed: boolean;
  platform: string | undefined;
  /** The connection to reconnect. */
  connection: string | undefined;
  /** The ID of the auth method that the form selects first. */
  authMethod: string | undefined;
  /** The origin of the embedder, as the URL states it. */
  origin: string | undefined;
  /** The URL to which a full page returns. */
  returnUrl: string | undefined;
  /** The attempt of a popup that returns from the platform. */
  resumed: { attempt: string; connection: string | undefined } | undefined;
  /** Whether the page has connected an account before it was reloaded. */
  isDone: boolean;
}

/** The fragment of a full page, in the storage of its tab. */
const STORED_KEY = "connect-launch";
const isFullPage = window.parent === window && !window.opener;
const readStored = () => readStorage("sessionStorage", STORED_KEY) ?? "";
const store = (fragment: string) => isFullPage && writeStorage("sessionStorage", STORED_KEY, fragment);

/** Stores the token of a code for a reload of the full page, because a code can be exchanged only once. */
export const storeToken = (token: string) => store(`${readStored()}&token=${token}`);

/** Removes what was stored for a reload: the account is connected. */
export const storeDone = () => store("done=1");

const CODE_PATTERN = signedPattern("cc");

/** Reads the parameters and removes them from the URL. Keeps what to connect in a popup, so that it survives a reload. */
export function takeLaunchParams(): LaunchParams {
  let fragment = location.hash.slice(1);
  if (isFullPage) {
    const stored = readStored();
    // A reload, or the same link again: its code may have been exchanged.
    if (stored.startsWith(fragment)) fragment = stored;
    else store(fragment);
  }
  const parameters = new URLSearchParams(fragment);
  const attempt = new URLSearchParams(location.search).get("connect");
  const parameter = (name: string) => parameters.get(name) || undefined;
  const targets = ["platform", "connection"].filter((name) => window.opener && parameter(name));
  const kept = new URLSearchParams(targets.map((name) => [name, parameter(name) ?? ""]));
  history.replaceState(null, "", location.pathname + (kept.size > 0 ? `#${kept}` : ""));
  const [code, token] = [parameter("code"), parameter("token")];
  const isCode = code !== undefined && CODE_PATTERN.test(code);
  const isToken = token !== undefined && TOKEN_PATTERN.test(token);
  return {
    code: isCode ? code : undefined,
    token: isToken ? token : undefined,
    isMalformed: (code !== undefined && !isCode) || (token !== undefined && !isToken),
    platform: parameter("platform")?.toLowerCase(),
    connection: parameter("connection")?.toLowerCase(),
    authMethod: parameter("authMethod"),
    origin: parseOrigin(parameter("origin")),
    returnUrl: parameter("returnUrl"),
    resumed: attempt !== null && parameters.has("began") ? { attempt, connection: parameter("began") } : undefined,
    isDone: parameters.has("done"),
  };
}

/** Returns the return URL of a popup. It contains no token, because the page requests the token from the app again. */
export function buildPopupReturnUrl(
  { platform, connection, origin }: LaunchParams,
  reconnectedId: string | undefined,
): string {
  const entries = Object.entries({ platform, connection, origin }).filter(([, value]) => value !== undefined);
  const members = new URLSearchParams([["began", reconnectedId ?? ""], ...(entries as [string, string][])]);
  return `${location.origin}${location.pathname}#${members}`;
}

/** Returns the URL that opens the same window again, with the token that the embedder sent, if any. */
export function buildLaunchUrl(
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
  const entries = Object.entries(members).filter((member): member is [string, string] => member[1] !== undefined);
  return `${location.pathname}#${new URLSearchParams(entries)}`;
}

/** Returns the origin of an http or https URL, or undefined for anything else. */
export function parseOrigin(url: string | undefined): string | undefined {
  try {
    const { origin, protocol } = new URL(url ?? "");
    return /^https?:$/.test(protocol) ? origin : undefined;
  } catch {
    return undefined;
  }
}
