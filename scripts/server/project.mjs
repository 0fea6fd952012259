// The folder in which a team runs the npm package: its configuration, and a link to the package.
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { root, work } from "../lib/paths.mjs";
import { Problem } from "../lib/problem.mjs";
import { log } from "../lib/status.mjs";

/** The link to the package, to which wrangler.toml refers: npx, npm and pnpm install the package in different places. */
export const LINK = ".wrangler/connector-vault";

const template = (name) => readFileSync(join(root, "template", name), "utf8");
const read = (name) => (existsSync(join(work, name)) ? readFileSync(join(work, name), "utf8") : undefined);

/** Whether wrangler.toml is the configuration of this service, rather than that of another Worker. */
const isServiceConfig = (config) => config.includes(`"${LINK}/`);

/** Points the link at this package. Does nothing in a folder without the configuration. */
export function linkPackage() {
  const config = read("wrangler.toml");
  if (config === undefined || !isServiceConfig(config)) return;
  const link = join(work, LINK);
  if (existsSync(link) && realpathSync(link) === root) return;
  mkdirSync(join(work, ".wrangler"), { recursive: true });
  // Renamed, because another command may be using the link.
  const newLink = `${link}.${process.pid}`;
  symlinkSync(root, newLink, "dir");
  renameSync(newLink, link);
}

function rejectForeignConfig(config) {
  if (config === undefined || isServiceConfig(config)) return;
  throw new Problem("This folder has the wrangler.toml of another Worker.", {
    hint: "Run the command in a folder of its own.",
  });
}

/** Fails unless the folder has the configuration. */
export function ensureProjectIsSetUp() {
  const config = read("wrangler.toml");
  rejectForeignConfig(config);
  if (config === undefined) {
    throw new Problem(`There is no wrangler.toml in ${work}.`, {
      hint: "Change to the folder of your service, or set one up here: npx connector-vault-server init",
    });
  }
  linkPackage();
}

/** The names of own scripts that differ from the template's. */
const conflictsOf = (own, scripts) =>
  Object.keys(scripts).filter((name) => own.scripts?.[name] && own.scripts[name] !== scripts[name]);

/** Adds the template's scripts and dependency to a package.json. */
function withScripts(own) {
  const { scripts, dependencies } = JSON.parse(template("package.json"));
  const conflicts = conflictsOf(own, scripts);
  if (conflicts.length > 0) {
    throw new Problem(`package.json has other scripts called ${conflicts.join(", ")}.`, {
      hint: "Run the command in a folder of its own.",
    });
  }
  return {
    ...own,
    scripts: { ...own.scripts, ...scripts },
    // Does not replace an existing dependency, which may be another version or a packed file.
    dependencies: { ...dependencies, ...own.dependencies },
  };
}

const manifestOf = (text) => (text === undefined ? { name: "vault", private: true } : JSON.parse(text));
const writeManifest = (manifest) =>
  writeFileSync(join(work, "package.json"), `${JSON.stringify(manifest, undefined, 2)}\n`);

/**
 * Adds the scripts to the package.json of a configured folder if it has none of them, as after a backup of wrangler.toml was
 * restored. A team's own scripts stay as they are.
 */
function addMissingScripts() {
  const own = manifestOf(read("package.json"));
  const { scripts } = JSON.parse(template("package.json"));
  const runsCommand = Object.values(own.scripts ?? {}).some((script) => `${script}`.includes("connector-vault-server"));
  if (runsCommand || conflictsOf(own, scripts).length > 0) return;
  writeManifest(withScripts(own));
  log("Wrote the scripts `npm start`, `npm run deploy` … into package.json.");
}

/** Writes the missing configuration. Changes nothing if the folder belongs to another project. */
export function init() {
  const config = read("wrangler.toml");
  rejectForeignConfig(config);
  if (config === undefined) {
    const ownPackage = read("package.json");
    const manifest = withScripts(manifestOf(ownPackage));
    const gitignore = read(".gitignore") ?? "";
    const missingLines = template("gitignore")
      .split("\n")
      .filter((line) => line !== "" && !gitignore.split("\n").includes(line));
    writeManifest(manifest);
    const separator = gitignore === "" || gitignore.endsWith("\n") ? "" : "\n";
    if (missingLines.length > 0) appendFileSync(join(work, ".gitignore"), `${separator}${missingLines.join("\n")}\n`);
    writeFileSync(join(work, "wrangler.toml"), template("wrangler.toml"));
    log("Wrote wrangler.toml, your configuration, and package.json with the scripts `npm start`, `npm run deploy` ….");
    if (!existsSync(join(work, "node_modules", "connector-vault-server")))
      log("To use the scripts, install the package here: npm install");
  } else addMissingScripts();
  linkPackage();
}
