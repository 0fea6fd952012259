// The border between JavaScript and WebAssembly, crossed once on the way in and once on the way out: a crossing for
// each header would cost more than the rest of a request.

/** The method, the URL and, of the headers `names`, those that were sent: a line each, a header's as `name:value`. */
export function read(request, names) {
  const { headers } = request;
  let text = `${request.method}\n${request.url}`;
  for (const name of names) {
    const value = headers.get(name);
    if (value !== null) text += `\n${name}:${value}`;
  }
  return text;
}

/** A response. `head` has a line `name:value` for each header; `body` is a view into WebAssembly's memory. */
export function respond(status, head, body) {
  // A copy: the body outlives this call, and what is in that memory does not.
  return respondKept(status, head, body.length > 0 ? body.slice() : null);
}

/** The same with a body in JavaScript's memory, which nobody changes: it may be sent any number of times. */
export function respondKept(status, head, body) {
  return new Response(body, { status, headers: headersOf(head) });
}

/** The headers of lines `name:value`. */
function headersOf(head) {
  const headers = {};
  for (const line of head.split("\n")) {
    const colon = line.indexOf(":");
    if (colon > 0) headers[line.slice(0, colon)] = line.slice(colon + 1);
  }
  return headers;
}

/** The site's file at the path of a request, with these headers besides; the path is written as the file's name is. */
export async function file(request, env, head) {
  const url = new URL(request.url);
  url.pathname = decodeURIComponent(url.pathname);
  const found = await env.ASSETS.fetch(new Request(url, request));
  if (head === "") return found;
  const response = new Response(found.body, found);
  for (const [name, value] of Object.entries(headersOf(head))) response.headers.set(name, value);
  return response;
}

/**
 * Another service's answer as `[status, head, body]`, or a number: 1 when it can't be reached, 2 when it does not answer in
 * time, 3 when its body has more than `most` bytes. No redirect is followed.
 */
export async function send(method, url, head, sent, deadline, most) {
  const body = sent.length > 0 ? sent.slice() : undefined;
  const signal = AbortSignal.timeout(deadline);
  try {
    const answer = await fetch(url, { method, headers: headersOf(head), body, redirect: "manual", signal });
    const received = await bytes(answer, most);
    if (received === null) return 3;
    return [answer.status, lines(answer), received];
  } catch (error) {
    return signal.aborted || error?.name === "TimeoutError" ? 2 : 1;
  }
}

/**
 * As `send`, but resolves as soon as the answer begins: to the `Response`, or to 1, 2, or 4 when the sender of
 * `request` has disconnected, which aborts it. Without `sent`, the body is that of
 * `request`, as it arrives; the deadline counts from when all of it has been sent.
 */
export async function open(method, url, head, sent, request, deadline) {
  const stop = new AbortController();
  let [timer, isLate, isOver] = [undefined, false, false];
  const wait = () => {
    if (!isOver) timer = setTimeout(() => stop.abort((isLate = true)), deadline);
  };
  const signal = request?.signal ? AbortSignal.any([stop.signal, request.signal]) : stop.signal;
  const init = { method, headers: headersOf(head), redirect: "manual", signal };
  if (sent === undefined) {
    const length = request.headers.get("content-length");
    const pipe = length === null ? new IdentityTransformStream() : new FixedLengthStream(Number(length));
    init.body = pipe.readable;
    request.body.pipeTo(pipe.writable).then(wait, () => isOver || stop.abort());
  } else {
    if (sent.length > 0) init.body = sent.slice();
    wait();
  }
  try {
    return await fetch(url, init);
  } catch {
    if (isLate) return 2;
    return request?.signal?.aborted ? 4 : 1;
  } finally {
    isOver = true;
    clearTimeout(timer);
  }
}

/** A platform's answer as a response of this service. */
export function respondPassed(status, head, answer) {
  const isEmpty = status === 101 || status === 204 || status === 205 || status === 304;
  return new Response(isEmpty ? null : answer.body, { status, headers: headersOf(head) });
}

/** Ends the transfer of an answer that nobody wants. */
export function discard(answer) {
  if (answer.body !== null && !answer.bodyUsed) answer.body.cancel().catch(() => {});
}

/** All headers of a message: a line `name:value` each. */
export function lines(message) {
  let text = "";
  message.headers.forEach((value, name) => {
    text += `${name}:${value}\n`;
  });
  return text;
}

/** The bytes of the body of a request or a response; null when it has more than `most`, the rest of which is not read. */
export async function bytes(message, most) {
  if (Number(message.headers.get("content-length")) > most) return null;
  const chunks = [];
  let size = 0;
  for await (const chunk of message.body ?? []) {
    size += chunk.length;
    if (size > most) return null;
    chunks.push(chunk);
  }
  const whole = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.length;
  }
  return whole;
}

/**
 * What a database answers to statements, a JSON array of `[sql, ...parameters]`, in one transaction: a line for each, of the rows
 * read, the rows written, the size of the database, and the rows as JSON. With `since`, they run in a session that begins there,
 * and its bookmark is the first line.
 */
export async function batch(database, statements, since) {
  const session = since === undefined ? database : database.withSession(since);
  const bound = JSON.parse(statements).map(([sql, ...parameters]) => session.prepare(sql).bind(...parameters));
  const answers = (await session.batch(bound)).map(({ results, meta }) => {
    const { rows_read: read = 0, rows_written: written = 0, size_after: size = 0 } = meta ?? {};
    return `${read} ${written} ${size} ${JSON.stringify(results)}`;
  });
  return (since === undefined ? answers : [session.getBookmark() ?? "", ...answers]).join("\n");
}

/** Sends messages to the queue, which hands them over after so many seconds; false when the deployment has none. */
export async function enqueue(env, messages, delaySeconds) {
  if (!env.WORK) return false;
  await env.WORK.sendBatch(messages.map((body) => ({ body, contentType: "text", delaySeconds })));
  return true;
}

/** Where a rehearsal has what it inflates: outside of a request, the runtime reads no stream. */
const REHEARSED = Symbol.for("rehearsal.inflate");

/** What deflated bytes, a view into WebAssembly's memory, were before; null when they are damaged. */
export async function inflate(bytes, env) {
  if (env[REHEARSED]) return env[REHEARSED](bytes);
  // A copy: what is in that memory may change while the stream is read.
  const stream = new Blob([bytes.slice()]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  try {
    return new Uint8Array(await new Response(stream).arrayBuffer());
  } catch (error) {
    if (error instanceof TypeError) return null;
    throw error;
  }
}

/** How WebCrypto knows the algorithms of JSON Web Tokens. */
const ALGORITHMS = {
  RS256: { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" },
  ES256: { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" },
};

/** Whether the holder of a public key, a JSON Web Key as text, has signed the message. */
export async function verify(algorithm, key, message, signature) {
  const how = ALGORITHMS[algorithm];
  // Copies: what is in WebAssembly's memory may change meanwhile. The two members would only be compared with our own use.
  const [signed, by] = [message.slice(), signature.slice()];
  const { key_ops: _, use: __, ...jwk } = JSON.parse(key);
  try {
    return await crypto.subtle.verify(
      how,
      await crypto.subtle.importKey("jwk", jwk, how, false, ["verify"]),
      by,
      signed,
    );
  } catch {
    return false;
  }
}

/** The signature of the message by a private key, a JSON Web Key as text; null for a key that can't be used. */
export async function sign(algorithm, key, message) {
  const how = ALGORITHMS[algorithm];
  // A copy, as above.
  const signed = message.slice();
  try {
    const { key_ops: _, use: __, ...jwk } = JSON.parse(key);
    const by = await crypto.subtle.importKey("jwk", jwk, how, false, ["sign"]);
    return new Uint8Array(await crypto.subtle.sign(how, by, signed));
  } catch {
    return null;
  }
}

/** The text of bytes in a charset; undefined when the runtime does not know it, or they are no text in it. */
export function decode(charset, bytes) {
  try {
    return new TextDecoder(charset, { fatal: true }).decode(bytes);
  } catch {}
}

/**
 * Whether the whole text matches a pattern: as HTML reads patterns or, if it can't, as JSON Schema does. A pattern that is none
 * restricts nothing.
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
 * A pause: `over` is kept after `milliseconds`, or once `end` is called. The runtime forgets the timers of a request that has
 * been answered, and whatever waits for such a promise would stay for as long as the isolate.
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
