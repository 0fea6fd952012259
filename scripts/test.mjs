// `npm test`: everything that is checked, in one run. `npm run lint` stops after the static checks.
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { buildPackage } from "./build-package.mjs";
import { buildSite } from "./build-site.mjs";
import { buildWorker, wasmToolEnvironment } from "./build-worker.mjs";
import { nativeCli } from "./lib/native-cli.mjs";
import { nodeBin, root, wrangler } from "./lib/paths.mjs";
import { main, Problem } from "./lib/problem.mjs";
import { ask, run } from "./lib/run.mjs";
import { task } from "./lib/status.mjs";
import { setup } from "./setup.mjs";
import { browserPrograms } from "./setup/browser.mjs";
import { toolFolders } from "./setup/cargo-tools.mjs";
import { lintEnvironment } from "./setup/lint-tools.mjs";
import { Steps } from "./test/steps.mjs";

const TARGET = ["--target", "wasm32-unknown-unknown"];
const NATIVE = [[], ["--features", "cli"]];
const WASM = { worker: ["--lib"], client: ["--lib", "--test", "client"] };
const E2E = join("tests", "e2e");
const lintOnly = process.argv.includes("--only") && process.argv.includes("lint");

const cargo = (label, args, env) => task(label, (detail) => run("cargo", args, { detail, env }));

const formatting = (wasm) =>
  run("cargo", ["fmt", "--check"], { env: lintEnvironment("fmt", wasm), hint: "Run `cargo fmt`." });

async function lintNative(wasm) {
  const env = lintEnvironment("clippy", wasm);
  for (const features of NATIVE) {
    const args = ["clippy", "--quiet", "--all-targets", ...features, "--", "-D", "warnings"];
    await cargo(`clippy, features: ${features[1] ?? "none"}`, args, env);
  }
}

async function lintWasm(wasm) {
  const env = wasmToolEnvironment(wasm);
  const hasClippy = ask("cargo", ["clippy", "--version"], env).ok;
  for (const [feature, targets] of Object.entries(WASM)) {
    const features = ["--quiet", ...targets, "--features", feature, ...TARGET];
    if (hasClippy) await cargo(`clippy on wasm32, features: ${feature}`, ["clippy", ...features, "--", "-D", "warnings"], env);
    else await cargo(`check on wasm32 (this toolchain has no clippy), features: ${feature}`, ["check", ...features], env);
  }
}

/** Worker and client in one wasm module must not compile, and for the reason that the crate gives. */
async function refusesBoth(wasm) {
  const reason = readFileSync(join(root, "src", "lib.rs"), "utf8").match(/compile_error!\(\s*"([^"]+)"/)?.[1];
  if (!reason) throw new Problem("src/lib.rs has no compile_error! for the Worker together with the client.");
  const args = ["check", "--quiet", "--lib", "--features", "worker,client", ...TARGET];
  const answer = await run("cargo", args, { env: wasmToolEnvironment(wasm) }).then(
    () => undefined,
    (error) => error.output ?? "",
  );
  if (answer === undefined) throw new Problem("`worker` together with `client` compiles for wasm32, and must not.");
  if (!answer.includes(reason)) throw new Problem("`worker` together with `client` fails for another reason than it should.", { output: answer });
}

/** The OpenAPI document by the rules of redocly.yaml, and its examples by its schemas. */
async function lintOpenapi() {
  const document = join("www", "public", "v1", "openapi.json");
  await run(join(nodeBin, "redocly"), ["lint", document], { env: { REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" } });
}

function e2eFiles() {
  if (!existsSync(join(root, E2E))) return [];
  const files = readdirSync(join(root, E2E), { recursive: true }).map(String);
  return files.filter((file) => /\.test\.m?js$/.test(file)).sort().map((file) => join(E2E, file));
}

/** The client's WebAssembly where it runs: in Node, and in a browser. */
async function clientTests(wasm) {
  const programs = browserPrograms();
  if (!programs) throw new Problem("There is no browser to test the client in.");
  const env = {
    ...wasmToolEnvironment(wasm),
    CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUNNER: join(toolFolders()["wasm-bindgen-cli"], "wasm-bindgen-test-runner"),
    CHROMEDRIVER: programs.chromedriver,
  };
  const args = ["test", "--features", "client", "--test", "client", ...TARGET];
  for (const [place, WASM_BINDGEN_USE_BROWSER] of [["Node", undefined], ["a browser", "1"]]) {
    const output = await task(`client in ${place}`, (detail) => run("cargo", args, { detail, env: { ...env, WASM_BINDGEN_USE_BROWSER } }));
    const passed = /test result: ok\. (\d+) passed/.exec(output)?.[1] ?? 0;
    if (Number(passed) === 0) throw new Problem(`No test of the client ran in ${place}.`, { output });
  }
}

async function endToEnd() {
  const files = e2eFiles();
  if (files.length === 0) throw new Problem(`There are no tests in ${E2E}/.`);
  await run("node", ["--test", "--test-concurrency=1", ...files], { show: true });
}

/** The package's declarations against the service's own types, with a browser's globals and with Node's. */
async function packageTypes() {
  const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
  for (const config of ["tsconfig.json", "tsconfig.node.json"]) {
    await run("node", [tsc, "--project", join(root, "npm", "types", config)]);
  }
}

/** The site's sources, against the package's declarations. */
const siteTypes = () => run("node", [join(root, "node_modules", "typescript", "bin", "tsc"), "--project", join(root, "www")]).then(() => {});

await main(async () => {
  const steps = new Steps();
  let wasm = {};
  await steps.step("set-up", async () => {
    ({ wasm } = await setup({ withLints: true, withBrowser: !lintOnly, verbose: true }));
  });
  const needs = ["set-up"];
  await steps.step("formatting", () => formatting(wasm), { needs });
  await steps.step("lints, native", () => lintNative(wasm), { needs });
  await steps.step("lints, wasm32", () => lintWasm(wasm), { needs });
  await steps.step("Worker and client refuse to be one module", () => refusesBoth(wasm), { needs });
  await steps.step("OpenAPI document is valid", lintOpenapi, { needs });
  if (lintOnly) return steps.close();
  await steps.step("tests of the scripts", () => run("node", ["--test", join("scripts", "test", "scripts.test.mjs")]), { needs });
  await steps.step("types of the package", packageTypes, { needs });
  await steps.step("native tests", () => run("cargo", ["test", "--quiet", "--features", "cli"], { show: true }), { needs });
  await steps.step("command line builds", nativeCli, { needs });
  await steps.step("Worker builds and is small enough", () => buildWorker({ wasm }), { needs });
  const built = ["set-up", "Worker builds and is small enough", "site builds and is small enough"];
  const dryRun = ["deploy", "--dry-run", "--outdir", join("target", "dry-run")];
  await steps.step("npm package builds and is small enough", () => buildPackage({ wasm }), { needs });
  await steps.step("types of the site", siteTypes, { needs: ["npm package builds and is small enough"] });
  await steps.step("site builds and is small enough", () => buildSite({ wasm }), { needs });
  await steps.step("client in Node and in a browser", () => clientTests(wasm), { needs });
  await steps.step("wrangler deploy --dry-run", () => run(wrangler, dryRun).then(() => {}), { needs: built });
  await steps.step("end-to-end tests", endToEnd, { needs: [...built, "command line builds", "npm package builds and is small enough"] });
  return steps.close();
});
