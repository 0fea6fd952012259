// The components of the published parts: the crates of the Worker and of the npm package, and the npm packages bundled in the
// site. Read from the installed packages, without network access.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../lib/paths.mjs";
import { run, tryRun } from "../lib/run.mjs";

/** The npm packages that are bundled in the site or in the npm package. */
export const BUNDLED = [
  ...["preact", "@tanstack/preact-query", "@tanstack/query-core", "wouter-preact", "lucide-preact"],
  ...["charts.css", "swagger-ui-dist", "simple-icons"],
];

/** Rust's name for the platform of this machine. */
const host = () => /^host: (.+)$/m.exec(tryRun("rustc", ["-vV"]).out)?.[1];

/** Converts a licence to SPDX: a slash is an older notation of OR. */
export const spdx = (license) => license.replaceAll(/\s*\/\s*/g, " OR ");

/**
 * The crates that a part is built from, including build dependencies.
 * @param {"worker" | "client" | "cli"} feature
 * @returns {Promise<{ name: string, version: string, license: string, repository?: string, sha256: string }[]>} by name
 */
export async function crates(feature) {
  const args = ["metadata", "--format-version", "1", "--locked", "--features", feature];
  const { packages, resolve } = JSON.parse(
    await run("cargo", [...args, "--filter-platform", feature === "cli" ? host() : "wasm32-unknown-unknown"], {
      cwd: root,
    }),
  );
  const nodes = new Map(resolve.nodes.map(({ id, deps }) => [id, deps]));
  const visited = new Set();
  const visit = (id) => {
    if (visited.has(id)) return;
    visited.add(id);
    for (const { pkg, dep_kinds: kinds } of nodes.get(id)) if (kinds.some(({ kind }) => kind !== "dev")) visit(pkg);
  };
  visit(resolve.root);
  visited.delete(resolve.root);
  const checksums = new Map(
    [
      ...readFileSync(join(root, "Cargo.lock"), "utf8").matchAll(
        /name = "(.+)"\nversion = "(.+)"\nsource = .+\nchecksum = "(.+)"/g,
      ),
    ].map(([, name, version, checksum]) => [`${name} ${version}`, checksum]),
  );
  return packages
    .filter(({ id }) => visited.has(id))
    .map(({ name, version, license, repository }) => ({
      ...{ name, version, license },
      repository: repository ?? undefined,
      sha256: checksums.get(`${name} ${version}`),
    }))
    .sort((a, b) => (`${a.name} ${a.version}` < `${b.name} ${b.version}` ? -1 : 1));
}

/** The bundled npm packages: { name, version, license, sha512 }, the last one in hexadecimal. */
export function bundled() {
  const { packages } = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8"));
  return BUNDLED.map((name) => {
    const { version, license, integrity } = packages[`node_modules/${name}`];
    const sha512 = Buffer.from(integrity.replace("sha512-", ""), "base64").toString("hex");
    return { name, version, license, sha512 };
  }).sort((a, b) => (a.name < b.name ? -1 : 1));
}
