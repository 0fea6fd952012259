// `npm run deploy`: builds the service and deploys it with a catalog and a key to an empty Cloudflare account; later, upgrades it.
import { buildSite } from "./build-site.mjs";
import { buildWorker } from "./build-worker.mjs";
import { deploy } from "./deploy/deploy.mjs";
import { buildNativeCli } from "./lib/native-cli.mjs";
import { main } from "./lib/problem.mjs";
import { setup } from "./setup.mjs";
import { installNpmPackages } from "./setup/npm-packages.mjs";

async function build() {
  const tools = await setup();
  await buildWorker(tools);
  await buildSite(tools);
}

await main(() => deploy(process.argv.slice(2), { install: installNpmPackages, build, program: buildNativeCli }));
