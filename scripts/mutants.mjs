// `npm run mutants [-- src/access …] [-- --test PATTERN]`: cargo-gamma changes the code of these folders and files in one place
// after another, and names each change that no native test notices and tools/survivors.txt has no reason for.
// tools/gamma.toml says which changes and tests these are; with `--test`, only tests whose names contain the pattern run.
import { existsSync, readFileSync, rmSync } from "node:fs";
import { delimiter, join } from "node:path";
import { parseArgs } from "node:util";
import { root, toolPath } from "./lib/paths.mjs";
import { main, Problem } from "./lib/problem.mjs";
import { run } from "./lib/run.mjs";
import { print, task } from "./lib/status.mjs";
import { cargoTool } from "./setup/cargo-tools.mjs";

const FOLDER = join(root, "target", "mutants");
const REPORT = join(FOLDER, "gamma-report.json");
const REASONS = join(root, "tools", "survivors.txt");
/** What holds, seals and renews, and the API around it. */
const GUARDED = [
  ...["access", "api", "call", "catalog", "connect", "credentials", "events", "lifecycle", "oauth", "target", "vault"],
  "webhooks",
].map((name) => `src/${name}`);

/** Says how many changes were noticed, and which of the others nobody has given a reason for. */
function report() {
  const { files } = JSON.parse(readFileSync(REPORT, "utf8"));
  const changes = Object.entries(files).flatMap(([file, { mutants }]) =>
    mutants.map(({ status, statusReason, description, mutatorName, location: { start } }) => ({
      ...{ status, statusReason, line: start.line },
      ...{ file, text: `${file}: ${description} [${mutatorName}]` },
    })),
  );
  const having = (status) => changes.filter((change) => change.status === status);
  // A change that keeps the tests from ending stays `Survived` in the report, with a reason.
  const [unnoticed, endless] = [false, true].map((isEndless) =>
    having("Survived").filter(({ statusReason }) => Boolean(statusReason) === isEndless),
  );
  const reasons = new Set(readFileSync(REASONS, "utf8").split("\n"));
  const unknown = unnoticed.filter(({ text }) => !reasons.has(text));
  for (const { text, line } of unknown) print(`not noticed: ${text}, line ${line}`);
  const noticed = having("Killed").length + endless.length;
  const all = noticed + unnoticed.length;
  print(`${noticed} of ${all} changes were noticed (${((100 * noticed) / all).toFixed(1)} %).`);
  print(`${unnoticed.length - unknown.length} of the others have a reason in tools/survivors.txt.`);
  if (unknown.length > 0) throw new Problem(`${unknown.length} changes were not noticed, and have no reason.`);
}

await main(async () => {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { test: { type: "string", multiple: true, default: [] }, jobs: { type: "string", default: "2" } },
  });
  const places = positionals.length > 0 ? positionals : GUARDED;
  const missing = places.find((place) => !existsSync(join(root, place)));
  if (missing) throw new Problem(`There is no \`${missing}\`.`, { code: 2 });
  const env = { PATH: [await cargoTool("cargo-gamma"), toolPath()].join(delimiter) };
  // It takes crates from where cargo keeps them.
  await run("cargo", ["fetch", "--locked"]);
  const files = places.flatMap((place) => ["--file", place.endsWith(".rs") ? place : `${place}/**/*.rs`]);
  const config = ["--config", join(root, "tools", "gamma.toml"), "--artifact-dir", FOLDER];
  const args = ["gamma", "run", ...config, "--jobs", values.jobs, "--progress", "never", "--no-relaunch", ...files];
  rmSync(REPORT, { force: true });
  let failure;
  await task(`mutants of ${places.join(", ")}`, (detail) =>
    run("cargo", [...args, "--", ...values.test], { detail, env }).catch((error) => {
      failure = error;
    }),
  );
  // It also fails when it is done and a change was not noticed.
  if (failure && !existsSync(REPORT)) throw failure;
  report();
});
