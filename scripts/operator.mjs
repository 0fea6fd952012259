// `npm run catalog -- …`, `keys`, `vault-keys`, `clients`, `agents`, `audit`, `shards`, `seed`, `migrate` and `openapi`: builds the operator's command line and runs it.
import { nativeCli } from "./lib/native-cli.mjs";
import { operate } from "./lib/operate.mjs";
import { main } from "./lib/problem.mjs";
import { npmPackages } from "./setup/npm-packages.mjs";

await main(async () => {
  await npmPackages();
  return operate(await nativeCli(), process.argv.slice(2));
});
