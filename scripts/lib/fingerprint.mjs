// Detects whether the inputs of a build have changed since the last build.
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { root } from "./paths.mjs";

/** All files at or below a path, sorted; none if the path does not exist. */
export function* filesOf(path) {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (!stat) return;
  if (!stat.isDirectory()) {
    yield path;
    return;
  }
  for (const name of readdirSync(path).sort()) yield* filesOf(join(path, name));
}

/** Hashes the names and contents of files and folders (relative to the project), and additional strings. */
export function fingerprint(paths, strings = []) {
  const hash = createHash("sha256");
  for (const string of strings) hash.update(`${string}\0`);
  for (const path of paths) {
    for (const file of filesOf(join(root, path))) {
      const bytes = readFileSync(file);
      hash.update(`${file.slice(root.length)}\0${bytes.length}\0`).update(bytes);
    }
  }
  return hash.digest("hex");
}

export const hashOf = (file) => createHash("sha256").update(readFileSync(file)).digest("hex");

export function isStamped(file, fingerprint) {
  try {
    return readFileSync(file, "utf8") === fingerprint;
  } catch {
    return false;
  }
}

/** Writes the stamp file. Call this after everything else has succeeded. */
export function stamp(file, fingerprint) {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, fingerprint);
}
