// The connections of the demo account. `npm start` creates them once, and not again after a user has deleted them.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { stamp } from "../lib/fingerprint.mjs";
import { run } from "../lib/run.mjs";
import { task } from "../lib/status.mjs";

const CONNECTIONS = "200";
// A fixed seed, because the README's examples rely on the connections.
const SEED = "1";

/** Creates the connections, unless an earlier start has created them or the account already has connections. */
export async function seedDemoAccount(program, { state, storageArgs }) {
  // Kept in the database's folder, so that deleting the database deletes this record, too.
  const stampFile = join(state, "v3", "d1", ".demo-seeded");
  if (existsSync(stampFile)) return;
  const args = [
    "seed",
    "--account",
    "demo",
    "--environment",
    "test",
    "--connections",
    CONNECTIONS,
    "--seed",
    SEED,
    "--only-if-none",
  ];
  await task("the account demo has connections", (detail) => run(program, [...args, ...storageArgs], { detail }));
  stamp(stampFile, CONNECTIONS);
}
