// Opens the service's connect window from a page, and waits for its result. Must not use WebAssembly.
import type { KnownPlatform } from "known-platforms";
import type { ConnectAttempt } from "../resources/connect-attempts.js";
import type { CallOptions } from "../core/options.js";
import { type Connection, isConnection } from "../types/connection.js";
import { AbortError, ConnectError, type ErrorCode } from "../core/errors.js";

/** A platform of the catalog. Your editor completes the well-known ones. */
export type Platform = KnownPlatform | (string & {});

export interface ConnectOptions extends CallOptions {
  /** The platform to connect. If omitted, the user chooses one. */
  platform?: Platform | undefined;
  /** The connection to reconnect, or its id. */
  connection?: string | Pick<Connection, "id"> | undefined;
  /** A short-lived token with the scopes `connections:connect` and `catalog:read`. Default: the client's own. */
  token?: string | undefined;
  /**
   * `popup` (the default): opens a popup, and returns the connection. `page`: navigates to the connect window, which
   * redirects to `returnUrl` afterwards. The window asks its user to confirm the token's identity, unless it is a popup
   * of a page whose origin is in the token's `origins`.
   */
  ui?: "popup" | "page" | undefined;
  /** With `ui: "page"`: where the window redirects to afterwards. Default: the page's URL. */
  returnUrl?: string | undefined;
}

/** The validated options of `connect`. @internal */
export interface ConnectRequest {
  platform: string | undefined;
  connection: string | undefined;
  ui: "popup" | "page";
  returnUrl: string | undefined;
  signal: AbortSignal | undefined;
}

/** The service that the connect window uses. @internal */
export interface ConnectService {
  base: string;
  attempt: (id: string, waitSeconds: number) => Promise<ConnectAttempt>;
}

const [WIDTH, HEIGHT] = [600, 760];
/** How often to check whether the user has closed the window. */
const CLOSED_CHECK_MS = 300;
/** How long to wait for the result of an attempt after the user closed its window. */
const GRACE_SECONDS = 5;
/** Long polling: how long the service may delay its response until the attempt ends. */
const POLL_SECONDS = 25;
/** The minimum time between two requests for the attempt. */
const MIN_POLL_INTERVAL_MS = 2_000;
/** The `type` of messages between the page and the window. */
const MESSAGE_TYPE = "connector-vault:connect";

interface WindowMessage {
  type?: string;
  status?: string;
  attempt?: string;
  connection?: Connection;
  code?: ErrorCode;
}

/** Opens the window, and returns the connection. `token` supplies the token for the window. @internal */
export async function connectInWindow(
  service: ConnectService,
  request: ConnectRequest,
  token: () => string | Promise<string>,
): Promise<Connection> {
  // Opened before the first `await`, because browsers allow popups only synchronously in a click handler.
  const popup = request.ui === "popup" ? openPopup() : undefined;
  if (popup === null) throw new ConnectError("The browser blocked the window.", { code: "blocked" });
  try {
    const value = await token();
    if (popup === undefined) {
      location.assign(buildWindowUrl(service.base, request, value));
      // Never resolves, because the page unloads.
      return await new Promise<never>(() => {});
    }
    return await new ConnectSession(popup, service, value, request.signal).result(
      buildWindowUrl(service.base, request),
    );
  } catch (error) {
    popup?.close();
    throw error;
  }
}

/** The window's URL. The fragment is not sent to servers. A popup gets its token by message instead. */
function buildWindowUrl(
  base: string,
  { platform, connection, ui, returnUrl = location.href }: ConnectRequest,
  token?: string,
): string {
  const members = { token, platform, connection, origin: location.origin, ...(ui === "page" && { returnUrl }) };
  const entries = Object.entries(members).filter((member): member is [string, string] => member[1] !== undefined);
  return `${base}/connect#${new URLSearchParams(entries)}`;
}

/** Opens an empty popup, centred on the page's window; null if the browser blocks it. */
function openPopup(): Window | null {
  const left = Math.max(0, Math.round(screenX + (outerWidth - WIDTH) / 2));
  const top = Math.max(0, Math.round(screenY + (outerHeight - HEIGHT) / 2));
  return window.open("about:blank", "", `popup,width=${WIDTH},height=${HEIGHT},left=${left},top=${top}`);
}

/** Waits for the result of a popup. */
class ConnectSession {
  #popup: Window;
  #origin: string;
  #service: ConnectService;
  #token: string;
  #signal: AbortSignal | undefined;
  /** The id of the latest attempt. */
  #attempt: string | undefined;
  /** Why the latest attempt failed. The user can still retry in the window. */
  #failure: ErrorCode | undefined;
  /** Whether the window shows the platform's page. */
  #isAtPlatform = false;
  #isPolling = false;
  #isDone = false;

  constructor(popup: Window, service: ConnectService, token: string, signal: AbortSignal | undefined) {
    this.#popup = popup;
    this.#origin = new URL(service.base).origin;
    this.#service = service;
    this.#token = token;
    this.#signal = signal;
  }

  result(url: string): Promise<Connection> {
    return new Promise<Connection>((resolve, reject) => {
      const onMessage = ({ source, origin, data }: MessageEvent) => {
        if (source === this.#popup && origin === this.#origin && data?.type === MESSAGE_TYPE)
          this.#handleMessage(data, resolve, reject);
      };
      const onAbort = () =>
        reject(new AbortError("The call was aborted by its signal.", { code: "aborted", cause: this.#signal?.reason }));
      const timer = setInterval(() => {
        if (!this.#popup.closed) return;
        // A Cross-Origin-Opener-Policy of the platform's page makes an open popup appear closed. A user who really
        // closes it returns to this page.
        if (this.#isAtPlatform && !document.hasFocus()) {
          if (!this.#isPolling) this.#poll().then(resolve, reject);
          return;
        }
        clearInterval(timer);
        // A message from the window may still arrive.
        setTimeout(() => this.#resultAfterClose().then(resolve, reject), CLOSED_CHECK_MS);
      }, CLOSED_CHECK_MS);
      this.#stopListening = () => {
        removeEventListener("message", onMessage);
        this.#signal?.removeEventListener("abort", onAbort);
        clearInterval(timer);
      };
      addEventListener("message", onMessage);
      this.#signal?.addEventListener("abort", onAbort);
      if (this.#signal?.aborted) onAbort();
      else if (!this.#popup.closed) this.#popup.location.replace(url);
    }).finally(() => {
      this.#isDone = true;
      this.#stopListening();
      this.#popup.close();
    });
  }

  #stopListening = () => {};

  #handleMessage(
    message: WindowMessage,
    resolve: (connection: Connection) => void,
    reject: (error: Error) => void,
  ): void {
    if (typeof message.attempt === "string") this.#attempt = message.attempt;
    switch (message.status) {
      case "waiting":
        this.#isAtPlatform = false;
        // The browser adds this page's origin, which the window checks against the token's `origins`.
        this.#popup.postMessage({ type: MESSAGE_TYPE, token: this.#token }, this.#origin);
        break;
      case "pending":
        this.#failure = undefined;
        this.#isAtPlatform = true;
        break;
      case "failed":
        this.#isAtPlatform = false;
        this.#failure = message.code ?? "failed";
        break;
      case "closed":
        reject(this.#error());
        break;
      case "succeeded":
        if (isConnection(message.connection)) resolve(message.connection as Connection);
        break;
    }
  }

  /** Polls the attempt until it ends. Needed when the popup appears closed and its messages can't arrive. */
  async #poll(): Promise<Connection> {
    this.#isPolling = true;
    while (!this.#isDone && this.#attempt !== undefined) {
      const requestedAt = Date.now();
      const attempt = await this.#service.attempt(this.#attempt, POLL_SECONDS).catch(() => undefined);
      if (attempt?.connection) return attempt.connection;
      if (attempt !== undefined && attempt.status !== "pending") {
        this.#failure = attempt.status === "expired" ? "expired" : attempt.error?.code;
        break;
      }
      // Avoid a tight loop if the request failed or the service responded immediately.
      if (Date.now() - requestedAt < MIN_POLL_INTERVAL_MS)
        await new Promise((done) => setTimeout(done, MIN_POLL_INTERVAL_MS));
    }
    throw this.#error();
  }

  /** Requests the result of the latest attempt. The user may have closed the window before it could send a message. */
  async #resultAfterClose(): Promise<Connection> {
    if (this.#attempt === undefined || this.#failure !== undefined) throw this.#error();
    const attempt = await this.#service.attempt(this.#attempt, GRACE_SECONDS).catch(() => undefined);
    if (attempt?.connection) return attempt.connection;
    this.#failure = attempt?.status === "expired" ? "expired" : attempt?.error?.code;
    throw this.#error();
  }

  #error(): ConnectError {
    const code = this.#failure ?? "closed";
    const message = code === "closed" ? "The user closed the window." : "The account could not be connected.";
    return new ConnectError(message, { code, attempt: this.#attempt });
  }
}
