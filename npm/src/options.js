// How to reach the service.
import { Faults, membersOf, notWhole } from "./arguments.js";
import { ValidationError, checked } from "./errors.js";
import { Fixed, Supplied } from "./secret.js";

const NAMES = ["baseUrl", "secret", "fetch", "timeoutMs", "maxRetries", "headers", "allowSecretInBrowser"];
/** The header of the secret. */
export const SECRET_HEADER = "x-service-secret";
// The longest time that a timer takes.
const MAX_TIMEOUT_MS = 2 ** 31 - 1;
const MAX_RETRIES = 100;

/** Reads the options of a `ConnectorVault`. */
export function readOptions(core, options) {
  const faults = new Faults();
  const given = membersOf(options, "options", NAMES, faults);
  const { fetch, timeoutMs = 30_000, maxRetries = 2, allowSecretInBrowser = false, secret } = given;
  const base = baseOf(given.baseUrl, faults);
  const headers = headersOf(given.headers, faults);
  for (const [name, what] of Object.entries({
    fetch: fetch !== undefined && typeof fetch !== "function" && "must be a function",
    timeoutMs: notWhole(timeoutMs, 1, MAX_TIMEOUT_MS),
    maxRetries: notWhole(maxRetries, 0, MAX_RETRIES),
    allowSecretInBrowser: typeof allowSecretInBrowser !== "boolean" && "must be true or false",
    secret:
      !["string", "function"].includes(typeof secret) &&
      "must be an API key, a token, or a function that gives one: is an environment variable missing?",
  })) {
    if (what) faults.add(name, what);
  }
  faults.end();
  const check = (text) => {
    if (checked(() => core.isApiKey(text)) && !allowSecretInBrowser && isBrowser()) throw secretInBrowser();
  };
  if (typeof secret === "string") check(secret);
  headers.set("accept", "application/json");
  const source = typeof secret === "string" ? new Fixed(secret) : new Supplied(secret, check, timeoutMs);
  return { base, headers, secret: source, fetch, timeoutMs, maxRetries };
}

/** The service's address without a slash at its end. */
function baseOf(value, faults) {
  let url;
  try {
    url = new URL(value);
  } catch {
    // Told below.
  }
  if (!/^https?:$/.test(url?.protocol)) {
    faults.add("baseUrl", "must be the service's whole address, for example `https://vault.example.com`");
    return undefined;
  }
  if (url.username || url.password || url.search || url.hash)
    faults.add("baseUrl", "must have no user, query or fragment");
  const path = url.pathname.replace(/\/+$/, "");
  if (path.endsWith("/v1")) faults.add("baseUrl", "must be the service's address without `/v1`");
  return url.origin + path;
}

function headersOf(value = {}, faults) {
  let headers;
  try {
    headers = new Headers(value);
  } catch {
    // Without the cause, which tells the value: it may be a secret.
    faults.add("headers", "must be `Headers`, or an object of header names and values");
  }
  if (headers?.has(SECRET_HEADER)) faults.add("headers", "can't hold the secret: it goes into `secret`");
  return headers;
}

/** Whether whoever opens a page can read what is here: a page, or a worker of one. */
function isBrowser() {
  const { window, document, navigator, WorkerGlobalScope } = globalThis;
  // Other platforms have workers too, but say who they are.
  const isWorker = WorkerGlobalScope !== undefined && /^Mozilla\//.test(navigator?.userAgent);
  return (typeof window === "object" && typeof document === "object") || isWorker;
}

function secretInBrowser() {
  const detail =
    "An API key opens your whole account, and whoever opens this page can read it. Let your server make a short-lived token for " +
    "the page, or call the service from your server. If only your own staff can open this page, pass `allowSecretInBrowser: true`.";
  return new ValidationError(detail, { code: "secret_in_browser", errors: [{ parameter: "secret", detail }] });
}
