// `npm run deploy`: the Worker and its database, at Cloudflare. With `-- --dry-run`: everything but that.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { nativeCli } from "./lib/native-cli.mjs";
import { root, wrangler } from "./lib/paths.mjs";
import { main, Problem } from "./lib/problem.mjs";
import { run } from "./lib/run.mjs";
import { say, task } from "./lib/status.mjs";
import { buildSite } from "./build-site.mjs";
import { buildWorker } from "./build-worker.mjs";
import { setup } from "./setup.mjs";

/** Fails while wrangler.toml still has the placeholders that it comes with. */
function mustNameStorage() {
  const config = readFileSync(join(root, "wrangler.toml"), "utf8");
  const missing = [];
  if (/^\s*id\s*=\s*"0{32}"/m.test(config)) {
    missing.push('npx wrangler kv namespace create CATALOG\n  → put the id into [[kv_namespaces]], id = "…"');
  }
  if (/^\s*database_id\s*=\s*"[0-]{36}"/m.test(config)) {
    missing.push('npx wrangler d1 create connector-vault\n  → put the id into [[d1_databases]], database_id = "…"');
  }
  if (missing.length === 0) return;
  throw new Problem("wrangler.toml does not name your storage at Cloudflare yet.", {
    hint: [
      "Make it once (`npx wrangler login` first), and write down what comes back:",
      ...missing,
      "Then run `npm run deploy` again.",
    ].join("\n"),
  });
}

await main(async () => {
  const args = process.argv.slice(2);
  const isDry = args.includes("--dry-run");
  const tools = await setup();
  if (!isDry) mustNameStorage();
  await buildWorker(tools);
  await buildSite(tools);
  if (!isDry) {
    const program = await nativeCli();
    await task("database migrated", (detail) => run(program, ["migrate", "--remote"], { detail }));
  }
  await run(wrangler, ["deploy", ...args], { show: true });
  if (isDry) return;
  say(`
Deployed. Give it a catalog and a key:
  npm run catalog -- import <your OpenAPI documents>      (or keep the one that npm start made)
  npm run catalog -- publish --remote
  npm run keys -- create --remote --account <name> --environment live

So that keys can make tokens for browsers, give it once what signs them, at least 32 characters:
  npx wrangler secret put SESSION_SECRET

So that it can hold credentials, give it once the key that seals them, and keep the file where your secrets are:
  npm run vault-keys -- rotate --remote --file vault-keys.txt
  npx wrangler secret put VAULT_KEYS < vault-keys.txt
`);
});
