// The entry module: a plain handler object around the glue of the WebAssembly module. For a handler class, the runtime would
// create an instance per request, which takes a tenth of the time of a warm request. After a trap, the next call of the glue
// creates a new WebAssembly instance.
import { consume, fetch, rehearse as respond, scheduled } from "glue";
import { rehearse } from "./rehearsal.js";
import { runShards } from "./shards.js";

/** Logs a trap or an invalid response, and returns a response with a constant message. */
function internalError(request, cause) {
  const requestId = crypto.randomUUID();
  console.error(`internal request=${requestId}: ${cause?.stack ?? cause}`);
  const problem = {
    type: `${new URL(request.url).origin}/problems/internal`,
    title: "Internal error",
    status: 500,
    detail: "Something went wrong in the service. Its operator can find the cause in the log, by `requestId`.",
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
      const response = fetch(request, env, ctx);
      return response instanceof Promise ? response.catch((cause) => internalError(request, cause)) : response;
    } catch (cause) {
      return internalError(request, cause);
    }
  },

  /** Handles the Cron Trigger: runs due jobs in several shards concurrently. Jobs that fail remain due. */
  async scheduled(_, env) {
    await runShards(env, Date.now(), (number) => scheduled(number, env));
  },

  /** Handles queue messages one by one, so that a failed message does not cause the others to be retried. */
  async queue(batch, env) {
    for (const message of batch.messages) {
      try {
        await consume(message.body, env);
        message.ack();
      } catch (cause) {
        console.error(`queue: ${cause?.stack ?? cause}`);
        message.retry({ delaySeconds: 60 });
      }
    }
  },
};

// Not awaited: requests are served even if the rehearsal fails.
rehearse(respond);
