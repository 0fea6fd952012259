// Builds the site (console and API reference) into www/dist/ and checks the size of the console. wrangler calls this through
// `npm run build`.
import { existsSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";
import { buildPackage } from "./build-package.mjs";
import { fingerprint, isStamped, stamp } from "./lib/fingerprint.mjs";
import { withLock } from "./lib/lock.mjs";
import { nodeBin, root } from "./lib/paths.mjs";
import { main, Problem } from "./lib/problem.mjs";
import { run } from "./lib/run.mjs";
import { log, task } from "./lib/status.mjs";
import { setup } from "./setup.mjs";

// The size limit of all files that the console can load, in bytes, gzipped.
export const LIMIT_BYTES = 176_000;
// The size limit of the connect window in English, in bytes, gzipped.
export const WINDOW_LIMIT_BYTES = 26_000;
/** A file with the connect window's texts in one language. */
const LANGUAGE_FILE = /^assets\/(?:de|fr|es|ja)-/;
const INPUTS = [
  "www/index.html",
  "www/docs.html",
  "www/connect.html",
  "www/src",
  "www/public",
  "www/logos.ts",
  "www/guides.ts",
  "www/vite.config.ts",
  "www/tsconfig.json",
  "npm/dist",
  "README.md",
  "CHANGELOG.md",
  "SECURITY.md",
  "docs",
  "npm/README.md",
  "python/README.md",
  "package-lock.json",
  "providers.toml",
  "scripts/build-site.mjs",
];
const stampFile = join(root, "target", "site.built-from");
const dist = join(root, "www", "dist");

/** Builds the npm package and the site if their inputs changed; fails if the console exceeds its size limit. */
export async function buildSite(tools) {
  await buildPackage(tools);
  await withLock("site", "it builds the site", build);
}

async function build() {
  const digest = fingerprint(INPUTS);
  const isCurrent = isStamped(stampFile, digest) && existsSync(join(dist, "index.html"));
  if (!isCurrent) {
    // Removed first, because www/dist/ contains no valid build if this is interrupted.
    rmSync(stampFile, { force: true });
    await task("site (console and reference)", (detail) =>
      run(join(nodeBin, "vite"), ["build", join(root, "www"), "--logLevel", "warn"], { detail }),
    );
  }
  checkSizes(isCurrent ? "; unchanged" : "");
  stamp(stampFile, digest);
}

/** The files that a page loads, directly or through other files. */
export function filesOf(page) {
  const assets = ["assets", "style"].flatMap((folder) =>
    readdirSync(join(dist, folder)).map((name) => ({ name, path: join(folder, name) })),
  );
  const reachableFiles = new Set([page]);
  for (const file of reachableFiles) {
    if (!/\.(html|js|css)$/.test(file)) continue;
    const text = readFileSync(join(dist, file), "utf8");
    for (const { name, path } of assets) if (text.includes(name)) reachableFiles.add(path);
  }
  return [...reachableFiles];
}

const sizeOf = (file) => gzipSync(readFileSync(join(dist, file)), { level: 9 }).length;

/** The total size of files in bytes, gzipped. Leaves out languages other than English: a user loads at most one. */
export function totalSize(files) {
  return files.filter((file) => !LANGUAGE_FILE.test(file)).reduce((sum, file) => sum + sizeOf(file), 0);
}

function checkSizes(note) {
  const kb = (bytes) => `${(bytes / 1000).toFixed(1)} KB`;
  for (const [name, page, limit] of [
    ["console", "index.html", LIMIT_BYTES],
    ["connect window", "connect.html", WINDOW_LIMIT_BYTES],
  ]) {
    const files = filesOf(page);
    const total = totalSize(files);
    const languages = files.filter((file) => LANGUAGE_FILE.test(file)).map(sizeOf);
    const languageNote = languages.length > 0 ? `, and up to ${kb(Math.max(...languages))} for a language` : "";
    log(`The ${name}: ${kb(total)} gzipped in total${languageNote}; limit ${kb(limit)}${note}.`);
    if (total > limit)
      throw new Problem(`The ${name} exceeds its limit of ${kb(limit)} gzipped by ${kb(total - limit)}.`);
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  await main(async () => buildSite(await setup()));
}
