// The module that the runtime loads: a plain handler around the class that `worker-build` makes. For a class the runtime
// makes an object for each request, and `worker-build` several proxies around it: a tenth of what a warm request costs.
// The WebAssembly module starts afresh after a trap without them, too.
import Entrypoint from "../../build/index.js";

const { fetch } = Entrypoint.prototype;

/** A trap or a refused response: the cause goes to the log, the caller gets a constant text. */
function internal(request, cause) {
  const requestId = crypto.randomUUID();
  console.error(`internal request=${requestId}: ${cause?.stack ?? cause}`);
  const problem = {
    type: `${new URL(request.url).origin}/problems/internal`,
    title: "Internal error",
    status: 500,
    detail: "The service has a fault. The operator finds it in the log under `requestId`.",
    code: "internal",
    requestId,
  };
  const headers = {
    "content-type": "application/problem+json",
    "cache-control": "private, no-store",
    "x-request-id": requestId,
  };
  return new Response(request.method === "HEAD" ? null : JSON.stringify(problem), { status: 500, headers });
}

export default {
  fetch(request, env, ctx) {
    try {
      const answer = fetch.call({ env, ctx }, request);
      return answer instanceof Promise ? answer.catch((cause) => internal(request, cause)) : answer;
    } catch (cause) {
      return internal(request, cause);
    }
  },
};
