// Checks the Python package: generated files are current, the types are right, and the distributions are complete.
import { copyFileSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { root } from "../lib/paths.mjs";
import { Problem } from "../lib/problem.mjs";
import { checkGenerated, packageProgram } from "../lib/python-package.mjs";
import { run } from "../lib/run.mjs";

const PACKAGE = join(root, "python");
const OUT = join(root, "target", "python-package", "dist");
/** Files that both distributions must contain. */
const REQUIRED = ["py.typed", "models.py", "_sync.py", "LICENSE-APACHE", "LICENSE-MIT"];

async function types() {
  const options = ["--cache-dir", join(root, "target", "python-package", "mypy")];
  await run(await packageProgram("mypy"), options, { cwd: PACKAGE });
}

async function files() {
  for (const name of ["LICENSE-APACHE", "LICENSE-MIT"]) copyFileSync(join(root, name), join(PACKAGE, name));
  rmSync(OUT, { recursive: true, force: true });
  mkdirSync(OUT, { recursive: true });
  // Uses the build tools that requirements.txt pins, so that it needs no network.
  const python = await packageProgram("python");
  await run(python, ["-m", "build", "--no-isolation", "--outdir", OUT, PACKAGE]);
  const built = readdirSync(OUT).map((name) => join(OUT, name));
  await run(await packageProgram("twine"), ["check", "--strict", ...built]);
  for (const file of built) {
    const list = file.endsWith(".whl") ? ["-m", "zipfile", "-l", file] : ["-m", "tarfile", "-l", file];
    const listed = await run(python, list);
    const missing = REQUIRED.filter((name) => !listed.includes(name));
    if (missing.length > 0 || listed.includes("tests/"))
      throw new Problem(`${file} lacks ${missing.join(", ") || "nothing"}, and has:\n${listed}`);
  }
}

export async function pythonPackage() {
  await packageProgram("python");
  await Promise.all([checkGenerated(), types(), files()]);
}
