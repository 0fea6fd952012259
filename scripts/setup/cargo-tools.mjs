// Installs pinned programs with cargo, each version into a separate folder in the user's cache folder.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { cache, root } from "../lib/paths.mjs";
import { run } from "../lib/run.mjs";
import { task } from "../lib/status.mjs";

const VERSIONS = { "cargo-deny": "0.20.2", "cargo-fuzz": "0.13.2", "cargo-gamma": "0.4.0" };

/** Installs a program if it is missing. Returns the folder to add to `PATH`. */
export async function installCargoTool(name) {
  const version = VERSIONS[name];
  const home = join(cache, `${name}-${version}`);
  const folder = join(home, "bin");
  if (existsSync(join(folder, name))) return folder;
  await task(`tool \`${name}\` ${version} (once per machine)`, (detail) =>
    run("cargo", ["install", name, "--version", version, "--locked", "--root", home], {
      detail,
      cwd: root,
      env: { CARGO_TARGET_DIR: join(root, "target", "tools"), RUSTFLAGS: "" },
      hint: "cargo must reach crates.io (or your mirror) the first time. Then run this again.",
    }),
  );
  return folder;
}
