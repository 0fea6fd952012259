// The key that `npm start` shows: good for this machine's storage and nothing else, so it may be kept.
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
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

async function make(program, { state, persistTo }) {
  const place = persistTo ? ["--persist-to", persistTo] : [];
  const made = await run(program, ["keys", "create", "--account", "demo", "--environment", "test", "--json", "--local", ...place]);
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

/** A key that the running service takes: the kept one, or a new one when that was revoked. */
export async function workingDemoKey(program, options, address) {
  const key = kept(options.state) ?? (await make(program, options));
  const answer = await fetch(`${address}/v1/whoami`, { headers: { "x-service-secret": key } });
  await answer.arrayBuffer();
  return answer.status === 401 ? make(program, options) : key;
}
