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

/** The encodings of a secret: plain, URL, base64. */
function encodingsOf(secret) {
  const base64 = Buffer.from(secret).toString("base64").replace(/=+$/, "");
  return [...new Set([secret, encodeURIComponent(secret), base64])];
}

/** The bytes of a file as a string; undefined if the file has been removed, as database journals are. */
function contentOf(path) {
  try {
    return readFileSync(path, "latin1");
  } catch (error) {
    if (error.code !== "ENOENT") throw error;
  }
}

function* written(outputs) {
  for (const [index, text] of outputs.entries()) yield [`what server ${index + 1} printed`, text];
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || SECRET_FILES.test(basename(entry.name))) continue;
    const path = join(entry.parentPath, entry.name);
    const text = contentOf(path);
    if (text !== undefined) yield [relative(folder, path), text];
  }
}

/** The bytes of all files below a folder, as strings. */
export const bytesBelow = (path) =>
  readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), "latin1"))
    .join("\n");

/**
 * The secrets that are in these strings in any encoding, with the names of the strings.
 * @param {Iterable<string>} all the secrets
 * @param {Iterable<[name: string, text: string]>} places
 */
export function leaks(all, places) {
  const encodedSecrets = [...all].map((secret) => [secret, encodingsOf(secret)]);
  const found = [];
  for (const [place, text] of places) {
    for (const [secret, written] of encodedSecrets)
      if (written.some((form) => text.includes(form))) found.push([secret, place]);
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
