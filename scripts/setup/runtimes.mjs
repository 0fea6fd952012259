// Installs Deno and Bun from npm into a separate folder: they take 200 MB, and only tests of the npm package need them.
import { copyFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { fingerprint, isStamped, stamp } from "../lib/fingerprint.mjs";
import { withLock } from "../lib/lock.mjs";
import { root } from "../lib/paths.mjs";
import { run } from "../lib/run.mjs";
import { task } from "../lib/status.mjs";

const SOURCE = join("tests", "runtimes");
const FILES = ["package.json", "package-lock.json"];
const folder = join(root, "target", "runtimes");

/** The path of a runtime that `runtimes` installs. */
export const runtimeProgram = (name) => join(folder, "node_modules", ".bin", name);

/** Installs the runtimes that `tests/runtimes` pins, unless they are up to date. */
export async function runtimes() {
  const stampFile = join(folder, "installed-from");
  const digest = fingerprint([SOURCE], [`${process.platform} ${process.arch}`]);
  if (isStamped(stampFile, digest)) return;
  await withLock("runtimes", "it installs Deno and Bun", async () => {
    if (isStamped(stampFile, digest)) return;
    await task("Deno and Bun from npm", async (detail) => {
      mkdirSync(folder, { recursive: true });
      for (const file of FILES) copyFileSync(join(root, SOURCE, file), join(folder, file));
      // Their install scripts select the program of this platform.
      const flags = ["--include=optional", "--ignore-scripts=false", "--no-audit", "--no-fund", "--loglevel=error"];
      await run("npm", ["ci", ...flags], {
        cwd: folder,
        detail,
        hint: "npm must reach its registry (https://registry.npmjs.org/ or your mirror) the first time. Then run this again.",
      });
    });
    stamp(stampFile, digest);
  });
}
