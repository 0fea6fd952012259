// V8 compiles a WebAssembly function on its first call, which took most of the time of an isolate's first request. So a
// new isolate first handles a few recorded requests, against recorded storage responses and with a throwaway service.
// It does so while it starts, when no caller is waiting.
import recorded from "./rehearsal.json";

// In the second and third round, V8 detects and optimizes hot functions.
const ROUNDS = 3;

/** The members of a body that the Worker uses. */
function createBody(text) {
  const chunks = [new TextEncoder().encode(text)];
  const read = async () => ({ done: chunks.length === 0, value: chunks.shift() });
  return { getReader: () => ({ read, cancel: async () => {} }) };
}

/** The members of a request that the Worker uses. Outside of a request, the runtime cannot create a body. */
function createRequest({ method, path, secret, body }) {
  const headers = new Headers({ "content-type": "application/json" });
  if (secret !== undefined) headers.set("x-service-secret", secret);
  return {
    method,
    url: `https://rehearsal.example${path}`,
    headers,
    body: body === undefined ? null : createBody(body),
  };
}

/** Bindings with recorded responses, KV's by key and D1's in the order of the batches, and recorded decompression. */
function createBindings({ batches }) {
  let next = 0;
  const get = async (key) => (key in recorded.values ? Uint8Array.fromHex(recorded.values[key]).buffer : null);
  const inflate = async (bytes) => Uint8Array.fromHex(recorded.inflated[bytes.toHex()]);
  const statement = { bind: () => statement };
  return {
    ...recorded.variables,
    CATALOG: { get },
    VAULT: { prepare: () => statement, batch: async () => batches[next++] },
    [Symbol.for("rehearsal.inflate")]: inflate,
  };
}

/**
 * Handles all recorded requests in sequence, a few times.
 * @param {(request: object, env: object) => unknown} respond
 * @param {(recorded: object, response: unknown) => void} [onResponse] for tests
 */
export async function rehearse(respond, onResponse) {
  for (const call of Array(ROUNDS).fill(recorded.requests).flat()) {
    // Outside of a request, the runtime rejects the last step, `new Response`. By then everything is compiled.
    const response = await (async () => respond(createRequest(call), createBindings(call)))().catch((error) => error);
    onResponse?.(call, response);
  }
}
