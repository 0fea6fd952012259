// `npm run deploy`, by the real wrangler and the real command line, against a stand-in of Cloudflare's API.
import assert from "node:assert/strict";
import { cpSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { after, before, describe, test } from "node:test";
import { announce, perform, steps } from "../../scripts/deploy/steps.mjs";
import { nativeCli } from "../../scripts/lib/native-cli.mjs";
import { root } from "../../scripts/lib/paths.mjs";
import { gather } from "../../scripts/lib/status.mjs";
import { CloudflareApi } from "./support/cloudflare.mjs";
import { build, folder, smallCatalog } from "./support/workspace.mjs";

const run = promisify(execFile);
const PROJECT = join(folder, "deployed");
const file = (name) => readFileSync(join(PROJECT, name), "utf8");

describe("npm run deploy", { timeout: 600_000 }, () => {
  let api;
  let program;
  const before_ = {};
  /** Deploys: what was made, and what was said. */
  async function deploy() {
    const made = {};
    const lines = [];
    try {
      const works = () => perform(steps({ folder: PROJECT, program, catalog: async () => {} }, made));
      return { made, said: await gather(works, lines) };
    } catch (error) {
      const unknown = api.unknown.join(", ");
      assert.fail(`${[...lines, error.output, error.message].join("\n")}\nUnknown to the stand-in: ${unknown}`);
    }
  }
  const fails = (stopped) =>
    assert.rejects(
      gather(() => perform(steps({ folder: PROJECT, program, catalog: async () => {} }))),
      (error) => {
        stopped(error);
        return true;
      },
    );

  before(async () => {
    await build();
    program = await nativeCli();
    api = await new CloudflareApi().start();
    Object.assign(process.env, api.environment);
    mkdirSync(PROJECT);
    for (const name of ["wrangler.toml", "migrations", "build"])
      cpSync(join(root, name), join(PROJECT, name), { recursive: true });
    mkdirSync(join(PROJECT, "www"));
    cpSync(join(root, "www", "dist"), join(PROJECT, "www", "dist"), { recursive: true });
    symlinkSync(join(root, "node_modules"), join(PROJECT, "node_modules"));
    // What wrangler deploys is built already.
    writeFileSync(join(PROJECT, "package.json"), JSON.stringify({ scripts: { build: "true" } }));
    cpSync((await smallCatalog()).path, join(PROJECT, ".catalog"), { recursive: true });
    before_.config = file("wrangler.toml");
  });

  after(() => {
    for (const name of Object.keys(api.environment)) delete process.env[name];
    api.stop();
  });

  test("a dry run says what would be done, and asks for nothing", async () => {
    const said = await gather(async () => announce(steps({ folder: PROJECT, program })));
    for (const part of [
      "KV namespace",
      "D1 database connector-vault",
      "queue connector-vault",
      "migrations",
      "VAULT_KEYS",
      "catalog",
      "a key",
    ])
      assert.ok(said.includes(part), `${part}: ${said}`);
    assert.deepEqual(api.asked, []);
    assert.equal(file("wrangler.toml"), before_.config);
  });

  test("whoever is not signed in is told how to", async () => {
    process.env.CLOUDFLARE_API_TOKEN = "wrong";
    await fails(({ hint }) => {
      assert.match(hint, /wrangler login/);
      assert.match(hint, /Nothing was changed/);
    });
    process.env.CLOUDFLARE_API_TOKEN = api.environment.CLOUDFLARE_API_TOKEN;
    assert.equal(file("wrangler.toml"), before_.config);
  });

  test("a failure says what was done, and how to go on", async () => {
    api.broken = /^POST \/queues$/;
    await fails(({ hint }) => {
      assert.match(hint, /Done before that: signed in to Cloudflare, KV namespace of the catalog, D1 database\./);
      assert.match(hint, /`npm run deploy` again/);
    });
    api.broken = undefined;
    assert.deepEqual([api.namespaces.length, api.databases.length, api.queues.length], [1, 1, 0]);
    // The ids are in wrangler.toml, and nothing else in it has changed.
    const [{ id }, { uuid }] = [api.namespaces[0], api.databases[0]];
    const expected = before_.config.replace("0".repeat(32), id).replace("00000000-0000-0000-0000-000000000000", uuid);
    assert.equal(file("wrangler.toml"), expected);
  });

  test("an upload that fails leaves the key that seals, and the next run uses it", async () => {
    api.broken = /^(PUT|POST) \/workers\/scripts\/connector-vault(\/versions)?$/;
    await fails(({ hint }) => assert.match(hint, /migrations, secrets\./));
    api.broken = undefined;
    assert.equal(statSync(join(PROJECT, "vault-keys.txt")).mode & 0o777, 0o600);
    before_.keys = file("vault-keys.txt");
  });

  test("the rest follows: Worker, secrets, schedule, catalog and key", async () => {
    const { made, said } = await deploy();
    assert.deepEqual(api.unknown, []);
    assert.deepEqual([api.namespaces.length, api.databases.length, api.queues.length], [1, 1, 1]);
    assert.deepEqual(made.addresses, [
      "https://connector-vault.ann.workers.dev",
      "schedule: * * * * *",
      "Producer for connector-vault",
      "Consumer for connector-vault",
    ]);
    assert.deepEqual(Object.keys(api.secrets).sort(), ["SESSION_SECRET", "VAULT_KEYS"]);
    assert.ok(api.secrets.SESSION_SECRET.length >= 32);
    assert.equal(`${api.secrets.VAULT_KEYS}\n`, before_.keys);
    assert.deepEqual(
      api.schedules.map(({ cron }) => cron),
      ["* * * * *"],
    );
    assert.equal(api.queues[0].consumers.length, 1);
    const bound = Object.fromEntries(
      api.uploads
        .at(-1)
        .bindings.map((one) => [one.name, one.namespace_id ?? one.database_id ?? one.id ?? one.queue_name]),
    );
    assert.deepEqual(
      [bound.CATALOG, bound.VAULT, bound.WORK],
      [api.namespaces[0].id, api.databases[0].uuid, "connector-vault"],
    );
    assert.ok(api.values.has("current"));
    const keys = api.databases[0].sqlite.prepare("SELECT account, environment FROM api_keys").all();
    assert.deepEqual(
      keys.map((row) => ({ ...row })),
      [{ account: "main", environment: "live" }],
    );
    assert.match(made.key, /^sk_live_\w+$/);
    for (const secret of [made.key, ...Object.values(api.secrets)])
      assert.ok(!said.includes(secret), "secrets are not logged");
  });

  test("another run changes no secret, makes no other key, and creates nothing", async () => {
    const secrets = { ...api.secrets };
    rmSync(join(PROJECT, "vault-keys.txt"));
    const config = file("wrangler.toml");
    const uploads = api.uploads.length;
    const { made } = await deploy();
    assert.deepEqual(api.secrets, secrets);
    assert.deepEqual([made.key, made.keyFile], [undefined, undefined]);
    assert.equal(api.uploads.length, uploads + 1);
    assert.ok(api.uploads.at(-1).bindings.every(({ type }) => type !== "secret_text"));
    assert.equal(file("wrangler.toml"), config);
    assert.deepEqual(
      [api.namespaces.length, api.databases.length, api.queues.length, api.queues[0].consumers.length],
      [1, 1, 1, 1],
    );
    assert.deepEqual(api.unknown, []);
  });

  test("further databases are created and migrated before the Worker is deployed, and bound to it", async () => {
    const [table] = file("wrangler.toml").match(/^\[\[d1_databases\]\]\n(?:(?!\[).+\n)*/m);
    const further = table
      .replace('"VAULT"', '"VAULT_1"')
      .replace(/database_name = .*/, 'database_name = "second"')
      .replace(/database_id = .*/, 'database_id = "00000000-0000-0000-0000-000000000001"');
    const config = file("wrangler.toml").replace(table, `${table}\n${further}`);
    writeFileSync(join(PROJECT, "wrangler.toml"), config);
    const would = await gather(async () => announce(steps({ folder: PROJECT, program })));
    assert.match(would, /create the D1 database second,/);
    await deploy();
    assert.deepEqual(
      api.databases.map(({ name }) => name),
      ["connector-vault", "second"],
    );
    const { uuid, sqlite } = api.databases[1];
    assert.equal(file("wrangler.toml"), config.replace("00000000-0000-0000-0000-000000000001", uuid));
    assert.deepEqual({ ...sqlite.prepare("SELECT count(*) AS keys FROM api_keys").get() }, { keys: 0 });
    const bound = api.uploads.at(-1).bindings.find(({ name }) => name === "VAULT_1");
    assert.equal(bound.database_id ?? bound.id, uuid);
    assert.deepEqual(api.unknown, []);
  });

  test("`shards` adds a database at Cloudflare, and lists what each one holds and reads", async () => {
    const shards = (...args) => run(program, ["shards", ...args, "--remote"], { cwd: PROJECT });
    const { stderr } = await shards("add");
    assert.match(stderr, /Added VAULT_2 to wrangler.toml: the database connector-vault-2\.[^]*npm run deploy/);
    const { uuid, name, sqlite } = api.databases[2];
    assert.equal(name, "connector-vault-2");
    assert.ok(file("wrangler.toml").includes(`database_id = "${uuid}"`));
    assert.deepEqual({ ...sqlite.prepare("SELECT count(*) AS keys FROM api_keys").get() }, { keys: 0 });
    api.rowsRead.set(api.databases[0].uuid, 617_283);
    const list = JSON.parse((await shards("list", "--json")).stdout);
    assert.deepEqual(
      list.map(({ binding, accounts, rowsRead24h }) => [binding, accounts, rowsRead24h]),
      [
        ["VAULT", 1, 1_234_566],
        ["VAULT_1", 0, null],
        ["VAULT_2", 0, null],
      ],
    );
    assert.deepEqual(api.unknown, []);
  });
});
