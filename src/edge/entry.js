// The module that the runtime loads: a plain handler around the WebAssembly module's glue. For a class the runtime would
// make an object for each request, a tenth of what a warm request costs. After a trap the glue makes the module afresh with
// the next call.
import { consume, fetch, rehearse as answer, scheduled } from "glue";
import { rehearse } from "./rehearsal.js";
import { inTurn } from "./turn.js";

/** A trap or a refused response: the cause goes to the log, the caller gets a constant text. */
function internal(request, cause) {
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
      const answer = fetch(request, env, ctx);
      return answer instanceof Promise ? answer.catch((cause) => internal(request, cause)) : answer;
    } catch (cause) {
      return internal(request, cause);
    }
  },

  /** The Cron Trigger: does what is due, in several databases at once. What fails is due again, and stops no other. */
  async scheduled(_, env) {
    await inTurn(env, Date.now(), (number) => scheduled(number, env));
  },

  /** The queue: one message after the other, and each for itself, so that one that fails repeats no other. */
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

// Not awaited: whatever became of it, the Worker serves.
rehearse(answer);
