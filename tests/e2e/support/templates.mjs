// Catalogs and databases that several test files need. The real commands create them once in target/e2e, and again when the program or
// one of the inputs changes.
import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { isAlive } from "../../../scripts/lib/process-alive.mjs";
import { withLock } from "../../../scripts/lib/lock.mjs";
import { root } from "../../../scripts/lib/paths.mjs";

const TEMPLATES_FOLDER = join(root, "target", "e2e");
const INPUTS = ["schema", "package-lock.json", "providers.toml", "catalog.toml", "sources.toml", "tests/fixtures"];
const HELPER_RECORD = "storage-helper.json";
const POLL_MS = 20;

const hashOf = (value) => createHash("sha256").update(JSON.stringify(value)).digest("hex").slice(0, 20);

function inputStamp(path) {
  const stat = statSync(path);
  if (!stat.isDirectory()) return [path, stat.size, stat.mtimeMs];
  return readdirSync(path)
    .sort()
    .map((name) => inputStamp(join(path, name)));
}

let current;

/** The folder for the templates of this program and these inputs. Removes those of earlier ones. */
function templateFolder(program) {
  if (current) return current;
  const name = hashOf([program, ...INPUTS.map((path) => join(root, path))].map(inputStamp));
  mkdirSync(TEMPLATES_FOLDER, { recursive: true });
  for (const other of readdirSync(TEMPLATES_FOLDER))
    if (other !== name) rmSync(join(TEMPLATES_FOLDER, other), { recursive: true, force: true });
  current = join(TEMPLATES_FOLDER, name);
  return current;
}

/** Stops the helper of the operator's commands, which keeps a storage open for half a minute. */
export async function stopHelper(storage) {
  const file = join(storage, HELPER_RECORD);
  if (!existsSync(file)) return;
  const { pid } = JSON.parse(readFileSync(file, "utf8"));
  if (isAlive(pid)) process.kill(pid, "SIGTERM");
  while (isAlive(pid)) await pause(POLL_MS);
}

/**
 * Returns the folder of a template. Calls `make` to fill it if it does not exist.
 * @param {string} program the operator's command line, which makes it
 * @param {unknown} of what distinguishes it from other templates
 * @param {(folder: string) => Promise<unknown>} make
 */
export async function template(program, of, make) {
  const done = join(templateFolder(program), hashOf(of));
  if (existsSync(done)) return done;
  await withLock(`e2e-${hashOf(of)}`, "it prepares storage for tests", async () => {
    if (existsSync(done)) return;
    const temporaryFolder = `${done}.unfinished`;
    rmSync(temporaryFolder, { recursive: true, force: true });
    mkdirSync(temporaryFolder, { recursive: true });
    await make(temporaryFolder);
    await stopHelper(temporaryFolder);
    renameSync(temporaryFolder, done);
  });
  return done;
}

/** Copies a storage, without the record of its helper. */
export const copyStorage = (from, to) =>
  cpSync(from, to, { recursive: true, filter: (path) => !path.endsWith(HELPER_RECORD) });
