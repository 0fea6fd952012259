// `npm run catalog -- …`, `keys`, `vault-keys`, `clients`, `agents`, `audit`, `shards`, `seed`, `migrate` and `openapi`: builds the operator's command line and runs it.
import { buildNativeCli } from "./lib/native-cli.mjs";
import { operate } from "./lib/operate.mjs";
import { main } from "./lib/problem.mjs";
import { installNpmPackages } from "./setup/npm-packages.mjs";

await main(async () => {
  await installNpmPackages();
  return operate(await buildNativeCli(), process.argv.slice(2));
});
