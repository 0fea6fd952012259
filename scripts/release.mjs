// `npm run release -- --dry-run` builds the files of a release into target/release-files/ and lists them.
// `npm run release` does the same for a tagged commit, then publishes the npm packages.
// `npm run release -- --command-line [linux-arm64]` only builds the command line for this machine, or for that platform, into
// target/command-lines/. A release contains all files of that folder, so that it can have those of several platforms.
import { createHash } from "node:crypto";
import { copyFileSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { basename, join, relative } from "node:path";
import { buildSite } from "./build-site.mjs";
import { buildWorker } from "./build-worker.mjs";
import { filesOf } from "./lib/fingerprint.mjs";
import { buildNativeCli } from "./lib/native-cli.mjs";
import { root } from "./lib/paths.mjs";
import { main, Problem } from "./lib/problem.mjs";
import { run, tryRun } from "./lib/run.mjs";
import { print, log } from "./lib/status.mjs";
import { crossCompileCli } from "./release/cross.mjs";
import { bundled, crates } from "./release/components.mjs";
import { checksums } from "./release/checksums.mjs";
import { notes } from "./release/notes.mjs";
import { unmetPreconditions } from "./release/preconditions.mjs";
import { sampleCatalog } from "./release/sample-catalog.mjs";
import { packCommandLine, packServer } from "./release/server-package.mjs";
import { setup } from "./setup.mjs";

const files = join(root, "target", "release-files");
const commandLines = join(root, "target", "command-lines");
const scratch = (name) => join(root, "target", "packing", name);
const read = (path) => readFileSync(join(root, path), "utf8");
const git = (...args) => tryRun("git", args).out;

const printRow = (bytes, what) => print(`  ${bytes.toLocaleString("en").padStart(11)}  ${what}`);

/** The files below a folder of the project, each as { path, bytes, sha256 }. */
const hashedFiles = (folder) =>
  [...filesOf(join(root, folder))].map((file) => {
    const content = readFileSync(file);
    const sha256 = createHash("sha256").update(content).digest("hex");
    return { path: relative(root, file), bytes: content.length, sha256 };
  });

function printFiles(title, files) {
  print(title);
  for (const { path, bytes, sha256 } of files) printRow(bytes, `${sha256.slice(0, 16)}…  ${path}`);
}

/** Builds and packs the command-line program for this machine, or for a platform such as `linux-arm64`. Returns the file. */
async function packProgram(target) {
  const [platform, arch] = target?.split("-") ?? [];
  const program = target ? await crossCompileCli(target) : await buildNativeCli();
  const packed = await packCommandLine({
    work: scratch("command-line"),
    destination: commandLines,
    platform,
    arch,
    program,
  });
  return packed.file;
}

await main(async () => {
  const isDry = process.argv.includes("--dry-run");
  const [option, platform, ...others] = process.argv.slice(2);
  if (option === "--command-line" && others.length === 0) return print(relative(root, await packProgram(platform)));
  const unknown = process.argv.slice(2).filter((argument) => argument !== "--dry-run");
  if (unknown.length > 0)
    throw new Problem(`There is no option ${unknown[0]}.`, { hint: "Use `npm run release -- --dry-run`.", code: 2 });
  const { version } = JSON.parse(read("npm/package.json"));
  const reasons = unmetPreconditions({
    version,
    crate: /^version = "(.+)"$/m.exec(read("Cargo.toml"))?.[1],
    scripts: JSON.parse(read("package.json")).version,
    server: JSON.parse(read("server/package.json")).version,
    python: /^__version__ = "(.+)"$/m.exec(read("python/src/connector_vault/_version.py"))?.[1],
    changelog: read("CHANGELOG.md"),
    changes: git("status", "--porcelain"),
    tags: git("tag", "--points-at", "HEAD").split("\n"),
  });
  if (reasons.length > 0) {
    const list = reasons.map((reason) => `- ${reason}`).join("\n");
    if (!isDry) throw new Problem(`Version ${version} cannot be released yet.`, { hint: list });
    log(`Version ${version} could not be released yet:\n${list.replace(/^/gm, "  ")}`);
  }

  const tools = await setup();
  await buildWorker(tools);
  await buildSite(tools);
  const program = await buildNativeCli();
  const catalog = await sampleCatalog(program);
  const { sbom } = await import("./release/sbom.mjs");
  rmSync(files, { recursive: true, force: true });
  mkdirSync(files, { recursive: true });
  const packed = await run("npm", ["pack", "--json", "--pack-destination", files], { cwd: join(root, "npm") });
  const [{ filename, files: packedFiles }] = Object.values(JSON.parse(packed));
  const packedProgram = await packCommandLine({ work: scratch("command-line"), destination: commandLines });
  const suffix = `-${version}.tgz`;
  const platforms = readdirSync(commandLines).filter((name) => name.endsWith(suffix));
  for (const name of platforms) copyFileSync(join(commandLines, name), join(files, name));
  const names = platforms.map((name) => name.slice(0, -suffix.length));
  const server = await packServer({ catalog, platforms: names, work: scratch("server"), destination: files });
  for (const [name, part] of [
    ["worker", { crates: await crates("worker"), packages: bundled() }],
    ["npm", { crates: await crates("client") }],
    [packedProgram.name.replace("connector-vault-", ""), { crates: await crates("cli") }],
  ]) {
    const file = join(files, `connector-vault-${name}-${version}.cdx.json`);
    writeFileSync(file, sbom({ name: `connector-vault-${name}`, version, ...part }));
  }

  print(`The npm package, ${filename}, contains (bytes):`);
  for (const { path, size } of packedFiles) printRow(size, path);
  print(`${basename(server.file)} contains ${server.files.length} files, and needs one of: ${names.join(", ")}`);
  const [published, worker, site] = ["target/release-files", "build", "www/dist"].map(hashedFiles);
  printFiles("Published, or attached to the release (bytes, SHA-256):", published);
  printFiles("Deployed from this commit, by anyone who builds it:", worker);
  const bytes = site.reduce((sum, file) => sum + file.bytes, 0);
  printRow(bytes, `${site.length} files in www/dist`);
  // Two lists, so that `sha256sum --check` finds the files: one next to the packages, one in a checkout of the tag.
  writeFileSync(join(files, "SHA256SUMS"), checksums(published, files));
  writeFileSync(join(files, "SHA256SUMS.build"), checksums([...worker, ...site], root));
  writeFileSync(join(files, "RELEASE_NOTES.md"), notes({ version, changelog: read("CHANGELOG.md"), worker }));
  if (isDry) {
    log(`Nothing was published. The files are in ${files}.`);
    return;
  }
  // The server package comes after the command-line packages that it depends on.
  for (const file of [...platforms, basename(server.file), filename])
    await run("npm", ["publish", join(files, file), "--access", "public"], { show: true });
  log(`Published. Attach the files of ${files} to the release v${version} of the repository.`);
});
