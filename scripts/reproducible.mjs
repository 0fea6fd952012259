// `npm run reproducible`: builds the last commit again in a fresh clone, and compares the Worker, the npm package and the site
// with those of this folder, byte by byte.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { buildSite } from "./build-site.mjs";
import { buildWorker } from "./build-worker.mjs";
import { filesOf } from "./lib/fingerprint.mjs";
import { root } from "./lib/paths.mjs";
import { main, Problem } from "./lib/problem.mjs";
import { run, tryRun } from "./lib/run.mjs";
import { log, task } from "./lib/status.mjs";
import { setup } from "./setup.mjs";

const BUILT_FOLDERS = ["build", join("npm", "dist"), join("www", "dist")];

/** The built files below `folder`, as a map from path to bytes. */
function built(folder) {
  const files = BUILT_FOLDERS.flatMap((part) => [...filesOf(join(folder, part))]);
  return new Map(files.map((path) => [relative(folder, path), readFileSync(path)]));
}

await main(async () => {
  const changes = tryRun("git", ["status", "--porcelain"]).out;
  if (changes)
    throw new Problem("There are uncommitted changes.", {
      hint: "Commit or stash them, because the last commit is compared.",
    });
  const tools = await setup();
  await buildWorker(tools);
  await buildSite(tools);
  const clone = mkdtempSync(join(tmpdir(), "connector-vault-again-"));
  try {
    await run("git", ["clone", "--quiet", root, clone]);
    await task("build in a fresh clone", (detail) => run("npm", ["run", "build"], { cwd: clone, detail }));
    const [localFiles, clonedFiles] = [built(root), built(clone)];
    const differ = [...new Set([...localFiles.keys(), ...clonedFiles.keys()])].filter(
      (path) => !clonedFiles.get(path)?.equals(localFiles.get(path) ?? Buffer.alloc(0)),
    );
    if (differ.length > 0)
      throw new Problem(`${differ.length} of ${localFiles.size} files differ.`, { output: differ.sort().join("\n") });
    log(`All ${localFiles.size} files are identical.`);
  } finally {
    rmSync(clone, { recursive: true, force: true });
  }
});
