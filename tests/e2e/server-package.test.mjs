// The npm package connector-vault-server: packed, installed in an empty folder, and run with Node alone.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { promisify } from "node:util";
import { openapiDirectory, root } from "../../scripts/lib/paths.mjs";
import { operatorCommands } from "../../scripts/release/server-package.mjs";
import { connectAsAda } from "./support/demo.mjs";
import { page } from "./support/docs.mjs";
import { portOptions, whileServing } from "./support/npm-start.mjs";
import { installServer, onlyNode } from "./support/server-package.mjs";
import { build, folder, importPlatforms } from "./support/workspace.mjs";
import { proof, sampled } from "./support/proof.mjs";

const GITHUB = join(openapiDirectory, "api", "github.com", "api.github.com.json");
const exec = promisify(execFile);

/** The files below a folder with their sizes and times. */
const filesBelow = (path) =>
  readdirSync(path, { recursive: true })
    .sort()
    .map((name) => [name, statSync(join(path, name))])
    .map(([name, { size, mtimeMs }]) => `${name} ${size} ${mtimeMs}`);

describe("the npm package connector-vault-server", { timeout: 300_000 }, () => {
  let project;
  let server;
  let bin;
  let filesBefore;

  /** Runs the command in a folder. Returns { code, stdout, stderr }. */
  const run = (cwd, args, env = {}) =>
    exec(process.execPath, [bin, ...args], { cwd, env: { ...onlyNode, ...env } }).then(
      (done) => ({ code: 0, ...done }),
      ({ code, stdout, stderr }) => ({ code, stdout, stderr }),
    );

  function emptyFolder(name) {
    const path = join(folder, name);
    mkdirSync(path);
    return path;
  }

  before(async () => {
    await build();
    const catalog = await importPlatforms("package-catalog", GITHUB, join(root, "tests", "fixtures", "github.toml"));
    ({ project, server } = await installServer(catalog.path));
    bin = join(server, "bin.cjs");
    for (const name of ["", ...readdirSync(server, { recursive: true })]) chmodSync(join(server, name), 0o555);
    filesBefore = filesBelow(server);
  });

  // Makes the folder writable again, so that npm can delete its files.
  after(() => chmodSync(server, 0o755));

  test("contains the Worker of this build", () => {
    const files = readdirSync(join(root, "build"));
    assert.deepEqual(readdirSync(join(server, "build")), files);
    for (const name of files)
      assert.ok(readFileSync(join(server, "build", name)).equals(readFileSync(join(root, "build", name))), name);
  });

  test("starts in an empty folder, where the README's quick start works to the end", async () => {
    const ports = await portOptions();
    const args = ["start", ...Object.entries(ports).flat().map(String)];
    const address = `http://localhost:${ports["--port"]}`;
    const npx = ["npx", ["connector-vault-server", ...args], { cwd: project, env: onlyNode, isAlone: true }];
    await whileServing(...npx, async ({ output, key }) => {
      assert.doesNotMatch(output, /cargo|wasm|import failed/);
      const [connect, call] = page("README.md")
        .marked("sh run")
        .map(({ code }) => code.replaceAll("http://localhost:8787", address));
      const helpers = connect.split("\n\n")[0];
      assert.match(helpers, /^KEY=\$\(npm run --silent keys -- demo\)$/m);
      const bash = (code) => exec("bash", ["-euo", "pipefail", "-c", code], { cwd: project, env: onlyNode });
      const { stdout: link } = await bash(connect);
      await connectAsAda(link.trim());
      const { stdout: called } = await bash(`${helpers}\n${call}`);
      const { status, body } = JSON.parse(called);
      assert.deepEqual([status, body.title], [201, "Hello from the vault"]);
      const { stdout: shown } = await bash("npm run --silent keys -- demo");
      assert.equal(shown.trim(), key);
      const response = await fetch(`${address}/v1/available-connectors?platform=github`, {
        headers: { "x-service-secret": key },
      });
      assert.equal((await response.json()).rows[0].platform, "github");
      const { status: site } = await fetch(`${address}/docs`);
      assert.equal(site, 200);
      // wrangler's built-in pages would give access to the vault by SQL without a key.
      for (const path of ["explorer/api/d1/database", "local/explorer/api/d1/database", "explorer/"])
        assert.equal((await fetch(`${address}/cdn-cgi/${path}`)).status, 404, path);
    });
  });

  proof("without its catalog folder, as after an incomplete restore, start keeps the served connectors", async () => {
    const operation = { operationId: "listTickets", summary: "List", responses: { 200: { description: "Done." } } };
    const info = { title: "Own Tickets", version: "1" };
    const servers = [{ url: "https://tickets.example" }];
    const file = join(folder, "own-tickets.json");
    writeFileSync(file, JSON.stringify({ openapi: "3.1.0", info, servers, paths: { "/tickets": { get: operation } } }));
    const added = await run(project, ["catalog", "add", file]);
    assert.equal(added.code, 0, added.stderr);
    const platform = added.stdout.match(/: (\S+), 1 action/)[1];
    assert.equal((await run(project, ["catalog", "publish"])).code, 0);
    rmSync(join(project, ".catalog"), { recursive: true });
    const ports = Object.entries(await portOptions())
      .flat()
      .map(String);
    const npx = ["npx", ["connector-vault-server", "start", ...ports], { cwd: project, env: onlyNode, isAlone: true }];
    await whileServing(...npx, async ({ output, key }) => {
      assert.match(output, new RegExp(`not replaced, because it has 1 connector that [^]* lacks: ${platform}\\.`));
      const address = `http://localhost:${ports[ports.indexOf("--port") + 1]}`;
      const headers = { "x-service-secret": key };
      const { status } = await fetch(`${address}/v1/available-connectors/${platform}`, { headers });
      assert.equal(status, 200);
    });
  });

  test("the folder has the team's configuration, with all commands as scripts", () => {
    const { scripts, dependencies } = JSON.parse(readFileSync(join(project, "package.json"), "utf8"));
    assert.deepEqual(Object.keys(scripts).sort(), ["start", "deploy", ...operatorCommands()].sort());
    assert.match(dependencies["connector-vault-server"], /^file:/, "the installed version is kept");
    const ignored = readFileSync(join(project, ".gitignore"), "utf8").split("\n");
    for (const name of ["/.dev.vars", "/.wrangler", "/vault-keys*.txt"]) assert.ok(ignored.includes(name), name);
  });

  proof("a dry run of deploy builds the Worker's upload and lists the steps", async () => {
    const { code, stdout, stderr } = await run(project, ["deploy", "--dry-run"]);
    assert.equal(code, 0, stderr);
    assert.match(`${stdout}${stderr}`, /Total Upload: [\s\S]*find or create the D1 database connector-vault/);
  });

  test("databases can be added, with the package's tables", async () => {
    const { code, stderr } = await run(project, ["shards", "add", "--total", "2"]);
    assert.equal(code, 0, stderr);
    const config = readFileSync(join(project, "wrangler.toml"), "utf8");
    assert.equal(config.match(/^migrations_dir = "\.wrangler\/connector-vault\/schema"$/gm).length, 2);
  });

  test("writes nothing into the package's folder", () => {
    assert.deepEqual(filesBelow(server), filesBefore);
  });

  test("every command is known, and imports only what the package contains", async () => {
    for (const name of sampled(["start", "deploy", ...operatorCommands()], 5)) {
      const { code, stdout, stderr } = await run(project, [name, "--help"]);
      assert.equal(code, 0, `${name}: ${stderr}`);
      assert.match(stdout, /^Usage: npm /m, name);
    }
  });

  test("init writes the configuration of a new folder, and changes nothing later", async () => {
    const empty = emptyFolder("package-init");
    assert.equal((await run(empty, ["init"])).code, 0);
    const edited = readFileSync(join(empty, "wrangler.toml"), "utf8").replace("# APP_NAME", "APP_NAME");
    writeFileSync(join(empty, "wrangler.toml"), edited);
    const { version } = JSON.parse(readFileSync(join(server, "package.json"), "utf8"));
    const packageJson = JSON.parse(readFileSync(join(empty, "package.json"), "utf8"));
    assert.equal(packageJson.dependencies["connector-vault-server"], version);
    assert.equal((await run(empty, ["init"])).code, 0);
    assert.equal(readFileSync(join(empty, "wrangler.toml"), "utf8"), edited);
    assert.deepEqual(JSON.parse(readFileSync(join(empty, "package.json"), "utf8")), packageJson);
  });

  test("init adds the scripts to a restored folder, but not to a package.json with its own", async () => {
    const restored = emptyFolder("package-restored");
    assert.equal((await run(restored, ["init"])).code, 0);
    const file = join(restored, "package.json");
    const { scripts } = JSON.parse(readFileSync(file, "utf8"));
    for (const [own, expected] of [
      [{ dependencies: { "connector-vault-server": "*" } }, scripts],
      [{ scripts: { build: "tsc" } }, { build: "tsc", ...scripts }],
      [{ scripts: { start: "next start" } }, { start: "next start" }],
      [{ scripts: { vault: "connector-vault-server start" } }, { vault: "connector-vault-server start" }],
    ]) {
      writeFileSync(file, JSON.stringify(own));
      assert.equal((await run(restored, ["init"])).code, 0);
      assert.deepEqual(JSON.parse(readFileSync(file, "utf8")).scripts, expected);
    }
    rmSync(file);
    assert.equal((await run(restored, ["init"])).code, 0);
    assert.deepEqual(JSON.parse(readFileSync(file, "utf8")).scripts, scripts);
  });

  proof("does not touch the folder of another project", async () => {
    for (const [name, content, message] of [
      ["wrangler.toml", 'name = "other"\nmain = "index.js"\n', /wrangler\.toml of another Worker/],
      ["package.json", '{"scripts":{"start":"next start"}}', /other scripts called start/],
    ]) {
      const other = emptyFolder(`package-other-${name}`);
      writeFileSync(join(other, name), content);
      for (const command of ["init", "start"]) {
        const { code, stderr } = await run(other, [command, "--port", "0"]);
        assert.equal(code, 1);
        assert.match(stderr, message);
      }
      assert.deepEqual(readdirSync(other), [name]);
      assert.equal(readFileSync(join(other, name), "utf8"), content);
    }
  });

  test("commands outside a project say how to set one up", async () => {
    const empty = emptyFolder("package-none");
    for (const args of [
      ["keys", "list"],
      ["deploy", "--dry-run"],
    ]) {
      const { code, stderr } = await run(empty, args);
      assert.equal(code, 1);
      assert.match(stderr, /no wrangler\.toml in [\s\S]*connector-vault-server init/);
    }
    assert.deepEqual(readdirSync(empty), []);
  });

  proof("an old Node gets a message that names the versions", async () => {
    const empty = emptyFolder("package-old");
    for (const [version, isOld] of [
      ["20.20.2", true],
      ["22.11.0", true],
      ["22.12.0", false],
      ["24.0.0", false],
    ]) {
      const preloadedScript = join(folder, `node-${version}.cjs`);
      writeFileSync(preloadedScript, `Object.defineProperty(process.versions, "node", { value: "${version}" });`);
      const { code, stderr } = await run(empty, ["--version"], { NODE_OPTIONS: `--require=${preloadedScript}` });
      assert.equal(code, isOld ? 1 : 0, stderr);
      if (isOld) assert.match(stderr, new RegExp(`needs Node 22\\.12 or newer.*this is Node ${version}`));
    }
  });

  test("without a command line for this machine, the message names its package, or the supported platforms", async () => {
    const name = `connector-vault-server-${process.platform}-${process.arch}`;
    const path = join(project, "node_modules", name);
    renameSync(path, `${path}.away`);
    const preloadedScript = join(folder, "other-machine.cjs");
    writeFileSync(preloadedScript, 'Object.defineProperty(process, "platform", { value: "sunos" });');
    try {
      const { code, stderr } = await run(project, ["keys", "list"]);
      assert.equal(code, 1);
      assert.ok(stderr.includes(name), stderr);
      const empty = emptyFolder("package-other-machine");
      const other = await run(empty, ["start", "--port", "0"], { NODE_OPTIONS: `--require=${preloadedScript}` });
      assert.equal(other.code, 1);
      const known = `${process.platform} ${process.arch}`;
      assert.match(other.stderr, new RegExp(`no command line for sunos ${process.arch}, only for ${known}\\.`));
      assert.deepEqual(readdirSync(empty), []);
    } finally {
      renameSync(`${path}.away`, path);
    }
    assert.ok(existsSync(join(path, "connector-vault")));
  });
});
