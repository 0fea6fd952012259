// The service's window: opens it from a page, and waits for what becomes of it. Nothing here needs WebAssembly.
import type { KnownPlatform } from "known-platforms";
import type { ConnectAttempt } from "../resources/connect-attempts.js";
import type { CallOptions } from "../core/options.js";
import { type Connection, isConnection } from "../types/connection.js";
import { AbortError, ConnectError, type ErrorCode } from "../core/errors.js";

/** A platform of the catalog. Your editor completes the well-known ones. */
export type Platform = KnownPlatform | (string & {});

/** What to connect, and how to show the window. */
export interface ConnectOptions extends CallOptions {
  /** The platform to connect. If omitted, the user chooses one. */
  platform?: Platform | undefined;
  /** The connection to reconnect, or its id. */
  connection?: string | Pick<Connection, "id"> | undefined;
  /** A short-lived token with the scopes `connections:connect` and `catalog:read`. Default: the client's own. */
  token?: string | undefined;
  /**
   * `popup`: opens the window beside the page, and returns the connection (the default). `page`: leaves the page for the
   * window, which leads back to `returnUrl`. The window asks its user whether they are the token's identity, unless it is
   * a popup of a page that the token's `origins` names.
   */
  ui?: "popup" | "page" | undefined;
  /** With `ui: "page"`: where the window leads back to. Default: the page's address. */
  returnUrl?: string | undefined;
}

/** CheckedCallOptions options. @internal */
export interface ConnectRequest {
  platform: string | undefined;
  connection: string | undefined;
  ui: "popup" | "page";
  returnUrl: string | undefined;
  signal: AbortSignal | undefined;
}

/** Where the window is, and how to ask for an attempt that it has started. @internal */
export interface ConnectService {
  base: string;
  attempt: (id: string, waitSeconds: number) => Promise<ConnectAttempt>;
}

const [WIDTH, HEIGHT] = [600, 760];
/** How often to look whether the user has closed the window, in milliseconds. */
const CLOSED_CHECK_MS = 300;
/** How many seconds to wait for the end of an attempt whose window is closed. */
const GRACE_SECONDS = 5;
/** How many seconds the service may hold an answer about an attempt, and the pause between two, in milliseconds. */
const [POLL_SECONDS, PAUSE_MS] = [25, 2_000];
/** What the window sends. */
const MESSAGE_TYPE = "connector-vault:connect";

interface WindowMessage {
  type?: string;
  status?: string;
  attempt?: string;
  connection?: Connection;
  code?: ErrorCode;
}

/** Opens the window, and returns the connection. `token` supplies what opens it. @internal */
export async function connectInWindow(
  service: ConnectService,
  given: ConnectRequest,
  token: () => string | Promise<string>,
): Promise<Connection> {
  // Before anything is awaited: browsers open a window only while they handle a click.
  const popup = given.ui === "popup" ? open() : undefined;
  if (popup === null) throw new ConnectError("The browser has blocked the window.", { code: "blocked" });
  try {
    const text = await token();
    if (popup === undefined) {
      location.assign(addressOf(service.base, given, text));
      // The page is left.
      return await new Promise<never>(() => {});
    }
    return await new ConnectSession(popup, service, text, given.signal).outcome(addressOf(service.base, given));
  } catch (error) {
    popup?.close();
    throw error;
  }
}

/** The window's address. What follows `#` reaches no server. A popup asks for the token instead. */
function addressOf(
  base: string,
  { platform, connection, ui, returnUrl = location.href }: ConnectRequest,
  token?: string,
): string {
  const members = { token, platform, connection, origin: location.origin, ...(ui === "page" && { returnUrl }) };
  const about = Object.entries(members).filter((member): member is [string, string] => member[1] !== undefined);
  return `${base}/connect#${new URLSearchParams(about)}`;
}

/** Opens an empty window in the middle of the page's own one; null if the browser blocks it. */
function open(): Window | null {
  const left = Math.max(0, Math.round(screenX + (outerWidth - WIDTH) / 2));
  const top = Math.max(0, Math.round(screenY + (outerHeight - HEIGHT) / 2));
  return window.open("about:blank", "", `popup,width=${WIDTH},height=${HEIGHT},left=${left},top=${top}`);
}

/** Waits for what becomes of a window. */
class ConnectSession {
  #popup: Window;
  #origin: string;
  #service: ConnectService;
  #token: string;
  #signal: AbortSignal | undefined;
  /** The latest attempt. */
  #attempt: string | undefined;
  /** Why the latest attempt failed; the user can try again in the window. */
  #failure: ErrorCode | undefined;
  /** Whether the window has become the platform's page. */
  #isAtPlatform = false;
  #isPolling = false;
  #isOver = false;

  constructor(popup: Window, service: ConnectService, token: string, signal: AbortSignal | undefined) {
    this.#popup = popup;
    this.#origin = new URL(service.base).origin;
    this.#service = service;
    this.#token = token;
    this.#signal = signal;
  }

  outcome(address: string): Promise<Connection> {
    return new Promise<Connection>((resolve, reject) => {
      const onMessage = ({ source, origin, data }: MessageEvent) => {
        if (source === this.#popup && origin === this.#origin && data?.type === MESSAGE_TYPE)
          this.#handleMessage(data, resolve, reject);
      };
      const onAbort = () =>
        reject(new AbortError("The call was ended by its signal.", { code: "aborted", cause: this.#signal?.reason }));
      const timer = setInterval(() => {
        if (!this.#popup.closed) return;
        // A platform can cut its page off from this one (Cross-Origin-Opener-Policy); the window then looks closed. Whoever
        // really closes it is back on this page.
        if (this.#isAtPlatform && !document.hasFocus()) {
          if (!this.#isPolling) this.#poll().then(resolve, reject);
          return;
        }
        clearInterval(timer);
        // A message may be on its way.
        setTimeout(() => this.#afterClose().then(resolve, reject), CLOSED_CHECK_MS);
      }, CLOSED_CHECK_MS);
      this.#end = () => {
        removeEventListener("message", onMessage);
        this.#signal?.removeEventListener("abort", onAbort);
        clearInterval(timer);
      };
      addEventListener("message", onMessage);
      this.#signal?.addEventListener("abort", onAbort);
      if (this.#signal?.aborted) onAbort();
      else if (!this.#popup.closed) this.#popup.location.replace(address);
    }).finally(() => {
      this.#isOver = true;
      this.#end();
      this.#popup.close();
    });
  }

  #end = () => {};

  #handleMessage(news: WindowMessage, resolve: (connection: Connection) => void, reject: (error: Error) => void): void {
    if (typeof news.attempt === "string") this.#attempt = news.attempt;
    switch (news.status) {
      case "waiting":
        this.#isAtPlatform = false;
        // The browser attaches this page's origin, so the window can check it against the token's `origins`.
        this.#popup.postMessage({ type: MESSAGE_TYPE, token: this.#token }, this.#origin);
        break;
      case "pending":
        this.#failure = undefined;
        this.#isAtPlatform = true;
        break;
      case "failed":
        this.#isAtPlatform = false;
        this.#failure = news.code ?? "failed";
        break;
      case "closed":
        reject(this.#error());
        break;
      case "succeeded":
        if (isConnection(news.connection)) resolve(news.connection as Connection);
        break;
    }
  }

  /** Waits for the end of an attempt at a platform that has cut itself off. */
  async #poll(): Promise<Connection> {
    this.#isPolling = true;
    while (!this.#isOver && this.#attempt !== undefined) {
      const askedAt = Date.now();
      const attempt = await this.#service.attempt(this.#attempt, POLL_SECONDS).catch(() => undefined);
      if (attempt?.connection) return attempt.connection;
      if (attempt !== undefined && attempt.status !== "pending") {
        this.#failure = attempt.status === "expired" ? "expired" : attempt.error?.code;
        break;
      }
      // Without an answer, or without a wait, it must not be asked without end.
      if (Date.now() - askedAt < PAUSE_MS) await new Promise((done) => setTimeout(done, PAUSE_MS));
    }
    throw this.#error();
  }

  /** What has become of the latest attempt: the user may have closed the window too early to hear of it. */
  async #afterClose(): Promise<Connection> {
    if (this.#attempt === undefined || this.#failure !== undefined) throw this.#error();
    const attempt = await this.#service.attempt(this.#attempt, GRACE_SECONDS).catch(() => undefined);
    if (attempt?.connection) return attempt.connection;
    this.#failure = attempt?.status === "expired" ? "expired" : attempt?.error?.code;
    throw this.#error();
  }

  #error(): ConnectError {
    const code = this.#failure ?? "closed";
    const message = code === "closed" ? "The user has closed the window." : "The account could not be connected.";
    return new ConnectError(message, { code, attempt: this.#attempt });
  }
}
