// Communication with the embedder: the page that opened the window or contains it.
import type { Connection, Whoami } from "connector-vault/slim";
import { TOKEN } from "../session/link";
import { type LaunchParams, launchUrl, originOf } from "./launch-params";

export const displayMode = window.parent !== window ? "frame" : window.opener ? "popup" : "page";

/** The embedder's reply to `waiting`: the token or code that it opened the window with. It vouches for nothing else. */
export interface Reply {
  /** The embedder's origin, as the browser reports it. */
  origin: string;
  token: string | undefined;
  /** The code of the embedder's `connectUrl`. */
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

const TYPE = "connector-vault:connect";
/** How long to wait for the embedder's reply, in milliseconds: with a token or code at hand, and without. */
const [TIMEOUT_WITH_SECRET_MS, TIMEOUT_MS] = [2_000, 15_000];
/** How often to ask, in milliseconds: a page may create its frame before it listens. */
const REQUEST_INTERVAL_MS = 250;

const embedder = (): Window | null => (displayMode === "frame" ? window.parent : window.opener);

/**
 * Asks the embedder for the token or code that it opened the window with. Undefined if there is no embedder or no
 * reply.
 */
export function requestFromEmbedder(launchParams: LaunchParams): Promise<Reply | undefined> {
  const target = embedder();
  if (displayMode === "page" || !target) return Promise.resolve(undefined);
  const isEmpty = (launchParams.code ?? launchParams.token) === undefined;
  // The message reveals nothing, so any page may receive it.
  const sendRequest = () =>
    target.postMessage({ type: TYPE, status: "waiting" } satisfies StatusMessage & { type: string }, "*");
  return new Promise((resolve) => {
    const finish = (reply?: Reply) => {
      removeEventListener("message", onMessage);
      clearTimeout(timer);
      clearInterval(requestInterval);
      resolve(reply);
    };
    const onMessage = ({ source, origin, data }: MessageEvent) => {
      // A sandboxed page has the opaque origin `null`, which several pages can share.
      if (source !== target || data?.type !== TYPE || originOf(origin) === undefined) return;
      const token = typeof data.token === "string" && TOKEN.test(data.token) ? data.token : undefined;
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

/**
 * Opens this window again as a popup and forwards its messages to `listener`. Returns false if the browser blocks it.
 */
export function openInPopup(
  launchParams: LaunchParams,
  token: string | undefined,
  listener: string | undefined,
  onStatus: (message: StatusMessage) => void,
): boolean {
  const popup = window.open(launchUrl(launchParams, token), "", "popup,width=600,height=760");
  if (!popup) return false;
  addEventListener("message", ({ source, origin, data }) => {
    if (source !== popup || origin !== location.origin || data?.type !== TYPE) return;
    if (data.status === "waiting") return popup.postMessage({ type: TYPE }, origin);
    if (listener) embedder()?.postMessage(data, listener);
    onStatus(data);
  });
  return true;
}

/**
 * The origin that may receive status messages: the given one if the token allows it. If the token allows all origins,
 * it must be the referrer.
 */
export function allowedListener({ origin }: LaunchParams, { origins }: Whoami): string | undefined {
  if (origin === undefined || origin === location.origin) return origin;
  const isAllowed = origins ? origins.includes(origin) : originOf(document.referrer) === origin;
  return isAllowed ? origin : undefined;
}

export function notifyEmbedder(listener: string | undefined, message: StatusMessage): void {
  if (listener) embedder()?.postMessage({ type: TYPE, ...message }, listener);
}
