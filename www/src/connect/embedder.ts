// The page that opened the window, or contains it: it hears what becomes of it, if it is one that may hear that.
import type { Connection, Whoami } from "connector-vault/slim";
import { TOKEN } from "../session/link";
import { type LaunchParams, launchUrl, originOf } from "./launch-params";

/** How the window is shown. */
export const displayMode = window.parent !== window ? "frame" : window.opener ? "popup" : "page";

/** The embedder's answer to `waiting`: the token or code that it opened the window with. It vouches for nothing else. */
export interface Reply {
  /** The embedder's origin, as the browser states it. */
  origin: string;
  token: string | undefined;
  /** The code of the embedder's `connectUrl`. */
  code: string | undefined;
}

/** What the embedder hears. */
export interface StatusMessage {
  /** `pending`: the user is at the platform; `closed`: the user does not want to connect. */
  status: "waiting" | "ready" | "pending" | "succeeded" | "failed" | "closed";
  /** The id of the attempt. */
  attempt?: string;
  connection?: Connection;
  /** Why it failed. */
  code?: string;
}

const TYPE = "connector-vault:connect";
/** How long to wait for the embedder's answer, in milliseconds: if the window has a token or code already, and if not. */
const [TIMEOUT_WITH_SECRET_MS, TIMEOUT_MS] = [2_000, 15_000];
/** How often to ask, in milliseconds: a page may create its frame before it listens. */
const REQUEST_INTERVAL_MS = 250;

const embedder = (): Window | null => (displayMode === "frame" ? window.parent : window.opener);

/** Asks the embedder what it opened the window with. Undefined if there is no embedder or it does not answer. */
export function requestFromEmbedder(opening: LaunchParams): Promise<Reply | undefined> {
  const target = embedder();
  if (displayMode === "page" || !target) return Promise.resolve(undefined);
  const isEmpty = (opening.code ?? opening.token) === undefined;
  // The message reveals nothing, so any page may receive it.
  const ask = () =>
    target.postMessage({ type: TYPE, status: "waiting" } satisfies StatusMessage & { type: string }, "*");
  return new Promise((resolve) => {
    const end = (reply?: Reply) => {
      removeEventListener("message", onMessage);
      clearTimeout(timer);
      clearInterval(asking);
      resolve(reply);
    };
    const onMessage = ({ source, origin, data }: MessageEvent) => {
      // A sandboxed page has the opaque origin `null`, which identifies nobody.
      if (source !== target || data?.type !== TYPE || originOf(origin) === undefined) return;
      const token = typeof data.token === "string" && TOKEN.test(data.token) ? data.token : undefined;
      end({ origin, token, code: codeFromUrl(data.connectUrl) });
    };
    const timer = setTimeout(end, isEmpty ? TIMEOUT_MS : TIMEOUT_WITH_SECRET_MS);
    const asking = setInterval(ask, REQUEST_INTERVAL_MS);
    addEventListener("message", onMessage);
    ask();
  });
}

/** The code of a `connectUrl`; undefined for anything else. */
function codeFromUrl(url: unknown): string | undefined {
  if (typeof url !== "string") return undefined;
  return new URLSearchParams(url.split("#")[1]).get("code") ?? undefined;
}

/** Opens this window again as a popup and forwards its messages to `listener`. Returns false if the browser blocks it. */
export function openInPopup(
  opening: LaunchParams,
  token: string | undefined,
  listener: string | undefined,
  onStatus: (news: StatusMessage) => void,
): boolean {
  const popup = window.open(launchUrl(opening, token), "", "popup,width=600,height=760");
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
 * Returns the origin that may hear what becomes of the window: the given one if the token is for its pages. If the token is
 * for all pages, the one from which the browser came here.
 */
export function allowedListener({ origin }: LaunchParams, { origins }: Whoami): string | undefined {
  if (origin === undefined || origin === location.origin) return origin;
  const isMeant = origins ? origins.includes(origin) : originOf(document.referrer) === origin;
  return isMeant ? origin : undefined;
}

/** Tells the embedder what has happened. */
export function notifyEmbedder(listener: string | undefined, message: StatusMessage): void {
  if (listener) embedder()?.postMessage({ type: TYPE, ...message }, listener);
}
