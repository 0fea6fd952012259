// Where secrets must not be: what a run wrote, searched for every secret that it used.
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";

/** The bytes of all files below a folder, as text. */
export const bytesBelow = (path) =>
  readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), "latin1"))
    .join("\n");

/**
 * The secrets that a text holds, as they are or encoded, each with the text's name.
 * @param {Iterable<string>} all the secrets
 * @param {[name: string, text: string][]} places
 */
export function leaks(all, places) {
  return [...all].flatMap((secret) => {
    const base64 = Buffer.from(secret).toString("base64").replace(/=+$/, "");
    const forms = [secret, encodeURIComponent(secret), base64];
    const found = places.filter(([, text]) => forms.some((form) => text.includes(form)));
    return found.map(([place]) => [secret, place]);
  });
}
