// The operator's commands while the service runs: OAuth clients, and a rotated vault key.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { before, describe, test } from "node:test";
import { program } from "../../../scripts/lib/native-cli.mjs";
import { root } from "../../../scripts/lib/paths.mjs";
import { environment } from "../../../scripts/lib/run.mjs";
import { App, VAULT_KEY, Visitor, agree, openCallback, connectingKey, isCallback } from "../support/connecting.mjs";
import { secrets } from "../support/http.mjs";
import { store } from "../support/keys.mjs";
import { SECOND_CLIENT } from "../support/authlib.mjs";
import { Server } from "../support/server.mjs";
import { folder, wranglerEnvironment } from "../support/workspace.mjs";
import { proof } from "../support/proof.mjs";

const NEW_KEY = Buffer.alloc(32, "a key that was made for this test").toString("base64");
secrets.add(NEW_KEY);

export function connectOperator(fixture) {
  const apiKey = connectingKey({ account: "operator" });
  const app = new App(() => fixture.server, apiKey);
  const file = join(folder, "operator-keys.txt");
  const place = () => ["--persist-to", fixture.state.path, "--file", file];
  const whose = ["--account", "operator", "--environment", "test"];

  /**
   * Runs a command with this standard input: { status, stdout, stderr }. Asserts that its output contains no secret.
   */
  function run(args, input = "") {
    const options = { cwd: root, env: environment(wranglerEnvironment), encoding: "utf8", input };
    const done = spawnSync(program, args, options);
    const output = done.stdout + done.stderr;
    for (const secret of [VAULT_KEY, NEW_KEY, SECOND_CLIENT.clientSecret])
      assert.ok(!output.includes(secret), "a command shows a secret");
    return done;
  }
  const set = (platform, options, input, how = []) =>
    run(["clients", "set", platform, ...whose, ...options, ...place(), ...how], input);
  const list = (...how) =>
    JSON.parse(
      run(["clients", "list", "--json", "--account", "operator", "--persist-to", fixture.state.path, ...how]).stdout,
    );

  async function connect(identity) {
    const visitor = new Visitor();
    const { id, link } = await app.begin({ platform: "second-basic", identity });
    const url = new URL(await agree(visitor, link));
    url.searchParams.set("user", identity);
    const { url: back } = await visitor.follow(await visitor.get(url.href), url.href, isCallback);
    await openCallback(visitor, back);
    return (await app.expectConnected(id)).id;
  }

  describe("the operator's commands", () => {
    before(async () => {
      await store(fixture.database, [apiKey]);
      writeFileSync(file, `tests:${VAULT_KEY}`);
    });

    test("the redirect URI contains the URL of the service only if it is known", () => {
      const note = join(fixture.state.path, "v3", "address");
      rmSync(note, { force: true });
      const unknown = run(["clients", "list", "--persist-to", fixture.state.path]);
      assert.equal(unknown.status, 0, unknown.stderr);
      assert.doesNotMatch(unknown.stdout, /8787/);
      writeFileSync(note, "http://127.0.0.1:9123\n");
      const options = [...whose, "--client-id", "a", "--no-secret", ...place()];
      const { stdout } = run(["clients", "set", "second-post", ...options]);
      assert.equal(stdout, "http://127.0.0.1:9123/connect/callback\n");
      run(["clients", "remove", "second-post", ...whose, "--persist-to", fixture.state.path]);
      writeFileSync(note, "http://localhost:8787\n");
    });

    test("an OAuth client is set, its secret read from standard input, and the service uses it", async () => {
      const { clientId, clientSecret } = SECOND_CLIENT;
      const done = set("Second-Basic", ["--client-id", clientId, "--scope", "read"], `${clientSecret}\n`);
      assert.deepEqual([done.status, done.stdout], [0, "http://localhost:8787/connect/callback\n"], done.stderr);
      assert.match(
        done.stderr,
        /^Set the OAuth client for second-basic of operator \(test\)\.\nRegister this redirect/,
      );
      const shown = await app.expect(200, "GET", "/v1/oauth-clients/second-basic");
      assert.deepEqual([shown.clientId, shown.hasSecret, shown.scopes], [clientId, true, ["read"]]);
      const id = await connect("ann");
      assert.equal(await fixture.second.userOf((await app.credentials(id)).headers), "ann");
      const url = ["--url", `http://127.0.0.1:${fixture.server.port}`];
      assert.deepEqual(list(...url), [{ account: "operator", environment: "test", ...shown }]);
      const text = run(["clients", "list", "--persist-to", fixture.state.path]).stdout;
      assert.match(text, /^second-basic +default +test +sealed +any +second\.app$/m);
    });

    proof("with --keep-secret, the stored secret stays and is still used", async () => {
      const options = ["--client-id", SECOND_CLIENT.clientId, "--keep-secret", "--scope", "write", "--json"];
      const done = set("second-basic", options, "", ["--by-wrangler"]);
      assert.equal(done.status, 0, done.stderr);
      assert.deepEqual([JSON.parse(done.stdout).hasSecret, JSON.parse(done.stdout).scopes], [true, ["write"]]);
      assert.equal(await fixture.second.userOf((await app.credentials(await connect("bob"))).headers), "bob");
    });

    test("all errors are reported, and nothing is stored", async () => {
      const [good] = list();
      for (const [platform, options, input, expected] of [
        ["second-bsic", ["--client-id", "a"], "s", /second-bsic[^]*Did you mean `second-basic`/],
        ["second-basic", ["--client-id", "a"], "", /there is no secret on standard input/],
        [
          "second-basic",
          ["--client-id", "ä", "--auth-method", "b c"],
          "s",
          /clientId[^]*authMethod|authMethod[^]*clientId/,
        ],
        ["second-basic", ["--client-id", "a", "--parameter", "state=x"], "s", /state` is set by the service/],
        ["second-basic", ["--client-id", "a", "--variable", "x=y"], "s", /not a variable of the platform/],
      ]) {
        const refused = set(platform, options, input);
        assert.deepEqual([refused.status, refused.stdout], [1, ""], refused.stderr);
        assert.match(refused.stderr, expected);
      }
      const remote = run(["clients", "set", "second-basic", ...whose, "--client-id", "a", "--remote"], "s");
      assert.match(remote.stderr, /pass your copy of VAULT_KEYS with --file/);
      assert.deepEqual(list(), [good]);
    });

    proof("a new key re-encrypts everything while the service runs, and the old key can be removed", async () => {
      const id = await connect("cid");
      const bothKeys = `new:${NEW_KEY},tests:${VAULT_KEY}`;
      writeFileSync(file, bothKeys);
      const vaultKeys = (...args) => run(["vault-keys", ...args, ...place()]);
      const needed = () =>
        JSON.parse(vaultKeys("status", "--json").stdout).map(({ id: key, needed: { connections, oauthClients } }) => [
          key,
          connections + oauthClients > 0,
        ]);
      assert.deepEqual(needed(), [
        ["new", false],
        ["tests", true],
      ]);
      const configured = { ...fixture.configuration("rotated"), secrets: { VAULT_KEYS: bothKeys } };
      const rotated = await Server.start(fixture.state, configured);
      try {
        const rotatedApp = new App(() => rotated, apiKey);
        const { accessToken } = await rotatedApp.credentials(id);
        // A service has reported its keys only after two scheduled runs.
        const minute = async () =>
          assert.equal((await rotated.send("/cdn-cgi/local/scheduled?cron=*+*+*+*+*")).status, 200);
        const early = vaultKeys("reseal");
        assert.deepEqual([early.status, early.stdout], [1, ""], early.stderr);
        await minute();
        await minute();
        const done = vaultKeys("reseal");
        assert.equal(done.status, 0, done.stderr);
        assert.match(done.stdout, /^\d+ rows re-encrypted with `new`\n$/);
        assert.deepEqual(needed(), [
          ["new", true],
          ["tests", false],
        ]);
        // Attempts of earlier tests are not re-encrypted, since they expire by themselves.
        await fixture.database.prepare("UPDATE connect_attempts SET expires_at = 1 WHERE sealed IS NOT NULL").run();
        assert.match(vaultKeys("status").stdout, /^No row needs `tests`: you can remove it/m);
        assert.equal((await rotatedApp.credentials(id)).accessToken, accessToken);
        const refreshed = await rotatedApp.credentials(id, "?refresh=true");
        assert.equal(await fixture.second.userOf(refreshed.headers), "cid");
        // If the new key is missing, the error names it, and nothing is lost.
        const refused = await app.requestCredentials(id);
        assert.deepEqual([refused.status, refused.json.code], [503, "unavailable"]);
        await fixture.server.logged("the key `new` is needed, but is not in VAULT_KEYS");
        // Restores the keys for the next tests.
        writeFileSync(file, `tests:${VAULT_KEY},new:${NEW_KEY}`);
        const back = vaultKeys("reseal");
        assert.equal(back.status, 0, back.stderr);
        assert.deepEqual(needed(), [
          ["tests", true],
          ["new", false],
        ]);
        writeFileSync(file, `other:${VAULT_KEY}`);
        const missing = vaultKeys("reseal");
        assert.deepEqual([missing.status, missing.stdout], [1, ""]);
        assert.match(missing.stderr, /lacks the key `other` of .*\. It has [^]*`tests`/);
        writeFileSync(file, `tests:${VAULT_KEY}`);
      } finally {
        await rotated.stop();
      }
      assert.equal(await fixture.second.userOf((await app.credentials(id)).headers), "cid");
    });

    test("an OAuth client is removed", async () => {
      const remove = (...options) =>
        run(["clients", "remove", "second-basic", ...options, ...whose, "--persist-to", fixture.state.path]);
      const named = set("second-basic", ["--name", "bot", "--client-id", "b", "--no-secret"]);
      assert.match(named.stderr, /^Set the OAuth client bot for second-basic of operator \(test\)\.$/m);
      assert.deepEqual(
        list().map(({ name }) => name),
        ["bot", "default"],
      );
      const bot = remove("--name", "bot");
      assert.equal(bot.stderr, "Removed the OAuth client bot for second-basic of operator (test).\n");
      const done = remove();
      assert.deepEqual(
        [done.status, done.stderr],
        [0, "Removed the OAuth client for second-basic of operator (test).\n"],
      );
      assert.deepEqual(list(), []);
      assert.equal((await app.call("GET", "/v1/oauth-clients/second-basic")).status, 404);
      assert.match(remove().stderr, /there is no OAuth client for `second-basic` of operator \(test\) on this machine/);
    });
  });
}
