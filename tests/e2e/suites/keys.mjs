// API keys, and the commands that create and revoke them while the service runs.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { costOf, expectJson, expectPage, expectProblem } from "../support/expect.mjs";
import { secrets } from "../support/http.mjs";
import { checksum, key, secret, store } from "../support/keys.mjs";
import { cli, npmKeys } from "../support/workspace.mjs";

const CONNECTORS = "/v1/available-connectors";
const DEFAULT_SCOPES = ["catalog:read", "connections:read", "connections:write"];
const CONNECTIONS = "/v1/vault/connections";
const DAY_MS = 86_400_000;
const NO_COST = { calls: 0, rowsRead: 0, rowsWritten: 0, reads: 0 };

const MALFORMED = "The API key is malformed: a character is missing or mistyped.";
const REFUSED = "The API key is unknown, revoked or expired.";
const MISSING = "The request has no API key. Send one in the header `x-service-secret`.";

export function keys(fixture) {
  const send = (path, options) => fixture.server.send(path, options);

  describe("keys", () => {
    test("a missing key is rejected", async () => {
      for (const headers of [
        [],
        [["authorization", `Bearer ${fixture.keys.full.secret}`]],
        [["x-service-secre", "x"]],
        [["cookie", "x-service-secret=x"]],
        [["x-service-secret", ""]],
        [["x-service-secret", " \t"]],
      ]) {
        const response = await send(CONNECTORS, { headers });
        expectProblem(response, "missing_key", { detail: MISSING });
        assert.deepEqual(costOf(response), NO_COST);
      }
      expectProblem(await send(`${CONNECTORS}?x-service-secret=x`), "missing_key");
    });

    test("a malformed key is rejected without a query", async () => {
      const valid = secret();
      const body = valid.slice(0, -6);
      const withChecksum = (text) => text + checksum(text);
      for (const [text, why] of [
        ["sk_test_", "nothing but a prefix"],
        [valid.slice(0, -1), "a character missing"],
        [`${valid}0`, "a character more"],
        [body + (valid.endsWith("000000") ? "000001" : "000000"), "another checksum"],
        [valid.replace("sk_test_", "sk_live_"), "another environment"],
        [withChecksum(`sk_prod_${"a".repeat(32)}`), "no such environment"],
        [withChecksum(`SK_TEST_${"a".repeat(32)}`), "capitals"],
        [withChecksum(`sk_test_${"a".repeat(31)}`), "31 characters"],
        [withChecksum(`sk_test_${"a".repeat(33)}`), "33 characters"],
        [withChecksum(`sk_test_${"a".repeat(31)}_`), "not base62"],
        [`Bearer ${valid}`, "a scheme before it"],
        ["' OR 1=1 --", "SQL"],
        ["x".repeat(8000), "very long"],
        ["\xff\xfe", "bytes that are not UTF-8"],
      ]) {
        const response = await send(CONNECTORS, { secret: text });
        expectProblem(response, "invalid_key", { detail: MALFORMED });
        assert.deepEqual(costOf(response), NO_COST, why);
      }
      for (const twice of [`${valid}, ${valid}`, `${valid},x`]) {
        const response = await send(CONNECTORS, { secret: twice });
        expectProblem(response, "invalid_key", {
          detail: "The request has more than one API key. Send one key, in one header.",
        });
        assert.deepEqual(costOf(response), NO_COST);
      }
    });

    test("white space around a key is ignored", async () => {
      expectJson(await send("/v1/whoami", { secret: ` \t${fixture.keys.full.secret} ` }), 200);
    });

    for (const name of ["unknown", "revoked", "expired", "otherWorld"]) {
      test(`a key is rejected: ${name}`, async () => {
        for (const path of ["/v1/whoami", CONNECTORS, CONNECTORS, "/v1/nothing"]) {
          const response = await send(path, { secret: fixture.keys[name].secret });
          expectProblem(response, "invalid_key", { detail: REFUSED });
          assert.ok(costOf(response).calls <= 1);
        }
      });
    }

    test("a repeated key header is rejected", async () => {
      const twice = fixture.keys.full.secret;
      for (const headers of [
        [["x-service-secret", twice]],
        [["X-Service-Secret", twice]],
        [["x-service-secret", fixture.keys.live.secret]],
        [["x-service-secret", ""]],
      ]) {
        const response = await send("/v1/whoami", { secret: twice, headers });
        expectProblem(response, "invalid_key");
        assert.deepEqual(costOf(response), NO_COST);
      }
    });

    test("a key without the scope is rejected with the name of the scope", async () => {
      for (const path of [CONNECTORS, "/v1/available-actions/github", "/v1/available-actions/nothing"]) {
        const response = await send(path, { secret: fixture.keys.noCatalog.secret });
        expectProblem(response, "insufficient_scope", { detail: "This API key lacks the scope `catalog:read`." });
      }
    });

    test("a key with only the required scope is accepted", async () => {
      for (const name of ["full", "live", "catalogOnly", "expiring"])
        expectPage(await send(CONNECTORS, { secret: fixture.keys[name].secret }));
    });

    for (const [name, expected] of [
      ["full", { account: "acme", environment: "test", scopes: DEFAULT_SCOPES, expiresAt: null }],
      ["live", { account: "acme", environment: "live", scopes: DEFAULT_SCOPES, expiresAt: null }],
      ["catalogOnly", { account: "acme", environment: "test", scopes: ["catalog:read"], expiresAt: null }],
      ["noCatalog", { account: "acme", environment: "test", scopes: DEFAULT_SCOPES.slice(1), expiresAt: null }],
      [
        "expiring",
        { account: "acme", environment: "test", scopes: DEFAULT_SCOPES, expiresAt: "2999-01-02T03:04:05.678Z" },
      ],
    ]) {
      test(`whoami describes the key ${name}`, async () => {
        await send("/v1/whoami", { secret: fixture.keys[name].secret });
        const response = await send("/v1/whoami", { secret: fixture.keys[name].secret });
        assert.equal(response.text, JSON.stringify(expected));
        assert.deepEqual(expectJson(response, 200), expected);
        assert.deepEqual(costOf(response), { calls: 1, rowsRead: 1, rowsWritten: 0, reads: 0 });
      });
    }

    test("an invalid key row is an internal error", async () => {
      const response = await send("/v1/whoami", { secret: fixture.keys.damaged.secret });
      const problem = expectProblem(response, "unavailable");
      await fixture.server.logged(problem.requestId, `api_keys row ${fixture.keys.damaged.row.id} is damaged`);
      assert.ok(!response.text.includes("api_keys") && !response.text.includes(fixture.keys.damaged.row.id));
    });

    test("a warm catalog read sends no query to the database", async () => {
      await send(CONNECTORS, { secret: fixture.keys.full.secret });
      assert.deepEqual(costOf(await send(CONNECTORS, { secret: fixture.keys.full.secret })), NO_COST);
    });

    test("concurrent requests write the day of a key's last use once", async () => {
      const [used, refused, idle] = [{}, { revoked_at: 1 }, {}].map((row) => key({ account: "last-use", ...row }));
      await store(fixture.database, [used, refused, idle]);
      const rowsWrittenBy = async (path, { secret }) => costOf(await send(path, { secret })).rowsWritten;
      const first = await Promise.all(
        Array.from({ length: 10 }, (_, i) => rowsWrittenBy(i % 2 ? "/v1/whoami" : CONNECTIONS, used)),
      );
      assert.deepEqual(first.filter(Boolean), [1]);
      for (const path of [CONNECTIONS, "/v1/whoami", CONNECTORS]) assert.equal(await rowsWrittenBy(path, used), 0);
      for (let i = 0; i < 2; i += 1) assert.equal(await rowsWrittenBy(CONNECTIONS, refused), 0);
      const days = await fixture.database
        .prepare("SELECT id, last_used_day AS day FROM api_keys WHERE account = 'last-use'")
        .all();
      const today = Math.floor(Date.now() / DAY_MS);
      const expected = { [used.row.id]: today, [refused.row.id]: null, [idle.row.id]: null };
      assert.deepEqual(Object.fromEntries(days.results.map(({ id, day }) => [id, day])), expected);
      const place = ["--account", "last-use", "--local", "--persist-to", fixture.states.large.path];
      const listed = JSON.parse(await cli("keys", "list", "--json", ...place));
      const date = new Date(today * DAY_MS).toISOString().slice(0, 10);
      assert.deepEqual(listed.find(({ id }) => id === used.row.id).lastUsedOn, date);
      assert.deepEqual(listed.find(({ id }) => id === idle.row.id).lastUsedOn, null);
      const parts = (await cli("keys", "list", ...place)).split(/\n(?=\S)/);
      const part = (apiKey) => parts.find((text) => text.startsWith(apiKey.row.id));
      assert.match(part(used), new RegExp(`  ${date}  `));
      // The key `idle` was created in 1970 and never used.
      assert.match(part(idle), / {2}never {2}.*\n(?: {2}.*\n)* {2}note +not used for \d+ days$/m);
    });

    test("a rotated key is valid during the overlap, and rejected afterwards", async () => {
      const place = ["--local", "--persist-to", fixture.states.large.path];
      const list = async () => JSON.parse(await cli("keys", "list", "--account", "rotated", "--json", ...place));
      const whoami = async ({ secret }) => expectJson(await send("/v1/whoami", { secret }), 200);
      const options = [
        "--account",
        "rotated",
        "--environment",
        "live",
        "--scope",
        "catalog:read",
        "--scope",
        "connections:read",
      ];
      const old = await npmKeys("create", ...options, "--expires", "30d", ...place);
      const fresh = await npmKeys("rotate", old.id, "--overlap", "2h", ...place);
      assert.match(fresh.secret, /^sk_live_[0-9A-Za-z]{38}$/);
      assert.notEqual(fresh.secret, old.secret);
      assert.equal(fresh.replaces.id, old.id);
      assert.equal("secret" in fresh.replaces, false);
      const [before, after] = [await whoami(old), await whoami(fresh)];
      assert.deepEqual({ ...after, expiresAt: "" }, { ...before, expiresAt: "" });
      const expectExpiresIn = (text, milliseconds) =>
        assert.ok(Math.abs(Date.parse(text) - Date.now() - milliseconds) < 120_000, text);
      expectExpiresIn(before.expiresAt, 2 * 3_600_000);
      expectExpiresIn(after.expiresAt, 30 * DAY_MS);
      const listedKeys = (await list()).map(({ id, state, replacedBy, warnings }) => [id, state, replacedBy, warnings]);
      assert.deepEqual(listedKeys, [
        [old.id, "active", fresh.id, ["expires_soon"]],
        [fresh.id, "active", null, []],
      ]);
      assert.match(
        await cli("keys", "list", "--account", "rotated", ...place),
        new RegExp(`  note +expires in 1 hour\n  replaced by ${fresh.id}\n`),
      );

      // A key that can't be rotated is not changed.
      const rows = async () => (await fixture.database.prepare("SELECT * FROM api_keys ORDER BY id").all()).results;
      const all = await rows();
      const refuse = (id, message) =>
        assert.rejects(cli("keys", "rotate", id, ...place), (error) =>
          `${error.message} ${error.output}`.includes(message),
        );
      await refuse(old.id, `was replaced by ${fresh.id} already`);
      await refuse(fixture.keys.revoked.row.id, "is revoked");
      await refuse(fixture.keys.expired.row.id, "is expired");
      await refuse("00000000-0000-4000-8000-000000000000", "there is no key");
      // Rotation is atomic: if the old key can't be changed, no new key is created.
      await fixture.database
        .prepare(
          "CREATE TRIGGER broken BEFORE UPDATE OF replaced_by ON api_keys BEGIN SELECT RAISE(ABORT, 'a broken trigger'); END",
        )
        .run();
      try {
        await refuse(fresh.id, "a broken trigger");
      } finally {
        await fixture.database.prepare("DROP TRIGGER broken").run();
      }
      assert.deepEqual(await rows(), all);

      await fixture.database
        .prepare("UPDATE api_keys SET expires_at = ? WHERE id = ?")
        .bind(Date.now() - 1, old.id)
        .run();
      expectProblem(await send("/v1/whoami", { secret: old.secret }), "invalid_key", { detail: REFUSED });
      await whoami(fresh);
      assert.deepEqual(
        (await list()).map(({ state, warnings }) => [state, warnings]),
        [
          ["expired", ["expired"]],
          ["active", []],
        ],
      );

      // Without an overlap the old key is revoked immediately, and the new one can have a lifetime.
      const last = await npmKeys("rotate", fresh.id, "--overlap", "0", "--expires", "never", ...place);
      assert.deepEqual([last.expiresAt, last.replaces.state], [null, "revoked"]);
      expectProblem(await send("/v1/whoami", { secret: fresh.secret }), "invalid_key", { detail: REFUSED });
      assert.equal((await whoami(last)).expiresAt, null);
      assert.deepEqual(
        (await list()).map(({ state }) => state),
        ["expired", "revoked", "active"],
      );
    });

    test("a key is created, used, listed and revoked while the service runs", async () => {
      const place = ["--local", "--persist-to", fixture.states.large.path];
      const options = ["--account", "made-by-npm", "--environment", "live", "--scope", "catalog:read"];
      const createdKey = await npmKeys("create", ...options, ...place);
      assert.match(createdKey.secret, /^sk_live_[0-9A-Za-z]{38}$/);
      assert.equal(checksum(createdKey.secret.slice(0, -6)), createdKey.secret.slice(-6));
      const expected = { account: "made-by-npm", environment: "live", scopes: ["catalog:read"], expiresAt: null };
      assert.deepEqual(expectJson(await send("/v1/whoami", { secret: createdKey.secret }), 200), expected);
      expectPage(await send(CONNECTORS, { secret: createdKey.secret }));

      const listed = await cli("keys", "list", "--account", "made-by-npm", "--json", ...place);
      assert.deepEqual(
        JSON.parse(listed).map(({ id, state }) => [id, state]),
        [[createdKey.id, "active"]],
      );
      for (const text of secrets) assert.ok(!listed.includes(text));

      const revoked = JSON.parse(await cli("keys", "revoke", createdKey.id, "--json", ...place));
      assert.equal(revoked.state, "revoked");
      expectProblem(await send("/v1/whoami", { secret: createdKey.secret }), "invalid_key", { detail: REFUSED });
      // An isolate that has seen the revocation does not use its cache.
      expectProblem(await send(CONNECTORS, { secret: createdKey.secret }), "invalid_key", { detail: REFUSED });
    });
  });
}
