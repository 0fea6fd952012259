// The hand of `connector-vault seed` on this machine's storage: one open database for all batches, where
// `wrangler d1 execute` would take two seconds to open it for each.
//
//   node scripts/seed/batches.mjs DIR    DIR: where wrangler keeps local storage
//
// Each line of standard input is a JSON array of statements; they are run as one transaction. Each line of standard
// output answers one of them: {} or {"error": "…"}.
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import { root } from "../lib/paths.mjs";

// The service writes to the same file, each time for some milliseconds.
const ATTEMPTS = 100;
const PAUSE_MS = 100;

// Standard output is for answers, whatever a library has to say.
const answer = (text) => process.stdout.write(`${JSON.stringify(text)}\n`);
console.log = console.error;

async function load(vault, statements) {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await vault.batch(statements.map((statement) => vault.prepare(statement)));
    } catch (error) {
      if (attempt === ATTEMPTS || !error.message.includes("SQLITE_BUSY")) throw error;
      await pause(PAUSE_MS);
    }
  }
}

async function open(folder) {
  const { getPlatformProxy } = await import("wrangler");
  return getPlatformProxy({ configPath: join(root, "wrangler.toml"), persist: { path: join(resolve(folder), "v3") } });
}

const opened = open(process.argv[2]);
opened.catch(() => {});
for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
  try {
    const { env } = await opened;
    await load(env.VAULT, JSON.parse(line));
    answer({});
  } catch (error) {
    answer({ error: error.message });
  }
}
await opened.then(({ dispose }) => dispose(), () => {});
