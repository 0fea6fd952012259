// A fast HTTP/1.1 client: raw keep-alive sockets, with one request at a time on each.
import { connect } from "node:net";
import { once } from "node:events";

// After this time without a request, connections are opened again.
const IDLE_MS = 1_000;
const HEAD_END = Buffer.from("\r\n\r\n");

/** Encodes a request. A body is sent as JSON. */
export function encode(target, headers, { method = "GET", body } = {}) {
  const content = body ? { "content-type": "application/json", "content-length": Buffer.byteLength(body) } : {};
  const lines = Object.entries({ host: "bench.example", ...headers, ...content });
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join("");
  return Buffer.from(`${method} ${target} HTTP/1.1\r\n${head}\r\n${body ?? ""}`);
}

/** Parses the response at the start of `bytes`: { status, head, body, end }; undefined while it is incomplete. */
function response(bytes) {
  const headEnd = bytes.indexOf(HEAD_END);
  if (headEnd < 0) return undefined;
  const head = bytes.latin1Slice(0, headEnd);
  const status = Number(head.slice(9, 12));
  const length = status === 304 ? 0 : Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? Number.NaN);
  if (Number.isNaN(length)) throw new Error(`a response without a length:\n${head}`);
  const start = headEnd + HEAD_END.length;
  return bytes.length < start + length
    ? undefined
    : { status, head, body: bytes.subarray(start, start + length), end: start + length };
}

/** A pool of keep-alive connections to one port. */
export class HttpLoad {
  #sockets;

  #port;
  /** The time of the last request. */
  #used = 0;

  static async to(port, connections) {
    const load = new HttpLoad();
    load.#port = port;
    load.#sockets = Array.from({ length: connections });
    await load.#open();
    return load;
  }

  /** Opens missing connections: the runtime closes idle ones after some seconds, possibly right now. */
  async #open() {
    const isStale = performance.now() - this.#used > IDLE_MS;
    const opened = this.#sockets.map(async (known) => {
      if (known?.readyState === "open" && !isStale) return known;
      known?.destroy();
      const socket = connect({ port: this.#port, host: "127.0.0.1", noDelay: true });
      await once(socket, "connect");
      return socket;
    });
    this.#sockets = await Promise.all(opened);
    this.#used = performance.now();
  }

  /** Opens all connections in advance. */
  ready() {
    return this.#open();
  }

  /** Sends `count` requests; `request(n)` is the nth. Fails unless each response has `status`. Returns the last response. */
  async run(count, request, status) {
    await this.#open();
    let next = 0;
    let last;
    const responses = this.#sockets.map(
      (socket) =>
        new Promise((resolve, reject) => {
          let received;
          const send = () => {
            if (next < count) return socket.write(request(next++));
            socket.off("data", take).off("error", reject).off("close", ended);
            resolve();
          };
          const ended = () => reject(new Error("the connection was closed"));
          const take = (chunk) => {
            received = received ? Buffer.concat([received, chunk]) : chunk;
            try {
              const reply = response(received);
              if (!reply) return;
              if (reply.status !== status) throw new Error(`expected ${status}:\n${reply.head}\n\n${reply.body}`);
              last = reply;
              received = undefined;
              send();
            } catch (error) {
              reject(error);
            }
          };
          socket.on("data", take).on("error", reject).on("close", ended);
          send();
        }),
    );
    await Promise.all(responses);
    this.#used = performance.now();
    return last;
  }

  close() {
    for (const socket of this.#sockets) socket.destroy();
  }
}
