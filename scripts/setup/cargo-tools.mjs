// wasm-bindgen and worker-build, at the versions that Cargo.lock asks for, in the user's cache folder.
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { isAlive } from "../lib/alive.mjs";
import { cache, root } from "../lib/paths.mjs";
import { Problem } from "../lib/problem.mjs";
import { run, which } from "../lib/run.mjs";
import { task } from "../lib/status.mjs";

// The tool must have the same version as the crate: their formats belong together.
const TOOLS = [
  { name: "wasm-bindgen-cli", crate: "wasm-bindgen", program: "wasm-bindgen" },
  { name: "worker-build", crate: "worker", program: "worker-build" },
];

/** The version of a crate in Cargo.lock. */
function lockedVersion(crate) {
  const lock = readFileSync(join(root, "Cargo.lock"), "utf8");
  const version = lock.match(new RegExp(`name = "${crate}"\\nversion = "([^"]+)"`))?.[1];
  if (!version) throw new Problem(`Cargo.lock does not name the crate \`${crate}\`.`);
  return version;
}

/** The folder of each tool's programs, by tool name. */
export function toolFolders() {
  return Object.fromEntries(TOOLS.map((tool) => [tool.name, join(cache, `${tool.name}-${lockedVersion(tool.crate)}`, "bin")]));
}

/** Removes what runs left behind that were interrupted. */
function sweep() {
  for (const name of existsSync(cache) ? readdirSync(cache) : []) {
    const pid = name.match(/\.tmp-(\d+)$/)?.[1];
    if (pid && !isAlive(Number(pid))) rmSync(join(cache, name), { recursive: true, force: true });
  }
}

async function install({ name }, version, home, detail) {
  // Made beside its place and renamed there: half a tool is never found, and of two that install at once
  // the later one finds the place taken and throws its own copy away.
  const staged = `${home}.tmp-${process.pid}`;
  const cargo = (...more) =>
    run("cargo", ["install", "--version", `=${version}`, "--root", staged, ...more, name], {
      detail,
      cwd: cache,
      env: { CARGO_TARGET_DIR: join(staged, "target"), RUSTFLAGS: "", CARGO_ENCODED_RUSTFLAGS: undefined },
      hint: "cargo needs crates.io (or your mirror) the first time. Run this again once it is in reach.",
    });
  try {
    await cargo("--locked");
  } catch (error) {
    // A version that the tool's own lock file names may be gone from the registry.
    if (!/failed to select a version|is yanked|no matching package/.test(error.output ?? "")) throw error;
    await cargo();
  }
  rmSync(join(staged, "target"), { recursive: true, force: true });
  try {
    renameSync(staged, home);
  } catch (error) {
    rmSync(staged, { recursive: true, force: true });
    if (!["ENOTEMPTY", "EEXIST"].includes(error.code)) throw error;
  }
}

/** Installs the tools that are missing. */
export async function cargoTools() {
  const folders = toolFolders();
  const missing = TOOLS.filter((tool) => !existsSync(join(folders[tool.name], tool.program)));
  if (missing.length === 0) return;
  if (!which("cargo")) throw new Problem("`cargo` was not found.", { hint: "Install Rust (https://rustup.rs), then run this again in a new terminal." });
  mkdirSync(cache, { recursive: true });
  sweep();
  for (const tool of missing) {
    const version = lockedVersion(tool.crate);
    await task(`${tool.name} ${version} (once per machine, some minutes)`, (detail) =>
      install(tool, version, join(cache, `${tool.name}-${version}`), detail),
    );
  }
}
