// Measures a small proxied call: our Worker, the one in bench/hono, and one that only proxies.
//
//   npm run lab -- bench-proxy [--rounds 21]
import { parseArgs } from "node:util";
import { aligned } from "./bench/common.mjs";
import { benchProxy, proxyTable } from "./bench/proxy.mjs";
import { main, Problem } from "../scripts/lib/problem.mjs";

await main(async () => {
  const { values } = parseArgs({ options: { rounds: { type: "string", default: "21" } } });
  const rounds = Number(values.rounds);
  if (!Number.isInteger(rounds) || rounds < 1 || rounds > 1000)
    throw new Problem("--rounds takes a whole number from 1 to 1000.");
  const measured = await benchProxy(rounds);
  console.log("\nProcessor time of the workerd process; medians of rounds, differences and ratios within a round.\n");
  console.log(aligned(proxyTable(measured)).join("\n"));
  return 0;
});
