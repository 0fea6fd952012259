// Searches for leaked secrets. After the last test of a file, all secrets of its tests are searched for in everything that was
// written: logs of servers and wrangler, and all files in the temporary folder, including databases and journals. Importing
// `server.mjs` enables this for a test file.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { basename, join, relative } from "node:path";
import { secrets } from "./http.mjs";
import { folder } from "./workspace.mjs";

// Files in which operators and developers store secrets; `config.json` has those of the test apps.
const SECRET_FILES = /^(\.dev\.vars|\.env.*|(vault|operator)-keys.*\.txt|config\.json)$/;
// The minimum length of the secrets to search for: shorter values can be ordinary words.
const MIN_LENGTH = 12;
const SHOWN_LENGTH = 8;
// The bytes by which a secret is looked up.
const START_LENGTH = 4;

/** The encodings of a secret: plain, URL, base64. */
function encodingsOf(secret) {
  const base64 = Buffer.from(secret).toString("base64").replace(/=+$/, "");
  return [...new Set([secret, encodeURIComponent(secret), base64])].map((text) => Buffer.from(text));
}

/** Finds any of many secrets in one pass over the bytes, because files of tests contain hundreds of secrets and megabytes. */
class SecretFinder {
  // The encoded secrets by their first four bytes, and a bitmap of the hashes of these bytes, which rejects nearly all positions.
  #byStart = new Map();
  #hashes = new Uint8Array(1 << 16);

  constructor(secrets) {
    for (const secret of secrets) {
      for (const encoded of encodingsOf(secret)) {
        const start = encoded.readInt32LE(0);
        this.#byStart.set(start, [...(this.#byStart.get(start) ?? []), { secret, encoded }]);
        this.#hashes[hash(start)] = 1;
      }
    }
  }

  /** The secrets in these bytes. */
  find(bytes) {
    const found = new Set();
    // The four bytes that end before `end`.
    let start = 0;
    for (let end = 1; end <= bytes.length; end++) {
      start = (start >>> 8) | (bytes[end - 1] << 24);
      if (this.#hashes[hash(start)] === 0) continue;
      for (const { secret, encoded } of this.#byStart.get(start) ?? [])
        if (encoded.equals(bytes.subarray(end - START_LENGTH, end - START_LENGTH + encoded.length))) found.add(secret);
    }
    return found;
  }
}

const hash = (start) => Math.imul(start, 0x9e3779b1) >>> 16;

/** Runs `read`. Returns undefined if the file or folder has been removed, as database journals are. */
function unlessRemoved(read) {
  try {
    return read();
  } catch (error) {
    if (error.code !== "ENOENT") throw error;
  }
}

/** The paths of all files below a folder. Unlike `readdirSync` with `recursive`, does not follow links, such as to node_modules. */
function* filesBelow(parent) {
  for (const entry of unlessRemoved(() => readdirSync(parent, { withFileTypes: true })) ?? []) {
    const path = join(parent, entry.name);
    if (entry.isDirectory()) yield* filesBelow(path);
    else if (entry.isFile()) yield path;
  }
}

function* written(outputs) {
  for (const [index, text] of outputs.entries()) yield [`what server ${index + 1} printed`, text];
  for (const path of filesBelow(folder)) {
    if (SECRET_FILES.test(basename(path))) continue;
    const bytes = unlessRemoved(() => readFileSync(path));
    if (bytes !== undefined) yield [relative(folder, path), bytes];
  }
}

/** The bytes of all files below a folder. */
export const bytesBelow = (path) => Buffer.concat([...filesBelow(path)].map((file) => readFileSync(file)));

/**
 * The secrets that are in these contents in any encoding, with the names of the places.
 * @param {Iterable<string>} secrets each of at least four bytes
 * @param {Iterable<[name: string, content: string | Buffer]>} places
 */
export function leaks(secrets, places) {
  const finder = new SecretFinder(secrets);
  const found = [];
  for (const [place, content] of places) {
    const bytes = Buffer.isBuffer(content) ? content : Buffer.from(content);
    for (const secret of finder.find(bytes)) found.push([secret, place]);
  }
  return found;
}

/** Fails if a secret is in anything that was written; `outputs` are the logs of servers. */
export function expectNoLeaks(outputs) {
  const longSecrets = [...secrets].filter((secret) => secret.length >= MIN_LENGTH);
  const found = leaks(longSecrets, written(outputs)).map(
    ([secret, place]) => `${secret.slice(0, SHOWN_LENGTH)}… in ${place}`,
  );
  assert.deepEqual(found, [], "secrets were written");
}

/** Fails if the WebAssembly module of a server trapped and was reinitialized. */
export function expectNoTraps(outputs) {
  const lines = outputs.join("\n").split("\n");
  assert.deepEqual(
    lines.filter((line) => /panicked|RuntimeError|unreachable executed/.test(line)),
    [],
  );
}
