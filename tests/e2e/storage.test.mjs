// The helper through which the operator's commands share local storage, and the same commands through wrangler.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { connect, createServer } from "node:net";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after, before, describe, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { isAlive } from "../../scripts/lib/process-alive.mjs";
import { buildNativeCli } from "../../scripts/lib/native-cli.mjs";
import { nodeBin, root } from "../../scripts/lib/paths.mjs";
import { environment, run } from "../../scripts/lib/run.mjs";
import { Record } from "../../scripts/storage/record.mjs";
import { State, cli, folder, otherCatalog, smallCatalog, wranglerEnvironment } from "./support/workspace.mjs";
import { WranglerStandIn, localCommands } from "./support/wrangler.mjs";
import { proof, isProof } from "./support/proof.mjs";

const HELPER = join(root, "scripts", "storage", "helper.mjs");
const TIMEOUT_MS = 30_000;

const recordOf = (state) => join(state.path, "storage-helper.json");
const record = (state) => JSON.parse(readFileSync(recordOf(state), "utf8"));

const createKey = (state, account, ...how) =>
  cli(
    "keys",
    "create",
    "--account",
    account,
    "--environment",
    "test",
    "--json",
    "--persist-to",
    state.path,
    ...how,
  ).then(JSON.parse);
const listKeys = (state, ...how) => cli("keys", "list", "--json", "--persist-to", state.path, ...how).then(JSON.parse);
const accounts = async (state) => (await listKeys(state)).map(({ account }) => account).sort();

/** Polls until a condition is true. */
async function waitUntil(what, condition) {
  for (const end = Date.now() + TIMEOUT_MS; !(await condition()); ) {
    assert.ok(Date.now() < end, `timed out waiting until ${what}`);
    await pause(20);
  }
}

/** The child processes of a process. */
function childrenOf(pid) {
  const lines = execFileSync("ps", ["-A", "-o", "pid=,ppid="], { encoding: "utf8" }).trim().split("\n");
  return lines
    .map((line) => line.trim().split(/\s+/).map(Number))
    .filter(([, parent]) => parent === pid)
    .map(([child]) => child);
}

/** Starts a helper with this idle timeout in seconds. Returns it with its record. */
async function helper(state, seconds) {
  const child = spawn(process.execPath, [HELPER, state.path, String(seconds)], {
    stdio: ["ignore", "pipe", "inherit"],
    env: environment(wranglerEnvironment),
  });
  const closed = once(child, "close");
  const [line] = await once(child.stdout.setEncoding("utf8"), "data");
  return { ...JSON.parse(line), closed };
}

/** The accounts with a key, read directly from the database file of a folder that no process has open. */
function accountsIn(state) {
  const files = readdirSync(join(state.path, "v3", "d1"), { recursive: true }).filter((name) =>
    name.endsWith(".sqlite"),
  );
  const accounts = files.flatMap((name) => {
    const database = new DatabaseSync(join(state.path, "v3", "d1", name), { readOnly: true });
    const [{ keys }] = database.prepare("SELECT count(*) AS keys FROM sqlite_schema WHERE name = 'api_keys'").all();
    const rows = keys ? database.prepare("SELECT account FROM api_keys").all() : [];
    database.close();
    return rows;
  });
  return accounts.map(({ account }) => account).sort();
}

describe("the helper for local storage", { timeout: 600_000 }, () => {
  const shared = new State("helper-together");

  test("concurrent commands on a new folder share one helper, and each runs once", async () => {
    const state = shared;
    const names = Array.from({ length: 6 }, (_, n) => `account-${n}`);
    await Promise.all(names.map((name) => createKey(state, name)));
    const { pid } = record(state);
    assert.deepEqual(await accounts(state), names);
    assert.equal(record(state).pid, pid);
    assert.deepEqual(readdirSync(state.path).sort(), ["storage-helper.json", "v3"]);
    assert.equal(statSync(recordOf(state)).mode & 0o777, 0o600);
  });

  test("rejects requests without its token", async () => {
    const state = shared;
    await createKey(state, "acme");
    const { pid, port } = record(state);
    for (const first of ['{"token":"guessed"}\n', "{}\n", "GET / HTTP/1.1\r\n\r\n"]) {
      const response = await fetch(`http://127.0.0.1:${port}/`, { method: "POST", body: first }).then(
        () => "answered",
        () => "closed",
      );
      assert.equal(response, "closed");
    }
    assert.equal((await createKey(state, "acme")).account, "acme");
    assert.equal(record(state).pid, pid);
  });

  test("detects a replaced database", async () => {
    const state = shared;
    await createKey(state, "before");
    const { pid } = record(state);
    rmSync(join(state.path, "v3", "d1"), { recursive: true });
    assert.deepEqual(await accounts(state), []);
    assert.equal(record(state).pid, pid);
  });

  proof("a command reports a killed helper, complete batches persist, and the next command works", async () => {
    const state = new State("helper-killed");
    await state.migrate();
    const { path } = await smallCatalog();
    const seed = spawn(
      await buildNativeCli(),
      ["seed", "--catalog", path, "--persist-to", state.path, "--account", "acme", "--connections", "10000000"],
      {
        cwd: root,
        env: environment(wranglerEnvironment),
        stdio: ["ignore", "inherit", "pipe"],
      },
    );
    let output = "";
    seed.stderr.setEncoding("utf8").on("data", (text) => {
      output += text;
    });
    const closed = once(seed, "close");
    let pid;
    await state.use(async ({ vault }) => {
      const count = async () => (await vault.prepare("SELECT count(*) AS n FROM connections").first()).n;
      await waitUntil("connections exist", async () => (await count()) > 0);
      ({ pid } = record(state));
      const started = childrenOf(pid);
      assert.ok(started.length > 0);
      process.kill(pid, "SIGKILL");
      const [code] = await closed;
      assert.equal(code, 1, output);
      assert.match(
        output,
        /stopped after creating [\d,]+ connections: the helper for this machine's storage ended before it responded/,
      );
      await waitUntil("all processes of the helper have exited", () => !started.some(isAlive));
      assert.equal((await count()) % 5000, 0);
    });
    assert.equal((await createKey(state, "after")).account, "after");
    assert.notEqual(record(state).pid, pid);
    assert.deepEqual(await accounts(state), ["after"]);
  });

  test("exits when it is idle, and leaves no files", async () => {
    const state = new State("helper-idle");
    const { pid, port, token, closed } = await helper(state, 5);
    // The helper does not exit while a command is connected.
    const other = connect({ port, host: "127.0.0.1" });
    other.write(`${JSON.stringify({ token })}\n`);
    await once(other, "data");
    await createKey(state, "acme");
    assert.equal(record(state).pid, pid, "the command uses this helper");
    const started = childrenOf(pid);
    other.destroy();
    assert.deepEqual(await closed, [0, null]);
    await waitUntil("all processes of the helper have exited", () => !started.some(isAlive));
    assert.deepEqual(readdirSync(state.path), ["v3"]);
    assert.deepEqual(accountsIn(state), ["acme"]);
  });

  proof("exits when its folder is deleted, and the next helper starts with an empty storage", async () => {
    const state = new State("helper-deleted");
    const { pid, closed } = await helper(state, 600);
    await createKey(state, "before");
    rmSync(state.path, { recursive: true });
    await createKey(state, "after");
    assert.notEqual(record(state).pid, pid);
    assert.deepEqual(await accounts(state), ["after"]);
    assert.deepEqual(await closed, [0, null]);
    assert.ok(existsSync(recordOf(state)), "the record of the other helper stays");
  });

  proof("serves its own folder, but not a copied or renamed one", async () => {
    const state = new State("helper-original");
    await createKey(state, "original");
    const [copy, moved] = [new State("helper-copy"), new State("helper-moved")];
    cpSync(state.path, copy.path, { recursive: true });
    await createKey(copy, "copy");
    assert.deepEqual([await accounts(state), await accounts(copy)], [["original"], ["copy", "original"]]);
    renameSync(state.path, moved.path);
    assert.deepEqual([await accounts(state), await accounts(moved)], [[], ["original"]]);
  });

  test("another program on the port of a dead helper is not used as the helper", async () => {
    const state = new State("helper-impostor");
    const received = [];
    const impostor = createServer((socket) => {
      socket
        .on("error", () => {})
        .setEncoding("utf8")
        .on("data", (text) => {
          received.push(text);
          socket.write('{"proof":"guessed"}\n');
        });
    });
    await new Promise((done) => impostor.listen(0, "127.0.0.1", done));
    mkdirSync(state.path, { recursive: true });
    const dead = JSON.stringify({ folder: state.path, pid: 1, port: impostor.address().port, token: "t", proof: "p" });
    // With either record, the command must start a new helper.
    for (const text of [dead, "null"]) {
      writeFileSync(recordOf(state), text);
      await createKey(state, "acme");
      process.kill(record(state).pid, "SIGTERM");
      await waitUntil("the helper has ended", () => !existsSync(recordOf(state)));
    }
    const before = received.length;
    for (const text of [dead, "", "{", "null"]) {
      writeFileSync(recordOf(state), text);
      const record = new Record(state.path, 1);
      assert.equal((await record.publish()).token, record.token);
      assert.ok(record.isCurrent(), text);
      record.remove();
    }
    assert.equal(received.length, before + 1);
    impostor.close();
    assert.ok(received.length > 0 && received.every((text) => text === '{"token":"t"}\n'), received.join());
    assert.deepEqual(accountsIn(state), ["acme", "acme"]);
  });
});

describe("keys", { timeout: 600_000 }, () => {
  const state = new State("keys-by-hand");
  const place = ["--persist-to", state.path];

  test("`keys demo` returns one key until it is revoked", async () => {
    const demo = () => cli("keys", "demo", ...place);
    const first = await demo();
    assert.match(first, /^sk_test_\w+\n$/);
    assert.equal(await demo(), first);
    assert.equal(statSync(join(state.path, "v3", "d1", "demo-key.json")).mode & 0o777, 0o600);
    const [{ id, account, scopes }] = await listKeys(state);
    assert.deepEqual([account, scopes.length], ["demo", 21]);
    await cli("keys", "revoke", id, ...place);
    const second = await demo();
    assert.notEqual(second, first);
    assert.equal(await demo(), second);
    const error = await cli("keys", "demo", "--remote").catch(({ output }) => output);
    assert.match(error, /for this machine only[^]*keys -- create --remote/);
  });

  test("an invalid id is explained, without repeating a secret", async () => {
    const secret = (await cli("keys", "demo", ...place)).trim();
    for (const command of ["revoke", "rotate"]) {
      for (const [text, expected] of [
        ["nope", /not a key's id\. An id looks like [^]*npm run keys -- list/],
        [secret, /a key's secret, not its id\./],
      ]) {
        const output = await cli("keys", command, text, ...place).then(
          () => assert.fail("taken"),
          (error) => error.output,
        );
        assert.match(output, expected);
        assert.ok(!output.includes(secret));
      }
    }
  });

  test("`keys list` fits into 100 columns", async () => {
    await cli(
      "keys",
      "create",
      "--account",
      "a".repeat(64),
      "--environment",
      "live",
      "--scope",
      "catalog:read",
      "--expires",
      "1d",
      ...place,
    );
    const text = await cli("keys", "list", ...place);
    for (const line of text.split("\n")) assert.ok(line.length <= 100, line);
    assert.match(
      text,
      /\naccount a{64}\n[\da-f-]{36} {2}live {2}active .* some\n {2}may only {4}catalog:read\n {2}note {8}expires in (?:23 hours|1 day)\n/,
    );
  });
});

describe("the commands through wrangler, as for Cloudflare's storage", { timeout: 600_000 }, () => {
  const state = new State("by-wrangler");
  const project = join(folder, "by-wrangler-project");
  const how = ["--by-wrangler"];
  let wrangler;
  let opened;
  /** Runs the operator's command line in a project that uses the real wrangler only for the first command of each form. */
  const operator = async (...args) =>
    run(await buildNativeCli(), [...args, "--persist-to", state.path], { cwd: project, env: wranglerEnvironment });
  const json = async (...args) => JSON.parse(await operator(...args, "--json"));

  before(async () => {
    opened = await state.open();
    wrangler = await new WranglerStandIn(localCommands(() => opened)).start();
    mkdirSync(project);
    for (const name of ["wrangler.toml", "schema"]) cpSync(join(root, name), join(project, name), { recursive: true });
    symlinkSync(join(root, "scripts"), join(project, "scripts"));
    wrangler.install(project);
    symlinkSync(join(nodeBin, "node"), join(project, "node_modules", ".bin", "node"));
  });

  after(async () => {
    wrangler?.stop();
    await opened?.close();
  });

  test("migrations have the same result as with the helper", async () => {
    const error = await json("keys", "list", ...how).catch(({ output }) => output);
    assert.match(error, /the database lacks tables or columns: run `npm run deploy` first/);
    const all = readdirSync(join(root, "schema")).sort();
    const migrate = async (...args) => (await operator("migrate", ...args)).split("\n").filter(Boolean);
    assert.deepEqual(await migrate(...how), all);
    assert.deepEqual(await migrate(...how), []);
    assert.deepEqual(await migrate(), []);
    if (isProof) assert.match(await state.migrateByWrangler(), /No migrations to apply/);
  });

  test("keys are written and read in the same way as with the helper", async () => {
    const createdKey = await json("keys", "create", "--account", "acme", "--environment", "test", ...how);
    const { secret, replaces, ...rotated } = await json("keys", "rotate", createdKey.id, ...how);
    assert.match(secret, /^sk_test_/);
    assert.equal(replaces.id, createdKey.id);
    assert.equal((await json("keys", "revoke", rotated.id, ...how)).state, "revoked");
    const listed = await json("keys", "list", ...how);
    assert.deepEqual(
      listed.map(({ id, state: is }) => [id, is]),
      [
        [createdKey.id, "active"],
        [rotated.id, "revoked"],
      ],
    );
    assert.deepEqual(await json("keys", "list"), listed);
  });

  test("a catalog is published, listed and pruned", async () => {
    const [small, other] = [await smallCatalog(), await otherCatalog()];
    const catalog = (...args) => operator("catalog", ...args);
    const versions = (...args) => json("catalog", "list", ...args);
    await catalog("publish", "--catalog", small.path, ...how);
    assert.deepEqual(
      (await versions()).map(({ id, current }) => [id, current]),
      [[small.version, true]],
    );
    await catalog("publish", "--catalog", other.path);
    assert.deepEqual(await versions(...how), await versions());
    assert.deepEqual(
      (await versions(...how)).map(({ id }) => id),
      [other.version, small.version],
    );
    // Makes the catalogs old enough to be pruned.
    for (const [{ version }, publishedAt] of [
      [small, "2019-01-01T00:00:00.000Z"],
      [other, "2020-01-01T00:00:00.000Z"],
    ]) {
      const record = await opened.catalog.get(`version:${version}`, "arrayBuffer");
      await opened.catalog.put(`version:${version}`, record, { metadata: { publishedAt } });
    }
    await catalog("prune", "--keep", "1", "--yes", ...how);
    assert.deepEqual(
      (await versions()).map(({ id }) => id),
      [other.version],
    );
    assert.deepEqual(await versions(...how), await versions());
    await catalog("publish", "--catalog", small.path, "--only", "petstore-swagger", ...how);
    const [part] = await versions();
    assert.deepEqual([part.current, part.connectors], [true, 1]);
    assert.notEqual(part.id, small.version);
  });

  test("the sample catalog replaces another sample, but not the operator's connectors", async () => {
    const [small, other] = [await smallCatalog(), await otherCatalog()];
    const served = async () => (await json("catalog", "list")).find(({ current }) => current).id;
    const publish = (catalog, ...args) => operator("catalog", "publish", "--catalog", catalog.path, ...args);
    await publish(small, ...how);
    const refusal = await publish(other, "--sample");
    assert.match(
      refusal,
      /was not replaced, because it has \d+ connectors that the sample [^]*npm run catalog -- publish/,
    );
    assert.equal(await served(), small.version);
    // The operator can publish it, and a sample with all served connectors replaces these.
    assert.equal(await publish(other), "");
    assert.equal(await publish(small, "--sample"), "");
    assert.equal(await served(), small.version);
    assert.equal(await publish(other, "--sample"), "", "a sample replaces a sample with more connectors");
    assert.equal(await served(), other.version);
  });

  proof("the real wrangler has run each form of commands, with equal results", () => {
    wrangler.expectMatchesWrangler();
    assert.deepEqual(
      wrangler.commands.map(({ form }) => form).filter((form) => !wrangler.acceptedForms.has(form)),
      [],
    );
  });
});
