/**
 * Connects accounts from a page, without WebAssembly.
 *
 * @packageDocumentation
 */
import type { ConnectAttempt } from "../resources/connect-attempts.js";
import type { Connection, ConnectionState } from "../types/connection.js";
import { ConnectError, ConnectionError, type ErrorCode, ServerError, VaultError } from "../core/errors.js";
import { type ConnectOptions, connectInWindow } from "./popup.js";
import { parseJson, problemError, unexpectedResponseError } from "../core/problem.js";
import { type ActiveSecret, SECRET_HEADER, CallbackSecret, type Token, staticSecret } from "../core/secret.js";

export type { Connection, ConnectionState, IdentityType } from "../types/connection.js";
export type { KnownPlatform } from "known-platforms";
export type { ErrorCode, Fault } from "../core/errors.js";
export type { ConnectOptions, Platform } from "./popup.js";
export type { Token } from "../core/secret.js";
export { ConnectError, VaultError };

/**
 * A short-lived token, or a function that fetches one from your server. The function is called again when the token
 * expires.
 */
export type TokenSource = string | Token | (() => string | Token | Promise<string | Token>);

/** The settings of `createConnect`. */
export interface ConnectSettings {
  baseUrl: string | URL;
  /**
   * The user's token, from `sessions.create` on your server. Needs the scopes `catalog:read` and `connections:connect`.
   */
  token: TokenSource;
}

/** Filters of the user's connections. */
export interface ConnectionQuery {
  /** Only connections to this platform. */
  platform?: string | undefined;
  /** Only connections in this state. */
  state?: ConnectionState | undefined;
  /** `false`: only inactive connections, such as failed ones. Default: only active ones. */
  active?: boolean | undefined;
}

/** The result of an attempt with `ui: "page"`. */
export interface Return {
  /** The platform's identifier. */
  platform: string;
  /** Undefined if the attempt failed. */
  connection: Connection | undefined;
  /** Undefined if the attempt succeeded. */
  error: ConnectError | undefined;
}

/** The functions that `createConnect` returns. */
export interface Connect {
  /**
   * Lets the user connect an account: opens the service's connect window, and returns the connection. Call it in a
   * click handler.
   *
   * @throws {ConnectError} if the user closes the window, if the browser blocks it, or if the account can't be
   * connected
   */
  connect(options?: Omit<ConnectOptions, "token">): Promise<Connection>;
  /** Returns all of the user's connections, newest first. Needs the scope `connections:read`. */
  connections(query?: ConnectionQuery): Promise<Connection[]>;
  /**
   * Returns the result of `connect({ ui: "page" })` after the connect window has redirected back to the page; otherwise
   * undefined. Removes `connect=…` from the page's address, so that each result is returned only once.
   */
  returned(): Promise<Return | undefined>;
}

const ATTEMPT_PARAMETER = "connect";
const PAGE_SIZE = 500;
/** The timeout of one call of the function in `token`. After it, the next request calls the function again. */
const TOKEN_TIMEOUT_MS = 30_000;
const WAIT_SECONDS = 20;

/** Creates the functions that connect accounts. Can be called on a server, but the functions work only in a page. */
export function createConnect({ baseUrl, token }: ConnectSettings): Connect {
  const base = String(baseUrl).replace(/\/+$/, "");
  const check = (value: string) => {
    if (/^sk_/.test(value))
      throw new VaultError("An API key must not be used in a page: use a short-lived token.", {
        code: "secret_in_browser",
      });
  };
  const secret =
    typeof token === "string"
      ? staticSecret(token)
      : new CallbackSecret(typeof token === "function" ? token : () => token, check, TOKEN_TIMEOUT_MS);

  async function currentSecret(): Promise<ActiveSecret> {
    const current = secret.current ?? (await secret.refresh());
    check(current.value);
    return current;
  }

  async function get(path: string): Promise<Response> {
    for (let hasRefreshed = false; ; hasRefreshed = true) {
      const current = await currentSecret();
      let response: Response;
      try {
        response = await fetch(base + path, { headers: { [SECRET_HEADER]: current.value } });
      } catch (cause) {
        const message =
          "The service could not be reached. Is `baseUrl` right, is there a network, and may the page's origin call the service?";
        throw new ConnectionError(message, { code: "no_response", cause });
      }
      if (response.ok) return response;
      const problem = await problemError(response, current.value);
      const canRetry = response.status === 401 && secret.invalidate(current) && !hasRefreshed;
      if (!canRetry) throw problem;
    }
  }

  async function parseBody<Json>(response: Response, isExpected: (json: Json) => boolean): Promise<Json> {
    const json = (await parseJson(response).catch(() => undefined)) as Json;
    if (json && isExpected(json)) return json;
    throw unexpectedResponseError(ServerError, "The response does not come from a connector-vault.", {
      status: response.status,
    });
  }

  async function attempt(id: string, wait: number): Promise<ConnectAttempt> {
    const response = await get(`/v1/vault/connect/${encodeURIComponent(id)}?wait=${wait}`);
    return parseBody<ConnectAttempt>(response, ({ status }) => typeof status === "string");
  }

  return {
    connect: async ({ platform, connection, ui = "popup", returnUrl, signal } = {}) => {
      const id = typeof connection === "object" ? connection.id : connection;
      return connectInWindow(
        { base, attempt },
        { platform, connection: id, ui, returnUrl, signal },
        async () => (await currentSecret()).value,
      );
    },
    connections: async (query = {}) => {
      const entries = Object.entries(query).filter(([, value]) => value !== undefined);
      const filters = new URLSearchParams(entries.map(([name, value]) => [name, String(value)]));
      filters.set("limit", String(PAGE_SIZE));
      const connections: Connection[] = [];
      for (;;) {
        const response = await get(`/v1/vault/connections?${filters}`);
        const { rows } = await parseBody<{ rows: Connection[] }>(response, ({ rows }) => Array.isArray(rows));
        connections.push(...rows);
        const next = /[?&]after=([^&>]+)[^>]*>; rel="next"/.exec(response.headers.get("link") ?? "")?.[1];
        const after = next && decodeURIComponent(next);
        // Stop if a proxy returns the same page again: the loop would never end.
        if (!after || rows.length === 0 || after === filters.get("after")) return connections;
        filters.set("after", after);
      }
    },
    returned: async () => {
      if (typeof location !== "object") return undefined;
      const address = new URL(location.href);
      const id = address.searchParams.get(ATTEMPT_PARAMETER);
      if (id === null || !/^[\da-f-]{36}$/i.test(id)) return undefined;
      address.searchParams.delete(ATTEMPT_PARAMETER);
      history.replaceState(history.state, "", address.href);
      const { platform, connection, error, status } = await attempt(id, WAIT_SECONDS);
      if (connection) return { platform, connection, error: undefined };
      const code = error?.code ?? (status === "expired" ? "expired" : "failed");
      const message = error?.detail ?? errorText(code);
      return { platform, connection: undefined, error: new ConnectError(message, { code, attempt: id }) };
    },
  };
}

const TRY_AGAIN = "Please try again.";
const MISCONFIGURED = "This app is not set up correctly for this platform.";
const MESSAGES: { [Code in ErrorCode]?: string } = {
  account_mismatch: "This is a different account than before. Use the same one, or connect a new account.",
  blocked: "Your browser has blocked the window. Allow windows of this site, and try again.",
  changed: `Something has changed in the meantime. ${TRY_AGAIN}`,
  client_rejected: MISCONFIGURED,
  closed: "You closed the window before the account was connected.",
  code_rejected: `The platform did not confirm your sign-in. ${TRY_AGAIN}`,
  connection_exists: "This account is connected already.",
  connection_limit: "This app can't store more connections.",
  connection_not_found: "This connection does not exist anymore.",
  credentials_rejected: "The platform did not accept what you entered.",
  denied: "You did not allow access, so nothing was connected.",
  expired: `That took too long. ${TRY_AGAIN}`,
  insufficient_scope: MISCONFIGURED,
  interrupted: `The connection was interrupted. ${TRY_AGAIN}`,
  invalid_answer: "The platform's response could not be read. Please try again later.",
  issuer_mismatch: "The response did not come from the platform, so nothing was connected.",
  no_response: "The service could not be reached. Check your network, and try again.",
  oauth_client_missing: MISCONFIGURED,
  platform_not_found: "This platform can't be connected.",
  platform_unavailable: "The platform could not be reached. Please try again later.",
  request_rejected: MISCONFIGURED,
  secret_in_browser: MISCONFIGURED,
  secret_unavailable: "You are not signed in anymore. Sign in, and try again.",
  invalid_key: "You are not signed in anymore. Sign in, and try again.",
  too_many_requests: "Too many attempts. Please wait a minute, and try again.",
  unavailable: "The service is not available for the moment. Please try again later.",
};

/** A message for the user about an error, in English. */
export function errorText(code: ErrorCode | undefined): string {
  return (code && MESSAGES[code]) ?? `Something went wrong. ${TRY_AGAIN}`;
}
