// `npm run lab -- test [FILE …]`: runs the tests in lab/tests, which take too long for `npm test` or test the experiments themselves.
import { globSync } from "node:fs";
import { join } from "node:path";
import { buildPackage } from "../scripts/build-package.mjs";
import { buildSite } from "../scripts/build-site.mjs";
import { buildWorker } from "../scripts/build-worker.mjs";
import { buildNativeCli } from "../scripts/lib/native-cli.mjs";
import { root } from "../scripts/lib/paths.mjs";
import { main } from "../scripts/lib/problem.mjs";
import { run } from "../scripts/lib/run.mjs";
import { setup } from "../scripts/setup.mjs";

await main(async () => {
  const tools = await setup();
  await buildNativeCli();
  await buildWorker(tools);
  await buildPackage(tools);
  await buildSite(tools);
  const requestedFiles = process.argv.slice(2);
  const files =
    requestedFiles.length > 0 ? requestedFiles : globSync(join("lab", "tests", "*.test.mjs"), { cwd: root });
  await run("node", ["--test", "--test-reporter=spec", ...files], { show: true, env: { CONNECTOR_VAULT_BUILT: "1" } });
});
