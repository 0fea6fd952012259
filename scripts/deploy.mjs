// `npm run deploy`: from an empty Cloudflare account to a running service with a catalog and a key; later, upgrades. With
// `-- --dry-run`: builds, says what it would do, and calls nothing. All other options reach `wrangler deploy`.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { isAppNamed } from "./lib/app-name.mjs";
import { nativeCli } from "./lib/native-cli.mjs";
import { root, wrangler } from "./lib/paths.mjs";
import { asksForHelp, main } from "./lib/problem.mjs";
import { run } from "./lib/run.mjs";
import { print, say } from "./lib/status.mjs";
import { buildSite } from "./build-site.mjs";
import { buildWorker } from "./build-worker.mjs";
import { Cloudflare } from "./deploy/cloudflare.mjs";
import { announce, perform, steps } from "./deploy/steps.mjs";
import { setup } from "./setup.mjs";
import { npmPackages } from "./setup/npm-packages.mjs";
import { importCatalog } from "./start/catalog.mjs";

const HELP = `Usage: npm run deploy -- [options]

Creates what is missing on your Cloudflare account, deploys the service with a catalog, and prints its address and a first
key. Once that is done, it upgrades the service.

  --dry-run  only build, and say what would be done

All other options are passed to wrangler: npx wrangler deploy --help`;

await main(async () => {
  const args = process.argv.slice(2);
  if (asksForHelp(args)) return print(HELP);
  const isDry = args.includes("--dry-run");
  if (!isDry) {
    await npmPackages();
    // Before anything is built, which takes minutes.
    await new Cloudflare(root).mustBeSignedIn();
  }
  const tools = await setup();
  await buildWorker(tools);
  await buildSite(tools);
  if (isDry) {
    await run(wrangler, ["deploy", ...args], { show: true });
    announce(steps({ folder: root }));
    return;
  }
  const program = await nativeCli();
  const made = {};
  await perform(
    steps({ folder: root, program, catalog: () => importCatalog(program, { hasSources: true }), args }, made),
  );
  const deployed = made.addresses.find((target) => target.startsWith("https://"));
  // So that `clients` can print the redirect URI.
  if (deployed) writeFileSync(join(root, ".wrangler", "deployed-address"), `${new URL(deployed).origin}\n`);
  const address = deployed ?? "the address of your Worker";
  say(`\nDeployed: ${address}`);
  if (made.keyFile)
    say(`Store ${made.keyFile} with your other secrets, and delete it: without it, no backup can ever be opened.`);
  if (!isAppNamed(root, ["wrangler.toml"]))
    say("Your users are asked to connect their accounts to “this app”: set APP_NAME in wrangler.toml.");
  if (!made.key) return;
  say("The first API key, which is shown only now:\n");
  print(made.key);
  say(`\nTry it:\n  curl -H "x-service-secret: <key>" ${address}/v1/whoami`);
});
