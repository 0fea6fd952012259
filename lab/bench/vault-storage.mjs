// Vaults of several sizes, each in a separate storage folder below .wrangler/bench. They are seeded once and used again.
import { cpSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fingerprint, isStamped, stamp } from "../../scripts/lib/fingerprint.mjs";
import { root } from "../../scripts/lib/paths.mjs";
import { run } from "../../scripts/lib/run.mjs";
import { task } from "../../scripts/lib/status.mjs";

export const ACCOUNT = "bench";

/** Creates a project in a folder, for commands that modify its wrangler.toml. */
function project(folder) {
  mkdirSync(folder, { recursive: true });
  for (const name of ["wrangler.toml", "schema"]) cpSync(join(root, name), join(folder, name), { recursive: true });
  for (const name of ["node_modules", "scripts", ".catalog"]) symlinkSync(join(root, name), join(folder, name));
  return folder;
}

/** The database ids in a project's wrangler.toml, by binding. */
const databases = (folder) =>
  Object.fromEntries(
    readFileSync(join(folder, "wrangler.toml"), "utf8")
      .split("[[d1_databases]]")
      .slice(1)
      .map((part) => ["binding", "database_id"].map((name) => new RegExp(`^${name} = "(.*)"$`, "m").exec(part)[1])),
  );

/**
 * The storage folder of a vault of this size in one of `shards` databases. Also returns its databases, the binding of the
 * vault's database, its key, and the key of another account, which is in another database if there are several. Seeds
 * the vault, unless this version of the code already has.
 */
export async function storage(program, size, shards = 1) {
  const state = join(root, ".wrangler", "bench", shards === 1 ? `vault-${size}` : `vault-${size}-of-${shards}`);
  const cwd = shards === 1 ? root : join(state, "project");
  const stampFile = join(state, "seeded");
  const keyFile = join(state, "key.json");
  const digest = fingerprint(
    ["schema", "src/operator/seed", "src/util/case_fold.rs", "wrangler.toml"],
    [String(size), String(shards)],
  );
  const inDatabases = shards === 1 ? "" : `, in one of ${shards} databases`;
  if (!isStamped(stampFile, digest)) {
    rmSync(state, { recursive: true, force: true });
    await task(
      `vault of ${size.toLocaleString("en")} connections${inDatabases} (kept for the next time)`,
      async (detail) => {
        const operator = (...args) =>
          run(program, [...args, "--persist-to", state], { cwd, detail, timeout: 3_600_000 });
        const seed = (account, count) =>
          operator("seed", "--account", account, "--connections", String(count), "--seed", "1", "--local");
        const key = async (account) =>
          JSON.parse(
            await operator("keys", "create", "--account", account, "--environment", "test", "--json", "--local"),
          );
        if (shards > 1) {
          project(cwd);
          await operator("shards", "add", "--total", String(shards));
        }
        await operator("migrate", "--local");
        await operator("catalog", "publish", "--local");
        // New accounts go to the emptiest database. The measured account comes last, and has the most connections.
        for (let index = 1; index < shards; index += 1) await seed(`${ACCOUNT}-${index}`, Math.ceil(size / 2));
        await seed(ACCOUNT, size);
        const ownKey = await key(ACCOUNT);
        const all = JSON.parse(await operator("shards", "list", "--json"));
        const { binding } = all.sort((a, b) => b.connections - a.connections)[0];
        const beside = await key(shards === 1 ? `${ACCOUNT}-beside` : `${ACCOUNT}-1`);
        writeFileSync(keyFile, JSON.stringify({ secret: ownKey.secret, beside: beside.secret, binding }), {
          mode: 0o600,
        });
      },
    );
    stamp(stampFile, digest);
  }
  return { state, databases: databases(cwd), ...JSON.parse(readFileSync(keyFile, "utf8")) };
}
