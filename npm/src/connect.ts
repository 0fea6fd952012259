/**
 * Connecting accounts from a page, without WebAssembly: what a button needs, and no more.
 *
 * @packageDocumentation
 */
import type { ConnectAttempt } from "./attempts.js";
import type { Connection, ConnectionState } from "./connection.js";
import { ConnectError, ConnectionError, type ErrorCode, ServerError, VaultError } from "./errors.js";
import { type ConnectOptions, throughWindow } from "./popup.js";
import { jsonOf, problemOf } from "./problem.js";
import { type Held, SECRET_HEADER, Supplied, type Token, fixed } from "./secret.js";

export type { Connection, ConnectionState, IdentityType } from "./connection.js";
export type { KnownPlatform } from "known-platforms";
export type { ErrorCode, Fault } from "./errors.js";
export type { ConnectOptions, Platform } from "./popup.js";
export type { Token } from "./secret.js";
export { ConnectError, VaultError };

/** A short-lived token, or a function that asks your server for one: it is called again when the token expires. */
export type TokenSource = string | Token | (() => string | Token | Promise<string | Token>);

/** Where the service is, and who the user is. */
export interface ConnectSettings {
  /** The address of the service. */
  baseUrl: string | URL;
  /** What `sessions.create` returned to your server. Needs the scopes `catalog:read` and `connections:connect`. */
  token: TokenSource;
}

/** Which connections to list. */
export interface ConnectionQuery {
  /** Only connections to this platform. */
  platform?: string | undefined;
  /** Only connections in this state. */
  state?: ConnectionState | undefined;
  /** `false`: only those that are not active, such as those that have failed. Default: active ones. */
  active?: boolean | undefined;
}

/** What has become of the window that the page was left for. */
export interface Return {
  /** The platform. */
  platform: string;
  /** The connection, if it succeeded. */
  connection: Connection | undefined;
  /** Why it failed, if it did. */
  error: ConnectError | undefined;
}

/** What a page can do for its user. */
export interface Connect {
  /**
   * Lets the user connect an account: opens the service's window, and returns the connection. To be called while a click is
   * handled.
   *
   * @throws {ConnectError} if the user closes the window, if the browser blocks it, or if the account can't be connected
   */
  connect(options?: Omit<ConnectOptions, "token">): Promise<Connection>;
  /** All of the user's connections, the newest first. Needs the scope `connections:read`. */
  connections(query?: ConnectionQuery): Promise<Connection[]>;
  /**
   * What has become of `connect({ ui: "page" })`, once the window has led back to the page; undefined if it has not. Takes
   * `connect=…` out of the page's address, so that it tells only once.
   */
  returned(): Promise<Return | undefined>;
}

const PARAMETER = "connect";
const ROWS_AT_A_TIME = 500;
/** How long to wait for the function in `token` before it is called anew. */
const PATIENCE_MS = 30_000;
const WAIT_SECONDS = 20;

/** Makes what a page needs to connect accounts. It can be made on a server too, where it can't be used. */
export function createConnect({ baseUrl, token }: ConnectSettings): Connect {
  const base = String(baseUrl).replace(/\/+$/, "");
  const check = (text: string) => {
    if (/^sk_/.test(text))
      throw new VaultError("An API key must not get into a page: use a short-lived token.", {
        code: "secret_in_browser",
      });
  };
  const secret =
    typeof token === "string"
      ? fixed(token)
      : new Supplied(typeof token === "function" ? token : () => token, check, PATIENCE_MS);

  async function held(): Promise<Held> {
    const found = secret.held ?? (await secret.renew());
    check(found.text);
    return found;
  }

  async function get(path: string): Promise<Response> {
    for (let renewed = false; ; renewed = true) {
      const sent = await held();
      let response: Response;
      try {
        response = await fetch(base + path, { headers: { [SECRET_HEADER]: sent.text } });
      } catch (cause) {
        const message =
          "The service could not be reached. Is `baseUrl` right, is there a network, and may the page's origin call the service?";
        throw new ConnectionError(message, { code: "no_response", cause });
      }
      if (response.ok) return response;
      const problem = await problemOf(response, sent.text);
      const again = response.status === 401 && secret.drop(sent) && !renewed;
      if (!again) throw problem;
    }
  }

  async function json<Answer>(response: Response, isExpected: (json: Answer) => boolean): Promise<Answer> {
    const found = (await jsonOf(response).catch(() => undefined)) as Answer;
    if (found && isExpected(found)) return found;
    const message = "The answer is not what the service gives. Is `baseUrl` the address of a connector-vault?";
    throw new ServerError(message, { code: "unexpected_response", status: response.status });
  }

  async function attempt(id: string, wait: number): Promise<ConnectAttempt> {
    const response = await get(`/v1/vault/connect/${encodeURIComponent(id)}?wait=${wait}`);
    return json<ConnectAttempt>(response, ({ status }) => typeof status === "string");
  }

  return {
    connect: async ({ platform, connection, ui = "popup", returnUrl, signal } = {}) => {
      const id = typeof connection === "object" ? connection.id : connection;
      return throughWindow(
        { base, attempt },
        { platform, connection: id, ui, returnUrl, signal },
        async () => (await held()).text,
      );
    },
    connections: async (query = {}) => {
      const given = Object.entries(query).filter(([, value]) => value !== undefined);
      const filters = new URLSearchParams(given.map(([name, value]) => [name, String(value)]));
      filters.set("limit", String(ROWS_AT_A_TIME));
      const found: Connection[] = [];
      for (;;) {
        const response = await get(`/v1/vault/connections?${filters}`);
        const { rows } = await json<{ rows: Connection[] }>(response, ({ rows }) => Array.isArray(rows));
        found.push(...rows);
        const next = /[?&]after=([^&>]+)[^>]*>; rel="next"/.exec(response.headers.get("link") ?? "")?.[1];
        const after = next && decodeURIComponent(next);
        if (!after || rows.length === 0 || after === filters.get("after")) return found;
        filters.set("after", after);
      }
    },
    returned: async () => {
      if (typeof location !== "object") return undefined;
      const address = new URL(location.href);
      const id = address.searchParams.get(PARAMETER);
      if (id === null || !/^[\da-f-]{36}$/i.test(id)) return undefined;
      address.searchParams.delete(PARAMETER);
      history.replaceState(history.state, "", address.href);
      const { platform, connection, error, status } = await attempt(id, WAIT_SECONDS);
      if (connection) return { platform, connection, error: undefined };
      const code = error?.code ?? (status === "expired" ? "expired" : "failed");
      const message = error?.detail ?? errorText(code);
      return { platform, connection: undefined, error: new ConnectError(message, { code, attempt: id }) };
    },
  };
}

const AGAIN = "Please try again.";
const OURS = "This app is not set up correctly for this platform.";
const TEXTS: { [Code in ErrorCode]?: string } = {
  account_mismatch:
    "You signed in with another account than before. Sign in with the same one, or connect a new account.",
  blocked: "Your browser has blocked the window. Allow windows of this site, and try again.",
  changed: `Something has changed meanwhile. ${AGAIN}`,
  client_rejected: OURS,
  closed: "You closed the window before the account was connected.",
  code_rejected: `The platform did not confirm your sign-in. ${AGAIN}`,
  connection_exists: "This account is connected already.",
  connection_not_found: "This connection does not exist anymore.",
  credentials_rejected: "The platform did not accept what you entered.",
  denied: "You did not allow access, so nothing was connected.",
  expired: `That took too long. ${AGAIN}`,
  insufficient_scope: OURS,
  interrupted: `The connection was interrupted. ${AGAIN}`,
  invalid_answer: "The platform's response could not be read. Please try again later.",
  issuer_mismatch: "The response did not come from the platform, so nothing was connected.",
  no_response: "The service could not be reached. Check your network, and try again.",
  oauth_client_missing: OURS,
  platform_not_found: "This platform can't be connected.",
  platform_unavailable: "The platform could not be reached. Please try again later.",
  request_rejected: OURS,
  secret_in_browser: OURS,
  secret_unavailable: "You are not signed in anymore. Sign in, and try again.",
  invalid_key: "You are not signed in anymore. Sign in, and try again.",
  too_many_requests: "Too many attempts. Please wait a minute, and try again.",
  unavailable: "The service is not available for the moment. Please try again later.",
};

/** What to tell the user about an error, in English. */
export function errorText(code: ErrorCode | undefined): string {
  return (code && TEXTS[code]) ?? `Something went wrong. ${AGAIN}`;
}
