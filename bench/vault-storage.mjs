// Vaults of a given size, each in a storage folder of its own below .wrangler/bench, seeded once and kept.
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fingerprint, isStamped, stamp } from "../scripts/lib/fingerprint.mjs";
import { root } from "../scripts/lib/paths.mjs";
import { run } from "../scripts/lib/run.mjs";
import { task } from "../scripts/lib/status.mjs";

/** The account whose vault it is. */
export const ACCOUNT = "bench";

/** The storage folder of a size, with its key and that of an account beside it; seeded when it is not yet, or not by this code. */
export async function storage(program, size) {
  const state = join(root, ".wrangler", "bench", `vault-${size}`);
  const place = ["--local", "--persist-to", state];
  const stampFile = join(state, "seeded");
  const keyFile = join(state, "key.json");
  const wanted = fingerprint(["migrations", "src/operator/seed", "src/fold.rs"], [String(size)]);
  if (!isStamped(stampFile, wanted)) {
    rmSync(state, { recursive: true, force: true });
    await task(`vault of ${size.toLocaleString("en")} connections (kept for the next time)`, async (detail) => {
      await run(program, ["migrate", ...place], { detail });
      await run(program, ["catalog", "publish", ...place], { detail });
      const seed = ["seed", "--account", ACCOUNT, "--connections", String(size), "--seed", "1", ...place];
      await run(program, seed, { detail, timeout: 3_600_000 });
      const key = (account) =>
        run(program, ["keys", "create", "--account", account, "--environment", "test", "--json", ...place]);
      const [own, other] = [JSON.parse(await key(ACCOUNT)), JSON.parse(await key(`${ACCOUNT}-beside`))];
      writeFileSync(keyFile, JSON.stringify({ secret: own.secret, beside: other.secret }), { mode: 0o600 });
    });
    stamp(stampFile, wanted);
  }
  return { state, ...JSON.parse(readFileSync(keyFile, "utf8")) };
}
