// The session of the connect window: its token, identity and permissions.
import type { Scope, Whoami } from "connector-vault/slim";
import { readStorage, writeStorage } from "../components/storage";
import { ApiClient, exchange } from "./api-client";
import { type Reply, allowedListener, displayMode } from "./embedder";
import { type LaunchParams, parseOrigin, storeToken } from "./launch-params";

const CONFIRMED_KEY = "connect-confirmed";

export interface Session {
  service: ApiClient;
  whoami: Whoami;
  may: (scope: Scope) => boolean;
  /** Resolves to whether the identity has failed connections that the window may show. */
  hasFailedConnections: () => Promise<boolean>;
  /** The platforms to which the identity is connected; empty if the token can't read connections. */
  connectedPlatforms: (platform?: string) => Promise<ReadonlySet<string>>;
  /** The embedder's origin, if it may receive status messages. */
  listener: string | undefined;
  /** The URL to which a full page returns. */
  returnUrl: string | undefined;
  /**
   * Whether the platform's page opens in a separate popup. Otherwise the window navigates to it: as a full page, or as
   * a popup that can notify the app afterwards.
   */
  opensPopup: boolean;
}

/** A request to connect accounts as an identity. The user may still have to confirm it. */
export interface Invitation {
  /** The identity to which the connection will belong. */
  identity: string;
  /**
   * Whether no confirmation is needed: a page of the token's `origins` opened the window with this token or code, or
   * the user has confirmed the identity in this tab before.
   */
  isConfirmed: boolean;
  /** Stores that the user has confirmed the identity, for other attempts with the same token. */
  confirm: () => void;
  /** The token that the embedder sent. */
  token: string | undefined;
  /** The embedder's origin, if it may receive status messages. */
  listener: string | undefined;
  open: () => Promise<Session>;
}

/**
 * Reads the invitation from the embedder's reply and the window's URL. Returns undefined without a valid token or code.
 */
export async function readInvitation(
  launchParams: LaunchParams,
  reply: Reply | undefined,
): Promise<Invitation | undefined> {
  // Trust only a token or code from the embedder's message: other pages can change the window's URL.
  const { token = launchParams.token } = reply ?? {};
  if (token !== undefined) {
    const session = await openSession(launchParams, token, reply);
    const { identity, origins } = session.whoami;
    if (identity === undefined) return undefined;
    const isFromApp = reply?.token !== undefined && origins?.includes(reply.origin) === true;
    return {
      identity,
      ...openConfirmation(token, isFromApp),
      token: reply?.token,
      listener: allowedOrigin(reply, origins),
      open: async () => session,
    };
  }
  const { code } = launchParams;
  if (code === undefined) return undefined;
  const { i: identity, o: commaSeparatedOrigins } = decodeClaims(code);
  if (identity === undefined) return undefined;
  const origins = commaSeparatedOrigins?.split(",");
  const isFromApp = reply?.code === code && origins?.includes(reply.origin) === true;
  let exchangedToken: string | undefined;
  const open = async () => {
    exchangedToken ??= await exchange(code);
    storeToken(exchangedToken);
    return openSession(launchParams, exchangedToken, reply);
  };
  const confirmation = openConfirmation(code, isFromApp);
  return { identity, ...confirmation, token: undefined, listener: allowedOrigin(reply, origins), open };
}

/**
 * The stored confirmation of a token, or of a code for the token. Its id consists of the key, identity and expiry,
 * because a link that repeats an attempt has a new code for the same token. Not used in a frame: the page around it
 * could have opened the link of another tab, and could capture clicks.
 */
function openConfirmation(secret: string, isFromApp: boolean) {
  const { k, i, e } = decodeClaims(secret);
  const id = JSON.stringify([k, i, e]);
  return {
    isConfirmed: isFromApp || (displayMode !== "frame" && readStorage("sessionStorage", CONFIRMED_KEY) === id),
    confirm: () => writeStorage("sessionStorage", CONFIRMED_KEY, id),
  };
}

/** Returns the embedder's origin if the token allows it. A token without `origins` allows all. */
const allowedOrigin = (reply: Reply | undefined, origins: readonly string[] | null | undefined) =>
  reply && (origins?.includes(reply.origin) ?? true) ? reply.origin : undefined;

/** Returns the language that the app has chosen for the user, from the claims of a code or token. */
export function decodeLanguage(secret: string | undefined): string | undefined {
  // Check the type, because the claims are not verified yet.
  const tag: unknown = secret === undefined ? undefined : decodeClaims(secret).w?.l;
  return typeof tag === "string" ? tag : undefined;
}

/**
 * Decodes the claims of a code or token: key, identity, expiry, comma-separated origins, and settings of the window.
 * Does not verify the signature; the service does during the exchange.
 */
function decodeClaims(secret: string): { k?: string; i?: string; e?: number; o?: string; w?: { l?: string } } {
  const claims = secret.replace(/^(?:cc|st)_(?:test|live)_/, "").split(".")[0] ?? "";
  try {
    const bytes = Uint8Array.from(atob(claims.replaceAll("-", "+").replaceAll("_", "/")), (char) => char.charCodeAt(0));
    return JSON.parse(new TextDecoder().decode(bytes)) ?? {};
  } catch {
    return {};
  }
}

async function openSession(launchParams: LaunchParams, token: string, reply: Reply | undefined): Promise<Session> {
  const service = new ApiClient(token);
  const whoami = await service.whoami();
  const returnOrigin = parseOrigin(launchParams.returnUrl);
  const listener = allowedOrigin(reply, whoami.origins) ?? allowedListener(launchParams, whoami);
  // Prevent redirects to pages that the token does not allow.
  const canReturn =
    returnOrigin !== undefined && allowedListener({ ...launchParams, origin: returnOrigin }, whoami) !== undefined;
  const may = (scope: Scope) => whoami.scopes.includes(scope);
  const canRead = may("connections:read");
  return {
    service,
    whoami,
    may,
    hasFailedConnections: async () => canRead && (await service.findFailedConnections()).length > 0,
    connectedPlatforms: async (platform) => (canRead ? service.findConnectedPlatforms(platform) : new Set()),
    listener,
    returnUrl: canReturn ? launchParams.returnUrl : undefined,
    opensPopup:
      displayMode === "frame" || (displayMode === "popup" && listener !== undefined && reply?.token === undefined),
  };
}
