// Deploys the service with a catalog and a key to an empty Cloudflare account; later, upgrades it: `npm run deploy`, and
// `connector-vault-server deploy`. With --dry-run: builds and prints the steps without running them. Other options are passed to
// `wrangler deploy`.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { work, wrangler } from "../lib/paths.mjs";
import { asksForHelp } from "../lib/problem.mjs";
import { run } from "../lib/run.mjs";
import { log, print } from "../lib/status.mjs";
import { isVariableSet } from "../lib/variables.mjs";
import { importCatalog } from "../start/catalog.mjs";
import { Cloudflare } from "./cloudflare.mjs";
import { printPlan, runSteps, steps } from "./steps.mjs";

const HELP = `Usage: npm run deploy -- [options]

Creates what is missing on your Cloudflare account, deploys the service with a catalog, and prints its address and a first
key. Once that is done, it upgrades the service.

  --dry-run  only build, and list what would be done

All other options are passed to wrangler: npx wrangler deploy --help`;

/**
 * @param {string[]} args
 * @param {{ install: () => Promise<void>, build: () => Promise<void>, program: () => Promise<string> }} project `install` installs
 *   wrangler, `build` builds the Worker and the site, `program` returns the path of the command-line program
 */
export async function deploy(args, { install, build, program }) {
  if (asksForHelp(args)) return print(HELP);
  const isDry = args.includes("--dry-run");
  if (!isDry) {
    await install();
    // Checked before the build, which takes minutes.
    await new Cloudflare(work).ensureSignedIn();
  }
  await build();
  if (isDry) {
    await run(wrangler, ["deploy", ...args], { show: true });
    printPlan(steps({ folder: work }));
    return;
  }
  const cli = await program();
  const results = {};
  await runSteps(
    steps({ folder: work, program: cli, catalog: () => importCatalog(cli, { hasSources: true }), args }, results),
  );
  const serviceUrl = results.addresses.find((target) => target.startsWith("https://"));
  // Recorded so that `clients` can print the redirect URI.
  if (serviceUrl) writeFileSync(join(work, ".wrangler", "deployed-address"), `${new URL(serviceUrl).origin}\n`);
  const address = serviceUrl ?? "the address of your Worker";
  log(`\nDeployed: ${address}`);
  if (results.keyFile)
    log(
      `Store ${results.keyFile} with your other secrets, then delete the file. Without it, backups cannot be decrypted.`,
    );
  if (!isVariableSet("APP_NAME", work, ["wrangler.toml"]))
    log("The connect window calls your app “this app”. Set APP_NAME in wrangler.toml to change that.");
  if (!results.key) return;
  log("The first API key, which is shown only once:\n");
  print(results.key);
  log(`\nTry it:\n  curl -H "x-service-secret: <key>" ${address}/v1/whoami`);
}
