// The connections that `npm start` makes for its demo account, so that there is something to list: once, and never
// again for a user who has deleted them.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { stamp } from "../lib/fingerprint.mjs";
import { run } from "../lib/run.mjs";
import { task } from "../lib/status.mjs";

const CONNECTIONS = "200";
// The same ones for everybody: the README's examples find some.
const SEED = "1";

/** Makes them, unless that was done before or the account has connections of its own. */
export async function seedDemoAccount(program, { state, place }) {
  // Beside the database that has them: whoever deletes that deletes this.
  const done = join(state, "v3", "d1", ".demo-seeded");
  if (existsSync(done)) return;
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
  await task(`${CONNECTIONS} connections for the account demo`, (detail) =>
    run(program, [...args, ...place], { detail }),
  );
  stamp(done, CONNECTIONS);
}
