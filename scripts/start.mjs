// `npm start`: from a fresh clone to a running service with a real catalog and a key to try it.
// Options after `--` reach `wrangler dev`: npm start -- --port 9000
import { join } from "node:path";
import { buildSite } from "./build-site.mjs";
import { buildWorker } from "./build-worker.mjs";
import { fingerprint, isStamped, stamp } from "./lib/fingerprint.mjs";
import { nativeCli } from "./lib/native-cli.mjs";
import { locked } from "./lib/lock.mjs";
import { migrate } from "./lib/migrations.mjs";
import { main } from "./lib/problem.mjs";
import { paint, task } from "./lib/status.mjs";
import { setup } from "./setup.mjs";
import { importCatalog, publishCatalog } from "./start/catalog.mjs";
import { seedDemoAccount } from "./start/demo-connections.mjs";
import { ensureDemoKey, workingDemoKey } from "./start/demo-key.mjs";
import { mustBeFree, options } from "./start/options.mjs";
import { serve } from "./start/serve.mjs";
import { ensureSessionSecret } from "./start/session-secret.mjs";

async function migrateState({ state, place }) {
  const stampFile = join(state, "v3", "d1", ".migrated");
  const wanted = fingerprint(["migrations"]);
  if (isStamped(stampFile, wanted)) return;
  await task("local database migrated", (detail) => migrate(place, detail));
  stamp(stampFile, wanted);
}

function instructions(address, key) {
  const curl = (path) => `  curl -s -H "x-service-secret: $KEY" "${address}${path}"`;
  return `
${paint.bold(`Connector Vault is ready on ${address}`)}

  Console        ${address}/
  API reference  ${address}/docs

Open the console with this demo key, good on this machine only; or paste this and try:

  KEY=${key}
${curl("/v1/available-connectors?limit=3")}
${curl("/v1/available-connectors?q=payments")}
${curl("/v1/available-connectors?platform=github")}
${curl("/v1/available-actions/github?method=POST&limit=5")}
${curl("/v1/available-actions/github?q=create+issue")}
${curl("/v1/vault/connections?limit=3")}
${curl("/v1/vault/connections?platform=github&identityType=user")}
${curl("/v1/vault/summary")}
${curl("/v1/whoami")}

Another key: npm run keys -- create --account acme --environment test
Stop: Ctrl-C
`;
}

await main(async () => {
  const args = process.argv.slice(2);
  const given = options(args);
  await mustBeFree(given.port, given.host);
  const tools = await setup();
  const program = await nativeCli();
  await buildWorker(tools);
  await buildSite(tools);
  await locked("start", "it makes the catalog and the demo account", async () => {
    await importCatalog(program);
    // One after the other: each opens the same local storage.
    await publishCatalog(program, given);
    await migrateState(given);
    ensureSessionSecret();
    await ensureDemoKey(program, given);
    await seedDemoAccount(program, given);
  });
  return serve(args, async (address) => {
    const key = await workingDemoKey(program, given, address);
    process.stdout.write(instructions(address, key));
  });
});
