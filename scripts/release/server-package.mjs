// Packs the npm packages with which the service runs without Rust: connector-vault-server, and its command-line program for
// this machine.
import { chmodSync, copyFileSync, cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { program as ownProgram } from "../lib/native-cli.mjs";
import { root } from "../lib/paths.mjs";
import { Problem } from "../lib/problem.mjs";
import { run } from "../lib/run.mjs";
import { platformPackage } from "../server/prebuilt.mjs";
import { LINK } from "../server/project.mjs";

/** The modules that run as programs. The package contains them and all modules that they import. */
const ENTRIES = ["server/main.mjs", "storage/helper.mjs", "sources/download.mjs"];
/** The contents of the package in addition to the scripts. */
const PACKAGE_FILES = ["build", "schema", "www/dist", "catalog.toml", "providers.toml", "sources.toml", "documents"];
const LICENCES = ["LICENSE-APACHE", "LICENSE-MIT"];
const IGNORED_PATHS = ["node_modules", "/.catalog", "/.sources", "/.wrangler", "/.dev.vars", "/vault-keys*.txt"];
const read = (path) => readFileSync(join(root, path), "utf8");
const toJson = (value) => `${JSON.stringify(value, undefined, 2)}\n`;

/** The paths of these modules and of all scripts that they import, relative to the project. */
export function modules(entries = ENTRIES) {
  const modulePaths = new Set(entries.map((name) => join("scripts", name)));
  for (const path of modulePaths) {
    for (const [, name] of read(path).matchAll(/(?:from|import)\s*\(?\s*"(\.[^"]+)"/g))
      modulePaths.add(join(dirname(path), name));
  }
  return [...modulePaths].sort();
}

/** Converts wrangler.toml for a folder that uses the package: removes the build, and prefixes paths with the link to the package. */
export function configuration(text) {
  let config = text.replace(/^\[build\]\n(?:.+\n)+\n/m, "");
  for (const path of ["build/index.js", "schema", "www/dist"]) {
    const line = new RegExp(`= "${path}"$`, "m");
    if (!line.test(config)) throw new Problem(`wrangler.toml does not name ${path}.`);
    config = config.replace(line, `= "${LINK}/${path}"`);
  }
  return config;
}

/** The npm packages that these modules import, and wrangler. */
const DEPENDENCIES = ["age-encryption", "csv-parse", "wrangler"];

/**
 * The operator's commands: the scripts in package.json that run the command-line program, and those that import and
 * export connections.
 */
export const operatorCommands = () => {
  const { scripts } = JSON.parse(read("package.json"));
  const operatorScripts = Object.keys(scripts).filter((name) => scripts[name].startsWith("node scripts/operator.mjs "));
  return [...operatorScripts, "import", "export"];
};

/** The scripts of a project that uses the package. */
const projectScripts = () =>
  Object.fromEntries(
    ["start", "deploy", ...operatorCommands()].map((name) => [name, `connector-vault-server ${name}`]),
  );

async function pack(folder, destination) {
  mkdirSync(destination, { recursive: true });
  const packed = await run("npm", ["pack", "--json", "--pack-destination", destination], { cwd: folder });
  const [{ filename, files }] = Object.values(JSON.parse(packed));
  return { file: join(destination, filename), files };
}

/** The version of all packages. */
export const releaseVersion = () => JSON.parse(read("npm/package.json")).version;

/**
 * Packs a command-line program, which must be built: by default, the one for this machine. Returns the name of its package,
 * the file and its contents.
 */
export async function packCommandLine({
  work: folder,
  destination,
  platform = process.platform,
  arch = process.arch,
  program = ownProgram,
}) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const [name, version] = [platformPackage(platform, arch), releaseVersion()];
  const metadata = {
    description: `The command line of connector-vault-server for ${platform} ${arch}`,
    license: "MIT OR Apache-2.0",
  };
  const platformLimits = { os: [platform], cpu: [arch], ...(platform === "linux" && { libc: ["glibc"] }) };
  writeFileSync(join(folder, "package.json"), toJson({ name, version, ...metadata, ...platformLimits }));
  for (const file of LICENCES) copyFileSync(join(root, file), join(folder, file));
  writeFileSync(join(folder, "README.md"), `# ${name}\n\n${metadata.description}, which installs it.\n`);
  copyFileSync(program, join(folder, "connector-vault"));
  chmodSync(join(folder, "connector-vault"), 0o755);
  return { name, ...(await pack(folder, destination)) };
}

function serverFolder(folder, { catalog, platforms }) {
  const version = releaseVersion();
  mkdirSync(join(folder, "template"), { recursive: true });
  const { devDependencies } = JSON.parse(read("package.json"));
  const packageJson = {
    ...JSON.parse(read("server/package.json")),
    version,
    dependencies: Object.fromEntries(DEPENDENCIES.map((name) => [name, devDependencies[name]])),
    optionalDependencies: Object.fromEntries(platforms.map((name) => [name, version])),
  };
  writeFileSync(join(folder, "package.json"), toJson(packageJson));
  for (const name of ["bin.cjs", "README.md"]) copyFileSync(join(root, "server", name), join(folder, name));
  for (const name of [...LICENCES, "CHANGELOG.md"]) copyFileSync(join(root, name), join(folder, name));
  for (const path of [...modules(), ...PACKAGE_FILES])
    cpSync(join(root, path), join(folder, path), { recursive: true });
  const isLock = (path) => path.endsWith(".lock");
  cpSync(catalog, join(folder, "catalog"), { recursive: true, filter: (path) => !isLock(path) });
  writeFileSync(join(folder, "template", "wrangler.toml"), configuration(read("wrangler.toml")));
  writeFileSync(join(folder, "template", "gitignore"), `${IGNORED_PATHS.join("\n")}\n`);
  const project = { scripts: projectScripts(), dependencies: { [packageJson.name]: version } };
  writeFileSync(join(folder, "template", "package.json"), toJson(project));
}

/**
 * Packs the service, which must be built.
 * @param {{ catalog: string, platforms: string[], work: string, destination: string }} parts the folder of the sample catalog, the
 *   command-line packages, a folder for temporary files, and the folder for the packed file
 * @returns {Promise<{ file: string, files: { path: string, size: number }[] }>} the packed file, with its contents
 */
export async function packServer({ catalog, platforms, work: folder, destination }) {
  rmSync(folder, { recursive: true, force: true });
  serverFolder(folder, { catalog, platforms });
  return pack(folder, destination);
}
