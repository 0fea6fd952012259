// Measures the first request of a new isolate: our Worker, the one in bench/hono, and a bare Worker, alternating.
//
//   npm run lab -- bench-cold [--samples 15]
//
// Every sample is a new workerd process. Measures the processor time of all its threads from the first byte of the request to the
// last byte of the response. Storage is another process.
import { parseArgs } from "node:util";
import { SAMPLES, benchCold, coldTables } from "./bench/cold.mjs";
import { aligned } from "./bench/common.mjs";
import { BenchFixture } from "./bench/fixture.mjs";
import { main, Problem } from "../scripts/lib/problem.mjs";

await main(async () => {
  const { values } = parseArgs({ options: { samples: { type: "string", default: String(SAMPLES) } } });
  const samples = Number(values.samples);
  if (!Number.isInteger(samples) || samples < 1 || samples > 1000)
    throw new Problem("--samples takes a whole number from 1 to 1000.");
  const fixture = await BenchFixture.open();
  try {
    const measured = await benchCold(fixture, samples);
    const [cpu, wall] = coldTables(measured).map((lines) => aligned(lines).join("\n"));
    console.log(
      `\nFirst request of a new isolate, milliseconds; medians of ${samples}, with the interquartile range in brackets.`,
    );
    console.log(`\nProcessor time\n\n${cpu}\n\nFrom request to response; processor time of the start\n\n${wall}`);
  } finally {
    fixture.close();
  }
  return 0;
});
