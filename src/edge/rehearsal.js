// V8 compiles a function of a WebAssembly module when it is called first: most of what a new isolate's first request
// used to cost. So the isolate answers a few recorded requests while it starts, which no request pays for: with the
// storage's recorded answers, for nobody, by a service of which nothing is left afterwards.
import recorded from "./rehearsal.json";

// The second and third time V8 finds out what is called most, and optimizes that.
const ROUNDS = 3;

/** A request as far as the Worker looks at one. The runtime makes no body outside of a request. */
function requestOf({ method, path, secret, body }) {
  const headers = new Headers({ "content-type": "application/json" });
  if (secret !== undefined) headers.set("x-service-secret", secret);
  return {
    method,
    url: `https://rehearsal.example${path}`,
    headers,
    body: body === undefined ? null : [new TextEncoder().encode(body)],
  };
}

/** Bindings that answer what was recorded: of KV by key, of D1 in the order of the batches; and what stands for a stream. */
function bindingsOf({ batches }) {
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
 * Has `answer` answer all recorded requests, one after the other, a few times.
 * @param {(request: object, env: object) => unknown} answer
 * @param {(recorded: object, response: unknown) => void} [told] what came out, for tests
 */
export async function rehearse(answer, told) {
  for (const one of Array(ROUNDS).fill(recorded.requests).flat()) {
    // Outside of a request the runtime refuses the last step, `new Response`. By then everything is compiled.
    const response = await (async () => answer(requestOf(one), bindingsOf(one)))().catch((refused) => refused);
    told?.(one, response);
  }
}
