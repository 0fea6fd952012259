// Builds the Worker into build/ and checks its size. wrangler calls this through `npm run build:worker`.
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";
import { fingerprint, isStamped, stamp } from "./lib/fingerprint.mjs";
import { locked } from "./lib/lock.mjs";
import { nodeBin, root, toolPath } from "./lib/paths.mjs";
import { main, Problem } from "./lib/problem.mjs";
import { run } from "./lib/run.mjs";
import { say, task } from "./lib/status.mjs";
import { toolFolders } from "./setup/cargo-tools.mjs";
import { setup } from "./setup.mjs";

const LIMIT_BYTES = 150_000;
const INPUTS = ["src", "Cargo.toml", "Cargo.lock", "package-lock.json", "scripts/build-worker.mjs"];
// What wrangler uploads: the entry module, and the one that it imports.
const MODULES = ["index.js", "index_bg.wasm"];
// Classes of the `worker` crate that nobody calls here. A crate's exports are kept whoever needs them, and all that they
// need with them.
const UNUSED = /containerstartupoptions|minifyconfig|r2range|intounderlying/;
const built = join(root, "target", "worker.built-from");
const sizes = () => MODULES.map((name) => gzipSync(readFileSync(join(root, "build", name)), { level: 9 }).length);

/** The environment variables of every wasm build: pinned tools, and a toolchain that has the target. */
export function wasmToolEnvironment(wasm) {
  const tools = toolFolders();
  return {
    PATH: toolPath(),
    ...wasm,
    WASM_BINDGEN_BIN: join(tools["wasm-bindgen-cli"], "wasm-bindgen"),
    WASM_OPT_BIN: join(nodeBin, "wasm-opt"),
    ESBUILD_BIN: join(nodeBin, "esbuild"),
    // Apart from the native builds: neither waits for the other, and neither throws away the other's work.
    CARGO_TARGET_DIR: join(root, "target", "wasm"),
    // Panic messages name source files; without the folders of whoever built it. A folder may have a space in its name.
    RUSTFLAGS: undefined,
    CARGO_ENCODED_RUSTFLAGS: ["-Ctarget-feature=+simd128", `--remap-path-prefix=${homedir()}=~`, `--remap-path-prefix=${root}=.`].join("\x1f"),
  };
}

/** Builds when something changed; fails when the Worker has grown too large. */
export function buildWorker({ wasm }) {
  return locked("worker", "it builds the Worker", () => build(wasm));
}

/** Takes out of a module what only `UNUSED` exports need: `wasm-opt` drops what nothing refers to. */
async function dropExports(file) {
  // Imported here: before the set-up there may be no such package.
  const { default: binaryen } = await import("binaryen");
  const module = binaryen.readBinary(readFileSync(file));
  const names = Array.from({ length: module.getNumExports() }, (_, at) => binaryen.getExportInfo(module.getExportByIndex(at)).name);
  const unused = names.filter((name) => UNUSED.test(name));
  if (unused.length === 0) throw new Problem("The Worker has none of the exports that scripts/build-worker.mjs drops: have their names changed?");
  for (const name of unused) module.removeExport(name);
  writeFileSync(file, module.emitBinary());
  module.dispose();
}

async function build(wasm) {
  const wanted = fingerprint(INPUTS, [JSON.stringify(wasm)]);
  const isCurrent = isStamped(built, wanted) && MODULES.every((name) => existsSync(join(root, "build", name)));
  if (!isCurrent) {
    // Whatever interrupts this, what lies in build/ then is no build of anything.
    rmSync(built, { force: true });
    await task("Worker (wasm, release)", (detail) =>
      run(join(toolFolders()["worker-build"], "worker-build"), ["--release", "--features", "worker"], {
        detail,
        // A part of the ETags: another build may render the same rows in another way.
        env: { ...wasmToolEnvironment(wasm), CONNECTOR_VAULT_BUILD: wanted },
      }),
    );
    const tools = { env: { PATH: toolPath() } };
    const module = join(root, "build", "index_bg.wasm");
    await dropExports(module);
    // Function names are for debuggers; they would be a sixth of what every cold start loads. Rust keeps its stack, which
    // must not run out, in the lowest megabyte, and nothing in the lowest kilobyte.
    await run(join(nodeBin, "wasm-opt"), [module, "--all-features", "-O3", "--low-memory-unused", "--strip-debug", "--strip-producers", "-o", module], tools);
    const external = ["--external:cloudflare:workers", "--external:./index_bg.wasm"];
    const entry = [join(root, "src", "edge", "entry.js"), `--outfile=${join(root, "build", "index.js")}`, "--allow-overwrite"];
    await run(join(nodeBin, "esbuild"), [...entry, "--bundle", "--format=esm", "--minify", ...external], tools);
  }
  const parts = sizes();
  const total = parts.reduce((sum, size) => sum + size, 0);
  const kb = (bytes) => `${(bytes / 1000).toFixed(1)} KB`;
  say(`Worker: ${kb(total)} gzipped (${MODULES.map((name, i) => `${name} ${kb(parts[i])}`).join(", ")}); limit ${kb(LIMIT_BYTES)}${isCurrent ? "; unchanged" : ""}.`);
  if (total > LIMIT_BYTES) {
    throw new Problem(`The Worker is ${kb(total - LIMIT_BYTES)} over its limit of ${kb(LIMIT_BYTES)} gzipped.`);
  }
  stamp(built, wanted);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  await main(async () => buildWorker(await setup()));
}
