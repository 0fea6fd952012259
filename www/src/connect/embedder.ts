// The page that opened the window, or contains it: it hears what becomes of it, if it is one that may hear that.
import type { Connection, Whoami } from "connector-vault/slim";
import { TOKEN } from "../session/link";
import { type Opening, addressOf, originOf } from "./opening";

/** How the window is shown. */
export const place = window.parent !== window ? "frame" : window.opener ? "popup" : "page";

/** What the embedder answers to `waiting`, so that the window knows which page it is. */
export interface Reply {
  /** The embedder's origin, as the browser states it. */
  origin: string;
  /** The token, unless the window's address has one or a code. */
  token: string | undefined;
}

/** What the embedder hears. */
export interface News {
  /** `pending`: the user is at the platform; `closed`: the user does not want to connect. */
  status: "waiting" | "ready" | "pending" | "succeeded" | "failed" | "closed";
  /** The id of the attempt. */
  attempt?: string;
  connection?: Connection;
  /** Why it failed. */
  code?: string;
}

const TYPE = "connector-vault:connect";
/** How long to wait for the answer of an embedder, in milliseconds, if the window can do without, and if it can't. */
const [SOON_MS, LATE_MS] = [2_000, 15_000];

const embedder = (): Window | null => (place === "frame" ? window.parent : window.opener);

/** Asks the embedder who it is, and for the token. Undefined if there is no embedder, or none that answers. */
export function askEmbedder(opening: Opening): Promise<Reply | undefined> {
  const target = embedder();
  if (place === "page" || !target) return Promise.resolve(undefined);
  const isEmpty = (opening.code ?? opening.token) === undefined;
  return new Promise((resolve) => {
    const end = (reply?: Reply) => {
      removeEventListener("message", onMessage);
      clearTimeout(timer);
      resolve(reply);
    };
    const onMessage = ({ source, origin, data }: MessageEvent) => {
      if (source !== target || data?.type !== TYPE) return;
      const token = typeof data.token === "string" && TOKEN.test(data.token) ? data.token : undefined;
      if (token !== undefined || !isEmpty) end({ origin, token });
    };
    const timer = setTimeout(end, isEmpty ? LATE_MS : SOON_MS);
    addEventListener("message", onMessage);
    // Any page may hear that a window waits: it says nothing else.
    target.postMessage({ type: TYPE, status: "waiting" } satisfies News & { type: string }, "*");
  });
}

/** Opens the window anew as a popup, which nothing can cover or imitate, and passes on to the embedder what it tells. */
export function openAlone(opening: Opening, reply: Reply | undefined): void {
  const popup = window.open(addressOf(opening, reply?.token), "", "popup,width=600,height=760");
  const target = embedder();
  addEventListener("message", ({ source, origin, data }) => {
    if (source !== popup || origin !== location.origin || data?.type !== TYPE) return;
    if (data.status === "waiting") popup?.postMessage({ type: TYPE }, origin);
    else if (reply && target) target.postMessage(data, reply.origin);
  });
}

/**
 * Returns the origin that may hear what becomes of the window: the given one if the token is for its pages. If the token is
 * for all pages, the one from which the browser came here.
 */
export function listenerOf({ origin }: Opening, { origins }: Whoami): string | undefined {
  if (origin === undefined || origin === location.origin) return origin;
  const isMeant = origins ? origins.includes(origin) : originOf(document.referrer) === origin;
  return isMeant ? origin : undefined;
}

/** Tells the embedder what has happened. */
export function tell(listener: string | undefined, news: News): void {
  if (listener) embedder()?.postMessage({ type: TYPE, ...news }, listener);
}
