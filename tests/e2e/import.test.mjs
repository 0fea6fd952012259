// `npm run import` and `npm run export` on the real runtime: a thousand connections in Nango's format move in, an import that is
// killed continues, and all connections move out encrypted.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { Decrypter, generateX25519Identity, identityToRecipient } from "age-encryption";
import { root } from "../../scripts/lib/paths.mjs";
import { environment } from "../../scripts/lib/run.mjs";
import { App, SCOPES } from "./support/connecting.mjs";
import { key, store } from "./support/keys.mjs";
import { SESSION_SECRET, Server, VAULT_KEYS } from "./support/server.mjs";
import { State, build, folder, importPlatforms, wranglerEnvironment } from "./support/workspace.mjs";

/** The number of connections to import, enough for several requests. `CONNECTOR_VAULT_PROOF=1` imports a thousand. */
const ROWS = process.env.CONNECTOR_VAULT_PROOF ? 1000 : 100;
/** The number of lines after which an import is killed. */
const KILL_AFTER_LINES = 40;
/** The string that each secret in the file contains. */
const SECRET = "t0ps3cr3t";

const PROVIDERS = `[platforms.gmail]
name = "Gmail"
servers = ["https://api.gmail.example"]

[[platforms.gmail.auth]]
id = "oauth2"
type = "oauth2"
grant = "authorization_code"
authorizationUrl = "https://id.gmail.example/authorize"
tokenUrl = "https://id.gmail.example/token"
source = "these tests"
read = "2026-11-28"

[platforms.stripe]
name = "Stripe"
servers = ["https://api.stripe.example"]

[[platforms.stripe.auth]]
id = "key"
type = "bearer"
source = "these tests"
read = "2026-11-28"
`;

const connection = (index) => {
  const isKey = index % 10 === 9;
  const credentials = isKey
    ? { type: "API_KEY", apiKey: `${SECRET}-${index}` }
    : {
        type: "OAUTH2",
        access_token: `${SECRET}-a${index}`,
        refresh_token: `${SECRET}-r${index}`,
        expires_at: "2099-01-01T00:00:00.000Z",
        raw: { scope: "read write" },
      };
  const name = isKey ? "stripe" : "google-mail";
  const user = { id: `user-${index}`, display_name: `User ${index}` };
  return {
    connection_id: `c-${index}`,
    provider_config_key: name,
    provider: name,
    connection_config: {},
    end_user: user,
    credentials,
  };
};

describe("moving in and out", { timeout: 600_000 }, () => {
  const apiKey = key({ scopes: `${SCOPES} audit:read events:read`, account: "moving" });
  const state = new State("moving");
  const file = join(folder, "nango.json");
  let [server, opened, app] = [];

  before(async () => {
    await build();
    const sources = join(folder, "moving-documents");
    mkdirSync(sources, { recursive: true });
    writeFileSync(
      join(sources, "none.json"),
      JSON.stringify({ openapi: "3.0.0", info: { title: "None", version: "1" }, paths: {} }),
    );
    const providers = join(folder, "moving-providers.toml");
    writeFileSync(providers, PROVIDERS);
    await state.prepare();
    await state.publish(await importPlatforms("moving", sources, providers));
    server = await Server.start(state, { name: "moving", secrets: { SESSION_SECRET, VAULT_KEYS } });
    opened = await state.open();
    await store(opened.vault, [apiKey]);
    app = new App(() => server, apiKey);
    await app.setClient("gmail", { clientId: "own", clientSecret: "the secret of the client" });
    writeFileSync(file, JSON.stringify({ connections: [...Array(ROWS).keys()].map(connection) }));
  });

  after(async () => {
    await server?.stop();
    await opened?.close();
  });

  /** Runs a script, and kills it after `stopAfter` lines of output. */
  async function run(script, args, stopAfter = Number.POSITIVE_INFINITY) {
    const env = {
      ...environment(wranglerEnvironment),
      VAULT_URL: `http://127.0.0.1:${server.port}`,
      VAULT_KEY: apiKey.secret,
    };
    const child = spawn(process.execPath, [join(root, "scripts", script), ...args], { cwd: root, env });
    let [out, err] = ["", ""];
    child.stdout.on("data", (chunk) => {
      out += chunk;
      if (out.split("\n").length > stopAfter) child.kill("SIGKILL");
    });
    child.stderr.on("data", (chunk) => (err += chunk));
    const [code, signal] = await once(child, "close");
    assert.ok(!`${out}${err}`.includes(SECRET), "a secret is printed");
    return {
      code,
      signal,
      err,
      outcomes: Object.groupBy(out.split("\n").filter(Boolean), (line) => line.split(" ")[0]),
    };
  }

  const counts = (outcomes) =>
    Object.fromEntries(Object.entries(outcomes).map(([name, lines]) => [name, lines.length]));
  const total = async () => (await app.expect(200, "GET", "/v1/vault/summary")).total;

  test("an import that is killed continues where it stopped", async () => {
    const { signal } = await run("import.mjs", ["nango", file], KILL_AFTER_LINES);
    assert.equal(signal, "SIGKILL");
    const stored = await total();
    assert.ok(stored >= KILL_AFTER_LINES && stored < ROWS, `${stored}`);
    const { code, outcomes } = await run("import.mjs", ["nango", file]);
    // The killed import may have stored one more batch of 20 than it reported.
    assert.deepEqual([code, await total()], [0, ROWS]);
    assert.equal((outcomes.created?.length ?? 0) + outcomes.unchanged.length, ROWS);
    assert.ok(outcomes.unchanged.length >= KILL_AFTER_LINES);
  });

  test("connections move in, and a repeated import changes nothing", async () => {
    for (let start = 0; start < ROWS; start += 500) {
      const { rows } = await app.expect(200, "GET", "/v1/vault/connections?limit=500");
      for (const { id } of rows) await app.expect(204, "DELETE", `/v1/vault/connections/${id}`);
    }
    const began = performance.now();
    const first = await run("import.mjs", ["nango", file]);
    const took = performance.now() - began;
    assert.deepEqual([first.code, counts(first.outcomes)], [0, { created: ROWS }], first.err);
    if (process.env.CONNECTOR_VAULT_PROOF) console.log(`${ROWS} connections moved in within ${Math.round(took)} ms`);
    const before = await opened.vault.prepare("SELECT max(id) AS id FROM events").first();
    const repeated = await run("import.mjs", ["nango", file]);
    assert.deepEqual([repeated.code, counts(repeated.outcomes)], [0, { unchanged: ROWS }]);
    assert.deepEqual(await opened.vault.prepare("SELECT max(id) AS id FROM events").first(), before);
    const { rows } = await app.expect(200, "GET", "/v1/vault/connections?platform=gmail&limit=1");
    assert.equal((await app.status(rows[0].id)).awaitsCutOver, true);
    assert.match((await app.credentials(rows[0].id)).accessToken, /^t0ps3cr3t-a\d+$/);
    const refresh = await app.requestCredentials(rows[0].id, "?refresh=true");
    assert.deepEqual([refresh.status, refresh.json.code], [409, "awaiting_cut_over"]);
    const cutOver = await run("import.mjs", ["nango", file, "--cut-over"]);
    assert.deepEqual([cutOver.code, counts(cutOver.outcomes)], [0, { updated: ROWS }]);
    assert.equal((await app.status(rows[0].id)).awaitsCutOver, false);
    const last = await run("import.mjs", ["nango", file, "--cut-over"]);
    assert.deepEqual(counts(last.outcomes), { unchanged: ROWS });
  });

  test("all connections move out, readable by the recipient only, and the audit names the operator", async () => {
    const identity = await generateX25519Identity();
    const [keys, out] = [join(folder, "moving-keys.txt"), join(folder, "connections.age")];
    writeFileSync(keys, VAULT_KEYS);
    const args = ["--recipient", await identityToRecipient(identity), out, "--file", keys, "--persist-to", state.path];
    const { code, err } = await run("export.mjs", args);
    assert.equal(code, 0, err);
    rmSync(keys);
    assert.equal(statSync(out).mode & 0o777, 0o600);
    const sealed = readFileSync(out);
    assert.ok(!sealed.includes(SECRET) && sealed.toString("latin1").startsWith("age-encryption.org/v1\n"));
    const decrypter = new Decrypter();
    decrypter.addIdentity(identity);
    const lines = (await decrypter.decrypt(sealed, "text"))
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    assert.equal(lines.length, ROWS);
    const exportedLine = lines.find(({ connection: { identity } }) => identity === "user-7");
    assert.deepEqual(exportedLine.connection.credentials, {
      type: "oauth2",
      authMethod: "oauth2",
      accessToken: `${SECRET}-a7`,
      refreshToken: `${SECRET}-r7`,
      expiresAt: "2099-01-01T00:00:00.000Z",
      scopes: ["read", "write"],
    });
    assert.deepEqual(
      [exportedLine.account, exportedLine.environment, exportedLine.connection.name],
      ["moving", "test", "User 7"],
    );
    const [entry] = (await app.expect(200, "GET", `/v1/audit?target=${exportedLine.id}&limit=1`)).rows;
    assert.deepEqual([entry.action, entry.actor.type], ["credentials.read", "operator"]);
    // Importing an exported connection is accepted and changes nothing.
    const { results } = await app.expect(200, "POST", "/v1/vault/connections/import", {
      connections: [exportedLine.connection],
    });
    assert.deepEqual([results[0].outcome, results[0].connectionId], ["unchanged", exportedLine.id]);
    const secondExport = await run("export.mjs", args);
    assert.deepEqual([secondExport.code, readFileSync(out).equals(sealed)], [2, true]);
    const noFile = join(folder, "nothing.age");
    writeFileSync(keys, VAULT_KEYS);
    const none = await run("export.mjs", [...args.map((arg) => (arg === out ? noFile : arg)), "--account", "movign"]);
    rmSync(keys);
    assert.deepEqual([none.code, existsSync(noFile)], [1, false]);
    assert.match(none.err, /No connections of account movign on this machine\./);
  });
});
