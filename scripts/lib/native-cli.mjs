// The operator's command line, `connector-vault`, built for this machine.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { rust } from "../setup/rust.mjs";
import { root } from "./paths.mjs";
import { run, which } from "./run.mjs";
import { task } from "./status.mjs";

/** The path of the built program. */
export const program = join(root, "target", "native", "connector-vault");

/** Builds the program if its sources changed, which cargo detects. Tests that have built everything skip even that check. */
export async function buildNativeCli() {
  if (process.env.CONNECTOR_VAULT_BUILT) return program;
  if (!which("cargo")) await rust();
  const args = ["build", "--profile", "native", "--features", "cli", "--bin", "connector-vault"];
  // Overrides the target folder of the user's cargo configuration, so that `program` is right.
  const env = { CARGO_TARGET_DIR: join(root, "target") };
  await task("command line `connector-vault` (native)", (detail) => run("cargo", args, { detail, env }), {
    quietBelow: existsSync(program) ? 1000 : 0,
  });
  return program;
}
