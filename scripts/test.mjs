// `npm test`: everything that is checked, in one run. `npm run lint` stops after the static checks.
import { existsSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { buildPackage } from "./build-package.mjs";
import { buildSite } from "./build-site.mjs";
import { buildWorker } from "./build-worker.mjs";
import { nativeCli } from "./lib/native-cli.mjs";
import { nodeBin, root, wrangler } from "./lib/paths.mjs";
import { main, Problem } from "./lib/problem.mjs";
import { ask, run } from "./lib/run.mjs";
import { task } from "./lib/status.mjs";
import { wasmCargoEnvironment } from "./lib/wasm.mjs";
import { setup } from "./setup.mjs";
import { testRunner, testRunnerProgram } from "./setup/bindgen.mjs";
import { browserPrograms } from "./setup/browser.mjs";
import { lintEnvironment } from "./setup/lint-tools.mjs";
import { Steps } from "./test/steps.mjs";

const TARGET = ["--target", "wasm32-unknown-unknown"];
const NATIVE = [[], ["--features", "cli"]];
// The parts of the API's tests that are about what an account has: they pass in each database.
const OF_ACCOUNTS = ["access", "call", "connect", "keys", "sessions", "tokens", "usage", "vault", "webhooks"];
const WASM = { worker: ["--lib", "--example", "sealing"], client: ["--lib", "--test", "client"] };
const E2E = join("tests", "e2e");
// Those that take longest, longest first: what starts last should not be what everybody waits for.
const LONG = [
  "reference",
  "connect",
  "docs",
  "deploy",
  "run",
  "console/connections",
  "console/connectors",
  "storage",
  "schemathesis",
  "console/overview",
  "connect-window",
  "console/session",
  "console/connecting",
];
// How many steps go on at once.
const AT_ONCE = Math.min(4, Math.max(2, availableParallelism()));
// What takes longer hangs: a busy machine with empty caches needs half of it for a step, and a minute for a test.
const STEP_MS = 60 * 60_000;
const TEST_MS = 20 * 60 * 1000;
const lintOnly = process.argv.includes("--only") && process.argv.includes("lint");

const cargo = (label, args, env) => task(label, (detail) => run("cargo", args, { detail, env, timeout: STEP_MS }));

async function formatting(wasm) {
  for (const cwd of [root, join(root, "tools", "bindgen"), join(root, "tools", "fuzz")]) {
    await run("cargo", ["fmt", "--check"], {
      cwd,
      env: lintEnvironment("fmt", wasm),
      hint: `Run \`cargo fmt\` in ${cwd}.`,
    });
  }
}

async function lintNative(wasm) {
  const env = lintEnvironment("clippy", wasm);
  for (const features of NATIVE) {
    const args = ["clippy", "--quiet", "--all-targets", ...features, "--", "-D", "warnings"];
    await cargo(`clippy, features: ${features[1] ?? "none"}`, args, env);
  }
}

async function lintWasm(wasm) {
  const env = wasmCargoEnvironment(wasm);
  const hasClippy = ask("cargo", ["clippy", "--version"], env).ok;
  for (const [feature, targets] of Object.entries(WASM)) {
    const features = ["--quiet", ...targets, "--features", feature, ...TARGET];
    if (hasClippy)
      await cargo(`clippy on wasm32, features: ${feature}`, ["clippy", ...features, "--", "-D", "warnings"], env);
    else
      await cargo(`check on wasm32 (this toolchain has no clippy), features: ${feature}`, ["check", ...features], env);
  }
}

/** Worker and client in one wasm module must not compile, and for the reason that the crate gives. */
async function refusesBoth(wasm) {
  const reason = readFileSync(join(root, "src", "lib.rs"), "utf8").match(/compile_error!\(\s*"([^"]+)"/)?.[1];
  if (!reason) throw new Problem("src/lib.rs has no compile_error! for the Worker together with the client.");
  const args = ["check", "--quiet", "--lib", "--features", "worker,client", ...TARGET];
  const answer = await run("cargo", args, { env: wasmCargoEnvironment(wasm) }).then(
    () => undefined,
    (error) => error.output ?? "",
  );
  if (answer === undefined) throw new Problem("`worker` together with `client` compiles for wasm32, and must not.");
  if (!answer.includes(reason))
    throw new Problem("`worker` together with `client` fails for another reason than it should.", { output: answer });
}

/** Scripts, tests, the package's and the site's sources, by the rules of biome.jsonc. */
async function lintScripts() {
  const hint = "Run `npx biome check --write`, and mend by hand what it leaves.";
  await run(join(nodeBin, "biome"), ["check", "--error-on-warnings", "."], { hint });
}

/** The OpenAPI document by the rules of redocly.yaml, and its examples by its schemas. */
async function lintOpenapi() {
  const document = join("www", "public", "v1", "openapi.json");
  await run(join(nodeBin, "redocly"), ["lint", document], { env: { REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" } });
}

function e2eFiles() {
  if (!existsSync(join(root, E2E))) return [];
  const files = readdirSync(join(root, E2E), { recursive: true }).map(String);
  const rank = (file) => (LONG.indexOf(file.replace(".test.mjs", "")) + LONG.length + 1) % (LONG.length + 1);
  const tests = files.filter((file) => /\.test\.m?js$/.test(file)).sort();
  return tests.sort((a, b) => rank(a) - rank(b)).map((file) => join(E2E, file));
}

/** The client's WebAssembly where it runs: in Node, and in a browser. */
async function clientTests(wasm) {
  const programs = browserPrograms();
  if (!programs) throw new Problem("There is no browser to test the client in.");
  await testRunner();
  const env = {
    ...wasmCargoEnvironment(wasm),
    CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUNNER: testRunnerProgram,
    CHROMEDRIVER: programs.chromedriver,
  };
  const args = ["test", "--features", "client", "--test", "client", ...TARGET];
  for (const [place, WASM_BINDGEN_USE_BROWSER] of [
    ["Node", undefined],
    ["a browser", "1"],
  ]) {
    const output = await task(`client in ${place}`, (detail) =>
      run("cargo", args, { detail, env: { ...env, WASM_BINDGEN_USE_BROWSER }, timeout: STEP_MS }),
    );
    const passed = /test result: ok\. (\d+) passed/.exec(output)?.[1] ?? 0;
    if (Number(passed) === 0) throw new Problem(`No test of the client ran in ${place}.`, { output });
  }
}

async function endToEnd(detail) {
  const files = e2eFiles();
  if (files.length === 0) throw new Problem(`There are no tests in ${E2E}/.`);
  const reporters = ["spec", join(root, "scripts", "test", "slowest.mjs")].flatMap((name) => [
    `--test-reporter=${name}`,
    "--test-reporter-destination=stdout",
  ]);
  const usage = join(root, "target", "e2e-usage.jsonl");
  rmSync(usage, { force: true });
  const env = {
    CONNECTOR_VAULT_USAGE: usage,
    // Every file would build first, to be run alone; here all is built.
    CONNECTOR_VAULT_BUILT: "1",
    // wrangler, which hundreds of processes load, is compiled once.
    NODE_COMPILE_CACHE: join(root, "target", "node-compile-cache"),
  };
  const limits = [`--test-timeout=${TEST_MS}`, "--import", join(root, E2E, "support", "ends.mjs")];
  const args = ["--test", `--test-concurrency=${AT_ONCE}`, ...limits, ...reporters, ...files];
  await run("node", args, { show: true, env, detail, timeout: STEP_MS });
}

/** The published declarations against the service's own types, with a browser's globals and with Node's. */
async function packageTypes() {
  const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
  for (const config of ["tsconfig.json", "tsconfig.node.json"]) {
    await run("node", [tsc, "--project", join(root, "npm", "types", config)]);
  }
}

/** The site's sources, against the package's declarations. */
const siteTypes = () =>
  run("node", [join(root, "node_modules", "typescript", "bin", "tsc"), "--project", join(root, "www")]).then(() => {});

await main(async () => {
  const steps = new Steps();
  let wasm = {};
  const setUp = { needs: ["set-up"] };
  const [cli, worker, npmPackage, site] = [
    "command line builds",
    "Worker builds and is small enough",
    "npm package builds and is small enough",
    "site builds and is small enough",
  ];
  steps.add("set-up", async () => {
    ({ wasm } = await setup({ withLints: true, withBrowser: !lintOnly, verbose: true }));
  });
  // First what the longest step waits for, then that, and beside it the others. `uses` is a folder that cargo locks.
  if (!lintOnly) {
    steps.add(cli, () => nativeCli(), setUp);
    steps.add(worker, () => buildWorker({ wasm }), setUp);
    steps.add(npmPackage, () => buildPackage({ wasm }), setUp);
    steps.add(site, () => buildSite({ wasm }), { needs: ["set-up", npmPackage] });
    steps.add("end-to-end tests", endToEnd, { needs: ["set-up", cli, worker, npmPackage, site] });
    const nativeTests = ["test", "--quiet", "--features", "cli"];
    steps.add("native tests", () => run("cargo", nativeTests, { show: true, timeout: STEP_MS }), {
      ...setUp,
      uses: "target/debug",
    });
    const inShard = [...nativeTests, "--test", "api", "--", ...OF_ACCOUNTS, "--skip", "schedule"];
    const env = { CONNECTOR_VAULT_TEST_SHARD: "1234" };
    steps.add("tests of accounts in another database", () => run("cargo", inShard, { env, timeout: STEP_MS }), {
      needs: ["set-up", "native tests"],
      uses: "target/debug",
    });
  }
  steps.add("lints, native", () => lintNative(wasm), { ...setUp, uses: "target/debug" });
  steps.add("lints, wasm32", () => lintWasm(wasm), { ...setUp, uses: "target/wasm/debug" });
  steps.add("Worker and client refuse to be one module", () => refusesBoth(wasm), {
    ...setUp,
    uses: "target/wasm/debug",
  });
  steps.add("formatting", () => formatting(wasm), setUp);
  steps.add("lints and formatting, JavaScript and CSS", lintScripts, setUp);
  steps.add("OpenAPI document is valid", lintOpenapi, setUp);
  if (!lintOnly) {
    steps.add("client in Node and in a browser", () => clientTests(wasm), { ...setUp, uses: "target/wasm/debug" });
    steps.add(
      "tests of the scripts",
      () => run("node", ["--test", join("scripts", "test", "*.test.mjs")]).then(() => {}),
      setUp,
    );
    steps.add("types of the package", packageTypes, { needs: ["set-up", npmPackage] });
    steps.add("types of the site", siteTypes, { needs: ["set-up", npmPackage] });
    const dryRun = ["deploy", "--dry-run", "--outdir", join("target", "dry-run")];
    steps.add("wrangler deploy --dry-run", () => run(wrangler, dryRun).then(() => {}), {
      needs: ["set-up", worker, site],
    });
  }
  await steps.run(AT_ONCE);
  return steps.close();
});
