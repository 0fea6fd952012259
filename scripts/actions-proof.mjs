// `npm run actions:proof [-- --platforms 200]`: runs actions of real platforms on the local runtime, and compares what is sent
// with what npm's `swagger-client` sends.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { buildWorker } from "./build-worker.mjs";
import { nativeCli } from "./lib/native-cli.mjs";
import { root } from "./lib/paths.mjs";
import { main, Problem } from "./lib/problem.mjs";
import { task } from "./lib/status.mjs";
import { setup } from "./setup.mjs";

await main(async () => {
  const { values } = parseArgs({
    options: { platforms: { type: "string", default: "200" } },
  });
  const platforms = Number(values.platforms);
  if (!(platforms > 0)) throw new Problem("--platforms takes a number above 0.", { code: 2 });
  const tools = await setup();
  await nativeCli();
  await buildWorker(tools);
  process.env.CONNECTOR_VAULT_BUILT = "1";
  // It makes a temporary folder when it is loaded.
  const { judgedRequests, proveActions } = await import("../tests/e2e/support/actions-proof.mjs");
  const requests = await task("actions with their documents' examples", (detail) =>
    proveActions({ platforms, tell: detail }),
  );
  const file = join(root, "target", "actions-proof.json");
  writeFileSync(file, JSON.stringify(requests, undefined, 1));
  const { lines, isProven } = judgedRequests(requests);
  console.log(`${lines.join("\n")}\n\nEvery difference: ${file}`);
  return isProven ? 0 : 1;
});
