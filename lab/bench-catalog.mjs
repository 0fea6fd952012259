// Benchmarks the catalog: CPU time of warm requests compared with the Hono Worker in bench/hono and an empty Worker,
// and import time compared with parsing alone.
//
//   npm run lab -- bench-catalog [--skip-import] [--matching connection]
import { parseArgs } from "node:util";
import { aligned } from "./bench/common.mjs";
import { benchImport, importRatio, importTable } from "./bench/import.mjs";
import { benchWarm, warmTable } from "./bench/warm.mjs";
import { BenchFixture } from "./bench/fixture.mjs";
import { main } from "../scripts/lib/problem.mjs";

const print = (lines) => console.log(`\n${aligned(lines).join("\n")}`);

await main(async () => {
  const options = { "skip-import": { type: "boolean", default: false }, matching: { type: "string" } };
  const { values } = parseArgs({ options });
  const fixture = await BenchFixture.open();
  try {
    console.log(
      "\nProcessor time of the workerd process per warm request: medians of rounds, and ratios within a round.",
    );
    print(warmTable(await benchWarm(fixture, values)));
    if (!values["skip-import"]) {
      const rounds = await benchImport(fixture);
      print(importTable(rounds));
      console.log(
        `\nThe import takes ${importRatio(rounds).toFixed(2)} times as long as the bare parse (target: < 0.5).`,
      );
    }
  } finally {
    fixture.close();
  }
  return 0;
});
