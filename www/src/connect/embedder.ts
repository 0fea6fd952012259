// Messages between the connect window and its embedder, the page that opened the window or contains it as a frame.
import type { Connection, Whoami } from "connector-vault/slim";
import { TOKEN_PATTERN } from "../session/link";
import { type LaunchParams, buildLaunchUrl, parseOrigin } from "./launch-params";

export const displayMode = window.parent !== window ? "frame" : window.opener ? "popup" : "page";

/** The embedder's reply to the message `waiting`: the token or code with which it opened the window. */
export interface Reply {
  /** The embedder's origin from the browser, which the embedder can't forge. */
  origin: string;
  token: string | undefined;
  /** The code in the embedder's `connectUrl`. */
  code: string | undefined;
}

/** A message to the embedder. */
export interface StatusMessage {
  /** `pending`: the user is at the platform; `closed`: the user cancelled. */
  status: "waiting" | "ready" | "pending" | "succeeded" | "failed" | "closed";
  attempt?: string;
  connection?: Connection;
  code?: string;
}

const MESSAGE_TYPE = "connector-vault:connect";
/** Timeouts of the embedder's reply. Short if the window's URL already has a token or code. */
const [TIMEOUT_WITH_SECRET_MS, TIMEOUT_MS] = [2_000, 15_000];
/** The interval of repeated requests, because a page may create its frame before it listens. */
const REQUEST_INTERVAL_MS = 250;

const embedder = (): Window | null => (displayMode === "frame" ? window.parent : window.opener);

/**
 * Requests the token or code with which the embedder opened the window. Returns undefined if there is no embedder or no
 * reply.
 */
export function requestFromEmbedder(launchParams: LaunchParams): Promise<Reply | undefined> {
  const target = embedder();
  if (displayMode === "page" || !target) return Promise.resolve(undefined);
  const isEmpty = (launchParams.code ?? launchParams.token) === undefined;
  // Any page may receive this message, because it contains no data.
  const sendRequest = () =>
    target.postMessage({ type: MESSAGE_TYPE, status: "waiting" } satisfies StatusMessage & { type: string }, "*");
  return new Promise((resolve) => {
    const finish = (reply?: Reply) => {
      removeEventListener("message", onMessage);
      clearTimeout(timer);
      clearInterval(requestInterval);
      resolve(reply);
    };
    const onMessage = ({ source, origin, data }: MessageEvent) => {
      // Ignore sandboxed pages: their origin is `null`, which does not identify a page.
      if (source !== target || data?.type !== MESSAGE_TYPE || parseOrigin(origin) === undefined) return;
      const token = typeof data.token === "string" && TOKEN_PATTERN.test(data.token) ? data.token : undefined;
      finish({ origin, token, code: codeFromUrl(data.connectUrl) });
    };
    const timer = setTimeout(finish, isEmpty ? TIMEOUT_MS : TIMEOUT_WITH_SECRET_MS);
    const requestInterval = setInterval(sendRequest, REQUEST_INTERVAL_MS);
    addEventListener("message", onMessage);
    sendRequest();
  });
}

function codeFromUrl(url: unknown): string | undefined {
  if (typeof url !== "string") return undefined;
  return new URLSearchParams(url.split("#")[1]).get("code") ?? undefined;
}

/** Opens this window as a popup and forwards its messages to `listener`. Returns false if the browser blocks it. */
export function openInPopup(
  launchParams: LaunchParams,
  token: string | undefined,
  listener: string | undefined,
  onStatus: (message: StatusMessage) => void,
): boolean {
  const popup = window.open(buildLaunchUrl(launchParams, token), "", "popup,width=600,height=760");
  if (!popup) return false;
  addEventListener("message", ({ source, origin, data }) => {
    if (source !== popup || origin !== location.origin || data?.type !== MESSAGE_TYPE) return;
    if (data.status === "waiting") return popup.postMessage({ type: MESSAGE_TYPE }, origin);
    if (listener) embedder()?.postMessage(data, listener);
    onStatus(data);
  });
  return true;
}

/**
 * Returns the embedder's origin if it may receive status messages: the token must allow it. If the token allows all
 * origins, the origin must be that of the referrer.
 */
export function allowedListener({ origin }: LaunchParams, { origins }: Whoami): string | undefined {
  if (origin === undefined || origin === location.origin) return origin;
  const isAllowed = origins ? origins.includes(origin) : parseOrigin(document.referrer) === origin;
  return isAllowed ? origin : undefined;
}

export function notifyEmbedder(listener: string | undefined, message: StatusMessage): void {
  if (listener) embedder()?.postMessage({ type: MESSAGE_TYPE, ...message }, listener);
}
