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
  const headers = {};
  for (const line of head.split("\n")) {
    const colon = line.indexOf(":");
    headers[line.slice(0, colon)] = line.slice(colon + 1);
  }
  return new Response(body, { status, headers });
}

/** The site's file at the path of a request; the path is written as the file's name is. */
export async function file(request, env) {
  const url = new URL(request.url);
  url.pathname = decodeURIComponent(url.pathname);
  return env.ASSETS.fetch(new Request(url, request));
}

/** The bytes of a request's body; null when it has more than `most`, the rest of which is not read. */
export async function body(request, most) {
  if (Number(request.headers.get("content-length")) > most) return null;
  const chunks = [];
  let size = 0;
  for await (const chunk of request.body ?? []) {
    size += chunk.length;
    if (size > most) return null;
    chunks.push(chunk);
  }
  const bytes = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return bytes;
}

/** What deflated bytes, a view into WebAssembly's memory, were before; null when they are damaged. */
export async function inflate(bytes) {
  // A copy: what is in that memory may change while the stream is read.
  const stream = new Blob([bytes.slice()]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  try {
    return new Uint8Array(await new Response(stream).arrayBuffer());
  } catch (error) {
    if (error instanceof TypeError) return null;
    throw error;
  }
}

/** A promise that is kept after `milliseconds`. */
export function sleep(milliseconds) {
  return new Promise((done) => setTimeout(done, milliseconds));
}
