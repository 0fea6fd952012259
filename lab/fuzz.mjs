// `npm run lab -- fuzz [--target NAME] [--runs 1000000] [--minutes 5] [--keep]`: runs libFuzzer on code that parses
// untrusted bytes. The targets are in tests/fuzz/targets.rs; `npm test` replays the committed inputs on them. With `--keep`, inputs
// that increase the coverage are committed, and redundant ones are removed.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { parseArgs } from "node:util";
import { root, toolPath } from "../scripts/lib/paths.mjs";
import { main, Problem } from "../scripts/lib/problem.mjs";
import { run } from "../scripts/lib/run.mjs";
import { print, task } from "../scripts/lib/status.mjs";
import { setup } from "../scripts/setup.mjs";
import { installCargoTool } from "../scripts/setup/cargo-tools.mjs";

const CORPORA = join(root, "lab", "fuzz", "corpus");
const TARGET_DIR = join(root, "target", "fuzz");
const PROGRAM = join(TARGET_DIR, "x86_64-unknown-linux-gnu", "release", "all");
// Longer inputs are tried, but not committed, to keep the files small.
const MAX_INPUT_BYTES = 256;

const file = (name) => join(CORPORA, `${name}.txt`);
const lines = (name) => readFileSync(file(name), "utf8").split("\n").slice(0, -1);

/** Writes the committed inputs of a target into a folder, one file per input. */
function unpack(name, folder) {
  lines(name).forEach((line, index) => writeFileSync(join(folder, `${index}`), Buffer.from(line, "base64")));
}

/** Updates the committed inputs from a folder. */
function pack(name, folder) {
  const inputs = readdirSync(folder).map((entry) => readFileSync(join(folder, entry)));
  const keptInputs = inputs
    .filter((input) => input.length > 0 && input.length <= MAX_INPUT_BYTES)
    .map((input) => input.toString("base64"));
  writeFileSync(
    file(name),
    keptInputs
      .sort()
      .map((line) => `${line}\n`)
      .join(""),
  );
}

async function fuzz(name, { runs, minutes, keep }) {
  const folder = mkdtempSync(join(TARGET_DIR, `${name}-`));
  const [corpus, merged] = ["corpus", "least"].map((part) => join(folder, part));
  for (const part of [corpus, merged]) mkdirSync(part);
  unpack(name, corpus);
  const env = { TARGET: name };
  const limits = [`-runs=${runs}`, ...(minutes > 0 ? [`-max_total_time=${minutes * 60}`] : [])];
  const args = [...limits, "-timeout=10", "-rss_limit_mb=2048", `-artifact_prefix=${folder}/`, "-print_final_stats=1"];
  const output = [];
  await task(`fuzzing \`${name}\``, (detail) =>
    run(PROGRAM, [...args, corpus], {
      env,
      detail: (line) => {
        output.push(line);
        detail(line);
      },
      hint: `The input is in ${folder}. Fix the bug, and add the input to ${file(name)} in base64.`,
    }),
  );
  const done = output.map((line) => /^stat::number_of_executed_units:\s*(\d+)/.exec(line)?.[1]).find(Boolean);
  if (!done)
    throw new Problem("The output of libFuzzer has no number of inputs.", { output: output.slice(-20).join("\n") });
  if (keep) {
    await run(PROGRAM, ["-set_cover_merge=1", "-use_counters=0", `-max_len=${MAX_INPUT_BYTES}`, merged, corpus], {
      env,
    });
    pack(name, merged);
  }
  rmSync(folder, { recursive: true });
  return Number(done);
}

await main(async () => {
  const { values } = parseArgs({
    options: {
      target: { type: "string", multiple: true },
      runs: { type: "string", default: "1000000" },
      minutes: { type: "string", default: "0" },
      keep: { type: "boolean", default: false },
    },
  });
  const [runs, minutes] = [Number(values.runs), Number(values.minutes)];
  if (!(runs > 0) || !(minutes >= 0)) throw new Problem("--runs and --minutes take numbers.", { code: 2 });
  const all = readdirSync(CORPORA).map((name) => name.replace(/\.txt$/, ""));
  const unknown = values.target?.find((name) => !all.includes(name));
  if (unknown) throw new Problem(`Unknown target \`${unknown}\`. Targets: ${all.join(", ")}.`, { code: 2 });
  await setup();
  const folder = await installCargoTool("cargo-fuzz");
  await task("build of the targets", (detail) =>
    run(
      "cargo",
      ["fuzz", "build", "all", "--fuzz-dir", "lab/fuzz", "--target-dir", TARGET_DIR, "--sanitizer", "none"],
      {
        detail,
        // libFuzzer's instrumentation needs unstable flags.
        env: { PATH: [folder, toolPath()].join(delimiter), RUSTC_BOOTSTRAP: "1" },
      },
    ),
  );
  let sum = 0;
  for (const name of values.target ?? all) {
    const done = await fuzz(name, { runs, minutes, keep: values.keep });
    print(`${name}: ${done.toLocaleString("en")} inputs, no fault`);
    sum += done;
  }
  print(`${sum.toLocaleString("en")} inputs in all, no fault`);
});
