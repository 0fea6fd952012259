// `npm run lab -- schemathesis [--examples 1000] [--seed 1]`: schemathesis generates valid and invalid requests from the OpenAPI
// document, and checks each response of the built Worker on the local runtime against it.
import { randomInt } from "node:crypto";
import { parseArgs } from "node:util";
import { buildPackage } from "../scripts/build-package.mjs";
import { buildWorker } from "../scripts/build-worker.mjs";
import { buildNativeCli } from "../scripts/lib/native-cli.mjs";
import { main, Problem } from "../scripts/lib/problem.mjs";
import { print, task } from "../scripts/lib/status.mjs";
import { setup } from "../scripts/setup.mjs";

await main(async () => {
  const { values } = parseArgs({
    options: {
      examples: { type: "string", default: "100" },
      seed: { type: "string", default: `${randomInt(2 ** 31)}` },
    },
  });
  const [examples, seed] = [Number(values.examples), Number(values.seed)];
  if (!(examples > 0)) throw new Problem("--examples takes a number above 0.", { code: 2 });
  const tools = await setup();
  await buildNativeCli();
  await buildWorker(tools);
  await buildPackage(tools);
  // Imported only after the arguments are checked and everything is built: loading this module creates a temporary
  // folder.
  const { schemathesis } = await import("./schemathesis/run.mjs");
  const output = await task(`schemathesis, ${examples} examples of each operation`, (detail) =>
    schemathesis({ examples, seed, detail }),
  );
  print(output.slice(output.indexOf("= SUMMARY =")).split("\n").slice(1).join("\n").trim());
});
