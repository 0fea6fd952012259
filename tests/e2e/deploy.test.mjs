// `npm run deploy` with the real command line, against a fake of Cloudflare's API. The first deployment and the first upgrade run
// the real wrangler once for each form of its commands; after that, a fake of wrangler handles them.
import assert from "node:assert/strict";
import { cpSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { after, before, describe, test } from "node:test";
import { printPlan, runSteps, steps } from "../../scripts/deploy/steps.mjs";
import { buildNativeCli } from "../../scripts/lib/native-cli.mjs";
import { root } from "../../scripts/lib/paths.mjs";
import { captureLog } from "../../scripts/lib/status.mjs";
import { CloudflareApi, commandsOf } from "./support/cloudflare.mjs";
import { build, folder, smallCatalog } from "./support/workspace.mjs";
import { WranglerStandIn } from "./support/wrangler.mjs";
import { proof, isProof } from "./support/proof.mjs";

const run = promisify(execFile);
const UPLOAD = /^(PUT|POST) \/workers\/scripts\/connector-vault(\/versions)?$/;
const IMPORT = /^POST \/d1\/database\/([\w-]+)\/import$/;
const PLACEHOLDERS = { namespace: "0".repeat(32), database: "00000000-0000-0000-0000-000000000000" };

/** The ids of databases, namespaces and queues in the metadata of an upload, by binding. */
const resourceIdsIn = ({ bindings }) =>
  Object.fromEntries(
    bindings.map((binding) => [
      binding.name,
      binding.namespace_id ?? binding.database_id ?? binding.id ?? binding.queue_name,
    ]),
  );

describe("npm run deploy", { timeout: 600_000 }, () => {
  let program;
  let catalog;
  let wrangler;
  /** @type {CloudflareApi} the fake of Cloudflare's API */
  let api;

  /** A copy of the project, with an empty account. */
  class Project {
    /** @param {string} name the name of the copy's folder */
    constructor(name) {
      this.folder = join(folder, name);
      mkdirSync(this.folder);
      for (const part of ["wrangler.toml", "schema", "build"])
        cpSync(join(root, part), join(this.folder, part), { recursive: true });
      mkdirSync(join(this.folder, "www"));
      cpSync(join(root, "www", "dist"), join(this.folder, "www", "dist"), { recursive: true });
      // The Worker and the site are already built.
      writeFileSync(join(this.folder, "package.json"), JSON.stringify({ scripts: { build: "true" } }));
      cpSync(catalog.path, join(this.folder, ".catalog"), { recursive: true });
      wrangler.install(this.folder);
    }

    read(name) {
      return readFileSync(join(this.folder, name), "utf8");
    }

    get config() {
      return this.read("wrangler.toml");
    }

    steps(results) {
      return steps({ folder: this.folder, program, catalog: async () => {} }, results);
    }

    /** The output of a dry run. */
    dryRun() {
      return captureLog(async () => printPlan(this.steps()));
    }

    /** Deploys. Returns the results of the steps and the output. */
    async deploy() {
      const results = {};
      const lines = [];
      try {
        return { results, output: await captureLog(() => runSteps(this.steps(results)), lines) };
      } catch (error) {
        const unknown = [...api.unknownRequests, ...wrangler.unknownCommands].join(", ");
        assert.fail(`${[...lines, error.output, error.message].join("\n")}\nUnknown to the stand-ins: ${unknown}`);
      }
    }

    /** Asserts that a deployment fails. Returns the error. */
    async deployError() {
      const deployed = captureLog(() => runSteps(this.steps()));
      return deployed.then(
        () => assert.fail("the deployment should have failed"),
        (error) => error,
      );
    }

    /** Deploys while the API rejects the requests that match `broken`. Returns the hint of the error. */
    async hintWhileRejecting(broken) {
      api.rejectedRequests = broken;
      const { hint } = await this.deployError();
      api.rejectedRequests = undefined;
      return hint;
    }
  }

  async function account() {
    api?.stop();
    api = await new CloudflareApi().start();
    Object.assign(process.env, api.environment);
  }

  const expectNothingUnknown = () => {
    assert.deepEqual(api.unknownRequests, []);
    wrangler.expectMatchesWrangler();
  };
  const count = (sqlite, table) => sqlite.prepare(`SELECT count(*) AS n FROM ${table}`).get().n;

  before(async () => {
    await build();
    program = await buildNativeCli();
    catalog = await smallCatalog();
    wrangler = await new WranglerStandIn(commandsOf(() => api)).start();
  });

  after(() => {
    for (const name of Object.keys(api.environment)) delete process.env[name];
    api.stop();
    wrangler.stop();
  });

  test("a service with LOCAL_TARGETS is not deployed", async () => {
    await account();
    const project = new Project("local-targets");
    const original = project.config;
    const stepsToDeploy = (...args) => steps({ folder: project.folder, program, catalog: async () => {}, args });
    for (const set of [
      original.replace("[vars]\n", '[vars]\nLOCAL_TARGETS = "allow"\n'),
      original.replace("[vars]\n", '[vars]\n  "LOCAL_TARGETS"="allow"\n'),
      `${original}\n[env.staging]\nvars = { A = "b", LOCAL_TARGETS = "allow" }\n`,
    ]) {
      assert.notEqual(set, original);
      writeFileSync(join(project.folder, "wrangler.toml"), set);
      assert.throws(() => stepsToDeploy(), /LOCAL_TARGETS must not be deployed/);
    }
    writeFileSync(join(project.folder, "wrangler.toml"), original);
    assert.throws(() => stepsToDeploy("--var", "LOCAL_TARGETS:allow"), /LOCAL_TARGETS must not be deployed/);
    assert.ok(stepsToDeploy().length > 0);
    assert.deepEqual(api.requests, []);
  });

  describe("deploying to an empty account, then upgrading", () => {
    let project;
    const initial = {};
    before(async () => {
      await account();
      project = new Project("deployed");
      initial.config = project.config;
    });

    test("a dry run lists the steps, and sends no request", async () => {
      const output = await project.dryRun();
      for (const part of [
        "KV namespace",
        "D1 database connector-vault",
        "queue connector-vault",
        "schema/",
        "VAULT_KEYS",
        "catalog",
        "a key",
      ])
        assert.ok(output.includes(part), `${part}: ${output}`);
      assert.deepEqual(api.requests, []);
      assert.equal(project.config, initial.config);
    });

    test("the first deployment creates storage, Worker, secrets, schedule, catalog and key", async () => {
      const { results, output } = await project.deploy();
      expectNothingUnknown();
      assert.deepEqual([api.namespaces.length, api.databases.length, api.queues.length], [1, 1, 1]);
      assert.deepEqual(results.addresses, [
        "https://connector-vault.ann.workers.dev",
        "schedule: * * * * *",
        "Producer for connector-vault",
        "Consumer for connector-vault",
      ]);
      assert.deepEqual(Object.keys(api.secrets).sort(), ["SESSION_SECRET", "VAULT_KEYS"]);
      assert.ok(api.secrets.SESSION_SECRET.length >= 32);
      assert.equal(`${api.secrets.VAULT_KEYS}\n`, project.read("vault-keys.txt"));
      assert.deepEqual(
        api.schedules.map(({ cron }) => cron),
        ["* * * * *"],
      );
      assert.equal(api.queues[0].consumers.length, 1);
      const bound = resourceIdsIn(api.uploads.at(-1));
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
      assert.match(results.key, /^sk_live_\w+$/);
      for (const secret of [results.key, ...Object.values(api.secrets)])
        assert.ok(!output.includes(secret), "secrets are not logged");
    });

    test("additional databases are created, migrated and bound before the Worker is deployed", async () => {
      const [table] = project.config.match(/^\[\[d1_databases\]\]\n(?:(?!\[).+\n)*/m);
      const placeholder = PLACEHOLDERS.database.replace(/0$/, "1");
      const further = table
        .replace('"VAULT"', '"VAULT_1"')
        .replace(/database_name = .*/, 'database_name = "second"')
        .replace(/database_id = .*/, `database_id = "${placeholder}"`);
      const config = project.config.replace(table, `${table}\n${further}`);
      writeFileSync(join(project.folder, "wrangler.toml"), config);
      assert.match(await project.dryRun(), /create the D1 database second,/);
      const before = api.requests.length;
      await project.deploy();
      assert.deepEqual(
        api.databases.map(({ name }) => name),
        ["connector-vault", "second"],
      );
      const { uuid, sqlite } = api.databases[1];
      assert.equal(project.config, config.replace(placeholder, uuid));
      assert.equal(count(sqlite, "api_keys"), 0);
      const sent = api.requests.slice(before);
      const [lastImport, upload] = [
        sent.findLastIndex((name) => name.match(IMPORT)?.[1] === uuid),
        sent.findIndex((name) => UPLOAD.test(name)),
      ];
      assert.ok(lastImport >= 0 && lastImport < upload, sent.join("\n"));
      assert.equal(resourceIdsIn(api.uploads.at(-1)).VAULT_1, uuid);
      expectNothingUnknown();
    });

    test("another run changes no secret, and creates no key and no resource", async () => {
      const secrets = { ...api.secrets };
      rmSync(join(project.folder, "vault-keys.txt"));
      const { config } = project;
      const uploads = api.uploads.length;
      const { results } = await project.deploy();
      assert.deepEqual(api.secrets, secrets);
      assert.deepEqual([results.key, results.keyFile], [undefined, undefined]);
      assert.equal(api.uploads.length, uploads + 1);
      for (const { bindings } of api.uploads.slice(1)) assert.ok(bindings.every(({ type }) => type !== "secret_text"));
      assert.equal(project.config, config);
      assert.equal(count(api.databases[0].sqlite, "api_keys"), 1);
      assert.deepEqual(
        [api.namespaces.length, api.databases.length, api.queues.length, api.queues[0].consumers.length],
        [1, 2, 1, 1],
      );
      expectNothingUnknown();
    });

    test("a database of an earlier commit stops the deployment before any change", async () => {
      const { sqlite } = api.databases[1];
      sqlite.exec("CREATE TABLE earlier (a)");
      const changes = [api.uploads.length, count(sqlite, "d1_migrations"), project.config];
      const { message, output } = await project.deployError();
      assert.match(`${message}${output}`, /VAULT_1: [^]*created by an earlier commit, and are not those of schema\//);
      assert.match(
        `${message}${output}`,
        /npx wrangler d1 delete VAULT_1\n[^]*database_id = "0{8}-0{4}-0{4}-0{4}-0{11}1"/,
      );
      assert.deepEqual([api.uploads.length, count(sqlite, "d1_migrations"), project.config], changes);
      sqlite.exec("DROP TABLE earlier");
    });

    test("a catalog of another format stops the deployment before any change", async () => {
      const [name, good] = [...api.values].find(([key]) => key.startsWith("version:"));
      const other = { ...JSON.parse(good.value), format: 1 };
      api.values.set(name, { ...good, value: Buffer.from(JSON.stringify(other)) });
      const uploads = api.uploads.length;
      const { message, hint } = await project.deployError();
      assert.match(message, /has the format of another commit/);
      assert.match(hint, /npx wrangler kv key delete current --binding CATALOG --remote\n/);
      assert.equal(api.uploads.length, uploads);
      api.values.set(name, good);
      expectNothingUnknown();
    });

    test("`shards` adds a database at Cloudflare, and lists the size and reads of each", async () => {
      const shards = (...args) => run(program, ["shards", ...args, "--remote"], { cwd: project.folder });
      const { stderr } = await shards("add");
      assert.match(stderr, /Added VAULT_2 to wrangler.toml: the database connector-vault-2\.[^]*npm run deploy/);
      const { uuid, name, sqlite } = api.databases[2];
      assert.equal(name, "connector-vault-2");
      assert.ok(project.config.includes(`database_id = "${uuid}"`));
      assert.equal(count(sqlite, "api_keys"), 0);
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
      expectNothingUnknown();
    });

    proof("the real wrangler has run each form of commands", () => {
      const forms = new Set(wrangler.commands.map(({ form }) => form));
      assert.deepEqual(
        [...forms].filter((form) => !wrangler.acceptedForms.has(form)),
        [],
      );
    });
  });

  describe("deployments that fail", () => {
    let project;
    const initial = {};
    before(async () => {
      await account();
      project = new Project("interrupted");
      initial.config = project.config;
    });

    test("without a login, the command explains how to sign in", async () => {
      process.env.CLOUDFLARE_API_TOKEN = "wrong";
      const hint = await project.hintWhileRejecting();
      process.env.CLOUDFLARE_API_TOKEN = api.environment.CLOUDFLARE_API_TOKEN;
      assert.match(hint, /wrangler login/);
      assert.match(hint, /Nothing was changed/);
      assert.equal(project.config, initial.config);
      if (isProof) assert.ok(wrangler.acceptedForms.has("whoami --json (not signed in)"));
    });

    test("a failure lists the completed steps, and how to continue", async () => {
      const hint = await project.hintWhileRejecting(/^POST \/queues$/);
      assert.match(hint, /Completed before that: signed in to Cloudflare, KV namespace of the catalog, D1 database\./);
      assert.match(hint, /`npm run deploy` again/);
      assert.deepEqual([api.namespaces.length, api.databases.length, api.queues.length], [1, 1, 0]);
      // The deployment must only add the ids to wrangler.toml.
      const expected = initial.config
        .replace(PLACEHOLDERS.namespace, api.namespaces[0].id)
        .replace(PLACEHOLDERS.database, api.databases[0].uuid);
      assert.equal(project.config, expected);
    });

    test("a failed upload keeps the vault key, and the next run uses it", async () => {
      const hint = await project.hintWhileRejecting(UPLOAD);
      assert.match(hint, /tables, secrets\./);
      assert.equal(statSync(join(project.folder, "vault-keys.txt")).mode & 0o777, 0o600);
      const keys = project.read("vault-keys.txt");
      const { results } = await project.deploy();
      assert.equal(`${api.secrets.VAULT_KEYS}\n`, keys);
      assert.equal(project.read("vault-keys.txt"), keys);
      assert.match(results.key, /^sk_live_\w+$/);
      assert.deepEqual([api.namespaces.length, api.databases.length, api.queues.length], [1, 1, 1]);
      expectNothingUnknown();
    });
  });
});
