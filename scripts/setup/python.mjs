// Installs Python packages into virtual environments, without changing the system's Python.
import { join } from "node:path";
import { rmSync } from "node:fs";
import { fingerprint, isStamped, stamp } from "../lib/fingerprint.mjs";
import { withLock } from "../lib/lock.mjs";
import { root } from "../lib/paths.mjs";
import { Problem } from "../lib/problem.mjs";
import { run, tryRun, which } from "../lib/run.mjs";
import { task } from "../lib/status.mjs";
import { aptInstall, aptRefusal } from "./apt.mjs";

/** The path of a program in the virtual environment `name`. */
export const pythonProgram = (name, program) => join(root, "target", "python", name, "bin", program);

/** Installs Python with `venv` if it is missing. */
async function installPython() {
  const hasVenv = () => which("python3") && tryRun("python3", ["-c", "import ensurepip, venv"]).ok;
  if (hasVenv()) return;
  const refusal = aptRefusal();
  if (!refusal)
    await task("Python from Debian's packages", (detail) => aptInstall(["python3", "python3-venv"], detail));
  if (hasVenv()) return;
  throw new Problem("Python 3 with its module `venv` is missing.", {
    hint: `${refusal ? `It cannot be installed here: ${refusal}. ` : ""}Install it, then run this again.`,
  });
}

/**
 * Installs the packages of a requirements file, unless they are up to date.
 * @param {string} name the folder of the virtual environment below `target/python`
 * @param {string} requirements the file, relative to the project
 */
export async function installPythonPackages(name, requirements) {
  const folder = join(root, "target", "python", name);
  const stampFile = join(folder, "installed-from");
  // Its programs contain the absolute path of their folder, so a moved project must install them again.
  const digest = fingerprint([requirements], [folder]);
  if (isStamped(stampFile, digest)) return;
  await withLock(`python-${name}`, `it installs ${name}`, async () => {
    if (isStamped(stampFile, digest)) return;
    await installPython();
    await task(`${name} from PyPI`, async (detail) => {
      rmSync(folder, { recursive: true, force: true });
      await run("python3", ["-m", "venv", folder], { detail });
      const options = ["--quiet", "--disable-pip-version-check", "--no-input", "--only-binary", ":all:"];
      await run(join(folder, "bin", "python"), ["-m", "pip", "install", ...options, "-r", join(root, requirements)], {
        detail,
        hint: "pip must reach PyPI (https://pypi.org/ or your mirror) the first time. Then run this again.",
      });
    });
    stamp(stampFile, digest);
  });
}

/** Installs the Python clients that tests run: the SDK of the Model Context Protocol, and the library of Standard Webhooks. */
export const clientPackages = () => installPythonPackages("clients", join("tests", "python", "requirements.txt"));
