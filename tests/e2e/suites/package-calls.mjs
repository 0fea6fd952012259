// The package's other calls against the service: reads equal plain HTTP, writes persist, and names, identities and tags are stored
// unchanged.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Recorder, each, expectError, failure, library } from "../support/package.mjs";
import { CONNECTIONS, SUMMARY, connectionPath } from "../support/vault.mjs";

const TYPES = ["user", "team", "organization", "project"];
const STATES = ["operational", "degraded", "failed", "unknown"];
const IDENTITIES = [
  "ann@example.com",
  "urn::acme::7",
  ":::",
  "::",
  "two words",
  "both  ends",
  "100%",
  "%2e%2E",
  "%",
  "a+b",
  "a&b=c#d?e",
  "..",
  ".",
  "a/b\\c",
  "\"quoted\" 'twice'",
  "<b>&amp;</b>",
  "null",
  "true",
  "0",
  '{"a":[1]}',
  "[]",
  "名前",
  "İstanbul",
  "straße",
  "x\u0301",
  "\u00e9",
  "😀",
  "👩‍👩‍👧",
  "line\u2028separator\u2029.",
  "\u{10ffff}",
  "é".repeat(256),
  "😀".repeat(256),
  "__proto__",
  "constructor",
];
const TAGS = [
  ["b", "a", "b"],
  ["😀", '"quoted"', "back\\slash", "u\u2028v", "w\u2029x"],
  ["A b", "a b", "a"],
  ["'", "%", "_", "*", "%2C", "+", "&", "=", "#", "?"],
  ["null", "0", "[]", "{}", "true"],
  ["\u{10ffff}", "\ud7ff", "ﬁ", "x\u0301", "\u00e9"],
  ["::", "a&b=c", "a+b", "a/b", "..", "<b>", "__proto__", "constructor"],
  Array.from({ length: 50 }, (_, n) => `${"é".repeat(120)}${n}`),
  ["😀".repeat(128)],
  [],
];

export function calls(fixture) {
  const { vault } = fixture;
  const read = async (id, apiKey = fixture.keys.full) => (await fixture.plain(apiKey, connectionPath(id))).json;
  let count = 0;
  const input = (more = {}) => ({
    platform: "github",
    identity: `calls-${(count += 1)}`,
    identityType: "user",
    ...more,
  });
  const make = (more) => {
    const { connections } = vault(fixture.keys.full);
    const body = input(more);
    assert.deepEqual(connections.validateCreate(body), [], "a body that the service accepts has no errors");
    return connections.create(body);
  };

  describe("calls", () => {
    test("whoami and summary equal plain HTTP", async () => {
      for (const name of ["full", "live", "catalogOnly", "expiring", "many"]) {
        assert.deepEqual(
          await vault(fixture.keys[name]).whoami(),
          (await fixture.plain(fixture.keys[name], "/v1/whoami")).json,
        );
      }
      assert.equal((await vault(fixture.keys.expiring).whoami()).expiresAt, "2999-01-02T03:04:05.678Z");
      const summary = await vault(fixture.keys.many).connections.summary();
      assert.deepEqual(summary, (await fixture.plain(fixture.keys.many, SUMMARY)).json);
      assert.equal(summary.total, fixture.seeded.length);
    });

    test("an action equals plain HTTP, with responses only on request", async () => {
      const { actions } = vault(fixture.keys.full);
      for (const key of ["issuesCreate", "reposListBranches", "usersGetAuthenticated"]) {
        const path = `/v1/available-actions/github/${key}`;
        const action = await actions.get("GitHub", key);
        assert.deepEqual(action, (await fixture.plain(fixture.keys.full, path)).json);
        assert.equal("responses" in action, false);
        const detail = await actions.get("github", key, { include: "responses" });
        assert.deepEqual(detail, (await fixture.plain(fixture.keys.full, `${path}?include=responses`)).json);
        assert.ok(detail.responses.length > 0);
      }
      for (const query of [{}, undefined, { include: undefined }])
        assert.equal((await actions.get("github", "issuesCreate", query)).responses, undefined);
      for (const [query, parameter, code] of [
        [{ include: "all" }, "include", "invalid_parameter"],
        [{ includes: "responses" }, "includes", "unknown_parameter"],
        [{ include: ["responses"] }, "include", "invalid_parameter"],
      ]) {
        const error = await failure(() => actions.get("github", "issuesCreate", query));
        expectError(error, "ValidationError", { code });
        assert.equal(error.errors[0].parameter, parameter);
      }
    });

    test("a connection can be read by its id in any case, active or not", async () => {
      const client = vault(fixture.keys.many);
      for (const { id, active } of [...fixture.seeded.slice(0, 8), fixture.seeded.find((row) => !row.active)]) {
        const connection = await client.connections.get(id);
        assert.deepEqual(connection, await read(id, fixture.keys.many));
        assert.equal(connection.active, active);
        assert.deepEqual(await client.connections.get(id.toUpperCase()), connection);
      }
    });

    test("a created connection persists, with defaults for omitted members", async () => {
      const recorder = new Recorder();
      const client = vault(fixture.keys.full, { fetch: recorder.fetch });
      const minimal = input();
      const connection = await client.connections.create(minimal);
      const { platform, identity, identityType, name, label, state, active, tags, version, key } = {
        ...connection,
        label: "default",
      };
      assert.deepEqual(
        { platform, identity, identityType, name, state, active, tags, version },
        { ...minimal, name: null, state: "unknown", active: true, tags: [], version: "1" },
      );
      assert.equal(key, `test::github::${label}::${identity}`);
      assert.deepEqual(connection, await read(connection.id));
      const [{ method, path, body, headers }] = recorder.requests;
      assert.deepEqual(
        [method, path, JSON.parse(body), headers.get("content-type")],
        ["POST", CONNECTIONS, minimal, "application/json"],
      );

      const complete = input({
        platformVersion: "v7",
        name: 'Ann\'s "Box" 名前',
        label: "second-1",
        tags: ["x", "y"],
        state: "degraded",
        active: false,
      });
      const other = await client.connections.create(complete);
      assert.deepEqual(other, await read(other.id));
      const { label: _, ...kept } = complete;
      for (const [field, value] of Object.entries(kept)) assert.deepEqual(other[field], value, field);
      for (const state of STATES)
        for (const type of TYPES) assert.equal((await make({ state, identityType: type, name: null })).state, state);
      for (const name of ["platformVersion", "name", "label", "tags", "state", "active"])
        assert.equal((await make({ [name]: undefined })).version, "1");
    });

    test("the response to create has the connection's location", async () => {
      let response;
      const fetching = async (request) => (response = await fetch(request)).clone();
      const { id } = await vault(fixture.keys.full, { fetch: fetching }).connections.create(input());
      assert.deepEqual(
        [response.status, response.headers.get("location"), response.headers.get("etag")],
        [201, `${fixture.baseUrl}${connectionPath(id)}`, `"${id}-1"`],
      );
    });

    test("a duplicate key is rejected with the id of the existing connection", async () => {
      const client = vault(fixture.keys.full).connections;
      const existing = input({ tags: ["first"] });
      const { id } = await client.create(existing);
      const error = expectError(await failure(client.create({ ...existing, tags: ["second"] })), "ConflictError", {
        status: 409,
        code: "connection_exists",
        connectionId: id,
      });
      assert.deepEqual((await client.get(error.connectionId)).tags, ["first"]);
      assert.notEqual((await client.create({ ...existing, label: "other" })).id, id);
      await client.delete(id);
      assert.notEqual((await client.create(existing)).id, id);
    });

    test("identities are stored unchanged, found by identity and key, and parsed from the key", async () => {
      const client = vault(fixture.keys.full).connections;
      await each(IDENTITIES, async (identity) => {
        const connection = await make({ identity, identityType: "team", label: "odd" });
        assert.equal(connection.identity, identity);
        assert.deepEqual(await read(connection.id), connection);
        assert.deepEqual((await client.list({ identity })).rows, [connection], JSON.stringify(identity));
        assert.deepEqual((await client.list({ key: [connection.key] })).rows, [connection]);
        assert.deepEqual((await client.list({ key: connection.key })).rows, [connection]);
        assert.deepEqual(library.parseConnectionKey(connection.key), {
          environment: "test",
          platform: "github",
          label: "odd",
          identity,
        });
        const q = [...identity].slice(0, 100).join("");
        assert.ok(
          (await client.list({ q, limit: 500 })).rows.some(({ id }) => id === connection.id),
          `q of ${JSON.stringify(q)}`,
        );
      });
    });

    test("tags are replaced, keep their order, and are found individually", async () => {
      const client = vault(fixture.keys.full).connections;
      const { id } = await make({ tags: ["old"] });
      let version = 1;
      for (const tags of TAGS) {
        assert.deepEqual(client.validateUpdate({ tags }), []);
        const changed = await client.update(id, { tags });
        version += 1;
        assert.deepEqual([changed.tags, changed.version], [tags, String(version)]);
        assert.deepEqual(await read(id), changed);
        for (const tag of tags.slice(0, 10))
          assert.ok(
            (await client.list({ tags: [tag] })).rows.some((row) => row.id === id),
            JSON.stringify(tag),
          );
        const distinct = [...new Set(tags)].slice(0, 20);
        for (const tagsMatch of ["all", "any"])
          if (distinct.length > 0)
            assert.ok((await client.list({ tags: distinct, tagsMatch, limit: 500 })).rows.some((row) => row.id === id));
        const connection = await make({ tags });
        assert.deepEqual(connection.tags, tags);
      }
    });

    test("every allowed character of a tag is stored and found", async () => {
      const client = vault(fixture.keys.full).connections;
      const { id } = await make();
      const characters = Array.from({ length: 0x250 }, (_, code) => String.fromCodePoint(code)).filter(
        (character) => !/[\p{Cc}\u00ad,]/u.test(character),
      );
      for (let at = 0; at < characters.length; at += 20) {
        const tags = characters.slice(at, at + 20).map((character) => `x${character}x`);
        assert.deepEqual((await client.update(id, { tags })).tags, tags);
        assert.deepEqual(
          (await client.list({ tags })).rows.map((row) => row.id),
          [id],
        );
      }
    });

    test("an empty change keeps the version", async () => {
      const client = vault(fixture.keys.full).connections;
      const connection = await make({ tags: ["a", "b"] });
      for (const changes of [{}, { tags: undefined }, { tags: ["a", "b"] }]) {
        assert.deepEqual(client.validateUpdate(changes), []);
        assert.deepEqual(await client.update(connection.id, changes), connection);
      }
      assert.deepEqual(await client.update(connection.id.toUpperCase(), { tags: [] }), {
        ...connection,
        tags: [],
        version: "2",
      });
    });

    test("ifMatch accepts a connection, an entity tag, or `*`", async () => {
      const client = vault(fixture.keys.full).connections;
      const connection = await make();
      const { id } = connection;
      const tag = async () => (await fixture.plain(fixture.keys.full, connectionPath(id))).header("etag");
      let current = connection;
      let n = 0;
      const expectUpdate = async (ifMatch, spelled = id) => {
        current = await client.update(spelled, { tags: [`n${(n += 1)}`] }, { ifMatch });
        assert.deepEqual([current.tags, current.version], [[`n${n}`], String(n + 1)]);
      };
      await expectUpdate(connection);
      await expectUpdate(current);
      await expectUpdate({ id, version: current.version });
      await expectUpdate(await tag());
      await expectUpdate(`"x", ${await tag()}`);
      await expectUpdate("*");
      await expectUpdate(undefined);
      await expectUpdate(current, id.toUpperCase());
      const other = await make();
      for (const ifMatch of [
        connection,
        { id, version: "1" },
        `"${id}-1"`,
        `W/${await tag()}`,
        other,
        { ...other, version: current.version },
        `"${other.id}-${current.version}"`,
        `"x"`,
      ]) {
        expectError(await failure(client.update(id, { tags: ["no"] }, { ifMatch })), "PreconditionError", {
          status: 412,
          code: "precondition_failed",
        });
      }
      assert.deepEqual(await read(id), current, "nothing was written");
      expectError(await failure(client.update(id, { tags: ["no"] }, { ifMatch: connection })), "PreconditionError");
      assert.equal(
        (await client.update(id, { tags: ["yes"] }, { ifMatch: await client.get(id) })).version,
        String(n + 2),
        "the connection that was read again matches",
      );
      expectError(
        await failure(client.update("aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa", { tags: [] }, { ifMatch: "*" })),
        "NotFoundError",
        { status: 404 },
      );
    });

    test("setting a state or name respects ifMatch", async () => {
      const client = vault(fixture.keys.full).connections;
      const connection = await make();
      const failed = await client.setState(connection.id, { state: "failed", active: false, reason: "revoked" });
      assert.deepEqual(failed, { ...connection, state: "failed", active: false, version: "2" });
      assert.deepEqual(
        await client.setState(connection.id, { state: "failed", active: undefined }),
        failed,
        "an empty change keeps the version",
      );
      const renamed = await client.setName(connection.id.toUpperCase(), "Ann's 名前", { ifMatch: failed });
      assert.deepEqual(renamed, { ...failed, name: "Ann's 名前", version: "3" });
      assert.deepEqual(await read(connection.id), renamed);
      assert.deepEqual((await client.list({ name: "ann's 名前", active: false })).rows, [renamed]);
      for (const ask of [
        () => client.setName(connection.id, "late", { ifMatch: failed }),
        () => client.setState(connection.id, { state: "unknown" }, { ifMatch: connection }),
      ]) {
        expectError(await failure(ask), "PreconditionError", { status: 412, code: "precondition_failed" });
      }
      assert.deepEqual(await client.setName(connection.id, null), { ...renamed, name: null, version: "4" });
      assert.deepEqual(await client.setState(connection.id, { state: "operational", active: true }, { ifMatch: "*" }), {
        ...connection,
        state: "operational",
        version: "5",
      });
    });

    test("delete with ifMatch rejects a changed connection", async () => {
      const client = vault(fixture.keys.full).connections;
      const connection = await make();
      const current = await client.update(connection.id, { tags: ["changed"] });
      for (const ifMatch of [connection, `"${connection.id}-1"`, `W/"${connection.id}-2"`]) {
        expectError(await failure(client.delete(connection.id, { ifMatch })), "PreconditionError", {
          status: 412,
          code: "precondition_failed",
        });
      }
      assert.deepEqual(await read(connection.id), current);
      assert.equal(await client.delete(connection.id, { ifMatch: current }), undefined);
      expectError(await failure(client.delete(connection.id, { ifMatch: current })), "NotFoundError", { status: 404 });
      assert.equal(await client.delete((await make()).id, { ifMatch: "*" }), undefined);
    });

    test("of two concurrent changes with the same ifMatch, one is rejected", async () => {
      const client = vault(fixture.keys.full).connections;
      const connection = await make();
      const outcomes = await Promise.allSettled(
        Array.from({ length: 8 }, (_, n) =>
          client.update(connection.id, { tags: [`try-${n}`] }, { ifMatch: connection }),
        ),
      );
      const succeeded = outcomes.filter(({ status }) => status === "fulfilled");
      assert.equal(succeeded.length, 1);
      assert.deepEqual(await read(connection.id), succeeded[0].value);
      for (const { reason } of outcomes.filter(({ status }) => status === "rejected"))
        expectError(reason, "PreconditionError");
    });

    test("a deleted connection is not found", async () => {
      const client = vault(fixture.keys.full).connections;
      const [{ id }, upper] = [await make(), await make()];
      assert.equal(await client.delete(id), undefined);
      assert.equal(await client.delete(upper.id.toUpperCase()), undefined);
      for (const ask of [
        () => client.delete(id),
        () => client.get(id),
        () => client.update(id, { tags: ["a"] }),
        () => client.get(upper.id),
      ]) {
        expectError(await failure(ask), "NotFoundError", {
          status: 404,
          code: "connection_not_found",
          suggestions: [],
        });
      }
      assert.equal((await fixture.plain(fixture.keys.full, connectionPath(id))).status, 404);
    });

    test("concurrent calls with many keys get their own results", async () => {
      const names = ["full", "live", "other", "many"];
      const clients = names.map((name) => vault(fixture.keys[name]));
      const responses = await Promise.all(Array.from({ length: 100 }, (_, n) => clients[n % 4].whoami()));
      responses.forEach(({ account, environment }, n) => {
        const { row } = fixture.keys[names[n % 4]];
        assert.deepEqual([account, environment], [row.account, row.environment]);
      });
    });
  });
}
