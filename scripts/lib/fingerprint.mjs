// Tells whether anything that a result was made from has changed since.
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { root } from "./paths.mjs";

/** All files at or below a path, in order; none if nothing is there. */
export function* filesOf(path) {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (!stat) return;
  if (!stat.isDirectory()) {
    yield path;
    return;
  }
  for (const name of readdirSync(path).sort()) yield* filesOf(join(path, name));
}

/** A hash over the names and contents of files and folders (relative to the project), and over words. */
export function fingerprint(paths, words = []) {
  const hash = createHash("sha256");
  for (const word of words) hash.update(`${word}\0`);
  for (const path of paths) {
    for (const file of filesOf(join(root, path))) {
      const bytes = readFileSync(file);
      hash.update(`${file.slice(root.length)}\0${bytes.length}\0`).update(bytes);
    }
  }
  return hash.digest("hex");
}

/** Whether the stamp file holds this fingerprint. */
export function isStamped(file, wanted) {
  try {
    return readFileSync(file, "utf8") === wanted;
  } catch {
    return false;
  }
}

/** Writes the stamp; call it last. */
export function stamp(file, wanted) {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, wanted);
}
