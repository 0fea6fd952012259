// The JavaScript functions that WebAssembly imports. Each request crosses the boundary once in each direction, because one
// crossing per header would cost more than the rest of the request.

/** Serializes a request: the method, the URL, and a line `name:value` for each header in `names` that the request has. */
export function read(request, names) {
  const { headers } = request;
  let text = `${request.method}\n${request.url}`;
  for (const name of names) {
    const value = headers.get(name);
    if (value !== null) text += `\n${name}:${value}`;
  }
  return text;
}

/** Creates a response. `head` has a line `name:value` for each header. `body` is a view into WebAssembly memory. */
export function respond(status, head, body) {
  // A copy, because WebAssembly memory can change after this call.
  return respondCached(status, head, body.length > 0 ? body.slice() : null);
}

/** Creates a response with an immutable body in JavaScript memory, which can be sent any number of times. */
export function respondCached(status, head, body) {
  return new Response(body, { status, headers: parseHeaders(head) });
}

/** Parses headers from lines `name:value`. */
function parseHeaders(head) {
  const headers = {};
  for (const line of head.split("\n")) {
    const colon = line.indexOf(":");
    if (colon > 0) headers[line.slice(0, colon)] = line.slice(colon + 1);
  }
  return headers;
}

/** Returns the static file at a request's path, with additional headers. Decodes the path, because file names are not encoded. */
export async function file(request, env, head) {
  const url = new URL(request.url);
  url.pathname = decodeURIComponent(url.pathname);
  const asset = await env.ASSETS.fetch(new Request(url, request));
  if (head === "") return asset;
  const response = new Response(asset.body, asset);
  for (const [name, value] of Object.entries(parseHeaders(head))) response.headers.set(name, value);
  return response;
}

/**
 * Sends a request to another service. Returns `[status, head, body]`, or an error code: 1 if the service can't be reached, 2 after
 * a timeout, 3 if the body is longer than `limit` bytes. Does not follow redirects.
 */
export async function send(method, url, head, payload, timeoutMs, limit) {
  const body = payload.length > 0 ? payload.slice() : undefined;
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    const response = await fetch(url, { method, headers: parseHeaders(head), body, redirect: "manual", signal });
    const received = await bytes(response, limit);
    if (received === null) return 3;
    if (received === undefined) return 2;
    return [response.status, lines(response), received];
  } catch (error) {
    return signal.aborted || error?.name === "TimeoutError" ? 2 : 1;
  }
}

/**
 * Like `send`, but resolves as soon as the response begins: to the `Response`, or to 1, 2, or 4 if the client of `request` has
 * disconnected, which aborts the call. Without `payload`, streams the body of `request`; the timeout then starts after the body
 * was sent.
 */
export async function open(method, url, head, payload, request, timeoutMs) {
  const abort = new AbortController();
  let [timer, isTimeout, hasEnded] = [undefined, false, false];
  const startTimer = () => {
    if (!hasEnded) timer = setTimeout(() => abort.abort((isTimeout = true)), timeoutMs);
  };
  const signal = request?.signal ? AbortSignal.any([abort.signal, request.signal]) : abort.signal;
  const init = { method, headers: parseHeaders(head), redirect: "manual", signal };
  if (payload === undefined) {
    const length = request.headers.get("content-length");
    const pipe = length === null ? new IdentityTransformStream() : new FixedLengthStream(Number(length));
    init.body = pipe.readable;
    request.body.pipeTo(pipe.writable).then(startTimer, () => hasEnded || abort.abort());
  } else {
    if (payload.length > 0) init.body = payload.slice();
    startTimer();
  }
  try {
    return await fetch(url, init);
  } catch {
    if (isTimeout) return 2;
    return request?.signal?.aborted ? 4 : 1;
  } finally {
    hasEnded = true;
    clearTimeout(timer);
  }
}

/** Converts a platform's response to a response of this service, with its body as a stream. */
export function respondProxied(status, head, response) {
  const isEmpty = status === 101 || status === 204 || status === 205 || status === 304;
  return new Response(isEmpty ? null : response.body, { status, headers: parseHeaders(head) });
}

/** Cancels the body of an unused response. */
export function discard(response) {
  if (response.body !== null && !response.bodyUsed) response.body.cancel().catch(() => {});
}

/** Serializes all headers of a request or response as lines `name:value`. */
export function lines(message) {
  let text = "";
  message.headers.forEach((value, name) => {
    text += `${name}:${value}\n`;
  });
  return text;
}

/** The time limit for reading a body. Without it, slow senders could exhaust the memory of the isolate. */
const READ_MS = 30_000;

/** Starts a timer. Returns `undefined` where the runtime has no timers: outside a request, as in the rehearsal. */
function startTimer(callback, milliseconds) {
  try {
    return setTimeout(callback, milliseconds);
  } catch {
    return undefined;
  }
}

/**
 * Reads the body of a request or response. Returns null if it is longer than `limit` bytes, or if `grow` returns false for the size
 * so far; undefined after `READ_MS`. The rest of the body is then discarded.
 */
export async function bytes(message, limit, grow) {
  if (Number(message.headers.get("content-length")) > limit) return null;
  const chunks = [];
  let [size, isLate] = [0, false];
  const reader = message.body?.getReader();
  const cancel = () => reader.cancel().catch(() => {});
  const timer = reader && startTimer(() => cancel((isLate = true)), READ_MS);
  try {
    for (;;) {
      const { done, value } = (await reader?.read()) ?? { done: true };
      if (done) break;
      size += value.length;
      if (size > limit || grow?.(size) === false) {
        cancel();
        return null;
      }
      chunks.push(value);
    }
  } finally {
    clearTimeout(timer);
  }
  if (isLate) return undefined;
  const joined = new Uint8Array(size);
  let offset = 0;
  for (const chunk of chunks) {
    joined.set(chunk, offset);
    offset += chunk.length;
  }
  return joined;
}

/**
 * Runs statements, a JSON array of `[sql, ...parameters]`, in one transaction. Returns a string for each: rows read, rows written,
 * database size, and the result rows as JSON. With the bookmark `since`, runs them in a D1 session that starts there, and the first
 * string is the new bookmark of the session.
 */
export async function batch(database, statements, since) {
  const session = since === undefined ? database : database.withSession(since);
  const bound = JSON.parse(statements).map(([sql, ...parameters]) => session.prepare(sql).bind(...parameters));
  const results = (await session.batch(bound)).map(({ results: rows, meta }) => {
    const { rows_read: read = 0, rows_written: written = 0, size_after: size = 0 } = meta ?? {};
    return `${read} ${written} ${size} ${JSON.stringify(rows)}`;
  });
  return since === undefined ? results : [session.getBookmark() ?? "", ...results];
}

/** Sends messages to the queue, to be delivered after `delaySeconds`. Returns false if no queue is configured. */
export async function enqueue(env, messages, delaySeconds) {
  if (!env.WORK) return false;
  await env.WORK.sendBatch(messages.map((body) => ({ body, contentType: "text", delaySeconds })));
  return true;
}

/** Writes data points to the Analytics Engine dataset, if one is configured. `points` is a JSON array of `[index, strings, count]`. */
export function writePoints(env, points) {
  for (const [index, blobs, count] of JSON.parse(points))
    env.USAGE?.writeDataPoint({ indexes: [index], blobs, doubles: [count] });
}

/** The binding with which a rehearsal replaces decompression, because the runtime can't read streams outside a request. */
const REHEARSED_INFLATE = Symbol.for("rehearsal.inflate");

/** Decompresses bytes, a view into WebAssembly memory. Returns null if they are corrupt. */
export async function inflate(bytes, env) {
  if (env[REHEARSED_INFLATE]) return env[REHEARSED_INFLATE](bytes);
  // A copy, because WebAssembly memory can change while the stream is read.
  const stream = new Blob([bytes.slice()]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  try {
    return new Uint8Array(await new Response(stream).arrayBuffer());
  } catch (error) {
    if (error instanceof TypeError) return null;
    throw error;
  }
}

/** The WebCrypto parameters for the algorithms of JSON Web Tokens. */
const ALGORITHMS = {
  RS256: { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" },
  ES256: { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" },
};

/** Verifies a signature of a message. `key` is the public key: a JSON Web Key as a string. */
export async function verify(algorithm, key, message, signature) {
  const parameters = ALGORITHMS[algorithm];
  // Copies, because WebAssembly memory can change in the meantime. Drops `key_ops` and `use`, which could forbid verifying.
  const [messageCopy, signatureCopy] = [message.slice(), signature.slice()];
  const { key_ops: _, use: __, ...jwk } = JSON.parse(key);
  try {
    return await crypto.subtle.verify(
      parameters,
      await crypto.subtle.importKey("jwk", jwk, parameters, false, ["verify"]),
      signatureCopy,
      messageCopy,
    );
  } catch {
    return false;
  }
}

/** Signs a message with a private key: a JSON Web Key as a string. Returns null if the key is invalid. */
export async function sign(algorithm, key, message) {
  const parameters = ALGORITHMS[algorithm];
  // A copy, because WebAssembly memory can change in the meantime.
  const signed = message.slice();
  try {
    const { key_ops: _, use: __, ...jwk } = JSON.parse(key);
    const privateKey = await crypto.subtle.importKey("jwk", jwk, parameters, false, ["sign"]);
    return new Uint8Array(await crypto.subtle.sign(parameters, privateKey, signed));
  } catch {
    return null;
  }
}

/** Decodes bytes in a charset. Returns undefined if the runtime does not support it, or if the bytes are invalid. */
export function decode(charset, bytes) {
  try {
    return new TextDecoder(charset, { fatal: true }).decode(bytes);
  } catch {}
}

/**
 * Whether the whole string matches a pattern. The pattern is compiled as in HTML or, if that fails, as in JSON Schema. A pattern
 * that is invalid in both matches everything.
 */
export function isMatch(pattern, text) {
  for (const flags of ["v", "u"]) {
    try {
      return new RegExp(`^(?:${pattern})$`, flags).test(text);
    } catch {}
  }
  return true;
}

/**
 * A cancellable timer: `over` resolves after `milliseconds`, or when `end` is called. The runtime drops the timers of a finished
 * request; without `end`, a promise that waits for one would leak until the isolate ends.
 */
export function pause(milliseconds) {
  const { promise: over, resolve } = Promise.withResolvers();
  const timer = setTimeout(resolve, milliseconds);
  const end = () => {
    clearTimeout(timer);
    resolve();
  };
  return { over, end };
}
