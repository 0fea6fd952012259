// An HTTP/1.1 client that costs little: raw sockets, kept alive, one request at a time on each.
import { connect } from "node:net";
import { once } from "node:events";

// After so long without a request connections are made anew.
const IDLE_MS = 1_000;
const HEAD_END = Buffer.from("\r\n\r\n");

/** The bytes of a GET request. */
export function encode(target, headers) {
  const lines = Object.entries({ host: "bench.example", ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(`GET ${target} HTTP/1.1\r\n${lines.join("")}\r\n`);
}

/** Finds the end of the response at the start of `bytes`: { status, head, body, end }, or undefined while it is cut short. */
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

/** Connections to one port. */
export class Load {
  #sockets;

  #port;
  /** When requests were sent last. */
  #used = 0;

  static async to(port, connections) {
    const load = new Load();
    load.#port = port;
    load.#sockets = Array.from({ length: connections });
    await load.#open();
    return load;
  }

  /** Connects what is not connected: the runtime closes connections that are idle for some seconds, perhaps right now. */
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

  /** Has all connections open, so that `run` has none to make. */
  ready() {
    return this.#open();
  }

  /** Sends `count` requests, `request(n)` the nth; fails unless each is answered with `status`. Returns the last answer. */
  async run(count, request, status) {
    await this.#open();
    let next = 0;
    let last;
    const answers = this.#sockets.map(
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
              const answer = response(received);
              if (!answer) return;
              if (answer.status !== status) throw new Error(`expected ${status}:\n${answer.head}\n\n${answer.body}`);
              last = answer;
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
    await Promise.all(answers);
    this.#used = performance.now();
    return last;
  }

  close() {
    for (const socket of this.#sockets) socket.destroy();
  }
}
