// Runs all benchmarks and writes docs/benchmarks.md with its charts.
//
//   npm run bench [-- --only cold,warm,import,vault,proxy,console,sealing]
//
// What is not run stays on the page as it was, with its date. All of it takes about 20 minutes: the vaults of `vault` and
// `console` are seeded once and kept. Measure on a machine that does nothing else.
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
import { World } from "./bench/world.mjs";
import { root } from "../scripts/lib/paths.mjs";
import { main, Problem } from "../scripts/lib/problem.mjs";
import { run } from "../scripts/lib/run.mjs";
import { log, task } from "../scripts/lib/status.mjs";

const PAGE = join(root, "docs", "benchmarks.md");
const CHARTS = join(root, "docs", "benchmarks");

/** Everything that a script prints. */
const printed = (name) =>
  task(`npm run lab -- bench-${name}`, (detail) =>
    run(process.execPath, [join(root, "lab", `bench-${name}.mjs`)], { detail, timeout: 7_200_000 }),
  );

let opened;
/** The world of those that need one. */
const open = async () => {
  opened ??= await World.open();
  return opened;
};

/** By name, each makes a section: its Markdown, and its charts by file. */
const MAKERS = {
  cold: async () => coldSection(await benchCold(await open(), SAMPLES), SAMPLES),
  warm: async () => {
    const world = await open();
    return warmSection(await benchWarm(world, ROUNDS), ROUNDS, world);
  },
  import: async () => importSection(await benchImport(await open())),
  vault: async () => printedSection("vault", await printed("vault")),
  proxy: async () => printedSection("proxy", await printed("proxy")),
  console: async () => printedSection("console", await printed("console")),
  sealing: async () => sealingSection(await benchSealing(), SEALING_SAMPLES),
};

await main(async () => {
  const { values } = parseArgs({ options: { only: { type: "string", default: Object.keys(MAKERS).join(",") } } });
  const names = values.only.split(",");
  const unknown = names.find((name) => !MAKERS[name]);
  if (unknown !== undefined)
    throw new Problem(`--only takes names of ${Object.keys(MAKERS).join(", ")}; there is no \`${unknown}\`.`);
  const sections = sectionsOf(readFileSync(PAGE, "utf8"));
  mkdirSync(CHARTS, { recursive: true });
  try {
    for (const name of names) {
      const { text, charts = {} } = await MAKERS[name]();
      sections[name] = text;
      for (const [file, svg] of Object.entries(charts)) writeFileSync(join(CHARTS, file), svg);
      // Each as soon as it is there: the next one may fail.
      writeFileSync(PAGE, page(sections));
    }
  } finally {
    opened?.close();
  }
  log(`Written: ${PAGE}`);
  return 0;
});
