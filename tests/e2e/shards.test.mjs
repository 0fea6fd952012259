// Accounts in three databases on the real runtime: created with the operator's commands, served by one Worker.
import assert from "node:assert/strict";
import { cpSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { buildNativeCli } from "../../scripts/lib/native-cli.mjs";
import { root } from "../../scripts/lib/paths.mjs";
import { run } from "../../scripts/lib/run.mjs";
import { secrets } from "./support/http.mjs";
import { SESSION_SECRET, Server, VAULT_KEYS } from "./support/server.mjs";
import { State, build, folder, smallCatalog, wranglerEnvironment } from "./support/workspace.mjs";
import { proof } from "./support/proof.mjs";

const PROJECT = join(folder, "sharded");
const BINDINGS = ["VAULT", "VAULT_1", "VAULT_2"];
const CONNECTIONS = "/v1/vault/connections";
// The interval between the requests of an app. Without it, an account could grow faster than a busy machine copies it, and
// the command would give up.
const INTERVAL_MS = 20;
const SCHEDULED = `/cdn-cgi/local/scheduled?cron=${encodeURIComponent("* * * * *")}`;
const file = () => readFileSync(join(PROJECT, "wrangler.toml"), "utf8");

describe("accounts in three databases", { timeout: 600_000 }, () => {
  const state = new State("sharded");
  const keys = {};
  let program;
  let server;

  /** Runs the operator's command line in the project. */
  const operator = (...args) =>
    run(program, [...args, "--persist-to", state.path], { cwd: PROJECT, env: wranglerEnvironment, timeout: 120_000 });
  const list = async () => JSON.parse(await operator("shards", "list", "--json"));
  async function createKey(account) {
    const createdKey = JSON.parse(
      await operator("keys", "create", "--account", account, "--environment", "test", "--json"),
    );
    secrets.add(createdKey.secret);
    return createdKey;
  }
  /** The databases that the commands have added, for the configuration of the Worker. */
  const addedBindings = () =>
    file()
      .match(/^\[\[d1_databases\]\]\n(?:(?!\[).+\n?)*/gm)
      .slice(1)
      .join("\n");
  const connect = (key, identity, tags = []) =>
    server.send(CONNECTIONS, {
      method: "POST",
      secret: key,
      headers: [["content-type", "application/json"]],
      body: JSON.stringify({ platform: "petstore-swagger", identity, identityType: "user", tags }),
    });

  before(async () => {
    await build();
    program = await buildNativeCli();
    mkdirSync(PROJECT);
    for (const name of ["wrangler.toml", "schema"]) cpSync(join(root, name), join(PROJECT, name), { recursive: true });
    symlinkSync(join(root, "node_modules"), join(PROJECT, "node_modules"));
    symlinkSync(join(root, "scripts"), join(PROJECT, "scripts"));
  });

  after(() => server?.stop());

  test("`shards` adds databases up to the given number", async () => {
    const first = file();
    await operator("shards", "add", "--total", "1");
    assert.equal(file(), first);
    await operator("shards", "add");
    await operator("shards", "add", "--total", "3");
    const three = file();
    await operator("shards", "add", "--total", "3");
    assert.equal(file(), three);
    const shards = await list();
    assert.deepEqual(
      shards.map(({ binding, accounts, connections }) => ({ binding, accounts, connections })),
      BINDINGS.map((binding) => ({ binding, accounts: 0, connections: 0 })),
    );
    assert.ok(shards.every(({ bytes }) => bytes > 0));
    assert.equal(await operator("migrate"), "");
  });

  test("new accounts go to the emptiest database, and each stays in one", async () => {
    for (const account of ["one", "two", "three"]) keys[account] = await createKey(account);
    assert.deepEqual(
      (await list()).map(({ accounts }) => accounts),
      [1, 1, 1],
    );
    for (const account of ["one", "two", "three"]) {
      const { secret } = await createKey(account);
      assert.equal(secret.length, keys[account].secret.length);
      assert.equal(secret.slice(8, 10) === "01", keys[account].secret.slice(8, 10) === "01");
    }
    assert.deepEqual(
      (await list()).map(({ accounts }) => accounts),
      [1, 1, 1],
    );
    const lengths = Object.values(keys).map(({ secret }) => secret.length);
    assert.deepEqual(lengths.sort(), [46, 48, 48]);
    const listed = JSON.parse(await operator("keys", "list", "--json"));
    assert.deepEqual(
      listed.map(({ account }) => account),
      ["one", "two", "three", "one", "two", "three"],
    );
  });

  test("each key and token only works in its database", async () => {
    const catalog = await smallCatalog();
    await operator("catalog", "publish", "--catalog", catalog.path);
    // A database without tables makes its part of the schedule fail.
    const broken = '[[d1_databases]]\nbinding = "VAULT_9"\ndatabase_name = "broken"\ndatabase_id = "broken"\n';
    server = await Server.start(state, {
      name: "sharded",
      bindings: `${addedBindings()}\n${broken}`,
      secrets: { SESSION_SECRET, VAULT_KEYS },
    });
    for (const [account, { secret }] of Object.entries(keys)) {
      const me = await server.send("/v1/whoami", { secret });
      assert.equal(JSON.parse(me.body).account, account);
      for (const identity of ["ann", "bob"]) {
        const response = await connect(secret, `${identity}-of-${account}`);
        assert.equal(response.status, 201, String(response.body));
      }
      const session = await server.send("/v1/sessions", {
        method: "POST",
        secret,
        headers: [["content-type", "application/json"]],
        body: JSON.stringify({ identity: `ann-of-${account}` }),
      });
      const { token } = JSON.parse(session.body);
      secrets.add(token);
      const seen = JSON.parse((await server.send(CONNECTIONS, { secret: token })).body);
      assert.deepEqual(
        seen.rows.map(({ identity }) => identity),
        [`ann-of-${account}`],
      );
      const all = JSON.parse((await server.send(CONNECTIONS, { secret })).body);
      assert.deepEqual(all.rows.map(({ identity }) => identity).sort(), [`ann-of-${account}`, `bob-of-${account}`]);
    }
    assert.deepEqual(
      (await list()).map(({ connections }) => connections),
      [2, 2, 2],
    );
  });

  test("an account moves while it is used, and its keys keep working", async () => {
    const { secret } = keys.one;
    const from = secret.length > 46 ? Number(secret.slice(8, 10)) : 0;
    const to = from === 2 ? 1 : from + 1;
    await state.use(({ vault }) =>
      vault
        .prepare(
          `INSERT INTO oauth_clients (account, environment, platform, client_id, scopes, authorization_parameters, variables,
             created_at, updated_at) VALUES ('one', 'test', 'petstore-swagger', 'an id', '[]', '{}', '{}', 1, 1)`,
        )
        .run(),
    );
    const created = new Set();
    let [refused, isOver] = [0, false];
    const writer = async (name) => {
      for (let index = 0; !isOver; index += 1) {
        const response = await connect(secret, `${name} ${index}`);
        if (response.status === 201) created.add(JSON.parse(response.body).id);
        else {
          assert.deepEqual([response.status, response.header("retry-after")], [503, "5"], String(response.body));
          refused += 1;
        }
        await pause(INTERVAL_MS);
      }
    };
    const reader = async () => {
      for (; !isOver; await pause(INTERVAL_MS)) {
        const known = created.size;
        const page = await server.send(CONNECTIONS, { secret });
        assert.equal(page.status, 200, String(page.body));
        assert.ok(JSON.parse(page.body).total >= known);
      }
    };
    const running = Promise.all([writer("first"), writer("second"), reader()]);
    const moving = operator("shards", "move", "one", "--to", String(to)).finally(() => {
      isOver = true;
    });
    await Promise.all([moving, running]);
    const total = created.size + 2;
    assert.ok(created.size > 8, `${created.size} connections created, ${refused} requests rejected`);
    assert.equal(JSON.parse((await server.send(CONNECTIONS, { secret })).body).total, total);
    for (const id of created) assert.equal((await server.send(`${CONNECTIONS}/${id}`, { secret })).status, 200);
    const shards = await list();
    assert.equal(shards[to].accounts, 2);
    assert.equal(shards[to].connections, total + 2);
    assert.deepEqual([shards[from].accounts, shards[from].connections], [0, 0], "the old copy does not count");
    assert.match(await operator("keys", "list"), /rotate/);
    const clients = JSON.parse(await operator("clients", "list", "--json"));
    assert.deepEqual(
      clients.map(({ account, platform, clientId }) => [account, platform, clientId]),
      [["one", "petstore-swagger", "an id"]],
    );
    const createdKey = await createKey("one");
    assert.equal(createdKey.secret.slice(8, 10), `0${to}`);
    assert.equal((await server.send("/v1/whoami", { secret: createdKey.secret })).status, 200);

    // Moves the account back, which a leftover copy would prevent.
    await assert.rejects(operator("shards", "move", "one", "--to", String(from)), { output: /old copy/ });
    await operator("shards", "clean", "one");
    await operator("shards", "move", "one", "--to", String(from));
    assert.equal(JSON.parse((await server.send(CONNECTIONS, { secret })).body).total, total);
    assert.equal((await list())[from].connections, total);
  });

  test("the schedule visits all databases, and logs which one fails", async () => {
    assert.equal((await server.send(SCHEDULED)).status, 500);
    await server.logged("schedule: VAULT_9: ", "no such table");
    for (const binding of BINDINGS.slice(1)) assert.ok(!server.output.includes(`schedule: ${binding}:`));
    assert.equal(server.output.match(/schedule: /g).length, 1);
  });

  test("keys of every database can be revoked and replaced", async () => {
    for (const { id, secret } of Object.values(keys)) {
      const rotated = JSON.parse(await operator("keys", "rotate", id, "--json"));
      secrets.add(rotated.secret);
      assert.equal(rotated.secret.length, secret.length);
      assert.equal((await server.send("/v1/whoami", { secret: rotated.secret })).status, 200);
      await operator("keys", "revoke", id);
      assert.equal((await server.send("/v1/whoami", { secret })).status, 401);
    }
  });

  proof("a nearly full database rejects writes, and the others accept them", async () => {
    const { secret } = await createKey("one");
    const home = secret.length > 46 ? Number(secret.slice(8, 10)) : 0;
    const bytes = async () => (await list())[home].bytes;
    const fits = await bytes();
    for (let index = 0; (await bytes()) < fits * 1.5; index += 20) {
      // A deletion adds events and an audit entry. With these tags, it still frees more space than it takes.
      const tags = Array.from({ length: 10 }, (_, tag) => `${tag} of ${index} `.padEnd(60, "-"));
      const all = Array.from({ length: 20 }, (_, at) => connect(secret, `user ${index + at}`, tags));
      for (const response of await Promise.all(all)) assert.equal(response.status, 201, String(response.body));
    }
    await server.stop();
    server = await Server.start(state, {
      name: "full",
      bindings: addedBindings(),
      // With this limit, the database is 95.5 % full.
      variables: { MAX_DATABASE_BYTES: String(Math.floor((await bytes()) / 0.955)) },
      secrets: { SESSION_SECRET, VAULT_KEYS },
    });
    assert.equal((await server.send(CONNECTIONS, { secret })).status, 200);
    const refused = await connect(secret, "eve");
    assert.deepEqual([refused.status, JSON.parse(refused.body).code], [507, "vault_full"]);
    await server.logged("vault_full request=", "docs/scaling.md");
    assert.equal((await connect((await createKey("two")).secret, "eve")).status, 201);
    assert.equal((await server.send(SCHEDULED)).status, 200);
    await server.logged("the database has", "docs/scaling.md");

    // Deleting frees space immediately.
    const page = JSON.parse((await server.send(`${CONNECTIONS}?limit=500`, { secret })).body);
    for (const { id } of page.rows) {
      const deletion = await server.send(`${CONNECTIONS}/${id}`, { method: "DELETE", secret });
      assert.equal(deletion.status, 204, String(deletion.body));
    }
    assert.equal((await connect(secret, "eve")).status, 201);
  });

  test("a key of an unbound database is unknown", async () => {
    await operator("shards", "add");
    const { secret } = await createKey("four");
    assert.equal(secret.slice(8, 10), "03");
    const [unbound, unknown] = await Promise.all(
      [secret, keys.one.secret].map((key) => server.send("/v1/whoami", { secret: key })),
    );
    const comparable = ({ status, body }) => ({ status, ...JSON.parse(body), requestId: "" });
    assert.deepEqual(comparable(unbound), comparable(unknown));
    assert.equal(unbound.status, 401);
  });
});
