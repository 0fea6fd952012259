// A reporter for `node --test`: the tests that took longest.
const MOST = 20;

export default async function* slowest(events) {
  const tests = [];
  for await (const { type, data } of events) {
    if (!["test:pass", "test:fail"].includes(type) || data.details?.type === "suite") continue;
    tests.push({ name: data.name, file: data.file ?? "", took: data.details?.duration_ms ?? 0 });
  }
  tests.sort((a, b) => b.took - a.took);
  yield `\nThe slowest ${Math.min(MOST, tests.length)} of ${tests.length} tests:\n`;
  for (const { name, file, took } of tests.slice(0, MOST)) {
    yield `${(took / 1000).toFixed(1).padStart(7)} s  ${name.slice(0, 90)}  ${file.split("/tests/").at(-1)}\n`;
  }
}
