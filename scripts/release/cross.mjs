// Cross-compiles the command-line program for another platform. zig, from PyPI, compiles its C code and links it.
import { dirname, join } from "node:path";
import { root, toolPath } from "../lib/paths.mjs";
import { Problem } from "../lib/problem.mjs";
import { run } from "../lib/run.mjs";
import { task } from "../lib/status.mjs";
import { installPythonPackages, pythonProgram } from "../setup/python.mjs";

/** The platforms for which cross-compiled programs were tested: Rust's name for each, and the glibc that it needs. */
const TARGETS = { "linux-arm64": { target: "aarch64-unknown-linux-gnu", glibc: "2.34" } };

/** Returns the path of the program for a platform, such as `linux-arm64`. */
export async function crossCompileCli(platform) {
  if (!TARGETS[platform]) {
    throw new Problem(`The command line for ${platform} can't be compiled on this machine.`, {
      hint: `Here: ${Object.keys(TARGETS).join(", ")}. For others, run \`npm run release -- --command-line\` on such a machine.`,
      code: 2,
    });
  }
  const { target, glibc } = TARGETS[platform];
  await installPythonPackages("zig", join("scripts", "release", "requirements.txt"));
  const args = ["zigbuild", "--profile", "native", "--features", "cli", "--bin", "connector-vault"];
  const env = {
    PATH: toolPath([dirname(pythonProgram("zig", "python"))]),
    CARGO_TARGET_DIR: join(root, "target"),
  };
  await task(`command line for ${platform}`, async (detail) => {
    await run("rustup", ["target", "add", target], { detail });
    await run("cargo", [...args, "--target", `${target}.${glibc}`], { detail, env });
  });
  return join(root, "target", target, "native", "connector-vault");
}
