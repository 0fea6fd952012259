// Sends a call, with retries and a timeout.
import type { Call } from "glue";
import type { CheckedCallOptions } from "./options.js";
import { CallAbort } from "./call-abort.js";
import { ConnectionError, ServerError, VaultError } from "./errors.js";
import type { ClientConfig } from "./client-options.js";
import { parseJson, redact, responseError, unexpectedResponseError } from "./problem.js";
import { SECRET_HEADER } from "./secret.js";

// With one of these codes, the retry of a deletion shows that the first request succeeded although its response was
// lost.
const NOT_FOUND_CODES: ReadonlySet<string> = new Set([
  "connection_not_found",
  "oauth_client_not_found",
  "webhook_not_found",
  "key_not_found",
]);
const MIN_BACKOFF_MS = 500;
const MAX_BACKOFF_MS = 8_000;

export interface SendOptions {
  /** Whether the call is idempotent, so that it can be retried. Default: true. */
  repeatable?: boolean;
  /** Whether the call deletes a resource. Default: false. */
  deletes?: boolean;
}

/** Whether the JSON of a successful response has the shape that the endpoint returns. */
export type IsExpected = (json: unknown, status: number) => boolean;

interface Result {
  json: unknown;
  headers: Headers;
}

/**
 * Sends a call. Retries an idempotent call after a temporary failure, and any call once after its secret was rejected.
 */
export async function send(
  config: ClientConfig,
  call: Call,
  { signal, ifMatch, repeatable = true, deletes = false }: CheckedCallOptions & SendOptions,
  isExpected: IsExpected,
): Promise<Result> {
  const headers = new Headers(config.headers);
  if (ifMatch !== undefined) headers.set("if-match", ifMatch);
  const deadline = Date.now() + config.timeoutMs;
  const abort = new CallAbort(signal, config.timeoutMs);
  try {
    let mayHaveSucceeded = false;
    let hasRefreshed = false;
    for (let tries = 1; ; ) {
      // Not part of the race below: a call that is aborted here must not send a request afterwards.
      const secret = config.secret.current ?? (await abort.race(() => config.secret.refresh()));
      headers.set(SECRET_HEADER, secret.value);
      config.replicaSession?.setHeader(headers);
      const outcome = await abort.race(() => sendOnce(config, call, headers, secret.value, abort.signal, isExpected));
      if (!(outcome instanceof VaultError)) return outcome;
      // A request with a rejected secret has no effect, so even a call that is not idempotent can be sent again.
      if (outcome.status === 401 && config.secret.invalidate(secret) && !hasRefreshed) {
        hasRefreshed = true;
        continue;
      }
      if (deletes && mayHaveSucceeded && NOT_FOUND_CODES.has(outcome.code)) return { json: undefined, headers };
      mayHaveSucceeded ||= outcome instanceof ConnectionError || outcome.status === 503;
      const wait = retryDelay(outcome, tries);
      const canRetry = repeatable && tries <= config.maxRetries && wait !== undefined && Date.now() + wait < deadline;
      if (!canRetry) throw outcome;
      tries += 1;
      await abort.sleep(wait);
    }
  } finally {
    abort.close();
  }
}

/** Returns the milliseconds to wait before a retry, or undefined if the failure is permanent. */
function retryDelay(error: VaultError, tries: number): number | undefined {
  if (!(error instanceof ConnectionError) && error.status !== 429 && error.status !== 503) return undefined;
  const { retryAfter } = error as Partial<ServerError>;
  if (retryAfter !== undefined) return retryAfter * 1000;
  // Jitter spreads the retries of calls that failed at the same time.
  return Math.min(MIN_BACKOFF_MS * 2 ** (tries - 1), MAX_BACKOFF_MS) * (0.5 + Math.random() / 2);
}

/** Sends the request once. Returns its error instead of throwing it. */
async function sendOnce(
  config: ClientConfig,
  call: Call,
  headers: Headers,
  secret: string,
  signal: AbortSignal,
  isExpected: IsExpected,
): Promise<Result | VaultError> {
  let response: Response;
  let json: unknown;
  try {
    response = await (config.fetch ?? globalThis.fetch)(call.request(config.base, headers, signal));
    json = await parseJson(response);
  } catch (cause) {
    const message =
      "The service could not be reached. Is `baseUrl` right, is there a network, and, in a page, may its origin call the service?";
    return new ConnectionError(message, { code: "no_response", cause });
  }
  try {
    const { status, ok, headers } = response;
    config.replicaSession?.update(headers);
    if (ok && isExpected(json, status)) return { json, headers };
    return responseError(status, headers, redact(secret, json));
  } catch (cause) {
    return unexpectedResponseError(ServerError, "`fetch` did not return a response.", { cause });
  }
}
