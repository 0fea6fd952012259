// `npm run mutants [-- src/auth …] [-- --test PATTERN]`: mutation testing with cargo-gamma: changes the code of these folders
// and files in one place at a time, and lists each change that no native test detects and that lab/mutants/survivors.txt does not
// explain. lab/mutants/gamma.toml configures the changes. The tests in lab/mutants/slow-tests.txt only run for changes that other
// tests do not detect: with `--reasons`, also for explained ones. With `--test`, only tests whose names contain the pattern run.
import { existsSync, readFileSync, rmSync } from "node:fs";
import { delimiter, join } from "node:path";
import { parseArgs } from "node:util";
import { root, toolPath } from "../scripts/lib/paths.mjs";
import { main, Problem } from "../scripts/lib/problem.mjs";
import { run } from "../scripts/lib/run.mjs";
import { print, task } from "../scripts/lib/status.mjs";
import { installCargoTool } from "../scripts/setup/cargo-tools.mjs";

const FOLDER = join(root, "target", "mutants");
const REPORT = join(FOLDER, "gamma-report.json");
const SLOW_TESTS_FILE = join(root, "lab", "mutants", "slow-tests.txt");
const EXPLAINED_CHANGES = new Set(readFileSync(join(root, "lab", "mutants", "survivors.txt"), "utf8").split("\n"));
/** Code that stores, encrypts and refreshes credentials, and the API around it. */
const DEFAULT_PATHS = [
  ...["agents", "audit", "auth", "catalog", "connect", "connections", "credentials", "events", "http", "jobs", "mcp"],
  ...["oauth", "oidc", "platform_calls", "targets", "webhooks"],
].map((name) => `src/${name}`);

/** The changes of the last report: id, line, name in lab/mutants/survivors.txt, and outcome. */
function changes() {
  const { files } = JSON.parse(readFileSync(REPORT, "utf8"));
  return Object.entries(files).flatMap(([file, { mutants }]) =>
    mutants.map(({ id, status, statusReason, description, mutatorName, location: { start } }) => ({
      ...{ id, line: start.line, text: `${file}: ${description} [${mutatorName}]` },
      // If a change makes the tests hang, cargo-gamma reports `Survived` with a reason.
      outcome: status === "Survived" && statusReason ? "Endless" : status,
    })),
  );
}

/** Prints the number of detected changes, the changes without an explanation, and the explanations that are not needed. */
function report(all, isWhole) {
  const withOutcome = (outcome) => all.filter((change) => change.outcome === outcome);
  const undetected = withOutcome("Survived");
  const unknown = undetected.filter(({ text }) => !EXPLAINED_CHANGES.has(text));
  for (const { text, line } of unknown) print(`not detected: ${text}, line ${line}`);
  const left = new Set(undetected.map(({ text }) => text));
  const needless = [...EXPLAINED_CHANGES].filter((line) => line.startsWith("src/") && !left.has(line));
  if (isWhole) for (const line of needless) print(`detected, so its reason is not needed: ${line}`);
  const endless = withOutcome("Endless").length;
  const detected = withOutcome("Killed").length + endless;
  const count = detected + undetected.length;
  const rejected = all.length - count - withOutcome("CompileError").length;
  if (rejected > 0 || count === 0)
    throw new Problem(`${count} changes were tested, and ${rejected} could not be tested.`);
  print(`${detected} of ${count} changes were detected (${((100 * detected) / count).toFixed(1)} %).`);
  print(`${endless} of these make the tests hang.`);
  print(`${undetected.length - unknown.length} of the others have a reason in lab/mutants/survivors.txt.`);
  if (unknown.length > 0) throw new Problem(`${unknown.length} changes were not detected, and have no explanation.`);
}

await main(async () => {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      ...{ test: { type: "string", multiple: true, default: [] }, jobs: { type: "string", default: "2" } },
      reasons: { type: "boolean", default: false },
    },
  });
  const places = positionals.length > 0 ? positionals : DEFAULT_PATHS;
  const missing = places.find((place) => !existsSync(join(root, place)));
  if (missing) throw new Problem(`\`${missing}\` does not exist.`, { code: 2 });
  // CONNECTOR_VAULT_PROOF makes native tests send as many random requests as in a proof.
  const env = { PATH: [await installCargoTool("cargo-gamma"), toolPath()].join(delimiter), CONNECTOR_VAULT_PROOF: "1" };
  // cargo-gamma needs the crates in cargo's cache.
  await run("cargo", ["fetch", "--locked"]);
  const files = places.flatMap((place) => ["--file", place.endsWith(".rs") ? place : `${place}/**/*.rs`]);
  const config = ["--config", join(root, "lab", "mutants", "gamma.toml"), "--artifact-dir", FOLDER];
  const args = ["gamma", "run", ...config, "--jobs", values.jobs, "--progress", "never", "--no-relaunch", ...files];
  const pass = (what, options, tests) =>
    task(what, async (detail) => {
      rmSync(REPORT, { force: true });
      await run("cargo", [...args, ...options, "--", ...tests], { detail, env }).catch((error) => {
        // cargo-gamma also exits with an error if the tests did not detect a change, so only a missing report is a failure.
        if (!existsSync(REPORT)) throw error;
      });
      if (!existsSync(REPORT)) throw new Problem(`There is nothing to change in ${places.join(", ")}.`, { code: 2 });
      return changes();
    });
  const slow = readFileSync(SLOW_TESTS_FILE, "utf8")
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"));
  const testsAll = values.test.length === 0;
  const tests = testsAll ? slow.map((name) => `--skip=${name}`) : values.test;
  const all = await pass(`mutants of ${places.join(", ")}`, [], tests);
  const needsTest = ({ outcome, text }) => outcome === "Survived" && (values.reasons || !EXPLAINED_CHANGES.has(text));
  const undetected = all.filter(needsTest);
  if (undetected.length > 0 && testsAll) {
    const these = undetected.flatMap(({ id }) => ["--mutant", id]);
    const results = await pass(`${undetected.length} that were not detected, with the slow tests`, these, slow);
    const outcomes = new Map(results.map(({ id, outcome }) => [id, outcome]));
    for (const change of undetected) {
      const outcome = outcomes.get(change.id) ?? "Pending";
      // Keep the outcome of changes that no slow test covers.
      if (outcome !== "NoCoverage") change.outcome = outcome;
    }
  }
  report(all, positionals.length === 0 && testsAll);
});
