// Extracts files from archives in memory.
import { inflateRawSync } from "node:zlib";

const BLOCK = 512;

const textOf = (bytes) => bytes.toString("utf8").split("\0")[0];
const octal = (bytes) => Number.parseInt(textOf(bytes).trim() || "0", 8);

/** The files of a tar archive whose paths, without `prefix`, are in `expected`. */
export function tarFiles(tar, expected, prefix) {
  const files = new Map();
  let longName;
  for (let at = 0; at + BLOCK <= tar.length && tar[at] !== 0; ) {
    const header = tar.subarray(at, at + BLOCK);
    const size = octal(header.subarray(124, 136));
    const kind = String.fromCharCode(header[156]);
    const content = tar.subarray(at + BLOCK, at + BLOCK + size);
    if (content.length !== size) throw new Error("the archive is truncated");
    at += BLOCK + Math.ceil(size / BLOCK) * BLOCK;
    if (kind === "x") {
      longName = /(?:^|\n)\d+ path=([^\n]+)/.exec(content.toString("utf8"))?.[1];
      continue;
    }
    const isUstar = header.subarray(257, 262).toString() === "ustar";
    const folder = isUstar ? textOf(header.subarray(345, 500)) : "";
    const name = longName ?? [folder, textOf(header.subarray(0, 100))].filter(Boolean).join("/");
    longName = undefined;
    const path = name.startsWith(prefix) ? name.slice(prefix.length) : undefined;
    // Regular files only: links could point outside the archive.
    if (path && expected.has(path) && (kind === "0" || kind === "\0")) files.set(path, content);
  }
  return files;
}

/** The files of a zip archive that are in `expected`. Fails if one is larger than `maxBytes`. */
export function zipFiles(zip, expected, maxBytes) {
  const end = zip.lastIndexOf("PK\u0005\u0006", undefined, "latin1");
  if (end < 0) throw new Error("the archive is damaged");
  const count = zip.readUInt16LE(end + 10);
  const files = new Map();
  for (let at = zip.readUInt32LE(end + 16), n = 0; n < count; n++) {
    if (zip.readUInt32LE(at) !== 0x02014b50) throw new Error("the archive is damaged");
    const method = zip.readUInt16LE(at + 10);
    const packedSize = zip.readUInt32LE(at + 20);
    const size = zip.readUInt32LE(at + 24);
    const [nameLength, extraLength, commentLength] = [28, 30, 32].map((offset) => zip.readUInt16LE(at + offset));
    const start = zip.readUInt32LE(at + 42);
    const name = zip.toString("utf8", at + 46, at + 46 + nameLength);
    at += 46 + nameLength + extraLength + commentLength;
    if (!expected.has(name)) continue;
    if (size > maxBytes) throw new Error(`${name} is larger than ${maxBytes >> 20} MiB`);
    const from = start + 30 + zip.readUInt16LE(start + 26) + zip.readUInt16LE(start + 28);
    const compressed = zip.subarray(from, from + packedSize);
    const bytes = method === 0 ? compressed : inflateRawSync(compressed, { maxOutputLength: maxBytes });
    if ((method !== 0 && method !== 8) || bytes.length !== size) throw new Error(`${name} in the archive is damaged`);
    files.set(name, bytes);
  }
  return files;
}
