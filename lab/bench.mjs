// Runs all benchmarks and writes docs/benchmarks.md with its charts.
//
//   npm run bench [-- --only cold,warm,import,vault,proxy,console,sealing]
//
// Sections that are not run stay unchanged, with their date. All benchmarks take about 20 minutes: the vaults of `vault` and
// `console` are seeded once and kept. Measure on an otherwise idle machine.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { SAMPLES, benchCold } from "./bench/cold.mjs";
import { benchImport } from "./bench/import.mjs";
import {
  coldSection,
  importSection,
  page,
  printedSection,
  sealingSection,
  sectionsOf,
  warmSection,
} from "./bench/page.mjs";
import { SAMPLES as SEALING_SAMPLES, benchSealing } from "./bench/sealing.mjs";
import { ROUNDS, benchWarm } from "./bench/warm.mjs";
import { BenchFixture } from "./bench/fixture.mjs";
import { root } from "../scripts/lib/paths.mjs";
import { main, Problem } from "../scripts/lib/problem.mjs";
import { run } from "../scripts/lib/run.mjs";
import { log, task } from "../scripts/lib/status.mjs";

const PAGE = join(root, "docs", "benchmarks.md");
const CHARTS = join(root, "docs", "benchmarks");

/** Runs `lab/bench-<name>.mjs` and returns its output. */
const runBenchmark = (name) =>
  task(`npm run lab -- bench-${name}`, (detail) =>
    run(process.execPath, [join(root, "lab", `bench-${name}.mjs`)], { detail, timeout: 7_200_000 }),
  );

let sharedFixture;
/** Opens the fixture that some benchmarks share. */
const open = async () => {
  sharedFixture ??= await BenchFixture.open();
  return sharedFixture;
};

/** The generators of sections by name. Each returns Markdown, and charts by file. */
const GENERATORS = {
  cold: async () => coldSection(await benchCold(await open(), SAMPLES), SAMPLES),
  warm: async () => {
    const fixture = await open();
    return warmSection(await benchWarm(fixture), ROUNDS, fixture);
  },
  import: async () => importSection(await benchImport(await open())),
  vault: async () => printedSection("vault", await runBenchmark("vault")),
  proxy: async () => printedSection("proxy", await runBenchmark("proxy")),
  console: async () => printedSection("console", await runBenchmark("console")),
  sealing: async () => sealingSection(await benchSealing(), SEALING_SAMPLES),
};

await main(async () => {
  const { values } = parseArgs({ options: { only: { type: "string", default: Object.keys(GENERATORS).join(",") } } });
  const names = values.only.split(",");
  const unknown = names.find((name) => !GENERATORS[name]);
  if (unknown !== undefined)
    throw new Problem(`Unknown benchmark \`${unknown}\`: --only takes names of ${Object.keys(GENERATORS).join(", ")}.`);
  const sections = sectionsOf(readFileSync(PAGE, "utf8"));
  mkdirSync(CHARTS, { recursive: true });
  try {
    for (const name of names) {
      const { text, charts = {} } = await GENERATORS[name]();
      sections[name] = text;
      for (const [file, svg] of Object.entries(charts)) writeFileSync(join(CHARTS, file), svg);
      // Written after each benchmark, because the next one may fail.
      writeFileSync(PAGE, page(sections));
    }
  } finally {
    sharedFixture?.close();
  }
  log(`Written: ${PAGE}`);
  return 0;
});
