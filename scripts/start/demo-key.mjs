// The key that `npm start` shows, which `connector-vault keys demo` makes and keeps.
import { Problem } from "../lib/problem.mjs";
import { run } from "../lib/run.mjs";

/** The key; made when there is none yet, or none that works any longer. */
export async function demoKey(program, { place }) {
  return (await run(program, ["keys", "demo", ...place])).trim();
}

/** The status with which the service answers a request for one page of the catalog, and the body. */
async function tryKey(address, key) {
  const target = `${address}/v1/available-connectors?limit=1`;
  try {
    const answer = await fetch(target, { headers: { "x-service-secret": key } });
    return { status: answer.status, body: await answer.text() };
  } catch (error) {
    return { status: 0, body: `${error.cause?.message ?? error.message}` };
  }
}

/** Fails when the running service does not take the key. */
export async function mustWork(key, { state }, address) {
  // With `--local-protocol https` the certificate is wrangler's own, and nothing here vouches for it.
  if (address.startsWith("https:")) return;
  const { status, body } = await tryKey(address, key);
  if (status === 200) return;
  throw new Problem(
    `The service runs, but answers the demo key with ${status === 0 ? "an error" : `status ${status}`}.`,
    {
      output: body,
      hint: `Its local storage may be damaged. Remove it, and all keys and connections in it, and start again:\n  rm -rf ${state}`,
    },
  );
}
