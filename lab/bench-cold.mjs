// Shows what the first request of a new isolate costs: ours, the Worker in bench/hono, and a bare one, by turns.
//
//   npm run lab -- bench-cold [--samples 15]
//
// Every sample is a process of workerd of its own. What counts is its processor time from the request's first byte to the
// answer's last one, of all of its threads; storage is another process.
import { parseArgs } from "node:util";
import { SAMPLES, benchCold, coldTables } from "./bench/cold.mjs";
import { aligned } from "./bench/common.mjs";
import { World } from "./bench/world.mjs";
import { main, Problem } from "../scripts/lib/problem.mjs";

await main(async () => {
  const { values } = parseArgs({ options: { samples: { type: "string", default: String(SAMPLES) } } });
  const samples = Number(values.samples);
  if (!Number.isInteger(samples) || samples < 1 || samples > 1000)
    throw new Problem("--samples takes a whole number from 1 to 1000.");
  const world = await World.open();
  try {
    const measured = await benchCold(world, samples);
    const [cpu, wall] = coldTables(measured).map((lines) => aligned(lines).join("\n"));
    console.log(
      `\nFirst request of a new isolate, milliseconds; medians of ${samples}, in brackets between what half of them lie.`,
    );
    console.log(`\nProcessor time\n\n${cpu}\n\nFrom request to answer; processor time of the start\n\n${wall}`);
  } finally {
    world.close();
  }
  return 0;
});
