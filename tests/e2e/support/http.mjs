// HTTP/1.1 on a raw socket: paths, methods and headers are sent exactly as given, and responses are unmodified. `fetch` would
// normalize paths, merge headers and reject methods.
import assert from "node:assert/strict";
import { connect } from "node:net";

const TIMEOUT_MS = 30_000;

/** Secrets that no response may contain. */
export const secrets = new Set();

/** A response exactly as received. */
export class HttpResponse {
  constructor(bytes, port) {
    this.port = port;
    const end = bytes.indexOf("\r\n\r\n");
    assert.notEqual(end, -1, `not an HTTP response: ${JSON.stringify(bytes.toString("latin1", 0, 200))}`);
    const [statusLine, ...lines] = bytes.toString("latin1", 0, end).split("\r\n");
    this.status = Number(statusLine.split(" ")[1]);
    /** The headers in order, as [name in lower case, value]. */
    this.headers = lines.map((line) => {
      const colon = line.indexOf(":");
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    });
    const body = bytes.subarray(end + 4);
    this.body = this.header("transfer-encoding") === "chunked" ? joinChunks(body) : body;
  }

  /** All values of a header. */
  all(name) {
    return this.headers.filter(([known]) => known === name).map(([, value]) => value);
  }

  /** The value of a header that must not be repeated. */
  header(name) {
    const values = this.all(name);
    assert.ok(values.length <= 1, `\`${name}\` is sent ${values.length} times`);
    return values[0];
  }

  get text() {
    return this.body.toString();
  }

  get json() {
    return JSON.parse(this.text);
  }
}

function joinChunks(bytes) {
  const chunks = [];
  for (let at = 0; ; ) {
    const end = bytes.indexOf("\r\n", at);
    const size = Number.parseInt(bytes.toString("latin1", at, end), 16);
    if (!(size > 0)) return Buffer.concat(chunks);
    chunks.push(bytes.subarray(end + 2, end + 2 + size));
    at = end + 2 + size + 2;
  }
}

/** A chunked body without a length. If `ends` is false, it never ends. */
export class ChunkedBody {
  constructor(chunks, { ends = true } = {}) {
    const chunkFrames = chunks.map((chunk) =>
      Buffer.concat([
        Buffer.from(`${Buffer.byteLength(chunk).toString(16)}\r\n`),
        Buffer.from(chunk),
        Buffer.from("\r\n"),
      ]),
    );
    this.header = ["Transfer-Encoding", "chunked"];
    this.bytes = Buffer.concat([...chunkFrames, Buffer.from(ends ? "0\r\n\r\n" : "")]);
  }
}

/** A body that is shorter than its announced length. */
export class TruncatedBody {
  constructor(length, sent = "") {
    this.header = ["Content-Length", String(length)];
    this.bytes = Buffer.from(sent);
  }
}

/** A header with the length of a body, and the body's bytes. */
function framed(body) {
  if (body instanceof ChunkedBody || body instanceof TruncatedBody) return body;
  const bytes = Buffer.from(body);
  return { header: bytes.length > 0 ? ["Content-Length", String(bytes.length)] : undefined, bytes };
}

/** Whether these bytes are a complete response with a length. */
function isComplete(bytes) {
  const end = bytes.indexOf("\r\n\r\n");
  const length = end < 0 ? undefined : /\r\ncontent-length: *(\d+)/i.exec(bytes.toString("latin1", 0, end))?.[1];
  return length !== undefined && bytes.length >= end + 4 + Number(length);
}

/** Sends raw bytes. Returns the statuses of all responses until the server closes the connection. */
export async function statusesOf(port, text) {
  const bytes = await new Promise((resolve, reject) => {
    const chunks = [];
    const socket = connect(port, "127.0.0.1", () => socket.write(Buffer.from(text, "latin1")));
    socket.setTimeout(TIMEOUT_MS, () =>
      socket.destroy(new Error(`no response to ${JSON.stringify(text.slice(0, 200))}`)),
    );
    socket.on("data", (chunk) => chunks.push(chunk));
    socket.on("error", reject);
    socket.on("close", () => resolve(Buffer.concat(chunks)));
  });
  const responses = bytes.toString("latin1");
  for (const secret of secrets) assert.ok(!responses.includes(secret), "a response contains a secret");
  return [...responses.matchAll(/^HTTP\/1\.1 (\d{3})/gm)].map(([, status]) => Number(status));
}

/**
 * Sends one request and reads the whole response.
 * @param {{ port: number, host?: string, method?: string, path: string, headers?: [string, string][],
 *           body?: string | Buffer | ChunkedBody | TruncatedBody }} request
 * @returns {Promise<HttpResponse>}
 */
export async function send({ port, host = `127.0.0.1:${port}`, method = "GET", path, headers = [], body = "" }) {
  const { header, bytes: payload } = framed(body);
  const lines = [["Host", host], ["Connection", "close"], ...(header ? [header] : []), ...headers];
  const head = `${method} ${path} HTTP/1.1\r\n${lines.map((line) => `${line.join(": ")}\r\n`).join("")}\r\n`;
  const bytes = await new Promise((resolve, reject) => {
    const chunks = [];
    const received = () => Buffer.concat(chunks);
    const mayNotEnd = body instanceof TruncatedBody || body instanceof ChunkedBody;
    const socket = connect(port, "127.0.0.1", () =>
      socket.write(Buffer.concat([Buffer.from(head, "latin1"), payload])),
    );
    socket.setTimeout(TIMEOUT_MS, () => socket.destroy(new Error(`no response to ${method} ${path.slice(0, 200)}`)));
    socket.on("data", (chunk) => {
      chunks.push(chunk);
      // A server that waits for the rest of a body keeps the connection open, so stop after the response.
      if (mayNotEnd && isComplete(received())) socket.destroy();
    });
    // A server that rejects a request early resets the connection after its response.
    socket.on("error", (error) => (chunks.length > 0 ? resolve(received()) : reject(error)));
    socket.on("close", () => resolve(received()));
  });
  const text = bytes.toString("latin1");
  for (const secret of secrets)
    assert.ok(!text.includes(secret), `the response to ${method} ${path} contains a secret`);
  return new HttpResponse(bytes, port);
}
