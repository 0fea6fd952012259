// `npm run deny [-- FOLDER]`: runs cargo-deny, which rejects crates with known vulnerabilities, licences or sources that
// tools/deny.toml does not allow, and duplicate versions of a crate. FOLDER is a clone of github.com/RustSec/advisory-db with a
// branch `main`, for machines that cannot reach GitHub.
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { root } from "./lib/paths.mjs";
import { main, Problem } from "./lib/problem.mjs";
import { run } from "./lib/run.mjs";
import { print } from "./lib/status.mjs";
import { installCargoTool } from "./setup/cargo-tools.mjs";

const DATABASE = "https://github.com/RustSec/advisory-db";
/** Duplicate versions are acceptable in tools that are not distributed. */
const TOOL_ARGS = ["duplicate", "unmatched-skip", "unnecessary-skip"].flatMap((lint) => ["--allow", lint]);
const PROJECTS = { ".": [], "tools/bindgen": TOOL_ARGS, "lab/fuzz": TOOL_ARGS };

await main(async () => {
  const [folder, ...more] = process.argv.slice(2);
  if (more.length > 0) throw new Problem("`npm run deny` takes at most one folder.", { code: 2 });
  if (folder && !existsSync(folder)) throw new Problem(`\`${folder}\` does not exist.`, { code: 2 });
  const program = join(await installCargoTool("cargo-deny"), "cargo-deny");
  const env = folder && {
    GIT_CONFIG_COUNT: "1",
    GIT_CONFIG_KEY_0: `url.${pathToFileURL(resolve(folder)).href}.insteadOf`,
    GIT_CONFIG_VALUE_0: DATABASE,
  };
  for (const [project, lints] of Object.entries(PROJECTS)) {
    const args = ["--manifest-path", join(root, project, "Cargo.toml"), "--config", join(root, "tools", "deny.toml")];
    const hint = "If this machine cannot reach GitHub, pass a folder with a clone of github.com/RustSec/advisory-db.";
    print(`the crates of ${project}`);
    await run(program, [...args, "check", ...lints], { env, show: true, hint });
  }
});
