// Builds the programs of tools/bindgen once per machine, each version into a separate folder in the user's cache folder.
import { copyFileSync, existsSync, mkdirSync, renameSync } from "node:fs";
import { join } from "node:path";
import { fingerprint } from "../lib/fingerprint.mjs";
import { cache, root } from "../lib/paths.mjs";
import { Problem } from "../lib/problem.mjs";
import { run, which } from "../lib/run.mjs";
import { task } from "../lib/status.mjs";

const SOURCES = ["Cargo.toml", "Cargo.lock", "src"].map((name) => `tools/bindgen/${name}`);
const target = join(root, "target", "tools");
const home = join(cache, `bindgen-${fingerprint(SOURCES).slice(0, 16)}`);

/** Generates the glue of a module: `bindgen worker|package MODULE FOLDER`. */
export const bindgenProgram = join(home, "bindgen");
/** Runs WebAssembly tests for cargo. */
export const testRunnerProgram = join(home, "wasm-bindgen-test-runner");

async function build(label, name, flags) {
  if (!which("cargo"))
    throw new Problem("`cargo` was not found.", {
      hint: "Install Rust (https://rustup.rs), then run this again in a new terminal.",
    });
  await task(label, async (detail) => {
    await run("cargo", ["build", "--release", "--locked", "--bin", name, ...flags], {
      detail,
      cwd: join(root, "tools", "bindgen"),
      env: { CARGO_TARGET_DIR: target, RUSTFLAGS: "", CARGO_ENCODED_RUSTFLAGS: undefined },
      hint: "cargo must reach crates.io (or your mirror) the first time. Then run this again.",
    });
    // Copied under another name, then renamed, so that no other process sees an incomplete file.
    mkdirSync(home, { recursive: true });
    const staged = join(home, `${name}.tmp-${process.pid}`);
    copyFileSync(join(target, "release", name), staged);
    renameSync(staged, join(home, name));
  });
}

/** Builds `bindgen` if it is missing. */
export async function bindgen() {
  if (!existsSync(bindgenProgram)) await build("tool `bindgen` (once per machine)", "bindgen", []);
}

/** Builds the test runner if it is missing. */
export async function installTestRunner() {
  if (existsSync(testRunnerProgram)) return;
  await build("tool `wasm-bindgen-test-runner` (once per machine)", "wasm-bindgen-test-runner", [
    "--features",
    "test-runner",
  ]);
}
