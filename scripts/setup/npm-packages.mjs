// Installs the npm packages of package-lock.json, including a Node that is new enough for wrangler.
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { basename, join, relative } from "node:path";
import { withLock } from "../lib/lock.mjs";
import { nodeBin, root } from "../lib/paths.mjs";
import { Problem } from "../lib/problem.mjs";
import { run, tryRun, which } from "../lib/run.mjs";
import { task } from "../lib/status.mjs";

const MINIMUM_NODE = [22, 12];

function fingerprint(folder) {
  const lock = readFileSync(join(folder, "package-lock.json"));
  return createHash("sha256").update(lock).update(`${process.platform} ${process.arch}`).digest("hex");
}

// `npm ci` first deletes node_modules with this stamp, so that an interrupted installation is repeated.
const stampOf = (folder) => join(folder, "node_modules", ".connector-vault-stamp");

function isCurrent(stamp, digest) {
  try {
    return readFileSync(stamp, "utf8") === digest;
  } catch {
    return false;
  }
}

/** Fails unless the tools with install scripts or per-platform packages work. */
function verify() {
  const [major, minor] = (tryRun("node", ["--version"]).out.match(/\d+/g) ?? [0, 0]).map(Number);
  if (major < MINIMUM_NODE[0] || (major === MINIMUM_NODE[0] && minor < MINIMUM_NODE[1])) {
    throw new Problem(`Node ${MINIMUM_NODE.join(".")} or newer was not installed (found ${major}.${minor}).`, {
      hint: "The npm package `node` installs it with an install script. Allow the script:\n  npm ci --ignore-scripts=false\nor install Node 24 yourself.",
    });
  }
  for (const tool of ["esbuild", "workerd", "wasm-opt", "wrangler"]) {
    const result = tryRun(join(nodeBin, tool), ["--version"]);
    if (!result.ok) {
      throw new Problem(`\`${tool}\` from npm does not run on this machine (${process.platform} ${process.arch}).`, {
        output: result.err,
        hint: "Delete node_modules and try again; npm must be allowed to install optional packages.",
      });
    }
  }
}

/**
 * Installs the packages of a folder's package-lock.json, unless they are up to date.
 * @param {string} [folder] the project's root, or a folder below it, whose packages can also use those of the root
 */
export async function installNpmPackages(folder = root) {
  const stamp = stampOf(folder);
  const digest = fingerprint(folder);
  if (isCurrent(stamp, digest)) return;
  const isRoot = folder === root;
  await withLock(
    isRoot ? "npm-packages" : `npm-packages-${basename(folder)}`,
    "it is installing the npm packages",
    async () => {
      if (isCurrent(stamp, digest)) return;
      await install(folder);
      if (isRoot) verify();
      writeFileSync(stamp, digest);
    },
  );
}

async function install(folder) {
  if (!which("npm")) {
    throw new Problem("`npm` was not found.", { hint: "Install Node 20 or newer with npm: https://nodejs.org/" });
  }
  const label = folder === root ? "npm packages" : `npm packages of ${relative(root, folder)}`;
  await task(label, async (detail) => {
    const flags = [
      "--include=dev",
      "--include=optional",
      "--no-audit",
      "--no-fund",
      "--engine-strict=false",
      "--loglevel=error",
    ];
    await run("npm", ["ci", ...flags], {
      cwd: folder,
      detail,
      hint: "npm must reach its registry (https://registry.npmjs.org/ or your mirror) the first time. Then run this again.",
    });
  });
}
