// Finds or installs a Rust toolchain that can build for wasm32, and the one for native builds.
//
// Native builds use the `cargo` in PATH. If that one has no wasm32 target and cannot get it, wasm builds use another toolchain,
// which the returned environment variables select.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { toolPath } from "../lib/paths.mjs";
import { Problem } from "../lib/problem.mjs";
import { run, tryRun, which } from "../lib/run.mjs";
import { task } from "../lib/status.mjs";
import { debianRefusal, installDebian, VERSION_STAMP } from "./debian-rust.mjs";

const TARGET = "wasm32-unknown-unknown";
const RUSTUP_TIMEOUT_MS = 90_000;

/** Whether the rustc of this environment has the wasm32 target. */
function hasTarget(env) {
  const { ok, out } = tryRun("rustc", ["--print", "target-libdir", "--target", TARGET], env);
  if (!ok || !existsSync(out)) return false;
  if (!readdirSync(out).some((file) => /^libcore-.*\.rlib$/.test(file))) return false;
  // Debian's compiler may have been upgraded since this library was built.
  const stamp = join(out, VERSION_STAMP);
  return !existsSync(stamp) || readFileSync(stamp, "utf8").trim() === tryRun("rustc", ["--version"], env).out;
}

/** The environments of the installed toolchains that may have the target, in order of preference. */
function candidates() {
  const environments = [];
  if (which("cargo") && which("rustc")) environments.push({});
  if (existsSync("/usr/bin/cargo") && existsSync("/usr/bin/rustc")) {
    if (which("rustup")) environments.push({ RUSTUP_TOOLCHAIN: "debian" });
    else environments.push({ PATH: toolPath(["/usr/bin"]) });
  }
  return environments;
}

/** The environment for wasm builds; undefined if no toolchain has the target. */
export function wasmEnvironment() {
  return candidates().find(hasTarget);
}

const MANUAL = `Any of these helps:
- Rust by rustup (https://rustup.rs), then run this again in a new terminal:
    curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh
    rustup target add ${TARGET}
- on Debian, as root or with password-less sudo: nothing, this set-up installs Debian's packages
- a toolchain of your own that \`rustc --print target-libdir --target ${TARGET}\` finds`;

/** Checks that cargo is installed, and installs a toolchain with the wasm32 target if necessary. */
export async function rust() {
  const existingEnvironment = wasmEnvironment();
  if (existingEnvironment) return existingEnvironment;
  const reasons = [];
  if (which("rustup") && which("cargo")) {
    try {
      await task(`Rust target ${TARGET} (rustup)`, (detail) =>
        run("rustup", ["target", "add", TARGET], {
          detail,
          timeout: RUSTUP_TIMEOUT_MS,
          env: { RUSTUP_MAX_RETRIES: "1" },
        }),
      );
      if (hasTarget({})) return {};
      reasons.push("rustup added the target, but rustc does not see it");
    } catch (error) {
      reasons.push(`rustup: ${error.message}`);
    }
  } else {
    reasons.push(which("cargo") ? "rustup is not installed" : "cargo is not installed");
  }
  const refusal = debianRefusal();
  if (refusal) {
    reasons.push(`Debian's packages: ${refusal}`);
  } else {
    await installDebian(TARGET);
    const env = wasmEnvironment();
    if (env) return env;
    reasons.push("Debian's packages were installed, but their rustc does not see the target");
  }
  throw new Problem(
    `There is no Rust toolchain that builds for ${TARGET}:\n${reasons.map((reason) => `  - ${reason}`).join("\n")}`,
    { hint: MANUAL },
  );
}
