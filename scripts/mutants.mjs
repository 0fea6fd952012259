// `npm run mutants [-- src/access …] [-- --test PATTERN]`: cargo-gamma changes the code of these folders and files in one place
// after another, and names each change that no native test notices. tools/gamma.toml says which changes and tests these are;
// with `--test`, only the tests whose names contain the pattern run.
import { existsSync, readFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { parseArgs } from "node:util";
import { root, toolPath } from "./lib/paths.mjs";
import { main, Problem } from "./lib/problem.mjs";
import { run } from "./lib/run.mjs";
import { print, task } from "./lib/status.mjs";
import { cargoTool } from "./setup/cargo-tools.mjs";

const FOLDER = join(root, "target", "mutants");
/** What holds, seals and renews, and the API around it. */
const GUARDED = [
  ...["access", "api", "call", "catalog", "connect", "credentials", "events", "lifecycle", "oauth", "vault", "webhooks"],
  ...["target/mod.rs", "target/host.rs"],
].map((name) => `src/${name}`);

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
  const args = ["gamma", "run", ...config, "--jobs", values.jobs, "--progress", "never", ...files];
  await task(`mutants of ${places.join(", ")}`, (detail) => run("cargo", [...args, "--", ...values.test], { detail, env }));
});
