// Shared code of the benchmarks.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../../scripts/lib/paths.mjs";

export const median = (values) => {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
};

/** The compatibility date of the deployed Worker. */
export const compatibilityDate = () =>
  /^compatibility_date = "(.+)"$/m.exec(readFileSync(join(root, "wrangler.toml"), "utf8"))[1];

/** Formats rows of cells as a table: the first column left-aligned, the others right-aligned. */
export function aligned(lines) {
  const widths = lines[0].map((_, at) => Math.max(...lines.map((line) => line[at].length)));
  return lines.map((line) =>
    line.map((cell, at) => (at ? cell.padStart(widths[at]) : cell.padEnd(widths[at]))).join("  "),
  );
}
