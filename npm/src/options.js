// How to reach the service.
import { membersOf, text, wholeNumber } from "./arguments.js";
import { badArgument, checked, ValidationError } from "./errors.js";

const NAMES = ["baseUrl", "secret", "fetch", "timeoutMs", "maxRetries", "headers", "allowSecretInBrowser"];
const SECRET_HEADER = "x-service-secret";
// The longest time that a timer takes.
const MAX_TIMEOUT_MS = 2 ** 31 - 1;
const MAX_RETRIES = 100;

/** Reads the options of a `ConnectorVault`. */
export function readOptions(core, options) {
  const given = membersOf(options, "options", NAMES);
  const { fetch, timeoutMs = 30_000, maxRetries = 2, allowSecretInBrowser = false } = given;
  const base = baseOf(given.baseUrl);
  if (fetch !== undefined && typeof fetch !== "function") throw badArgument("fetch", "must be a function");
  wholeNumber(timeoutMs, "timeoutMs", 1, MAX_TIMEOUT_MS);
  wholeNumber(maxRetries, "maxRetries", 0, MAX_RETRIES);
  if (typeof allowSecretInBrowser !== "boolean") throw badArgument("allowSecretInBrowser", "must be true or false");
  const headers = headersOf(given.headers);
  const secret = given.secret === undefined ? "" : text(given.secret, "secret");
  if (checked(() => core.isApiKey(secret)) && !allowSecretInBrowser && isBrowser()) throw secretInBrowser();
  headers.set("accept", "application/json");
  headers.set(SECRET_HEADER, secret);
  return { base, headers, fetch, timeoutMs, maxRetries };
}

/** The service's address without a slash at its end. */
function baseOf(value) {
  let url;
  try {
    url = new URL(value);
  } catch {
    // Told below.
  }
  if (!/^https?:$/.test(url?.protocol)) throw badArgument("baseUrl", "must be the service's whole address, for example `https://vault.example.com`");
  if (url.username || url.password || url.search || url.hash) throw badArgument("baseUrl", "must have no user, query or fragment");
  return url.origin + url.pathname.replace(/\/+$/, "");
}

function headersOf(value = {}) {
  let headers;
  try {
    headers = new Headers(value);
  } catch (cause) {
    throw badArgument("headers", "must be `Headers`, or an object of header names and values", { cause });
  }
  if (headers.has(SECRET_HEADER)) throw badArgument("headers", "can't hold the secret: it goes into `secret`");
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
