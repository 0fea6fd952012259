// Results as tables, for a terminal and for Markdown.
import { cpus, loadavg } from "node:os";
import { median } from "./common.mjs";

export { median };

/** The values between which half of all lie. */
export function quartiles(values) {
  const sorted = [...values].sort((a, b) => a - b);
  return [sorted[Math.floor(sorted.length / 4)], sorted[Math.ceil((sorted.length * 3) / 4) - 1]];
}

/** Lines of cells, the first one the heads, as a Markdown table; numbers to the right. */
export function markdown([heads, ...lines]) {
  const row = (cells) => `| ${cells.join(" | ")} |`;
  const rule = heads.map((_, at) => (at === 0 ? "---" : "---:"));
  return [row(heads), `|${rule.join("|")}|`, ...lines.map(row)].join("\n");
}

/** When and on what it was measured, in sentences; that the machine was busy, if it was. */
export function measuredOn() {
  const processors = cpus();
  // Of the last five minutes. One process at a time is the benchmark's own.
  const [, load] = loadavg();
  const busy =
    load > processors.length
      ? ` The machine was busy, with a load of ${load.toFixed(1)}: these times are too long.`
      : "";
  const day = new Date().toISOString().slice(0, 10);
  return `Measured on ${day}; ${processors.length} × ${processors[0].model.trim()}, Linux, Node ${process.versions.node}.${busy}`;
}
