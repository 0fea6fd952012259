// The npm package as users get it: packed, and installed from the tarball into a project.
import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../../../scripts/lib/paths.mjs";
import { run } from "../../../scripts/lib/run.mjs";
import { folder } from "./workspace.mjs";

const PROJECTS = join(root, "tests", "projects");
const TIMEOUT_MS = 120_000;

/** Packs the package, after building it if its sources changed. Returns the path of the tarball. */
export async function pack() {
  const output = await run("npm", ["pack", join(root, "npm"), "--pack-destination", folder], { timeout: 900_000 });
  return join(folder, output.trim().split("\n").at(-1));
}

/** The folders with installed tarballs, as promises, by the path of the tarball. */
const installed = new Map();

/** Installs a tarball into an empty project, without network. Returns the folder of the project. */
async function installedOnce(tarball) {
  const path = join(folder, "projects", "installed");
  mkdirSync(path, { recursive: true });
  write(path, "package.json", { private: true });
  await run("npm", ["install", "--offline", "--no-audit", "--no-fund", tarball], { cwd: path, timeout: TIMEOUT_MS });
  return path;
}

/** Copies a project of tests/projects, with the installed tarball. Returns the folder. */
export async function install(tarball, project, copy = project) {
  const path = join(folder, "projects", copy);
  cpSync(join(PROJECTS, project), path, { recursive: true });
  if (!installed.has(tarball)) installed.set(tarball, installedOnce(tarball));
  cpSync(join(await installed.get(tarball), "node_modules"), join(path, "node_modules"), { recursive: true });
  return path;
}

/** Writes a file into such a project. */
export function write(project, name, value) {
  writeFileSync(join(project, name), typeof value === "string" ? value : JSON.stringify(value));
}
