// Formats results as tables, for the terminal and for Markdown.
import { cpus, loadavg } from "node:os";
import { median } from "./common.mjs";

export { median };

/** The lower and upper quartile. */
export function quartiles(values) {
  const sorted = [...values].sort((a, b) => a - b);
  return [sorted[Math.floor(sorted.length / 4)], sorted[Math.ceil((sorted.length * 3) / 4) - 1]];
}

/** Formats rows of cells, with headers, as a Markdown table. Numbers are right-aligned. */
export function markdown([heads, ...lines]) {
  const row = (cells) => `| ${cells.join(" | ")} |`;
  const rule = heads.map((_, at) => (at === 0 ? "---" : "---:"));
  return [row(heads), `|${rule.join("|")}|`, ...lines.map(row)].join("\n");
}

/** Describes when and on which machine it was measured, and warns if the machine was busy. */
export function measuredOn() {
  const processors = cpus();
  // The load of the last five minutes. The benchmark itself accounts for one process.
  const [, load] = loadavg();
  const busy =
    load > processors.length
      ? ` The machine was busy, with a load of ${load.toFixed(1)}: these times are too long.`
      : "";
  const day = new Date().toISOString().slice(0, 10);
  return `Measured on ${day}; ${processors.length} × ${processors[0].model.trim()}, Linux, Node ${process.versions.node}.${busy}`;
}
