// The commands that show and rotate vault keys on local storage, and the service's log messages about invalid keys.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { before, describe, test } from "node:test";
import { program } from "../../scripts/lib/native-cli.mjs";
import { root } from "../../scripts/lib/paths.mjs";
import { environment } from "../../scripts/lib/run.mjs";
import { Server } from "./support/server.mjs";
import { State, build, cli, folder, wranglerEnvironment } from "./support/workspace.mjs";

const state = new State("vault-keys");
const file = join(folder, "vault-keys.txt");
const keys = () => readFileSync(file, "utf8");
const KEY = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
const place = ["--file", file, "--persist-to", state.path];
const NOTHING = {
  agentCalls: 0,
  agentSignIns: 0,
  connections: 0,
  consoleSignIns: 0,
  oauthClients: 0,
  attempts: 0,
  revocations: 0,
  webhooks: 0,
};

/** Runs `vault-keys …`: { status, stdout, stderr }. Asserts that no key is shown. */
function vaultKeys(...args) {
  const options = { cwd: root, env: environment(wranglerEnvironment), encoding: "utf8" };
  const done = spawnSync(program, ["vault-keys", ...args], options);
  assert.doesNotMatch(done.stdout + done.stderr, /[A-Za-z\d+/]{43}/);
  return done;
}

const status = (...how) => {
  const { status: code, stdout } = vaultKeys("status", "--json", ...place, ...how);
  return { code, keys: JSON.parse(stdout) };
};

/** Stores credentials of one connection, encrypted with a key. */
const sealBy = (id, key) =>
  state.use(({ vault }) =>
    vault
      .prepare(
        `INSERT INTO credentials (account, environment, connection_id, auth_method, type, sealed, version, refreshable, revocable,
           scopes, missing_scopes, written_by) VALUES ('acme', 'test', ?1, 'key', 'api_key', ?2, 1, 0, 0, '[]', '[]', 'a test')`,
      )
      .bind(id, `${key}.AAAA`)
      .run(),
  );

describe("vault keys", { timeout: 300_000 }, () => {
  before(async () => {
    await cli("migrate", "--persist-to", state.path);
  });

  test("the first key creates the file, readable by its owner only", () => {
    const { status: code, stdout, stderr } = vaultKeys("rotate", "--id", "first", ...place);
    assert.deepEqual([code, stdout], [0, "first\n"]);
    assert.match(stderr, /^The new key `first` is the first in /);
    assert.match(keys(), /^first:[A-Za-z\d+/]{43}=\n$/);
    assert.equal(statSync(file).mode & 0o777, 0o600);
    assert.deepEqual(status(), { code: 0, keys: [{ id: "first", role: "seals", needed: NOTHING }] });
  });

  test("a new key comes first in the file, and status lists the rows that need each key", async () => {
    await sealBy("a", "first");
    const before = keys();
    const { stdout, stderr } = vaultKeys("rotate", ...place);
    const id = stdout.trim();
    assert.match(id, /^\d{4}-\d\d-\d\d$/);
    assert.ok(stderr.includes("npm run vault-keys -- status --file"), stderr);
    assert.ok(keys().startsWith(`${id}:`) && keys().endsWith(`,${before}`));
    await sealBy("b", id);
    const expected = [
      { id, role: "seals", needed: { ...NOTHING, connections: 1 } },
      { id: "first", role: "opens", needed: { ...NOTHING, connections: 1 } },
    ];
    assert.deepEqual(status(), { code: 0, keys: expected });
    assert.deepEqual(status("--by-wrangler"), { code: 0, keys: expected });
    assert.match(vaultKeys("status", ...place).stdout, /^Keep `first`: 1 row needs it/m);
  });

  test("a missing key that is needed is reported, and stops the command", () => {
    const content = keys();
    writeFileSync(file, `other:${KEY}`);
    const [, second, third] = status().keys;
    assert.deepEqual([status().code, second.role, third.role], [1, "missing", "missing"]);
    const { status: code, stdout } = vaultKeys("status", ...place);
    assert.equal(code, 1);
    assert.match(
      stdout,
      /^`first` is missing from .*vault-keys\.txt, and 1 row needs it\. .* until you put it back\.$/m,
    );
    const refused = vaultKeys("rotate", ...place, "--lost", third.id);
    assert.deepEqual([refused.status, refused.stdout], [1, ""]);
    assert.match(refused.stderr, new RegExp(`nothing was changed, [^]*\`${second.id}\`: 1 row needs it\n$`));
    assert.equal(keys(), `other:${KEY}`);
    // The id of a missing key is never reused.
    const lost = ["--lost", "first", "--lost", second.id];
    assert.match(vaultKeys("rotate", "--id", "first", ...lost, ...place).stderr, /there is a key `first` already/);
    const { stdout: next } = vaultKeys("rotate", ...lost, ...place);
    assert.match(next, /^\d{4}-\d\d-\d\d-2\n$/);
    writeFileSync(file, content);
    assert.equal(status().code, 0);
  });

  test("a file with other content is not changed", () => {
    const content = keys();
    for (const [text, why] of [
      [`a:${KEY},b:${KEY}x`, /entry 2 has a key that is not standard base64/],
      [`${KEY}\n`, /entry 1 has no colon/],
      [`a:${KEY},a:${KEY}`, /entry 2 has the same id as an earlier entry/],
    ]) {
      writeFileSync(file, text);
      for (const command of ["status", "rotate"]) {
        const { status: code, stderr, stdout } = vaultKeys(command, ...place);
        assert.deepEqual([code, stdout], [1, ""]);
        assert.match(stderr, why);
      }
      assert.equal(keys(), text);
    }
    rmSync(file);
    assert.deepEqual(
      status().keys.map(({ role }) => role),
      ["missing", "missing"],
    );
    writeFileSync(file, content);
  });

  test("commands for Cloudflare need the operator's copy of the keys", () => {
    const { status: code, stderr } = vaultKeys("rotate", "--remote");
    assert.equal(code, 1);
    assert.match(stderr, /Cloudflare does not show secrets: pass your copy of VAULT_KEYS with --file/);
  });

  test("the service logs errors in its keys once, without showing a key", async () => {
    await build();
    const broken = `old:${KEY},new:${KEY}x`;
    const server = await Server.start(state, { name: "vault-keys", secrets: { VAULT_KEYS: broken } });
    try {
      for (let n = 0; n < 3; n += 1) assert.equal((await server.send("/health")).status, 200);
    } finally {
      await server.stop();
    }
    const fault = /VAULT_KEYS is ignored: entry 2 has a key that is not standard base64/g;
    assert.equal(server.output.match(fault)?.length, 1, server.output);
    assert.ok(!server.output.includes(KEY.slice(0, 20)));
  });
});
