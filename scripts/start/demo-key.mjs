// The key that `npm start` shows: good for this machine's storage and nothing else, so it may be kept.
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { Problem } from "../lib/problem.mjs";
import { run } from "../lib/run.mjs";

// Beside the database that knows it: whoever deletes that deletes this.
const fileIn = (state) => join(state, "v3", "d1", "demo-key.json");

/** The key of an earlier start. */
function kept(state) {
  try {
    return JSON.parse(readFileSync(fileIn(state), "utf8")).secret;
  } catch {
    return undefined;
  }
}

async function make(program, { state, place }) {
  const made = await run(program, ["keys", "create", "--account", "demo", "--environment", "test", "--json", ...place]);
  const file = fileIn(state);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, made, { mode: 0o600 });
  chmodSync(file, 0o600);
  return JSON.parse(made).secret;
}

/** Makes the key when there is none yet. */
export async function ensureDemoKey(program, options) {
  if (!kept(options.state)) await make(program, options);
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

/** A key that the running service takes: the kept one, or a new one when that was revoked. */
export async function workingDemoKey(program, options, address) {
  let key = kept(options.state) ?? (await make(program, options));
  // With `--local-protocol https` the certificate is wrangler's own, and nothing here vouches for it.
  if (address.startsWith("https:")) return key;
  let answer = await tryKey(address, key);
  if (answer.status === 401) {
    key = await make(program, options);
    answer = await tryKey(address, key);
  }
  if (answer.status === 200) return key;
  throw new Problem(`The service runs, but answers the demo key with ${answer.status === 0 ? "an error" : `status ${answer.status}`}.`, {
    output: answer.body,
    hint: `Its local storage may be damaged. Remove it, and all keys and connections in it, and start again:\n  rm -rf ${options.state}`,
  });
}
