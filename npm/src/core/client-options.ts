// The options of a client.
import { isApiKey } from "glue";
import { Faults, knownMembers, integerError } from "./arguments.js";
import { callModule } from "./wasm/start.js";
import { ValidationError } from "./errors.js";
import { ReplicaSession } from "./read-replica.js";
import { SECRET_HEADER, type SecretSource, SuppliedSecret, type Token, staticSecret } from "./secret.js";

/** Options of a `ConnectorVault`. */
export interface ConnectorVaultOptions {
  /** The address of the service, such as `https://vault.example.com`. */
  baseUrl: string | URL;
  /**
   * An API key (`sk_test_…` or `sk_live_…`), a short-lived token (`st_test_…` or `st_live_…`), or a function that returns
   * one. The function is called without arguments when a call needs a secret; concurrent calls share one result: for
   * the first call, shortly before `expiresAt` (when a tenth of the lifetime is left, at most 30 seconds), and when the
   * service rejects the secret. In that case the call is sent once more, even if it is not retried otherwise. If the function fails, the call
   * fails with a `VaultError` with the code `secret_unavailable` and the function's error as its `cause`; the next call
   * tries again.
   */
  secret: string | (() => string | Token | Promise<string | Token>);
  /** Sends the requests. Default: the global `fetch`. */
  fetch?: ((request: Request) => Promise<Response>) | undefined;
  /** How many milliseconds a call may take, including retries, before it fails with a `TimeoutError`. Default: 30,000. */
  timeoutMs?: number | undefined;
  /**
   * How many times a call that is safe to repeat is retried after a failure that may be temporary. Default: 2. A retry
   * with a new token after a rejected one does not count.
   */
  maxRetries?: number | undefined;
  /**
   * Lets read replicas of the service's database near the caller serve reads, if the service has any. A client sees its own
   * changes immediately, and those of others once they are replicated. Default: false, so that every response is up to date.
   */
  nearReads?: boolean | undefined;
  /** Headers to send with every request. */
  headers?: Headers | Record<string, string> | undefined;
  /**
   * Allows an API key in a web page. A key has access to your whole account, and anyone who opens the page can read it, so
   * use this only for pages of your own staff. On other pages, use short-lived tokens, which your server creates.
   */
  allowSecretInBrowser?: boolean | undefined;
}

/** The options of a client after their checks. @internal */
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
// The maximum of `setTimeout`.
const MAX_TIMEOUT_MS = 2 ** 31 - 1;
const MAX_RETRIES = 100;

/** Checks the options of a client. @internal */
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
  const base = baseOf(members.baseUrl, faults);
  const headers = headersOf(members.headers, faults);
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
    if (callModule(() => isApiKey(value)) && !allowSecretInBrowser && isBrowser()) throw secretInBrowser();
  };
  if (typeof secret === "string") check(secret);
  headers.set("accept", "application/json");
  const source =
    typeof secret === "string" ? staticSecret(secret) : new SuppliedSecret(secret as () => unknown, check, timeoutMs);
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

/** The service's URL without a trailing slash; empty if it is invalid. */
function baseOf(value: string | URL | undefined, faults: Faults): string {
  let url: URL | undefined;
  try {
    url = new URL(value as string);
  } catch {
    // `url` stays undefined, which is reported below.
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

/** A copy of the headers; empty if they are invalid. */
function headersOf(value: ConnectorVaultOptions["headers"], faults: Faults): Headers {
  let headers = new Headers();
  try {
    headers = new Headers(value);
  } catch {
    // The cause is left out, because its message contains the value, which can be a secret.
    faults.add("headers", "must be `Headers`, or an object of header names and values");
  }
  if (headers.has(SECRET_HEADER)) faults.add("headers", "can't contain the secret: use the option `secret`");
  return headers;
}

/** Whether this is a web page or one of its workers, whose memory the user can read. */
function isBrowser(): boolean {
  const { window, document, navigator, WorkerGlobalScope } = globalThis as Partial<typeof globalThis> & {
    WorkerGlobalScope?: unknown;
  };
  // Other platforms also define `WorkerGlobalScope`, but not a browser's user agent.
  const isWorker = WorkerGlobalScope !== undefined && /^Mozilla\//.test(navigator?.userAgent ?? "");
  return (typeof window === "object" && typeof document === "object") || isWorker;
}

function secretInBrowser(): ValidationError {
  const detail =
    "An API key has access to your whole account, and anyone who opens this page can read it. Let your server create a short-lived token for " +
    "the page, or call the service from your server. If only your own staff can open this page, pass `allowSecretInBrowser: true`.";
  return new ValidationError(detail, { code: "secret_in_browser", errors: [{ parameter: "secret", detail }] });
}
