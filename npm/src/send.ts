// A call from its first try to its end.
import type { Call } from "glue";
import type { Checked } from "./call.js";
import { Ending } from "./ending.js";
import { ConnectionError, ServerError, VaultError } from "./errors.js";
import type { Client } from "./options.js";
import { errorOf, jsonOf, unexpected, without } from "./problem.js";
import { SECRET_HEADER } from "./secret.js";

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
