// `npm run lab -- actions-proof [--platforms 200] [--seed 1]`: runs actions of real platforms on the local runtime, and compares
// the requests with those of npm's `swagger-client`, and the validation with that of npm's Prism.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { buildWorker } from "../scripts/build-worker.mjs";
import { buildNativeCli } from "../scripts/lib/native-cli.mjs";
import { root } from "../scripts/lib/paths.mjs";
import { main, Problem } from "../scripts/lib/problem.mjs";
import { task } from "../scripts/lib/status.mjs";
import { setup } from "../scripts/setup.mjs";

/** Larger documents are skipped: only Microsoft Graph's two, of 20 MB and 47 MB. */
const MAX_DOCUMENT_BYTES = 10_000_000;
/** One in this number of the platforms gets random inputs, ten each. */
const RANDOM_SHARE = 4;

await main(async () => {
  const { values } = parseArgs({
    options: { platforms: { type: "string", default: "200" }, seed: { type: "string", default: "2026" } },
  });
  const [platforms, seed] = [Number(values.platforms), Number(values.seed)];
  if (!(platforms > 0)) throw new Problem("--platforms takes a number above 0.", { code: 2 });
  const tools = await setup();
  await buildNativeCli();
  await buildWorker(tools);
  process.env.CONNECTOR_VAULT_BUILT = "1";
  // Imported here, because these modules create a temporary folder.
  const { summarizeRequests, proveActions } = await import("./actions-proof/requests.mjs");
  const { summarizeValidation, proveRandom } = await import("./actions-proof/random-inputs.mjs");
  const requests = await task("actions with their documents' examples", (detail) =>
    proveActions({ platforms, largest: MAX_DOCUMENT_BYTES, report: detail }),
  );
  const responses = await task("random inputs", (detail) =>
    proveRandom({ platforms: Math.ceil(platforms / RANDOM_SHARE), each: 10, seed, report: detail }),
  );
  const file = join(root, "target", "actions-proof.json");
  writeFileSync(file, JSON.stringify({ requests, answers: responses }, undefined, 1));
  const verdicts = [summarizeRequests(requests), summarizeValidation(responses)];
  console.log(`${verdicts.flatMap(({ lines }) => lines).join("\n")}\n\nEvery difference: ${file}`);
  return verdicts.every(({ isProven }) => isProven) ? 0 : 1;
});
