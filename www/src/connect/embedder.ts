// The page that opened the window, or contains it: it hears what becomes of it, if it is one that may hear that.
import type { Connection, Whoami } from "connector-vault/slim";
import { type Opening, originOf } from "./opening";

/** How the window is shown. */
export const place = window.parent !== window ? "frame" : window.opener ? "popup" : "page";

/** What the embedder hears. */
export interface News {
  /** `pending`: the user is at the platform; `closed`: the user does not want to connect. */
  status: "ready" | "pending" | "succeeded" | "failed" | "closed";
  /** The id of the attempt. */
  attempt?: string;
  connection?: Connection;
  /** Why it failed. */
  code?: string;
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
  const embedder: Window | null = place === "frame" ? window.parent : window.opener;
  if (embedder && listener) embedder.postMessage({ type: "connector-vault:connect", ...news }, listener);
}
