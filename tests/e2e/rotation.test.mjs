// Rotation of vault keys as in docs/operating.md, in several orders, while a service runs: the service can always decrypt credentials,
// and none are lost. `npm run proof -- rotation` tries every order.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync, symlinkSync, unwatchFile, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { program } from "../../scripts/lib/native-cli.mjs";
import { root } from "../../scripts/lib/paths.mjs";
import { environment } from "../../scripts/lib/run.mjs";
import { watchSecrets } from "../../scripts/start/secrets.mjs";
import { page } from "./support/docs.mjs";
import { key, store } from "./support/keys.mjs";
import { SESSION_SECRET, Server, VAULT_KEYS } from "./support/server.mjs";
import { State, build, folder, importPlatforms, wranglerEnvironment } from "./support/workspace.mjs";
import { proof } from "./support/proof.mjs";

const caller = key({ scopes: "catalog:read connections:read connections:connect credentials:read" });
const SCHEDULED = "/cdn-cgi/local/scheduled?cron=*+*+*+*+*";

/** A platform whose users connect with an API key. */
const KEY_PLATFORM = {
  openapi: "3.1.0",
  info: { title: "Keyed", version: "1" },
  servers: [{ url: "https://api.keyed.example" }],
  security: [{ key: [] }],
  components: { securitySchemes: { key: { type: "apiKey", in: "header", name: "x-api-key" } } },
  paths: { "/things": { get: { operationId: "listThings", responses: { 200: { description: "Things." } } } } },
};

/** All permutations of steps. */
const orders = (steps) =>
  steps.length === 0
    ? [[]]
    : steps.flatMap((step, at) => orders(steps.toSpliced(at, 1)).map((others) => [step, ...others]));

/** The trials: an order of the steps, and the number of scheduled runs after each step. */
const TRIALS = process.env.CONNECTOR_VAULT_PROOF
  ? orders(["rotate", "reload", "reseal"]).flatMap((order) => [0, 1, 2].map((minutes) => [order, minutes]))
  : [
      // The documented order, without and with time for two scheduled runs, and the reverse order.
      [["rotate", "reload", "reseal"], 0],
      [["rotate", "reload", "reseal"], 2],
      [["reseal", "reload", "rotate"], 1],
    ];

describe("rotation of vault keys", { timeout: 600_000 }, () => {
  const state = new State("rotation");
  const project = join(folder, "configurations", "rotation");
  const secrets = { SESSION_SECRET, VAULT_KEYS };
  let server;
  let ids = [];

  /** Runs `vault-keys …` in the project: { status, output }. Asserts that no key is shown. */
  function vaultKeys(...args) {
    const options = { cwd: project, env: environment(wranglerEnvironment), encoding: "utf8" };
    const done = spawnSync(program, ["vault-keys", ...args, "--persist-to", state.path], options);
    assert.doesNotMatch(done.stdout + done.stderr, /[A-Za-z\d+/]{43}/);
    return { status: done.status, stdout: done.stdout, output: done.stdout + done.stderr };
  }
  const needed = () => JSON.parse(vaultKeys("status", "--json").stdout);

  async function minute() {
    assert.equal((await server.send(SCHEDULED)).status, 200);
  }

  /** Makes a change, and waits until the service has been reloaded. */
  async function changeAndReload(change) {
    const countReloads = () => server.output.match(/Local server updated and ready/g)?.length ?? 0;
    const before = countReloads();
    change();
    await server.until(() => countReloads() > before, "the service did not reload");
    await server.until(async () => (await server.send("/health")).status === 200, "the service does not respond");
  }

  const touchSecrets = () => {
    const now = new Date();
    utimesSync(join(project, "wrangler.toml"), now, now);
  };

  async function expectOpened(what) {
    for (const id of ids) {
      const response = await server.send(`/v1/vault/connections/${id}/credentials`, { secret: caller.secret });
      assert.equal(response.status, 200, `${what}: ${response.body}`);
      assert.equal(JSON.parse(response.body).apiKey, "a user's key");
    }
  }

  before(async () => {
    await build();
    await state.prepare();
    const document = join(folder, "keyed.json");
    writeFileSync(document, JSON.stringify(KEY_PLATFORM));
    await state.publish(await importPlatforms("keyed", [document], join(root, "tests", "fixtures", "github.toml")));
    await state.use(({ vault }) => store(vault, [caller]));
    server = await Server.start(state, { name: "rotation", secrets, byWrangler: true });
    for (const name of ["node_modules", "scripts", "schema"]) symlinkSync(join(root, name), join(project, name));
    const platform = "keyed";
    const connector = await server.send(`/v1/available-connectors/${platform}`, { secret: caller.secret });
    const authMethod = JSON.parse(connector.body).authMethods.find(({ type }) => type === "api_key").id;
    const connect = async (identity) => {
      const body = { platform, authMethod, identity, identityType: "user" };
      const headers = [["content-type", "application/json"]];
      const input = JSON.stringify({ ...body, fields: { apiKey: "a user's key" } });
      const options = { method: "POST", secret: caller.secret, headers, body: input };
      const response = await server.send("/v1/vault/connect", options);
      assert.equal(response.status, 201, response.body);
      return JSON.parse(response.body).id;
    };
    ids = [await connect("ann"), await connect("bob")];
  });

  after(() => server?.stop());

  test("nothing is re-encrypted before a service has reported", () => {
    const { status, output } = vaultKeys("reseal");
    assert.equal(status, 1);
    assert.match(output, /no service has reported its keys .* Start it with `npm start`/);
  });

  for (const [order, minutes] of TRIALS) {
    test(`${order.join(", ")}, with ${minutes} runs of the schedule in between`, async () => {
      const expected = () => needed().find(({ role }) => role === "seals").id;
      let loaded = expected();
      for (const step of order) {
        if (step === "rotate") assert.equal(vaultKeys("rotate").status, 0);
        if (step === "reload") {
          await changeAndReload(touchSecrets);
          loaded = expected();
        }
        if (step === "reseal") {
          const { status, output } = vaultKeys("reseal");
          const has = loaded === expected();
          // Re-encrypting is rejected until the service has loaded the key and reported it in two scheduled runs.
          if (!has) assert.equal(status, 1, output);
          if (has && minutes === 2) assert.equal(status, 0, output);
        }
        await expectOpened(`after ${step}`);
        for (let n = 0; n < minutes; n += 1) await minute();
        await expectOpened(`${minutes} minutes after ${step}`);
      }
      // The documented commands complete the rotation from any state.
      await changeAndReload(touchSecrets);
      await minute();
      await minute();
      const { status, output } = vaultKeys("reseal");
      assert.equal(status, 0, output);
      const [first, ...others] = needed();
      assert.equal(first.needed.connections, ids.length);
      for (const { needed: of } of others) assert.equal(of.connections, 0);
      await expectOpened("in the end");
    });
  }

  proof("a second service without the key delays the rotation", async () => {
    const old = readFileSync(join(project, ".dev.vars"), "utf8").match(/VAULT_KEYS="(.*)"/)[1];
    const second = await Server.start(state, { name: "second", secrets: { SESSION_SECRET, VAULT_KEYS: old } });
    try {
      assert.equal(vaultKeys("rotate").status, 0);
      await changeAndReload(touchSecrets);
      await minute();
      assert.equal((await second.send(SCHEDULED)).status, 200);
      await minute();
      const { status, output } = vaultKeys("reseal");
      assert.equal(status, 1, output);
      assert.match(output, /some lack it, and could not decrypt what it encrypts/);
      // The schedule of the service with the key does not re-encrypt either.
      const path = `/v1/vault/connections/${ids[0]}/credentials`;
      assert.equal((await second.send(path, { secret: caller.secret })).status, 200);
      await expectOpened("while both run");
    } finally {
      await second.stop();
    }
    // The reports of the second service expire.
    await state.use(({ vault }) => vault.prepare("UPDATE vault_key_reports SET first_at = 1, last_at = 1").run());
    await minute();
    await minute();
    assert.equal(vaultKeys("reseal").status, 0);
    await expectOpened("with one service");
  });

  test("the documented commands work while npm start runs", async () => {
    const text = page("docs/operating.md");
    const [rotate] = text.blocks.filter(({ code }) => code.includes("vault-keys -- rotate\n"));
    const [reseal] = text.marked("sh reseal");
    const all = (code) =>
      code
        .trim()
        .split("\n")
        .map((line) => vaultKeys(...line.replace("npm run vault-keys -- ", "").split(" ")));
    watchSecrets(project);
    try {
      await changeAndReload(() => {
        for (const { status, output } of all(rotate.code)) assert.equal(status, 0, output);
      });
      const [early] = all(reseal.code);
      assert.equal(early.status, 1, early.output);
      await expectOpened("too early");
      await minute();
      await minute();
      for (const { status, output } of all(reseal.code)) assert.equal(status, 0, output);
      assert.match(vaultKeys("status").output, /Running services have `\d{4}-/);
      await expectOpened("in the end");
      // The previous keys can be removed, because nothing needs them.
      const [current] = needed();
      const file = join(project, ".dev.vars");
      await changeAndReload(() => {
        const vars = readFileSync(file, "utf8");
        writeFileSync(file, vars.replace(/VAULT_KEYS="([^,"]*),[^"]*"/, 'VAULT_KEYS="$1"'));
      });
      assert.deepEqual(
        needed().map(({ id }) => id),
        [current.id],
      );
      await expectOpened("without the previous keys");
    } finally {
      unwatchFile(join(project, ".dev.vars"));
    }
  });
});
