import { isApiKey } from "glue";
import { Faults, knownMembers, integerError } from "./arguments.js";
import { callModule } from "./wasm/start.js";
import { ValidationError } from "./errors.js";
import { ReplicaSession } from "./read-replica.js";
import { SECRET_HEADER, type SecretSource, CallbackSecret, type Token, staticSecret } from "./secret.js";

export interface ConnectorVaultOptions {
  /** The URL of the service, such as `https://vault.example.com`. */
  baseUrl: string | URL;
  /**
   * An API key (`sk_test_…` or `sk_live_…`), a short-lived token (`st_test_…` or `st_live_…`), or a function that
   * returns one.
   *
   * The function is called, without arguments, for the first request, shortly before `expiresAt` (when a tenth of the
   * lifetime is left, at most 30 seconds), and when the service rejects the secret. The rejected request is then sent
   * once more, even if calls of its kind are never retried. Concurrent calls share one call of the function. If the
   * function fails, the call fails with a `VaultError` whose code is `secret_unavailable` and whose `cause` is the
   * function's error. The next call runs the function again.
   */
  secret: string | (() => string | Token | Promise<string | Token>);
  /** Replaces the global `fetch`. */
  fetch?: ((request: Request) => Promise<Response>) | undefined;
  /** The timeout of a call in milliseconds, including retries. Then it fails with a `TimeoutError`. Default: 30,000. */
  timeoutMs?: number | undefined;
  /**
   * The maximum number of retries of an idempotent call after a temporary failure. Default: 2. A retry with a new token
   * after a rejected one does not count.
   */
  maxRetries?: number | undefined;
  /**
   * Allows read replicas near the caller to serve reads, if the service has any. A client sees its own changes
   * immediately, and other changes once they are replicated. Default: false, so every response is up to date.
   */
  nearReads?: boolean | undefined;
  /** Headers to send with every request. */
  headers?: Headers | Record<string, string> | undefined;
  /**
   * Allows an API key in a web page. The key has access to your whole account, and anyone who can open the page can
   * read it, so use this only for pages of your own staff. On other pages, use short-lived tokens, which your server
   * creates.
   */
  allowSecretInBrowser?: boolean | undefined;
}

/** The validated options of a client. @internal */
export interface ClientConfig {
  /** The URL of the service, without a trailing slash. */
  base: string;
  headers: Headers;
  secret: SecretSource;
  fetch: ConnectorVaultOptions["fetch"];
  timeoutMs: number;
  maxRetries: number;
  replicaSession: ReplicaSession | undefined;
}

const OPTION_NAMES = [
  "baseUrl",
  "secret",
  "fetch",
  "timeoutMs",
  "maxRetries",
  "nearReads",
  "headers",
  "allowSecretInBrowser",
] as const;
// The longest delay that `setTimeout` supports.
const MAX_TIMEOUT_MS = 2 ** 31 - 1;
const MAX_RETRIES = 100;

/** Validates the options of a client. @internal */
export function readOptions(options: ConnectorVaultOptions): ClientConfig {
  const faults = new Faults();
  const members = knownMembers(options, "options", OPTION_NAMES, faults);
  const {
    fetch,
    timeoutMs = 30_000,
    maxRetries = 2,
    nearReads = false,
    allowSecretInBrowser = false,
    secret,
  } = members;
  const base = normalizeBaseUrl(members.baseUrl, faults);
  const headers = copyHeaders(members.headers, faults);
  for (const [name, predicate] of Object.entries({
    fetch: fetch !== undefined && typeof fetch !== "function" && "must be a function",
    timeoutMs: integerError(timeoutMs, 1, MAX_TIMEOUT_MS),
    maxRetries: integerError(maxRetries, 0, MAX_RETRIES),
    nearReads: typeof nearReads !== "boolean" && "must be true or false",
    allowSecretInBrowser: typeof allowSecretInBrowser !== "boolean" && "must be true or false",
    secret:
      !["string", "function"].includes(typeof secret) &&
      "must be an API key, a token, or a function that gives one: is an environment variable missing?",
  })) {
    if (predicate) faults.add(name, predicate);
  }
  faults.throwIfAny();
  const check = (value: string) => {
    if (callModule(() => isApiKey(value)) && !allowSecretInBrowser && isBrowser()) throw secretInBrowserError();
  };
  if (typeof secret === "string") check(secret);
  headers.set("accept", "application/json");
  const source =
    typeof secret === "string" ? staticSecret(secret) : new CallbackSecret(secret as () => unknown, check, timeoutMs);
  return {
    base,
    headers,
    secret: source,
    fetch,
    timeoutMs,
    maxRetries,
    replicaSession: nearReads ? new ReplicaSession() : undefined,
  };
}

/** Returns the service's URL without a trailing slash, or an empty string if it is invalid. */
function normalizeBaseUrl(value: string | URL | undefined, faults: Faults): string {
  let url: URL | undefined;
  try {
    url = new URL(value as string);
  } catch {
    // `url` stays undefined, which the check below reports.
  }
  if (!url || !/^https?:$/.test(url.protocol)) {
    faults.add("baseUrl", "must be the service's whole address, for example `https://vault.example.com`");
    return "";
  }
  if (url.username || url.password || url.search || url.hash)
    faults.add("baseUrl", "must have no user, query or fragment");
  const path = url.pathname.replace(/\/+$/, "");
  if (path.endsWith("/v1")) faults.add("baseUrl", "must be the service's address without `/v1`");
  return url.origin + path;
}

/** Copies the headers. Returns none if they are invalid. */
function copyHeaders(value: ConnectorVaultOptions["headers"], faults: Faults): Headers {
  let headers = new Headers();
  try {
    headers = new Headers(value);
  } catch {
    // No cause: its message would contain the header's value, which can be a secret.
    faults.add("headers", "must be `Headers`, or an object of header names and values");
  }
  if (headers.has(SECRET_HEADER)) faults.add("headers", "can't contain the secret: use the option `secret`");
  return headers;
}

/** Whether the code runs in a web page or one of its workers, where the user can read the secret. */
function isBrowser(): boolean {
  const { window, document, navigator, WorkerGlobalScope } = globalThis as Partial<typeof globalThis> & {
    WorkerGlobalScope?: unknown;
  };
  // Other platforms also define `WorkerGlobalScope`, but not a browser's user agent.
  const isWorker = WorkerGlobalScope !== undefined && /^Mozilla\//.test(navigator?.userAgent ?? "");
  return (typeof window === "object" && typeof document === "object") || isWorker;
}

function secretInBrowserError(): ValidationError {
  const detail =
    "An API key has access to your whole account, and anyone who opens this page can read it. Let your server create a short-lived token for " +
    "the page, or call the service from your server. If only your own staff can open this page, pass `allowSecretInBrowser: true`.";
  return new ValidationError(detail, { code: "secret_in_browser", errors: [{ parameter: "secret", detail }] });
}
