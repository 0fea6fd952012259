// A call from its first try to its end.
import { AbortError, ConnectionError, ServerError, TimeoutError, ofStatus } from "./errors.js";
import { SECRET_HEADER } from "./options.js";

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 8_000;

/**
 * Sends a call, and again when that is safe and may help, or when a supplied secret was refused.
 *
 * @param {object} client what `readOptions` gave
 * @param {object} call of the core: makes a request for each try
 * @param {{ signal?: AbortSignal, ifMatch?: string, repeatable?: boolean, deletes?: boolean }} how `repeatable` when doing it twice
 *   is the same as doing it once, and says the same
 * @param {(json: any, status: number) => boolean} isAnswer whether this is what the endpoint answers
 * @returns {Promise<{ json: any, headers: Headers }>}
 */
export async function send(client, call, { signal, ifMatch, repeatable = true, deletes = false }, isAnswer) {
  const headers = new Headers(client.headers);
  if (ifMatch !== undefined) headers.set("if-match", ifMatch);
  const until = Date.now() + client.timeoutMs;
  const ending = new Ending(signal, client.timeoutMs);
  try {
    let lost = false;
    let renewed = false;
    for (let tries = 1; ; ) {
      // Waited for apart, so that a call which ends meanwhile is not sent.
      const held = client.secret.held ?? (await ending.race(() => client.secret.renew()));
      headers.set(SECRET_HEADER, held.text);
      const { answer, error } = await ending.race(() =>
        attempt(client, call, headers, held.text, ending.signal, isAnswer),
      );
      if (answer) return answer;
      // Who was refused has done nothing: with another secret, whatever it is can be sent again.
      if (error.status === 401 && client.secret.drop(held) && !renewed) {
        renewed = true;
        continue;
      }
      // An earlier try, of which nobody knows what came of it, has most likely deleted it.
      if (deletes && lost && error.code === "connection_not_found") return {};
      lost ||= error instanceof ConnectionError || error.status === 503;
      const wait = waitAfter(error, tries);
      const again = repeatable && tries <= client.maxRetries && wait !== undefined && Date.now() + wait < until;
      if (!again) throw error;
      tries += 1;
      await ending.sleep(wait);
    }
  } finally {
    ending.close();
  }
}

/** Milliseconds to wait before another try; undefined when that is of no use. */
function waitAfter(error, tries) {
  if (!(error instanceof ConnectionError) && error.status !== 429 && error.status !== 503) return undefined;
  if (error.retryAfter !== undefined) return error.retryAfter * 1000;
  // Many that failed together must not come back together.
  return Math.min(FIRST_WAIT_MS * 2 ** (tries - 1), LONGEST_WAIT_MS) * (0.5 + Math.random() / 2);
}

/** One try: its answer, or what it failed with. */
async function attempt(client, call, headers, secret, signal, isAnswer) {
  let response;
  let json;
  try {
    response = await (client.fetch ?? globalThis.fetch)(call.request(client.base, headers, signal));
    json = await jsonOf(response);
  } catch (cause) {
    const message =
      "The service could not be reached. Is `baseUrl` right, is there a network, and, in a page, may its origin call the service?";
    return { error: new ConnectionError(message, { code: "connection_failed", cause }) };
  }
  try {
    const { status, ok, headers } = response;
    if (ok && isAnswer(json, status)) return { answer: { json, headers } };
    return { error: errorOf(status, headers, without(secret, json)) };
  } catch (cause) {
    return { error: unexpected(ServerError, "What `fetch` gave is no response.", { cause }) };
  }
}

/** The JSON of a response; undefined when it holds none. Fails when it breaks off. */
async function jsonOf(response) {
  if (typeof response?.json !== "function") return undefined;
  try {
    return await response.json();
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** What a response that is no answer tells. */
function errorOf(status, headers, json) {
  const { code, detail, errors, suggestions, connectionId, requestId } = json ?? {};
  const facts = {
    status,
    headers,
    requestId: textOf(headers.get("x-request-id") ?? requestId),
    retryAfter: retryAfter(headers),
  };
  if (status >= 400) {
    const type = ofStatus(status);
    if (typeof code !== "string" || typeof detail !== "string")
      return unexpected(type, `The answer has the status ${status} and tells no problem.`, facts);
    const more = { errors: listOf(errors), suggestions: listOf(suggestions), connectionId: textOf(connectionId) };
    return new type(detail, { ...facts, ...more, code });
  }
  const what =
    status === 0 || status >= 300
      ? "The answer is a redirect, which is not followed."
      : "The answer is not what the service gives.";
  return unexpected(ServerError, what, facts);
}

/** What a problem tells, without the secret: a service or a proxy may repeat what it was sent. */
function without(secret, json) {
  const text = JSON.stringify(json) ?? "";
  return text.includes(secret) ? JSON.parse(text.replaceAll(secret, "…")) : json;
}

const listOf = (value) => (Array.isArray(value) ? value : []);
const textOf = (value) => (typeof value === "string" ? value : undefined);

function unexpected(type, what, facts) {
  return new type(`${what} Is \`baseUrl\` the address of a connector-vault?`, {
    ...facts,
    code: "unexpected_response",
  });
}

/** The seconds of `Retry-After`, which tells them or a date. */
function retryAfter(headers) {
  const value = headers.get("retry-after");
  if (value === null || value === undefined) return undefined;
  // A date has a month: what else is no number is nothing.
  const isDate = /[a-z]{3}/i.test(value);
  const seconds = /^\s*\d+\s*$/.test(value) ? Number(value) : isDate ? (Date.parse(value) - Date.now()) / 1000 : NaN;
  return Number.isFinite(seconds) ? Math.max(seconds, 0) : undefined;
}

/** Ends a call before its answer: when its time is over, or the caller's signal says so. */
class Ending {
  #controller = new AbortController();
  #caller;
  #timer;
  #error;
  #reject = () => {};

  constructor(caller, timeoutMs) {
    this.#caller = caller;
    if (caller?.aborted) this.#abort();
    if (caller) listen(caller, this.#abort);
    const message = `There was no answer within ${timeoutMs} ms.`;
    this.#timer = setTimeout(() => this.#end(new TimeoutError(message, { code: "timeout" })), timeoutMs);
  }

  /** Tells `fetch` about the end. */
  get signal() {
    return this.#controller.signal;
  }

  #abort = () => {
    this.#end(new AbortError("The call was ended by its signal.", { code: "aborted", cause: this.#caller.reason }));
  };

  #end(error) {
    this.#error ??= error;
    this.#reject(this.#error);
    this.#controller.abort();
  }

  /** What a promise gives, unless the call ends before, whatever `fetch` makes of the signal. Does not start after the end. */
  race(start) {
    return new Promise((resolve, reject) => {
      if (this.#error) throw this.#error;
      this.#reject = reject;
      start().then(resolve, reject);
    });
  }

  sleep(milliseconds) {
    let timer;
    const slept = () =>
      new Promise((done) => {
        timer = setTimeout(done, milliseconds);
      });
    return this.race(slept).finally(() => clearTimeout(timer));
  }

  close() {
    clearTimeout(this.#timer);
    if (this.#caller) unlisten(this.#caller, this.#abort);
  }
}

// What is to be called when a signal says so. One listener for each signal: of many, Node warns as of a leak.
const heard = new WeakMap();

function listen(signal, ear) {
  const known = heard.get(signal);
  if (known) {
    known.ears.add(ear);
    return;
  }
  const ears = new Set([ear]);
  const listener = () => ears.forEach((one) => one());
  heard.set(signal, { ears, listener });
  signal.addEventListener("abort", listener);
}

function unlisten(signal, ear) {
  const { ears, listener } = heard.get(signal);
  ears.delete(ear);
  if (ears.size > 0) return;
  heard.delete(signal);
  signal.removeEventListener("abort", listener);
}
