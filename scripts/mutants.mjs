// `npm run mutants [-- src/access …] [-- --test PATTERN]`: changes the code of these folders in one place after another, with
// cargo-mutants, and reports each change that no native test notices.
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { parseArgs } from "node:util";
import { root, toolPath } from "./lib/paths.mjs";
import { main, Problem } from "./lib/problem.mjs";
import { run } from "./lib/run.mjs";
import { print, task } from "./lib/status.mjs";
import { setup } from "./setup.mjs";
import { cargoTool } from "./setup/cargo-tools.mjs";

const FOLDER = join(root, "target", "mutants");

await main(async () => {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { test: { type: "string", multiple: true, default: [] }, jobs: { type: "string", default: "1" } },
  });
  const folders = positionals.length > 0 ? positionals : ["src/access"];
  const missing = folders.find((folder) => !existsSync(join(root, folder)));
  if (missing) throw new Problem(`There is no \`${missing}\`.`, { code: 2 });
  await setup();
  const tools = await cargoTool("cargo-mutants");
  mkdirSync(FOLDER, { recursive: true });
  const files = folders.flatMap((folder) => ["--file", folder.endsWith(".rs") ? folder : `${folder}/**/*.rs`]);
  const args = ["mutants", "--output", FOLDER, "--jobs", values.jobs, "--features", "cli", ...files];
  // It works on a copy of the sources. What it builds of that must never be taken for what is built of these.
  const env = { PATH: [tools, toolPath()].join(delimiter), CARGO_TARGET_DIR: join(FOLDER, "build") };
  const tests = ["--", "--lib", "--test", "api", "--", ...values.test];
  let failure;
  await task(`mutants of ${folders.join(", ")}`, (detail) =>
    run("cargo", [...args, ...tests], { detail, env }).catch((error) => {
      failure = error;
    }),
  );
  const lines = (name) =>
    readFileSync(join(FOLDER, "mutants.out", `${name}.txt`), "utf8")
      .split("\n")
      .filter(Boolean);
  const [caught, missed, unviable, timeout] = ["caught", "missed", "unviable", "timeout"].map(lines);
  // It also fails when a change was not noticed; without any result, the tests fail by themselves.
  if (caught.length + missed.length + timeout.length === 0 && failure) throw failure;
  for (const line of missed) print(`not noticed: ${line}`);
  const found = caught.length + timeout.length;
  print(`${found} of ${found + missed.length} changes were noticed; ${unviable.length} did not compile.`);
});
