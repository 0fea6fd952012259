// V8 compiles each WebAssembly function on its first call, which took most of the time of an isolate's first request. So a new
// isolate first handles a few recorded requests while it starts, when no caller is waiting. They use recorded storage responses
// and a service instance that is discarded afterwards.
import recorded from "./rehearsal.json";

// The second and third round let V8 detect and optimize hot functions.
const ROUNDS = 3;

/** Creates a body with only the members that the Worker uses. */
function createBody(text) {
  const chunks = [new TextEncoder().encode(text)];
  const read = async () => ({ done: chunks.length === 0, value: chunks.shift() });
  return { getReader: () => ({ read, cancel: async () => {} }) };
}

/** Creates a request with only the members that the Worker uses. Outside of a request, the runtime can't create a body. */
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

/** Creates bindings with recorded responses: of KV by key, of D1 in the order of the batches, and of decompression. */
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
 * Handles all recorded requests in sequence, `ROUNDS` times.
 * @param {(request: object, env: object) => unknown} respond
 * @param {(recorded: object, response: unknown) => void} [onResponse] for tests
 */
export async function rehearse(respond, onResponse) {
  for (const call of Array(ROUNDS).fill(recorded.requests).flat()) {
    // Outside of a request, the runtime rejects the last step, `new Response`. By then, everything has been compiled.
    const response = await (async () => respond(createRequest(call), createBindings(call)))().catch((error) => error);
    onResponse?.(call, response);
  }
}
