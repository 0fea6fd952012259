// A call from its first try to its end.
import type { Call } from "glue";
import type { Checked } from "./call.js";
import { Ending } from "./ending.js";
import {
  AuthenticationError,
  ConflictError,
  ConnectionError,
  type ErrorCode,
  type Facts,
  type Fault,
  NotFoundError,
  PermissionError,
  PreconditionError,
  RateLimitError,
  ServerError,
  ValidationError,
  VaultError,
} from "./errors.js";
import { type Client, SECRET_HEADER } from "./options.js";

// What a deletion whose response was lost leads to.
const GONE: ReadonlySet<string> = new Set([
  "connection_not_found",
  "oauth_client_not_found",
  "webhook_not_found",
  "key_not_found",
]);
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 8_000;

/** How a call may be sent. */
export interface How {
  /** Whether doing it twice is the same as doing it once, and has the same response. Default: true. */
  repeatable?: boolean;
  /** Whether it deletes something. Default: false. */
  deletes?: boolean;
}

/** Whether a response is what the endpoint returns. */
export type IsExpected = (json: unknown, status: number) => boolean;

interface Answer {
  json: unknown;
  headers: Headers;
}

/** Sends a call. Sends it again if that is safe and may help, or if a supplied secret was rejected. */
export async function send(
  client: Client,
  call: Call,
  { signal, ifMatch, repeatable = true, deletes = false }: Checked & How,
  isExpected: IsExpected,
): Promise<Answer> {
  const headers = new Headers(client.headers);
  if (ifMatch !== undefined) headers.set("if-match", ifMatch);
  const until = Date.now() + client.timeoutMs;
  const ending = new Ending(signal, client.timeoutMs);
  try {
    let lost = false;
    let renewed = false;
    for (let tries = 1; ; ) {
      // Awaited separately, so that a call that ends meanwhile is not sent.
      const held = client.secret.held ?? (await ending.race(() => client.secret.renew()));
      headers.set(SECRET_HEADER, held.text);
      client.near?.ask(headers);
      const outcome = await ending.race(() => attempt(client, call, headers, held.text, ending.signal, isExpected));
      if (!(outcome instanceof VaultError)) return outcome;
      // A request with a rejected secret has done nothing, so any call can be sent again with another one.
      if (outcome.status === 401 && client.secret.drop(held) && !renewed) {
        renewed = true;
        continue;
      }
      // An earlier try whose response was lost has most likely deleted it.
      if (deletes && lost && GONE.has(outcome.code)) return { json: undefined, headers };
      lost ||= outcome instanceof ConnectionError || outcome.status === 503;
      const wait = waitAfter(outcome, tries);
      const again = repeatable && tries <= client.maxRetries && wait !== undefined && Date.now() + wait < until;
      if (!again) throw outcome;
      tries += 1;
      await ending.sleep(wait);
    }
  } finally {
    ending.close();
  }
}

/** The error that a response of the service itself tells. @internal */
export async function problemOf(response: Response, secret: string): Promise<VaultError> {
  return errorOf(response.status, response.headers, without(secret, await jsonOf(response).catch(() => undefined)));
}

/** How many milliseconds to wait before a retry; undefined if one is of no use. */
function waitAfter(error: VaultError, tries: number): number | undefined {
  if (!(error instanceof ConnectionError) && error.status !== 429 && error.status !== 503) return undefined;
  const { retryAfter } = error as Partial<ServerError>;
  if (retryAfter !== undefined) return retryAfter * 1000;
  // At random, so that calls that failed together do not come back together.
  return Math.min(FIRST_WAIT_MS * 2 ** (tries - 1), LONGEST_WAIT_MS) * (0.5 + Math.random() / 2);
}

/** One try: its answer or its error. */
async function attempt(
  client: Client,
  call: Call,
  headers: Headers,
  secret: string,
  signal: AbortSignal,
  isExpected: IsExpected,
): Promise<Answer | VaultError> {
  let response: Response;
  let json: unknown;
  try {
    response = await (client.fetch ?? globalThis.fetch)(call.request(client.base, headers, signal));
    json = await jsonOf(response);
  } catch (cause) {
    const message =
      "The service could not be reached. Is `baseUrl` right, is there a network, and, in a page, may its origin call the service?";
    return new ConnectionError(message, { code: "no_response", cause });
  }
  try {
    const { status, ok, headers } = response;
    client.near?.see(headers);
    if (ok && isExpected(json, status)) return { json, headers };
    return errorOf(status, headers, without(secret, json));
  } catch (cause) {
    return unexpected(ServerError, "What `fetch` gave is no response.", { cause });
  }
}

/** The JSON of a response; undefined if it is not JSON. Fails if the response breaks off. */
async function jsonOf(response: Response): Promise<unknown> {
  if (typeof response?.json !== "function") return undefined;
  try {
    return await response.json();
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

const BY_STATUS: Record<number, typeof VaultError> = {
  401: AuthenticationError,
  403: PermissionError,
  404: NotFoundError,
  409: ConflictError,
  412: PreconditionError,
  429: RateLimitError,
};

/** The class of errors with a status. */
function ofStatus(status: number): typeof VaultError {
  return BY_STATUS[status] ?? (status < 500 ? ValidationError : ServerError);
}

/** The error of a response. */
function errorOf(status: number, headers: Headers, json: unknown): VaultError {
  const { code, detail, errors, suggestions, connectionId, requestId } = (json ?? {}) as Record<string, unknown>;
  const facts: Facts = {
    status,
    headers,
    requestId: textOf(headers.get("x-request-id") ?? requestId),
    retryAfter: retryAfter(headers),
  };
  if (status >= 400) {
    const type = ofStatus(status);
    if (typeof code !== "string" || typeof detail !== "string")
      return unexpected(type, `The answer has the status ${status} and tells no problem.`, facts);
    return new type(detail, {
      ...facts,
      code: code as ErrorCode,
      errors: listOf<Fault>(errors),
      suggestions: listOf<string>(suggestions),
      connectionId: textOf(connectionId),
    });
  }
  const what =
    status === 0 || status >= 300
      ? "The answer is a redirect, which is not followed."
      : "The answer is not what the service gives.";
  return unexpected(ServerError, what, facts);
}

/** JSON without the secret: a service or a proxy may repeat what it was sent. */
function without(secret: string, json: unknown): unknown {
  const text = JSON.stringify(json) ?? "";
  return text.includes(secret) ? JSON.parse(text.replaceAll(secret, "…")) : json;
}

const listOf = <Item>(value: unknown): Item[] => (Array.isArray(value) ? value : []);
const textOf = (value: unknown) => (typeof value === "string" ? value : undefined);

function unexpected(type: typeof VaultError, what: string, facts: Facts): VaultError {
  return new type(`${what} Is \`baseUrl\` the address of a connector-vault?`, {
    ...facts,
    code: "unexpected_response",
  });
}

/** The seconds of `Retry-After`, which contains a number of them or a date. */
function retryAfter(headers: Headers): number | undefined {
  const value = headers.get("retry-after");
  if (value === null || value === undefined) return undefined;
  // A date contains the name of a month; anything else that is not a number is ignored.
  const isDate = /[a-z]{3}/i.test(value);
  const seconds = /^\s*\d+\s*$/.test(value) ? Number(value) : isDate ? (Date.parse(value) - Date.now()) / 1000 : NaN;
  return Number.isFinite(seconds) ? Math.max(seconds, 0) : undefined;
}
