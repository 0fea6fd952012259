// The lists of SHA-256 hashes of a release, in the format of `sha256sum --check`.
import { join, relative } from "node:path";
import { root } from "../lib/paths.mjs";

/**
 * @param {{ path: string, sha256: string }[]} files with paths relative to the project
 * @param {string} folder the folder in which the list is checked
 * @returns {string}
 */
export const checksums = (files, folder) =>
  files.map(({ path, sha256 }) => `${sha256}  ${relative(folder, join(root, path))}\n`).join("");
