// Builds the Worker into build/ and checks its size. wrangler calls this through `npm run build:worker`.
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";
import { fingerprint, isStamped, stamp } from "./lib/fingerprint.mjs";
import { withLock } from "./lib/lock.mjs";
import { root } from "./lib/paths.mjs";
import { main, Problem } from "./lib/problem.mjs";
import { log, task } from "./lib/status.mjs";
import { compile, optimize, wasmCargoEnvironment, writeGlue } from "./lib/wasm.mjs";
import { setup } from "./setup.mjs";

// The size limit of the Worker in bytes, gzipped.
const LIMIT_BYTES = 900_000;
const INPUTS = [
  "src",
  "Cargo.toml",
  "Cargo.lock",
  "package-lock.json",
  "tools/bindgen/Cargo.lock",
  "tools/bindgen/src",
  "scripts/build-worker.mjs",
  "scripts/lib/wasm.mjs",
];
// The modules that wrangler uploads: the entry, and the WebAssembly module that it imports.
const MODULES = ["index.js", "index_bg.wasm"];
// Listed explicitly: a later binaryen may enable features that the runtime does not support yet.
const WASM_FEATURES = [
  ...[
    "bulk-memory",
    "bulk-memory-opt",
    "call-indirect-overlong",
    "exception-handling",
    "multivalue",
    "mutable-globals",
  ],
  ...["nontrapping-float-to-int", "reference-types", "sign-ext", "simd"],
].map((feature) => `--enable-${feature}`);
// Without a limit on inlining, functions with one caller form a function of 58 KB, which a new isolate compiles for any request.
// Sorting functions by name puts copies of a generic function side by side, which saves 4 % when gzipped.
const WASM_OPT_FLAGS = [
  "-Os",
  "--one-caller-inline-max-function-size=15",
  "--reorder-functions-by-name",
  ...WASM_FEATURES,
];
const stampFile = join(root, "target", "worker.built-from");
const work = join(root, "target", "worker");
const out = join(root, "build");
const sizes = () => MODULES.map((name) => gzipSync(readFileSync(join(out, name)), { level: 9 }).length);

/** Builds the Worker if its inputs changed; fails if it exceeds its size limit. */
export function buildWorker({ wasm }) {
  return withLock("worker", "it builds the Worker", () => build(wasm));
}

/** Compiles the Rust part of the Worker if its inputs changed. Needs no npm packages, so it can run while they are installed. */
export function compileWorker({ wasm }) {
  return withLock("worker", "it builds the Worker", async () => {
    const digest = fingerprint(INPUTS, [JSON.stringify(wasm)]);
    if (!isStamped(stampFile, digest))
      await task("Worker compiled", (detail) => compileWorkerModule(wasm, digest, detail));
  });
}

async function build(wasm) {
  const digest = fingerprint(INPUTS, [JSON.stringify(wasm)]);
  const isCurrent = isStamped(stampFile, digest) && MODULES.every((name) => existsSync(join(out, name)));
  if (!isCurrent) {
    // Removed first, because build/ contains no valid build if this is interrupted.
    rmSync(stampFile, { force: true });
    await task("Worker (wasm, release)", (detail) => assemble(wasm, digest, detail));
  }
  const moduleSizes = sizes();
  const total = moduleSizes.reduce((sum, size) => sum + size, 0);
  const kb = (bytes) => `${(bytes / 1000).toFixed(1)} KB`;
  log(
    `Worker: ${kb(total)} gzipped (${MODULES.map((name, i) => `${name} ${kb(moduleSizes[i])}`).join(", ")}); limit ${kb(LIMIT_BYTES)}${isCurrent ? "; unchanged" : ""}.`,
  );
  if (total > LIMIT_BYTES) {
    throw new Problem(`The Worker exceeds its limit of ${kb(LIMIT_BYTES)} gzipped by ${kb(total - LIMIT_BYTES)}.`);
  }
  stamp(stampFile, digest);
}

/** Returns the path of the compiled module. */
function compileWorkerModule(wasm, digest, detail, more = {}) {
  const env = {
    ...wasmCargoEnvironment(wasm),
    // Part of entity tags, because another build can render the same rows differently.
    CONNECTOR_VAULT_BUILD: digest,
    // Makes `#[wasm_bindgen]` use the futures of js-sys, as the crate `worker` does.
    WASM_BINDGEN_USE_JS_SYS: "1",
  };
  return compile({ feature: "worker", profile: "release", env, detail, ...more });
}

/** Compiles an example of the crate with the settings of the Worker. Returns the path of the module. */
export const compileExample = (wasm, example, detail) =>
  compileWorkerModule(wasm, fingerprint(INPUTS, [JSON.stringify(wasm)]), detail, { example });

/** Optimizes a module with the settings of the Worker. */
export const optimizeWorker = (from, to) => optimize(from, to, WASM_OPT_FLAGS);

async function assemble(wasm, digest, detail) {
  const module = await compileWorkerModule(wasm, digest, detail);
  rmSync(work, { recursive: true, force: true });
  const staged = join(work, "build");
  mkdirSync(staged, { recursive: true });
  await writeGlue("worker", module, work);
  await Promise.all([
    optimizeWorker(join(work, "index_bg.wasm"), join(staged, "index_bg.wasm")),
    bundleWorker(join(root, "src", "edge", "entry.js"), join(work, "index.js"), join(staged, "index.js")),
  ]);
  rmSync(out, { recursive: true, force: true });
  renameSync(staged, out);
}

/** Bundles an entry with its glue. `more` has additional aliases of modules. */
export async function bundleWorker(entry, glue, outfile, more = {}) {
  // Imported here, because the set-up may have installed the package just now.
  const { build: esbuild } = await import("esbuild");
  const text = readFileSync(glue, "utf8");
  // In the Workers runtime, a plain import of a WebAssembly module returns what `import source` would.
  const plain = text.replace(/^import source /m, "import ");
  if (plain === text) throw new Problem("The Worker's glue has no `import source`: has wasm-bindgen changed?");
  writeFileSync(glue, plain);
  await esbuild({
    ...{ entryPoints: [entry], outfile, alias: { glue, ...more }, absWorkingDir: root },
    ...{ bundle: true, format: "esm", minify: true, external: ["./index_bg.wasm"] },
  });
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  await main(async () => buildWorker(await setup()));
}
