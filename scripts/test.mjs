// `npm test`: runs all checks. `npm run lint` stops after the static checks. `npm test -- --record` also records how long each
// end-to-end file takes, which determines their order.
import { readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { buildPackage } from "./build-package.mjs";
import { buildSite } from "./build-site.mjs";
import { buildWorker } from "./build-worker.mjs";
import { buildNativeCli } from "./lib/native-cli.mjs";
import { nodeBin, root } from "./lib/paths.mjs";
import { main, Problem } from "./lib/problem.mjs";
import { packageProgram } from "./lib/python-package.mjs";
import { run, tryRun } from "./lib/run.mjs";
import { task } from "./lib/status.mjs";
import { wasmCargoEnvironment } from "./lib/wasm.mjs";
import { setup } from "./setup.mjs";
import { installTestRunner, testRunnerProgram } from "./setup/bindgen.mjs";
import { browserPrograms } from "./setup/browser.mjs";
import { lintEnvironment } from "./setup/lint-tools.mjs";
import { clientPackages } from "./setup/python.mjs";
import { language } from "./test/language.mjs";
import { pythonPackage } from "./test/python-package.mjs";
import { usages } from "./test/slowest.mjs";
import { Steps } from "./test/steps.mjs";

const TARGET = ["--target", "wasm32-unknown-unknown"];
const WASM = { worker: ["--lib", "--example", "sealing"], client: ["--lib", "--test", "client"] };
const E2E = join("tests", "e2e");
// The seconds that each file took in a recorded run. The slowest files start first, to keep all cores busy until the end.
const DURATIONS = join(root, E2E, "durations.json");
const USAGE = join(root, "target", "e2e-usage.jsonl");
const CORES = Math.max(2, availableParallelism());
const MAX_CONCURRENT_STEPS = Math.min(4, CORES);
// An end-to-end file spends a third of its time waiting, so one more than there are cores can run concurrently.
const MAX_CONCURRENT_FILES = Math.min(4, CORES + 1);
// Anything slower has hung: a busy machine with empty caches needs half of this for a step, and a minute for a test.
const STEP_MS = 60 * 60_000;
const TEST_MS = 20 * 60 * 1000;
const lintOnly = process.argv.includes("--only") && process.argv.includes("lint");
const isRecording = process.argv.includes("--record");

const cargo = (label, args, env) => task(label, (detail) => run("cargo", args, { detail, env, timeout: STEP_MS }));

async function checkFormatting(wasm) {
  for (const cwd of [root, join(root, "tools", "bindgen"), join(root, "lab", "fuzz")]) {
    await run("cargo", ["fmt", "--check"], {
      cwd,
      env: lintEnvironment("fmt", wasm),
      hint: `Run \`cargo fmt\` in ${cwd}.`,
    });
  }
}

/** Lints with all features, and the core alone, which must not depend on Cloudflare or a browser. */
async function lintNative(wasm) {
  const env = lintEnvironment("clippy", wasm);
  for (const targets of [["--all-targets", "--features", "cli"], ["--lib"]])
    await cargo(`clippy ${targets.join(" ")}`, ["clippy", "--quiet", ...targets, "--", "-D", "warnings"], env);
}

async function lintWasm(wasm) {
  const env = wasmCargoEnvironment(wasm);
  const hasClippy = tryRun("cargo", ["clippy", "--version"], env).ok;
  for (const [feature, targets] of Object.entries(WASM)) {
    const features = ["--quiet", ...targets, "--features", feature, ...TARGET];
    if (hasClippy)
      await cargo(`clippy on wasm32, features: ${feature}`, ["clippy", ...features, "--", "-D", "warnings"], env);
    else
      await cargo(`check on wasm32 (this toolchain has no clippy), features: ${feature}`, ["check", ...features], env);
  }
}

/** Checks all JavaScript and TypeScript against the rules of biome.jsonc. */
async function lintScripts() {
  const hint = "Run `npx biome check --write`, then fix the remaining errors by hand.";
  await run(join(nodeBin, "biome"), ["check", "--error-on-warnings", "."], { hint });
  // In a file that only a proof runs, an import that does not exist would remain unnoticed. The rule is not in biome.jsonc
  // because it also reports packages of `lab`, which are not installed here.
  const imports = ["lint", "--only=correctness/noUnresolvedImports", "--reporter=json", "--max-diagnostics=none", "."];
  const { out } = tryRun(join(nodeBin, "biome"), imports);
  const missing = out.match(/The path [^"]* has no export named [^"]*/g);
  if (missing) throw new Problem("Modules import names that do not exist.", { output: missing.join("\n") });
}

/** Checks the OpenAPI document against the rules of redocly.yaml, and its examples against its schemas. */
async function lintOpenapi() {
  const document = join("www", "public", "v1", "openapi.json");
  await run(join(nodeBin, "redocly"), ["lint", document], { env: { REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" } });
}

function e2eFiles() {
  const files = readdirSync(join(root, E2E), { recursive: true }).map(String);
  const tests = files.filter((file) => /\.test\.m?js$/.test(file)).map((file) => join(E2E, file));
  const durations = JSON.parse(readFileSync(DURATIONS, "utf8"));
  const duration = (file) => durations[file] ?? Number.POSITIVE_INFINITY;
  return tests.sort((a, b) => duration(b) - duration(a) || (a < b ? -1 : 1));
}

/** Tests the client's WebAssembly in Node and in a browser. */
async function clientTests(wasm) {
  const programs = browserPrograms();
  if (!programs) throw new Problem("No browser was found to test the client.");
  await installTestRunner();
  const env = {
    ...wasmCargoEnvironment(wasm),
    CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUNNER: testRunnerProgram,
    CHROMEDRIVER: programs.chromedriver,
  };
  const args = ["test", "--features", "client", "--test", "client", ...TARGET];
  for (const [runtime, WASM_BINDGEN_USE_BROWSER] of [
    ["Node", undefined],
    ["a browser", "1"],
  ]) {
    const output = await task(`client in ${runtime}`, (detail) =>
      run("cargo", args, { detail, env: { ...env, WASM_BINDGEN_USE_BROWSER }, timeout: STEP_MS }),
    );
    const passed = /test result: ok\. (\d+) passed/.exec(output)?.[1] ?? 0;
    if (Number(passed) === 0) throw new Problem(`No tests of the client ran in ${runtime}.`, { output });
  }
}

async function endToEnd(detail) {
  const files = e2eFiles();
  if (files.length === 0) throw new Problem(`There are no tests in ${E2E}/.`);
  const reporters = ["spec", join(root, "scripts", "test", "slowest.mjs")].flatMap((name) => [
    `--test-reporter=${name}`,
    "--test-reporter-destination=stdout",
  ]);
  rmSync(USAGE, { force: true });
  const env = {
    CONNECTOR_VAULT_USAGE: USAGE,
    // A test file that runs alone builds first; here everything is already built.
    CONNECTOR_VAULT_BUILT: "1",
    // Caches the compiled JavaScript of wrangler, which hundreds of processes load.
    NODE_COMPILE_CACHE: join(root, "target", "node-compile-cache"),
  };
  const limits = [`--test-timeout=${TEST_MS}`, "--import", join(root, E2E, "support", "process-end.mjs")];
  const args = ["--test", `--test-concurrency=${MAX_CONCURRENT_FILES}`, ...limits, ...reporters, ...files];
  await run("node", args, { show: true, env, detail, timeout: STEP_MS });
  if (isRecording) {
    const durations = usages(USAGE).map(({ file, wall }) => [file, Math.round(wall)]);
    writeFileSync(DURATIONS, `${JSON.stringify(Object.fromEntries(durations), null, 2)}\n`);
  }
}

/**
 * Checks the published declarations against the service's types, with the globals of a browser and of Node. Also
 * type-checks the examples.
 */
async function packageTypes() {
  const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
  for (const config of ["tsconfig.json", "tsconfig.node.json", join("examples", "tsconfig.json")]) {
    await run("node", [tsc, "--project", join(root, "npm", "types", config)]);
  }
}

/** Type-checks the site, which uses the package's declarations. */
const siteTypes = () =>
  run("node", [join(root, "node_modules", "typescript", "bin", "tsc"), "--project", join(root, "www")]).then(() => {});

await main(async () => {
  const steps = new Steps();
  let wasm = {};
  const setUp = { needs: ["set-up"] };
  const [pypi, cli, worker, npmPackage, site] = [
    "packages from PyPI",
    "command line builds",
    "Worker builds within its size limit",
    "npm package builds within its size limits",
    "site builds within its size limits",
  ];
  steps.add("set-up", async () => {
    ({ wasm } = await setup({ withLints: true, withBrowser: !lintOnly, verbose: true }));
  });
  // The longest step and its dependencies come first. `uses` names a folder that cargo locks, which only one step can use.
  if (!lintOnly) {
    steps.add(cli, () => buildNativeCli(), setUp);
    steps.add(worker, () => buildWorker({ wasm }), setUp);
    // A slow registry must not use up the time of a test.
    steps.add(pypi, () => Promise.all([clientPackages(), packageProgram("python")]).then(() => {}), setUp);
    steps.add(npmPackage, () => buildPackage({ wasm }), setUp);
    steps.add(site, () => buildSite({ wasm }), { needs: ["set-up", npmPackage] });
    steps.add("end-to-end tests", endToEnd, { needs: ["set-up", pypi, cli, worker, npmPackage, site] });
    steps.add(
      "native tests",
      () => run("cargo", ["test", "--quiet", "--features", "cli"], { show: true, timeout: STEP_MS }),
      {
        ...setUp,
        uses: "target/debug",
      },
    );
  }
  steps.add("lints, native", () => lintNative(wasm), { ...setUp, uses: "target/debug" });
  steps.add("lints, wasm32", () => lintWasm(wasm), { ...setUp, uses: "target/wasm/debug" });
  steps.add("formatting", () => checkFormatting(wasm), setUp);
  steps.add("lints and formatting, JavaScript and CSS", lintScripts, setUp);
  steps.add("language of comments, pages and messages", language, setUp);
  steps.add("OpenAPI document is valid", lintOpenapi, setUp);
  if (!lintOnly) {
    steps.add("client in Node and in a browser", () => clientTests(wasm), { ...setUp, uses: "target/wasm/debug" });
    steps.add(
      "tests of the scripts",
      () => run("node", ["--test", join("scripts", "test", "*.test.mjs")]).then(() => {}),
      setUp,
    );
    steps.add("Python package", pythonPackage, setUp);
    steps.add("types of the package", packageTypes, { needs: ["set-up", npmPackage] });
    steps.add("types of the site", siteTypes, { needs: ["set-up", npmPackage] });
  }
  await steps.run(MAX_CONCURRENT_STEPS);
  return steps.close();
});
