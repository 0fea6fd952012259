// The demo key, which `connector-vault keys demo` creates and stores.
import { Problem } from "../lib/problem.mjs";
import { run } from "../lib/run.mjs";

/** Returns the demo key. Creates one if there is none, or if it no longer works. */
export async function demoKey(program, { storageArgs }) {
  return (await run(program, ["keys", "demo", ...storageArgs])).trim();
}

/** Requests a page of the catalog with the key. Returns the status and the body. */
async function tryKey(address, key) {
  const target = `${address}/v1/available-connectors?limit=1`;
  try {
    const response = await fetch(target, { headers: { "x-service-secret": key } });
    return { status: response.status, body: await response.text() };
  } catch (error) {
    return { status: 0, body: `${error.cause?.message ?? error.message}` };
  }
}

/** Fails if the running service does not accept the key. */
export async function ensureKeyWorks(key, { state }, address) {
  // With `--local-protocol https`, wrangler uses a self-signed certificate, which `fetch` rejects.
  if (address.startsWith("https:")) return;
  const { status, body } = await tryKey(address, key);
  if (status === 200) return;
  throw new Problem(
    `The service is running, but responds to the demo key with ${status === 0 ? "an error" : `status ${status}`}.`,
    {
      output: body,
      hint: `Its local storage may be damaged. Remove it, with all keys and connections in it, and start again:\n  rm -rf ${state}`,
    },
  );
}
