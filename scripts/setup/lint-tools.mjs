// Installs rustfmt and clippy, which a minimal Rust lacks.
import { Problem } from "../lib/problem.mjs";
import { run, tryRun, which } from "../lib/run.mjs";
import { task } from "../lib/status.mjs";

const TOOLS = { fmt: "rustfmt", clippy: "clippy" };
const RUSTUP_TIMEOUT_MS = 90_000;

const hasTool = (tool, env) => tryRun("cargo", [tool, "--version"], env).ok;

/** Tries to install missing tools. If that fails, the steps that need them report it. */
export async function installLintTools() {
  const missing = Object.keys(TOOLS).filter((tool) => !hasTool(tool));
  if (missing.length === 0 || !which("rustup")) return;
  const components = missing.map((tool) => TOOLS[tool]);
  await task(`${components.join(" and ")} (rustup)`, (detail) =>
    run("rustup", ["component", "add", ...components], {
      detail,
      timeout: RUSTUP_TIMEOUT_MS,
      env: { RUSTUP_MAX_RETRIES: "1" },
    }),
  ).catch(() => {});
}

/**
 * The environment variables with which cargo finds the tool: none if the user's toolchain has it, else those of wasm builds.
 * @param {"fmt" | "clippy"} tool
 * @param {object} wasm the environment variables of wasm builds
 */
export function lintEnvironment(tool, wasm) {
  const environment = [{}, wasm].find((env) => hasTool(tool, env));
  if (environment) return environment;
  const name = TOOLS[tool];
  throw new Problem(`This Rust has no ${name}, and it could not be installed: nothing was checked.`, {
    hint: which("rustup")
      ? `Run \`rustup component add ${name}\`.`
      : `Install ${name} for your Rust; rustup (https://rustup.rs) has it.`,
  });
}
