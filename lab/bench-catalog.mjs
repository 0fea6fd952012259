// Compares warm requests with those to the Worker in bench/hono and to a bare Worker, and the import with bare parsing.
//
//   npm run lab -- bench-catalog [--skip-import]
import { parseArgs } from "node:util";
import { aligned } from "./bench/common.mjs";
import { benchImport, importRatio, importTable } from "./bench/import.mjs";
import { benchWarm, warmTable } from "./bench/warm.mjs";
import { BenchFixture } from "./bench/fixture.mjs";
import { main } from "../scripts/lib/problem.mjs";

const print = (lines) => console.log(`\n${aligned(lines).join("\n")}`);

await main(async () => {
  const { values } = parseArgs({ options: { "skip-import": { type: "boolean", default: false } } });
  const fixture = await BenchFixture.open();
  try {
    console.log(
      "\nProcessor time of the workerd process per warm request: medians of rounds, and ratios within a round.",
    );
    print(warmTable(await benchWarm(fixture)));
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
