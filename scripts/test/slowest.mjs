// A reporter for `node --test`: the duration of each file, and the slowest tests. Each test file appends its usage to the file in
// CONNECTOR_VAULT_USAGE (tests/e2e/support/process-end.mjs).
import { existsSync, readFileSync } from "node:fs";

const MAX_TESTS = 20;
const seconds = (value) => `${value.toFixed(1).padStart(7)} s`;

/** The usage of each test file, slowest first: { file, wall, cpu } in seconds; without `cpu` if it is unknown. */
export function usages(path) {
  if (!path || !existsSync(path)) return [];
  const lines = readFileSync(path, "utf8").split("\n").filter(Boolean);
  return lines.map((line) => JSON.parse(line)).sort((a, b) => b.wall - a.wall);
}

export default async function* slowest(events) {
  const tests = [];
  for await (const { type, data } of events) {
    if (!["test:pass", "test:fail"].includes(type) || data.details?.type === "suite") continue;
    tests.push({ name: data.name, file: data.file ?? "", took: data.details?.duration_ms ?? 0 });
  }
  const files = usages(process.env.CONNECTOR_VAULT_USAGE);
  if (files.length > 0) yield `\n     wall        CPU  file\n`;
  for (const { file, wall, cpu } of files)
    yield `${seconds(wall)}  ${cpu === undefined ? "" : seconds(cpu)}  ${file}\n`;
  tests.sort((a, b) => b.took - a.took);
  yield `\nThe slowest ${Math.min(MAX_TESTS, tests.length)} of ${tests.length} tests:\n`;
  for (const { name, file, took } of tests.slice(0, MAX_TESTS)) {
    yield `${seconds(took / 1000)}  ${name.slice(0, 90)}  ${file.split("/tests/").at(-1)}\n`;
  }
}
