// Measures encrypting and decrypting credentials with the service's own code and with WebCrypto.
//
//   npm run lab -- bench-sealing [--samples 15]
import { parseArgs } from "node:util";
import { aligned } from "./bench/common.mjs";
import { SAMPLES, benchSealing, sealingNotes, sealingTable } from "./bench/sealing.mjs";
import { main, Problem } from "../scripts/lib/problem.mjs";

await main(async () => {
  const { values } = parseArgs({ options: { samples: { type: "string", default: String(SAMPLES) } } });
  const samples = Number(values.samples);
  if (!Number.isInteger(samples) || samples < 1 || samples > 1000)
    throw new Problem("--samples takes a whole number from 1 to 1000.");
  const measured = await benchSealing(samples);
  console.log(`\nMedians of ${samples}, with the interquartile range in brackets.\n`);
  console.log(aligned(sealingTable(measured)).join("\n"));
  console.log(`\n${sealingNotes(measured)}`);
  return 0;
});
