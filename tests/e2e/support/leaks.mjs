// Where secrets must not be. After the last test of a file, every secret that its tests used is searched for in everything
// that was written meanwhile: what servers and wrangler logged, and each file of the tests' folder, databases and their
// journals included. A file of tests has this by importing `server.mjs`.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { basename, join, relative } from "node:path";
import { secrets } from "./http.mjs";
import { folder } from "./workspace.mjs";

// Where an operator and a developer keep secrets themselves; `config.json` has those of the tests' own apps.
const KEPT_IN = /^(\.dev\.vars|\.env.*|(vault|operator)-keys.*\.txt|config\.json)$/;
// Of shorter ones, some are ordinary words.
const SHORTEST = 12;
const SHOWN = 8;

/** A secret as it may be written: as it is, in a URL, in base64. */
function forms(secret) {
  const base64 = Buffer.from(secret).toString("base64").replace(/=+$/, "");
  return [...new Set([secret, encodeURIComponent(secret), base64])];
}

/** The bytes of a file as text; undefined when it is gone by now, as journals are that a database has taken over. */
function contentOf(path) {
  try {
    return readFileSync(path, "latin1");
  } catch (error) {
    if (error.code !== "ENOENT") throw error;
  }
}

function* written(outputs) {
  for (const [nth, text] of outputs.entries()) yield [`what server ${nth + 1} printed`, text];
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || KEPT_IN.test(basename(entry.name))) continue;
    const path = join(entry.parentPath, entry.name);
    const text = contentOf(path);
    if (text !== undefined) yield [relative(folder, path), text];
  }
}

/** The bytes of all files below a folder, as text. */
export const bytesBelow = (path) =>
  readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), "latin1"))
    .join("\n");

/**
 * The secrets that a text holds, as they are or encoded, each with the text's name.
 * @param {Iterable<string>} all the secrets
 * @param {Iterable<[name: string, text: string]>} places
 */
export function leaks(all, places) {
  const sought = [...all].map((secret) => [secret, forms(secret)]);
  const found = [];
  for (const [place, text] of places) {
    for (const [secret, written] of sought)
      if (written.some((form) => text.includes(form))) found.push([secret, place]);
  }
  return found;
}

/** Fails when a secret is in anything that was written; `outputs` is what servers printed. */
export function expectNoLeaks(outputs) {
  const sought = [...secrets].filter((secret) => secret.length >= SHORTEST);
  const found = leaks(sought, written(outputs)).map(([secret, place]) => `${secret.slice(0, SHOWN)}… in ${place}`);
  assert.deepEqual(found, [], "secrets were written");
}

/** Fails when the WebAssembly module of a server trapped, and so had to be initialized again. */
export function expectNoTraps(outputs) {
  const lines = outputs.join("\n").split("\n");
  assert.deepEqual(
    lines.filter((line) => /panicked|RuntimeError|unreachable executed/.test(line)),
    [],
  );
}
