// The npm package connector-vault-server, installed in an empty folder from its packed files.
import { mkdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { root } from "../../../scripts/lib/paths.mjs";
import { run } from "../../../scripts/lib/run.mjs";
import { packCommandLine, packServer } from "../../../scripts/release/server-package.mjs";
import { folder, wranglerEnvironment } from "./workspace.mjs";

/** The entries of package-lock.json that these packages need, by their paths. */
function closure(packages, names) {
  const needed = new Map();
  const visit = (expected, from) => {
    for (let place = from; ; place = place.slice(0, Math.max(0, place.lastIndexOf("node_modules/") - 1))) {
      const path = `${place === "" ? "" : `${place}/`}node_modules/${expected}`;
      const entry = packages[path];
      if (!entry && place !== "") continue;
      if (!entry || needed.has(path)) return;
      // Drop the dev flags: these packages are development dependencies in the checkout's lockfile, but runtime
      // dependencies here.
      const { dev: _dev, devOptional: _either, ...own } = entry;
      needed.set(path, own);
      for (const next of Object.keys({ ...entry.dependencies, ...entry.optionalDependencies })) visit(next, path);
      return;
    }
  };
  for (const name of names) visit(name, "");
  return Object.fromEntries(needed);
}

/** The environment of a machine with Node and npm, but without cargo and the tools of this project. */
export const onlyNode = {
  ...wranglerEnvironment,
  HOME: process.env.HOME,
  PATH: [dirname(realpathSync(process.execPath)), "/usr/local/bin", "/usr/bin", "/bin"].join(":"),
};

/**
 * Packs the packages with a catalog, and installs them. npm installs their dependencies from its cache, which the set-up has filled.
 * @returns {Promise<{ project: string, server: string }>} the folders of the project and of the installed package
 */
export async function installServer(catalog) {
  const destination = join(folder, "packed");
  const commandLine = await packCommandLine({ work: join(folder, "packing-command-line"), destination });
  const platforms = [commandLine.name];
  const packed = await packServer({ catalog, platforms, work: join(folder, "packing-server"), destination });
  const project = join(folder, "server-project");
  mkdirSync(project);
  const files = { "connector-vault-server": packed.file, [commandLine.name]: commandLine.file };
  const dependencies = Object.fromEntries(Object.entries(files).map(([name, file]) => [name, `file:${file}`]));
  const packageJson = { dependencies };
  writeFileSync(join(project, "package.json"), JSON.stringify(packageJson));
  const manifest = (name) => JSON.parse(readFileSync(join(folder, name, "package.json"), "utf8"));
  const entry = (name, { version, bin, dependencies: needs, optionalDependencies }) => ({
    ...{ version, bin, dependencies: needs, optionalDependencies, resolved: dependencies[name] },
  });
  const { packages } = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8"));
  const lock = {
    lockfileVersion: 3,
    requires: true,
    packages: {
      "": packageJson,
      "node_modules/connector-vault-server": entry("connector-vault-server", manifest("packing-server")),
      [`node_modules/${commandLine.name}`]: entry(commandLine.name, manifest("packing-command-line")),
      ...closure(packages, Object.keys(manifest("packing-server").dependencies)),
    },
  };
  writeFileSync(join(project, "package-lock.json"), JSON.stringify(lock));
  const flags = ["--prefer-offline", "--no-audit", "--no-fund", "--loglevel=error", "--ignore-scripts"];
  await run("npm", ["ci", ...flags], { cwd: project, timeout: 300_000 });
  return { project, server: join(project, "node_modules", "connector-vault-server") };
}
