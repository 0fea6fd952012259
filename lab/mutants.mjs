// `npm run mutants [-- src/auth …] [-- --test PATTERN]`: cargo-gamma changes the code of these folders and files in one place
// after another, and names each change that no native test notices and lab/mutants/survivors.txt has no reason for.
// lab/mutants/gamma.toml says which changes these are, and lab/mutants/slow-tests.txt which tests run only for those that the other tests
// leave: with `--reasons`, also for those that have a reason. With `--test`, only tests whose names contain the pattern run.
import { existsSync, readFileSync, rmSync } from "node:fs";
import { delimiter, join } from "node:path";
import { parseArgs } from "node:util";
import { root, toolPath } from "../scripts/lib/paths.mjs";
import { main, Problem } from "../scripts/lib/problem.mjs";
import { run } from "../scripts/lib/run.mjs";
import { print, task } from "../scripts/lib/status.mjs";
import { cargoTool } from "../scripts/setup/cargo-tools.mjs";

const FOLDER = join(root, "target", "mutants");
const REPORT = join(FOLDER, "gamma-report.json");
const SLOW = join(root, "lab", "mutants", "slow-tests.txt");
const REASONS = new Set(readFileSync(join(root, "lab", "mutants", "survivors.txt"), "utf8").split("\n"));
/** What holds, seals and renews, and the API around it. */
const GUARDED = [
  ...["access", "api", "call", "catalog", "connect", "credentials", "events", "lifecycle", "oauth", "target", "vault"],
  "webhooks",
].map((name) => `src/${name}`);

/** The changes of the last report: each with its id, its line, its name in lab/mutants/survivors.txt, and what became of it. */
function changes() {
  const { files } = JSON.parse(readFileSync(REPORT, "utf8"));
  return Object.entries(files).flatMap(([file, { mutants }]) =>
    mutants.map(({ id, status, statusReason, description, mutatorName, location: { start } }) => ({
      ...{ id, line: start.line, text: `${file}: ${description} [${mutatorName}]` },
      // A change that keeps the tests from ending stays `Survived`, with a reason.
      outcome: status === "Survived" && statusReason ? "Endless" : status,
    })),
  );
}

/** Says how many changes were noticed, which of the others nobody has given a reason for, and which reasons are not needed. */
function report(all, isWhole) {
  const having = (outcome) => all.filter((change) => change.outcome === outcome);
  const unnoticed = having("Survived");
  const unknown = unnoticed.filter(({ text }) => !REASONS.has(text));
  for (const { text, line } of unknown) print(`not noticed: ${text}, line ${line}`);
  const left = new Set(unnoticed.map(({ text }) => text));
  const needless = [...REASONS].filter((line) => line.startsWith("src/") && !left.has(line));
  if (isWhole) for (const line of needless) print(`noticed, so its reason is not needed: ${line}`);
  const endless = having("Endless").length;
  const noticed = having("Killed").length + endless;
  const count = noticed + unnoticed.length;
  const others = all.length - count - having("CompileError").length;
  if (others > 0 || count === 0) throw new Problem(`${count} changes were tried, and ${others} could not be.`);
  print(`${noticed} of ${count} changes were noticed (${((100 * noticed) / count).toFixed(1)} %).`);
  print(`${endless} of these keep the tests from ending.`);
  print(`${unnoticed.length - unknown.length} of the others have a reason in lab/mutants/survivors.txt.`);
  if (unknown.length > 0) throw new Problem(`${unknown.length} changes were not noticed, and have no reason.`);
}

await main(async () => {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      ...{ test: { type: "string", multiple: true, default: [] }, jobs: { type: "string", default: "2" } },
      reasons: { type: "boolean", default: false },
    },
  });
  const places = positionals.length > 0 ? positionals : GUARDED;
  const missing = places.find((place) => !existsSync(join(root, place)));
  if (missing) throw new Problem(`There is no \`${missing}\`.`, { code: 2 });
  // The native tests with random requests send as many as for a proof.
  const env = { PATH: [await cargoTool("cargo-gamma"), toolPath()].join(delimiter), CONNECTOR_VAULT_PROOF: "1" };
  // It takes crates from where cargo keeps them.
  await run("cargo", ["fetch", "--locked"]);
  const files = places.flatMap((place) => ["--file", place.endsWith(".rs") ? place : `${place}/**/*.rs`]);
  const config = ["--config", join(root, "lab", "mutants", "gamma.toml"), "--artifact-dir", FOLDER];
  const args = ["gamma", "run", ...config, "--jobs", values.jobs, "--progress", "never", "--no-relaunch", ...files];
  const pass = (what, options, tests) =>
    task(what, async (detail) => {
      rmSync(REPORT, { force: true });
      await run("cargo", [...args, ...options, "--", ...tests], { detail, env }).catch((error) => {
        // It also fails when it is done and a change was not noticed.
        if (!existsSync(REPORT)) throw error;
      });
      if (!existsSync(REPORT)) throw new Problem(`There is nothing to change in ${places.join(", ")}.`, { code: 2 });
      return changes();
    });
  const slow = readFileSync(SLOW, "utf8")
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"));
  const isAll = values.test.length === 0;
  const tests = isAll ? slow.map((name) => `--skip=${name}`) : values.test;
  const all = await pass(`mutants of ${places.join(", ")}`, [], tests);
  const needsTest = ({ outcome, text }) => outcome === "Survived" && (values.reasons || !REASONS.has(text));
  const left = all.filter(needsTest);
  if (left.length > 0 && isAll) {
    const these = left.flatMap(({ id }) => ["--mutant", id]);
    const others = await pass(`${left.length} that were not noticed, with the slow tests`, these, slow);
    const outcomes = new Map(others.map(({ id, outcome }) => [id, outcome]));
    for (const change of left) {
      const outcome = outcomes.get(change.id) ?? "Pending";
      // What no slow test reaches stays as it was.
      if (outcome !== "NoCoverage") change.outcome = outcome;
    }
  }
  report(all, positionals.length === 0 && isAll);
});
