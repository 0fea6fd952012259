// `npm run deploy`: deploys the service with a catalog and a key to an empty Cloudflare account; later, upgrades it. With
// `-- --dry-run`: builds and prints the steps without running them. Other options are passed to `wrangler deploy`.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { isAppNamed } from "./lib/app-name.mjs";
import { nativeCli } from "./lib/native-cli.mjs";
import { root, wrangler } from "./lib/paths.mjs";
import { asksForHelp, main } from "./lib/problem.mjs";
import { run } from "./lib/run.mjs";
import { print, log } from "./lib/status.mjs";
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
    // Checked before the build, which takes minutes.
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
  log(`\nDeployed: ${address}`);
  if (made.keyFile)
    log(
      `Store ${made.keyFile} with your other secrets, then delete the file. Without it, backups cannot be decrypted.`,
    );
  if (!isAppNamed(root, ["wrangler.toml"]))
    log("The connect window calls your app “this app”. Set APP_NAME in wrangler.toml to change that.");
  if (!made.key) return;
  log("The first API key, which is shown only once:\n");
  print(made.key);
  log(`\nTry it:\n  curl -H "x-service-secret: <key>" ${address}/v1/whoami`);
});
