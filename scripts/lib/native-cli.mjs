// The operator's command line, `connector-vault`, built for this machine.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { rust } from "../setup/rust.mjs";
import { root } from "./paths.mjs";
import { run, which } from "./run.mjs";
import { task } from "./status.mjs";

/** Where the program is once it is built. */
export const program = join(root, "target", "native", "connector-vault");

/** Builds it when its sources changed; cargo knows best whether they did. */
export async function nativeCli() {
  if (!which("cargo")) await rust();
  const args = ["build", "--profile", "native", "--features", "cli", "--bin", "connector-vault"];
  // The place is fixed, so that the program is found whatever the user's cargo is set to.
  const env = { CARGO_TARGET_DIR: join(root, "target") };
  await task("command line `connector-vault` (native)", (detail) => run("cargo", args, { detail, env }), {
    quietBelow: existsSync(program) ? 1000 : 0,
  });
  return program;
}
