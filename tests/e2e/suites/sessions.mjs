// Short-lived tokens on the real Worker: creation, use in every call, and invalidation by expiry, key and signing secret.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { AUDIT_ROWS, costOf, expectJson, expectPage, expectProblem } from "../support/expect.mjs";
import { secrets } from "../support/http.mjs";
import { key, signedToken, store } from "../support/keys.mjs";
import { SESSION_SECRET, Server } from "../support/server.mjs";
import {
  CONNECTIONS,
  Caller,
  SUMMARY,
  expectConnection,
  expectConnections,
  follow,
  connectionPath,
  query,
} from "../support/vault.mjs";

const SESSIONS = "/v1/sessions";
const CONNECTORS = "/v1/available-connectors";
const WHOAMI = "/v1/whoami";
const DEFAULT_SCOPES = ["catalog:read", "connections:read", "connections:write"];
const JSON_TYPE = ["content-type", "application/json"];
const PLATFORM = "github";
const OTHER_PLATFORM = "acme-store";
const NEXT_SECRET = "what the end-to-end tests sign with next";
const ORIGIN = "https://app.example";

/** Creates a token without the service. */
const forge = (claims, secret = SESSION_SECRET, environment = "test") => signedToken(claims, secret, environment);

export function sessions(fixture) {
  const account = "sessions";
  const scopes = [...DEFAULT_SCOPES, "sessions:create"].join(" ");
  const keys = {
    maker: key({ account, scopes }),
    revoked: key({ account, scopes }),
    lacking: key({ account }),
    other: key({ account: "sessions-other", scopes }),
  };
  const owner = new Caller(fixture, keys.maker);
  const rows = {};

  const createToken = (input, made = keys.maker, server = fixture.server) =>
    server.send(SESSIONS, { method: "POST", secret: made.secret, headers: [JSON_TYPE], body: JSON.stringify(input) });

  async function token(input, made, server) {
    const response = await createToken(input, made, server);
    assert.equal(response.status, 201, response.text);
    const { token: text } = expectJson(response, 201);
    secrets.add(text);
    return text;
  }

  const as = async (input, made) => new Caller(fixture, { secret: await token(input, made) });
  const input = (identity, platform, more = {}) => ({ platform, identity, identityType: "user", ...more });

  describe("tokens", () => {
    before(async () => {
      secrets.add(NEXT_SECRET);
      await store(fixture.database, Object.values(keys));
      for (const identity of ["ann", "Ann", "bob"]) {
        for (const platform of [PLATFORM, OTHER_PLATFORM]) {
          rows[`${identity} ${platform}`] = expectConnection(
            await owner.create(input(identity, platform, { tags: ["x"] })),
            {},
            { status: 201 },
          ).connection;
        }
      }
    });

    test("are created by keys with the scope", async () => {
      const requested = {
        identity: "ann",
        identityType: "user",
        scopes: ["connections:read"],
        platforms: [PLATFORM],
        origins: [ORIGIN],
        ttlSeconds: 60,
      };
      const before = Date.now();
      const { token: text, expiresAt, ...rest } = expectJson(await createToken(requested), 201);
      const { ttlSeconds, ...expected } = requested;
      const unset = {
        actions: null,
        connections: null,
        confirm: null,
        client: null,
        fields: null,
        fixedFields: null,
        lang: null,
      };
      assert.deepEqual(rest, { environment: "test", access: "write", ...unset, ...expected });
      assert.ok(Math.abs(Date.parse(expiresAt) - before - ttlSeconds * 1000) < 5000, expiresAt);
      assert.match(text, /^st_test_[A-Za-z0-9_-]+\.[A-Za-z0-9_-]{43}$/);
      const response = await createToken({ identity: "ann" });
      assert.equal(costOf(response).calls, 1);
      assert.deepEqual(response.json.scopes, DEFAULT_SCOPES.slice(0, 2));
      expectProblem(await createToken({ identity: "ann" }, keys.lacking), "insufficient_scope", {
        detail: "This API key lacks the scope `sessions:create`.",
      });
      expectProblem(await createToken({ identity: "a,b", ttlSeconds: 1 }), "invalid_body");
      for (const method of ["GET", "HEAD", "PUT"])
        assert.equal(
          (await fixture.server.send(SESSIONS, { method, secret: keys.maker.secret })).header("allow"),
          "POST, OPTIONS",
        );
    });

    test("are accepted by every call, for their identity only", async () => {
      const ann = await as({ identity: "ann", scopes: DEFAULT_SCOPES });
      const ownRows = [rows[`ann ${OTHER_PLATFORM}`], rows[`ann ${PLATFORM}`]];
      for (const filter of [{}, { identity: "ann" }, { tags: "x" }, { q: "a" }]) {
        const response = await ann.list(filter);
        const page = expectConnections(response, { total: 2 });
        assert.deepEqual(page.rows.map(({ key: name }) => name).sort(), ownRows.map(({ key: name }) => name).sort());
        const { calls, rowsRead } = costOf(response);
        assert.deepEqual([calls, rowsRead], [1, 0]);
      }
      for (const filter of [{ identity: "bob" }, { identity: "Ann" }, { key: rows[`bob ${PLATFORM}`].key }])
        expectConnections(await ann.list(filter), { total: 0, rows: [] });
      assert.deepEqual(
        expectJson(await ann.summary(), 200).platforms,
        [OTHER_PLATFORM, PLATFORM].map((platform) => ({ platform, total: 1 })),
      );
      const mine = rows[`ann ${PLATFORM}`];
      expectConnection(await ann.read(mine.id), mine);
      expectConnection(await ann.patch(mine.id, { tags: ["x", "mine"] }), { tags: ["x", "mine"], version: "2" });
      for (const { id } of [
        rows[`bob ${PLATFORM}`],
        rows[`Ann ${OTHER_PLATFORM}`],
        { id: "00000000-0000-4000-8000-000000000000" },
      ]) {
        for (const [response, rowsWritten] of [
          [await ann.read(id), 0],
          [await ann.patch(id, { tags: ["mine"] }), AUDIT_ROWS],
          [await ann.remove(id), AUDIT_ROWS],
        ]) {
          expectProblem(response, "connection_not_found");
          assert.deepEqual(costOf(response), { calls: 1, rowsRead: 0, rowsWritten, reads: 0 });
        }
      }
      for (const name of [`bob ${PLATFORM}`, `Ann ${OTHER_PLATFORM}`])
        expectConnection(await owner.read(rows[name].id), rows[name]);
      const { connection } = expectConnection(
        await ann.create(input("ann", PLATFORM, { label: "new" })),
        { identity: "ann" },
        { status: 201 },
      );
      expectProblem(await ann.create(input("bob", PLATFORM, { label: "new" })), "insufficient_scope");
      assert.equal((await ann.remove(connection.id)).status, 204);
      expectProblem(await owner.read(connection.id), "connection_not_found");
      assert.equal((await ann.send("GET", WHOAMI)).json.identity, "ann");
      expectProblem(await createToken({ identity: "ann" }, ann.key), "insufficient_scope", {
        detail: "This token lacks the scope `sessions:create`.",
      });
    });

    test("are restricted to their platforms", async () => {
      const restricted = await as({ identity: "ann", platforms: [PLATFORM], scopes: DEFAULT_SCOPES });
      expectConnections(await restricted.list(), { total: 1 });
      expectProblem(await restricted.read(rows[`ann ${OTHER_PLATFORM}`].id), "connection_not_found");
      expectProblem(await restricted.create(input("ann", OTHER_PLATFORM, { label: "new" })), "insufficient_scope");
      const all = await as({ identity: "ann", scopes: DEFAULT_SCOPES });
      const page = await restricted.send("GET", CONNECTORS);
      assert.deepEqual(
        expectPage(page, { total: 1 }).rows.map(({ platform }) => platform),
        [PLATFORM],
      );
      const unfiltered = await all.send("GET", CONNECTORS);
      assert.ok(expectPage(unfiltered).total > 1);
      for (const [caller, tag, status] of [
        [restricted, page, 304],
        [all, page, 200],
        [restricted, unfiltered, 200],
        [all, unfiltered, 304],
      ]) {
        assert.equal(
          (await caller.send("GET", CONNECTORS, { headers: [["if-none-match", tag.header("etag")]] })).status,
          status,
        );
      }
      expectPage(await restricted.send("GET", `/v1/available-actions/${PLATFORM}`));
      const { suggestions } = expectProblem(
        await restricted.send("GET", `/v1/available-actions/${OTHER_PLATFORM}`),
        "platform_not_found",
      );
      assert.equal(suggestions, undefined, "no platform is similar");
    });

    test("need no query for the catalog", async () => {
      const caller = await as({ identity: "new user", platforms: [PLATFORM] });
      await caller.send("GET", CONNECTORS);
      for (const path of [CONNECTORS, `/v1/available-actions/${PLATFORM}`])
        assert.equal(costOf(await caller.send("GET", path)).calls, 0);
    });

    test("can be replaced during an iteration", async () => {
      const listedIds = [];
      for (let n = 0; n < 5; n += 1)
        expectConnection(await owner.create(input("walker", PLATFORM, { label: `n${n}` })), {}, { status: 201 });
      const caller = await as({ identity: "walker", ttlSeconds: 60 });
      await follow(caller, { limit: 2 }, async (page) => {
        listedIds.push(...page.rows.map(({ key: name }) => name));
        caller.key = { secret: await token({ identity: "walker", ttlSeconds: 120 }) };
      });
      assert.equal(new Set(listedIds).size, 5);
      const { next } = expectConnections(await caller.list({ limit: 2 }));
      expectProblem(await (await as({ identity: "ann" })).send("GET", next), "invalid_parameter");
      expectProblem(await owner.send("GET", next), "invalid_parameter");
    });

    test("expire, and are rejected if altered", async () => {
      const claims = (more) => ({ v: 1, k: keys.maker.row.id, s: 3, e: Date.now() + 60_000, i: "ann", ...more });
      const allowedPaths = [WHOAMI, CONNECTORS, CONNECTIONS];
      for (const path of allowedPaths)
        assert.equal((await fixture.server.send(path, { secret: forge(claims()) })).status, 200, path);
      const text = forge(claims());
      const invalidTokens = [
        forge(claims({ e: Date.now() - 1 })),
        forge(claims(), "another secret of more than 32 letters"),
        forge(claims({ v: 2 })),
        forge(claims({ i: undefined })),
        text.replace("st_test_", "st_live_"),
        `${text}=`,
        text.slice(0, -1),
        `${text.slice(0, 20)}${text[20] === "A" ? "B" : "A"}${text.slice(21)}`,
        text.split(".")[0],
        "st_test_",
        "st_test_.",
      ];
      for (const secret of invalidTokens) {
        for (const path of allowedPaths) {
          const response = await fixture.server.send(path, { secret });
          expectProblem(response, "invalid_key");
          assert.deepEqual(costOf(response), { calls: 0, rowsRead: 0, rowsWritten: 0, reads: 0 });
        }
      }
      // Only a request to the vault reads the key's row, so only it detects an unknown key or another environment.
      for (const secret of [forge(claims({ k: "nobody" })), forge(claims(), SESSION_SECRET, "live")]) {
        assert.deepEqual(
          await Promise.all(allowedPaths.map(async (path) => (await fixture.server.send(path, { secret })).status)),
          [401, 200, 401],
        );
      }
    });

    test("are invalid after their key is revoked, in the vault immediately", async () => {
      const caller = await as({ identity: "ann", scopes: DEFAULT_SCOPES }, keys.revoked);
      expectConnections(await caller.list());
      await fixture.database.prepare("UPDATE api_keys SET revoked_at = 1 WHERE id = ?").bind(keys.revoked.row.id).run();
      for (const [method, path] of [
        ["GET", CONNECTIONS],
        ["GET", SUMMARY],
        ["GET", WHOAMI],
        ["DELETE", connectionPath(rows[`ann ${PLATFORM}`].id)],
      ]) {
        const response = await caller.send(method, path);
        expectProblem(response, "invalid_key");
        assert.deepEqual(costOf(response), { calls: 1, rowsRead: 0, rowsWritten: 0, reads: 0 });
      }
      assert.equal((await caller.send("GET", CONNECTORS)).status, 200, "catalog requests do not look up the key");
      expectConnection(await owner.read(rows[`ann ${PLATFORM}`].id));
    });

    test("are only accepted from their origins and the service's own", async () => {
      const serviceOrigin = `http://127.0.0.1:${fixture.server.port}`;
      const caller = await as({ identity: "ann", origins: [ORIGIN] });
      for (const [headers, status] of [
        [[["origin", ORIGIN]], 200],
        [[["origin", serviceOrigin]], 200],
        [[["sec-fetch-site", "same-origin"]], 200],
        [[["sec-fetch-site", "cross-site"]], 401],
        [[], 401],
        [[["origin", "https://app.example.evil"]], 401],
        [
          [
            ["origin", "null"],
            ["sec-fetch-site", "same-origin"],
          ],
          401,
        ],
      ]) {
        for (const path of [CONNECTORS, CONNECTIONS, WHOAMI])
          assert.equal((await caller.send("GET", path, { headers })).status, status, `${path} ${headers}`);
      }
      assert.equal(
        (await fixture.server.send(CONNECTIONS, { method: "OPTIONS", headers: [["origin", "https://b.example"]] }))
          .status,
        204,
      );
    });

    test("have access only to their own account", async () => {
      const caller = await as({ identity: "ann" }, keys.other);
      expectConnections(await caller.list(), { total: 0 });
      expectProblem(await caller.read(rows[`ann ${PLATFORM}`].id), "connection_not_found");
      expectConnections(await caller.list(query({ key: rows[`ann ${PLATFORM}`].key })), { total: 0 });
    });
  });

  describe("tokens and signing secrets", () => {
    const servers = {};
    let state;

    before(async () => {
      state = fixture.states.small.copy("sessions");
      await state.use(({ vault }) => store(vault, Object.values(keys)));
      const signs = { SESSION_SECRET: NEXT_SECRET, SESSION_SECRET_PREVIOUS: SESSION_SECRET };
      servers.next = await Server.start(state, {
        name: "sessions-next",
        variables: { ALLOWED_ORIGINS: ORIGIN },
        secrets: signs,
      });
    });

    after(() => Promise.all(Object.values(servers).map((server) => server.stop())));

    test("are accepted until both secrets have changed", async () => {
      const [old, next] = [
        await token({ identity: "ann" }),
        await token({ identity: "ann" }, keys.maker, servers.next),
      ];
      const status = async (server, secret) => (await server.send(CONNECTORS, { secret })).status;
      assert.deepEqual([await status(servers.next, old), await status(servers.next, next)], [200, 200]);
      assert.deepEqual([await status(fixture.server, old), await status(fixture.server, next)], [200, 401]);
    });

    test("allow a cross-origin page to run all calls", async () => {
      const secret = await token(
        { identity: "ann", origins: [ORIGIN], scopes: DEFAULT_SCOPES },
        keys.maker,
        servers.next,
      );
      const headers = [["origin", ORIGIN]];
      const preflight = await servers.next.send(CONNECTIONS, { method: "OPTIONS", headers });
      assert.ok(preflight.header("access-control-allow-headers").split(", ").includes("x-service-secret"));
      const created = await servers.next.send(CONNECTIONS, {
        method: "POST",
        secret,
        headers: [...headers, JSON_TYPE],
        body: JSON.stringify(input("ann", OTHER_PLATFORM)),
      });
      assert.deepEqual([created.status, created.header("access-control-allow-origin")], [201, ORIGIN], created.text);
      const list = await servers.next.send(CONNECTIONS, { secret, headers });
      assert.deepEqual([list.json.total, list.header("access-control-allow-origin")], [1, ORIGIN]);
      const refused = await servers.next.send(CONNECTIONS, { secret, headers: [["origin", "https://b.example"]] });
      expectProblem(refused, "invalid_key");
    });

    test("cannot be created without a signing secret", async () => {
      await servers.next.stop();
      servers.none = await Server.start(state, { name: "sessions-none", secrets: { SESSION_SECRET: "too short" } });
      const { detail } = expectProblem(await createToken({ identity: "ann" }, keys.maker, servers.none), "unavailable");
      assert.match(detail, /`SESSION_SECRET`/);
      expectProblem(await servers.none.send(CONNECTORS, { secret: await token({ identity: "ann" }) }), "invalid_key");
      assert.equal((await servers.none.send(CONNECTORS, { secret: keys.maker.secret })).status, 200);
    });
  });
}
