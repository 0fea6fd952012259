// Measures the memory of the Worker's isolate through the inspector.
import { Server } from "./server.mjs";

const TIMEOUT_MS = 10_000;

/**
 * The memory of the isolate in bytes: the JavaScript heap, external buffers, and WebAssembly memory.
 * @param {Server} server
 */
export async function isolateBytes(server) {
  const inspector = await Inspector.open(server.inspectorPort);
  try {
    const contextId = await inspector.context();
    const memory = await inspector.call("Runtime.evaluate", { expression: "WebAssembly.Memory.prototype", contextId });
    const { objects } = await inspector.call("Runtime.queryObjects", { prototypeObjectId: memory.result.objectId });
    const sizes = await inspector.call("Runtime.callFunctionOn", {
      objectId: objects.objectId,
      functionDeclaration: "function () { return this.reduce((sum, memory) => sum + memory.buffer.byteLength, 0); }",
      returnByValue: true,
    });
    const heap = await inspector.call("Runtime.getHeapUsage");
    return { wasm: sizes.result.value, heap: heap.usedSize, buffers: heap.backingStorageSize };
  } finally {
    inspector.socket.close();
  }
}

class Inspector {
  #answers = new Map();
  #context = Promise.withResolvers();
  #last = 0;

  static async open(port) {
    const inspector = new Inspector();
    const listed = await (await fetch(`http://127.0.0.1:${port}/json`)).json();
    // Selects our Worker, because Miniflare also lists its internal ones.
    const { webSocketDebuggerUrl } = listed.find(({ id }) => id.startsWith("core:user:")) ?? listed[0];
    // wrangler requires an Origin, which Node's WebSocket does not send.
    inspector.socket = new WebSocket(webSocketDebuggerUrl, { headers: { origin: "http://localhost" } });
    inspector.socket.addEventListener("message", ({ data }) => inspector.#take(JSON.parse(data)));
    await withTimeout(
      "the inspector to open",
      new Promise((done, fail) => {
        inspector.socket.addEventListener("open", done);
        inspector.socket.addEventListener("error", (event) => fail(event.error ?? new Error("no inspector")));
      }),
    );
    return inspector;
  }

  #take({ id, result, error, method, params }) {
    if (method === "Runtime.executionContextCreated") this.#context.resolve(params.context.id);
    const response = this.#answers.get(id);
    if (error) response?.reject(new Error(error.message));
    else response?.resolve(result);
  }

  call(method, params = {}) {
    const response = Promise.withResolvers();
    this.#last += 1;
    this.#answers.set(this.#last, response);
    this.socket.send(JSON.stringify({ id: this.#last, method, params }));
    return withTimeout(method, response.promise);
  }

  async context() {
    // Disables the domain first: wrangler may have enabled it, and the inspector reports contexts only when it is enabled.
    await this.call("Runtime.disable");
    await this.call("Runtime.enable");
    return withTimeout("the Worker's context", this.#context.promise);
  }
}

function withTimeout(what, promise) {
  let timer;
  const timeout = new Promise((_, fail) => {
    timer = setTimeout(() => fail(new Error(`timed out waiting for ${what}`)), TIMEOUT_MS);
  });
  return Promise.race([promise, timeout]).finally(() => clearTimeout(timer));
}
