// What both benchmarks need.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../scripts/lib/paths.mjs";

export const median = (values) => {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
};

/** The compatibility date that the Worker is deployed with. */
export const compatibilityDate = () =>
  /^compatibility_date = "(.+)"$/m.exec(readFileSync(join(root, "wrangler.toml"), "utf8"))[1];
