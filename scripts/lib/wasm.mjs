// Builds WebAssembly modules from the crate: cargo, wasm-bindgen, wasm-opt.
import { homedir } from "node:os";
import { join } from "node:path";
import { bindgenProgram } from "../setup/bindgen.mjs";
import { nodeBin, root, toolPath } from "./paths.mjs";
import { run } from "./run.mjs";

const TARGET = "wasm32-unknown-unknown";

/**
 * The environment of cargo for wasm32 builds.
 * @param {object} wasm the variables of a toolchain that has the target
 * @param {string[]} [flags] for rustc
 */
export function wasmCargoEnvironment(wasm, flags = ["-Ctarget-feature=+simd128"]) {
  return {
    PATH: toolPath(),
    ...wasm,
    // A separate folder, so that wasm and native builds neither wait for each other nor discard each other's results.
    CARGO_TARGET_DIR: join(root, "target", "wasm"),
    // Removes the folders of the build machine from panic messages. Uses encoded flags, because folders can contain spaces.
    RUSTFLAGS: undefined,
    CARGO_ENCODED_RUSTFLAGS: [...flags, `--remap-path-prefix=${homedir()}=~`, `--remap-path-prefix=${root}=.`].join(
      "\x1f",
    ),
  };
}

/**
 * Compiles the crate, or an example, with one of its features. Returns the path of the module.
 * @param {{ feature: "worker" | "client", profile: string, example?: string, env: object, detail: (text: string) => void }}
 *   options
 */
export async function compile({ feature, profile, example, env, detail }) {
  // The crate type is not in Cargo.toml, because native builds would link a `cdylib` that they do not need. With an additional `rlib`,
  // cargo compiles dependencies to machine code before link-time optimization, which makes the Worker 13 KB smaller (gzipped).
  const command = example ? ["build", "--example", example] : ["rustc", "--lib", "--crate-type", "cdylib,rlib"];
  await run("cargo", [...command, "--profile", profile, "--features", feature, "--target", TARGET], { detail, env });
  const folder = join(env.CARGO_TARGET_DIR, TARGET, profile);
  return example ? join(folder, "examples", `${example}.wasm`) : join(folder, "connector_vault.wasm");
}

/**
 * Writes `index.js` and `index_bg.wasm` into a folder.
 * @param {"worker" | "package"} kind
 */
export const writeGlue = (kind, module, folder) => run(bindgenProgram, [kind, module, folder]);

/**
 * Optimizes a module, and removes the names of functions, which would be a sixth of its size. Rust puts its stack into the lowest
 * megabyte and nothing into the lowest kilobyte.
 * @param {string[]} flags optimizations, and the allowed features of WebAssembly
 */
export async function optimize(from, to, flags) {
  const common = ["--low-memory-unused", "--strip-debug", "--strip-producers"];
  await run(join(nodeBin, "wasm-opt"), [from, ...flags, ...common, "-o", to], { env: { PATH: toolPath() } });
}
