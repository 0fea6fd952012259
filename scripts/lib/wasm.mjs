// The steps from the crate to a module that an engine loads: cargo, bindgen, wasm-opt.
import { homedir } from "node:os";
import { join } from "node:path";
import { bindgenProgram } from "../setup/bindgen.mjs";
import { nodeBin, root, toolPath } from "./paths.mjs";
import { run } from "./run.mjs";

const TARGET = "wasm32-unknown-unknown";

/**
 * The environment of every cargo that builds for wasm32.
 * @param {object} wasm the variables of a toolchain that has the target
 * @param {string[]} [flags] for rustc
 */
export function wasmCargoEnvironment(wasm, flags = ["-Ctarget-feature=+simd128"]) {
  return {
    PATH: toolPath(),
    ...wasm,
    // Apart from the native builds: neither waits for the other, and neither throws away the other's work.
    CARGO_TARGET_DIR: join(root, "target", "wasm"),
    // Panic messages name source files; without the folders of whoever built it. A folder may have a space in its name.
    RUSTFLAGS: undefined,
    CARGO_ENCODED_RUSTFLAGS: [...flags, `--remap-path-prefix=${homedir()}=~`, `--remap-path-prefix=${root}=.`].join(
      "\x1f",
    ),
  };
}

/**
 * Compiles the crate, or an example, with one of its features; gives the path of the module.
 * @param {{ feature: "worker" | "client", profile: string, example?: string, env: object, detail: (text: string) => void }}
 *   options
 */
export async function compile({ feature, profile, example, env, detail }) {
  // Cargo.toml has a plain library: native builds would link a `cdylib` for nothing. With the `rlib` beside it, cargo compiles
  // dependencies to machine code before the link-time optimization, which makes the Worker 13 KB smaller (gzipped).
  const what = example ? ["build", "--example", example] : ["rustc", "--lib", "--crate-type", "cdylib,rlib"];
  await run("cargo", [...what, "--profile", profile, "--features", feature, "--target", TARGET], { detail, env });
  const place = join(env.CARGO_TARGET_DIR, TARGET, profile);
  return example ? join(place, "examples", `${example}.wasm`) : join(place, "connector_vault.wasm");
}

/**
 * Writes `index.js` and `index_bg.wasm` into a folder.
 * @param {"worker" | "package"} kind
 */
export const writeGlue = (kind, module, folder) => run(bindgenProgram, [kind, module, folder]);

/**
 * Optimizes a module. Names of functions, for debuggers only, would be a sixth of what is loaded. Rust keeps its stack,
 * which must not run out, in the lowest megabyte, and nothing in the lowest kilobyte.
 * @param {string[]} flags how, and which features of WebAssembly it may use
 */
export async function optimize(from, to, flags) {
  const common = ["--low-memory-unused", "--strip-debug", "--strip-producers"];
  await run(join(nodeBin, "wasm-opt"), [from, ...flags, ...common, "-o", to], { env: { PATH: toolPath() } });
}
