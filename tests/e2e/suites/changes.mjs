// Creating, changing and deleting connections; every caller sees a change immediately.
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { AUDIT_ROWS, costOf, expectHeaders, expectJson, expectPage, expectProblem } from "../support/expect.mjs";
import { key, store } from "../support/keys.mjs";
import {
  Caller,
  expectConnection,
  expectConnections,
  expectCorrectCounts,
  connectionPath,
  stored,
} from "../support/vault.mjs";

const TAGS = [
  ["b", "a", "b"],
  [],
  ["😀", "👩‍👩‍👧", '"', "\\", "\\\\", "/", "u\u2028v\u2029w", "</script>", "𝔘", "\u{10ffff}", "x\u0301", "é"],
  ["'", "''", "%", "_", "*", "?", "?1", ":a", "$", "--", "[]", "null", "true", "0", "1e3", '{"a":1}'],
  Array.from({ length: 50 }, (_, i) => `${"😀".repeat(126)}${String(i).padStart(2, "0")}`),
  Array(50).fill("same"),
  ["x".repeat(128), "a  b", "a\u00a0b"],
];

export function changes(fixture) {
  const apiKeys = Object.fromEntries(
    [
      ["owner", {}],
      ["reader", { scopes: "connections:read" }],
      ["writer", { scopes: "connections:write" }],
      ["live", { environment: "live" }],
      ["other", { account: "changes-other" }],
    ].map(([name, row]) => [name, key({ account: "changes", ...row })]),
  );
  const [owner, reader, writer, live, other] = Object.values(apiKeys).map((key) => new Caller(fixture, key));
  let last = 0;
  /** Creates a connection that no other test changes. */
  const createConnection = async (fields = {}) => {
    last += 1;
    const input = { platform: "github", identity: `someone-${last}`, identityType: "user", ...fields };
    return expectConnection(await owner.create(input), {}, { status: 201 });
  };
  const ifMatch = (value) => [["if-match", value]];

  describe("changes", () => {
    before(() => store(fixture.database, Object.values(apiKeys)));

    test("a connection has the values of the request and of its connector", async () => {
      const before = Date.now();
      const response = await writer.create({ platform: "github", identity: "defaults", identityType: "project" });
      const {
        rows: [connector],
      } = expectPage(await owner.send("GET", "/v1/available-connectors?platform=github"));
      const { connection, etag } = expectConnection(
        response,
        {
          platform: "github",
          identity: "defaults",
          identityType: "project",
          environment: "test",
          name: null,
          tags: [],
          state: "unknown",
          active: true,
          version: "1",
          key: "test::github::default::defaults",
          platformVersion: connector.platformVersion,
          description: connector.description,
        },
        { status: 201 },
      );
      const created = Date.parse(connection.createdAt);
      assert.ok(created >= before - 1 && created <= Date.now() + 1, "the creation time is now");
      const read = expectConnection(await reader.read(connection.id));
      assert.deepEqual(read, { connection, etag });
      assert.equal(
        response.header("location"),
        `http://127.0.0.1:${fixture.server.port}${connectionPath(connection.id)}`,
      );
    });

    test("a key is unique per account, environment, platform and label", async () => {
      const input = { platform: "github", identity: "same", identityType: "user" };
      const created = [];
      for (const [caller, more] of [
        [owner, {}],
        [live, {}],
        [other, {}],
        [owner, { label: "second" }],
        [owner, { platform: "acme-store" }],
        [owner, { identity: "Same" }],
        [owner, { identity: "s ame" }],
      ]) {
        created.push(expectConnection(await caller.create({ ...input, ...more }), {}, { status: 201 }).connection);
      }
      assert.equal(new Set(created.map(({ id }) => id)).size, created.length);
      assert.equal(created[1].key, "live::github::default::same");
      for (const [caller, holder] of [
        [owner, created[0]],
        [live, created[1]],
        [other, created[2]],
      ]) {
        const rows = await stored(fixture.database, caller.key.row.account);
        const response = await caller.create({
          ...input,
          name: "Another",
          tags: ["x"],
          platformVersion: "v99",
          active: false,
        });
        const problem = expectProblem(response, "connection_exists", { connectionId: holder.id });
        assert.ok(problem.detail.includes(holder.key));
        assert.deepEqual([costOf(response).calls, costOf(response).rowsWritten], [1, AUDIT_ROWS]);
        assert.equal(await stored(fixture.database, caller.key.row.account), rows);
      }
    });

    for (const tags of TAGS) {
      test(`tags are returned exactly as sent: ${JSON.stringify(tags).slice(0, 60)}`, async () => {
        const {
          connection: { id },
        } = await createConnection({ tags: ["before", "a"] });
        const response = await writer.patch(id, { tags });
        assert.ok(response.text.includes(`"tags":${JSON.stringify(tags)}`), "byte for byte");
        const changed = expectConnection(response, { tags, version: "2" });
        assert.deepEqual(expectConnection(await reader.read(id)), changed);
        assert.deepEqual((await createConnection({ tags })).connection.tags, tags);
      });
    }

    test("escapes in a body are decoded", async () => {
      const {
        connection: { id },
      } = await createConnection();
      const body = String.raw`{"t\u0061gs":["\u0061\u00e9\u2028\ud83d\ude00\/\\\""]}`;
      const { connection } = expectConnection(await owner.patch(id, body), { tags: ['aé\u2028😀/\\"'] });
      expectConnection(await owner.patch(id, ` \n\t{ "tags" : [ "aé\u2028😀/\\\\\\"" ] }\r\n `), {
        version: connection.version,
      });
    });

    test("an update changes only the tags, and every list shows it immediately", async () => {
      const { connection } = await createConnection({
        tags: ["old", "both"],
        name: "Seen",
        state: "degraded",
        label: "seen",
      });
      const { id } = connection;
      const listed = async (filter) =>
        expectConnections(await reader.list(filter)).rows.map((row) => [row.id, row.version]);
      for (let version = 2; version < 12; version += 1) {
        const tags = ["both", `new-${version}`, "new"];
        assert.deepEqual(expectConnection(await owner.patch(id, { tags })).connection, {
          ...connection,
          tags,
          version: String(version),
        });
        expectConnection(await reader.read(id), { tags, version: String(version) });
        for (const filter of [
          { tags: `new-${version}` },
          { tags: "new,both" },
          { tags: `none,new-${version}`, tagsMatch: "any" },
          { key: connection.key },
          { name: "seen" },
        ]) {
          assert.deepEqual(await listed(filter), [[id, String(version)]], JSON.stringify(filter));
        }
        for (const removedTag of ["old", `new-${version - 1}`])
          assert.deepEqual(await listed({ tags: removedTag }), []);
      }
    });

    test("a PATCH without changes keeps version and entity tag, and writes nothing", async () => {
      const tags = ["b", "a", "b"];
      const {
        connection: { id },
      } = await createConnection({ tags });
      const before = expectConnection(await owner.read(id));
      const bodies = [{}, { tags }, " { } ", '{"tags":["b","\\u0061","b"]}'];
      // An empty object changes nothing.
      for (const [body, written] of bodies.map((body, at) => [body, (at % 2) * AUDIT_ROWS])) {
        const response = await owner.patch(id, body);
        assert.deepEqual(expectConnection(response), before);
        assert.equal(costOf(response).rowsWritten, written);
      }
      // A different order of the tags counts as a change.
      expectConnection(await owner.patch(id, { tags: ["a", "b", "b"] }), { version: "2", tags: ["a", "b", "b"] });
      assert.deepEqual(expectConnection(await owner.patch(id, {})).connection.tags, ["a", "b", "b"]);
    });

    test("media types are compared without case and parameters", async () => {
      const {
        connection: { id },
      } = await createConnection();
      for (const type of [
        "application/json",
        "APPLICATION/JSON",
        "application/json; charset=utf-8",
        'application/json;charset="utf-8"; a=b',
        "application/json ;",
      ]) {
        expectConnection(await owner.patch(id, { tags: [type.slice(0, 12)] }, [["content-type", type]]));
      }
    });

    test("If-Match accepts the entity tag, one of several, or `*`", async () => {
      let {
        connection: { id },
        etag,
      } = await createConnection();
      for (const [n, value] of [
        [1, (tag) => tag],
        [2, (tag) => `"other", ${tag}`],
        [3, () => "*"],
        [4, (tag) => `  ${tag}  `],
      ]) {
        const changed = expectConnection(await owner.patch(id, { tags: [`n${n}`] }, ifMatch(value(etag))), {
          version: String(n + 1),
        });
        assert.notEqual(changed.etag, etag, "each version has its own tag");
        etag = changed.etag;
      }
      const { etag: otherEtag } = await createConnection();
      const rows = await stored(fixture.database, "changes");
      for (const value of [
        `W/${etag}`,
        otherEtag,
        '"other"',
        '""',
        etag.toUpperCase(),
        etag.replace(/5"$/, '4"'),
        etag.replace(/5"$/, '05"'),
        etag.replace(/5"$/, '18446744073709551621"'),
      ]) {
        if (value === etag) continue;
        for (const [response, written] of [
          [await owner.patch(id, { tags: ["no"] }, ifMatch(value)), AUDIT_ROWS],
          [await owner.patch(id, {}, ifMatch(value)), 0],
          [await owner.remove(id, ifMatch(value)), AUDIT_ROWS],
        ]) {
          expectProblem(response, "precondition_failed");
          assert.deepEqual([costOf(response).calls, costOf(response).rowsWritten], [1, written]);
        }
      }
      for (const value of [etag.replaceAll('"', ""), etag.slice(0, -1), "nothing", "W/*", "**", `${etag} ${etag}`]) {
        for (const response of [
          await owner.patch(id, { tags: ["no"] }, ifMatch(value)),
          await owner.setName(id, { name: "no" }, ifMatch(value)),
          await owner.remove(id, ifMatch(value)),
        ]) {
          assert.deepEqual(
            expectProblem(response, "invalid_parameter").errors.map(({ parameter }) => parameter),
            ["If-Match"],
            value,
          );
        }
      }
      assert.equal(await stored(fixture.database, "changes"), rows);
      assert.equal((await owner.remove(id, ifMatch(etag))).status, 204);
    });

    test("setting state and name updates counters and filters, and respects If-Match", async () => {
      const { connection, etag } = await createConnection({ tags: ["put"] });
      const { id } = connection;
      const failed = expectConnection(await owner.setState(id, { state: "failed", active: false, reason: "revoked" }), {
        ...connection,
        state: "failed",
        active: false,
        version: "2",
      });
      expectProblem(await owner.setName(id, { name: "late" }, ifMatch(etag)), "precondition_failed");
      const named = expectConnection(await owner.setName(id, { name: "Put by name" }, ifMatch(failed.etag)), {
        ...failed.connection,
        name: "Put by name",
        version: "3",
      });
      assert.deepEqual(expectConnections(await reader.list({ name: "put BY name", active: false, tags: "put" })).rows, [
        named.connection,
      ]);
      for (const [value, pointer] of [
        [{}, "/state"],
        [{ state: "broken" }, "/state"],
        [{ state: "failed", active: null }, "/active"],
        [{ state: "failed", reason: "" }, "/reason"],
      ]) {
        assert.deepEqual(
          expectProblem(await owner.setState(id, value), "invalid_body").errors.map((fault) => fault.pointer),
          [pointer],
        );
      }
      expectProblem(await reader.setState(id, { state: "unknown" }), "insufficient_scope");
      expectProblem(await other.setName(id, { name: "x" }), "connection_not_found");
      for (const part of ["state", "name"]) {
        for (const method of ["GET", "HEAD", "POST", "PATCH", "DELETE"]) {
          const response = await owner.send(method, `${connectionPath(id)}/${part}`);
          assert.deepEqual([response.status, response.header("allow")], [405, "PUT, OPTIONS"], `${method} ${part}`);
        }
        const preflight = await owner.send("OPTIONS", `${connectionPath(id)}/${part}`);
        assert.deepEqual([preflight.status, preflight.header("allow")], [204, "PUT, OPTIONS"]);
      }
      assert.deepEqual(expectConnection(await reader.read(id)), named, "nothing else was written");
      await expectCorrectCounts(fixture.database);
    });

    test("If-None-Match on a connection: 304 until it changes", async () => {
      const {
        connection: { id },
        etag,
      } = await createConnection();
      for (const value of [etag, `W/${etag}`, "*", `"x", ${etag}`]) {
        const response = await reader.read(id, [["if-none-match", value]]);
        assert.deepEqual([response.status, response.body.length], [304, 0]);
        expectHeaders(response, { "cache-control": "private, no-store", etag });
      }
      expectConnection(await owner.patch(id, { tags: ["x"] }));
      expectConnection(await reader.read(id, [["if-none-match", etag]]));
    });

    test("a deleted connection disappears everywhere, and its key is free again", async () => {
      const { connection } = await createConnection({ tags: ["short-lived"], name: "Short Lived", active: false });
      const { id } = connection;
      const total = async () => expectJson(await reader.summary(), 200).total;
      const before = await total();
      const response = await writer.remove(id);
      assert.deepEqual([response.status, response.body.length], [204, 0]);
      expectHeaders(response, { "cache-control": "private, no-store" });
      for (const response of [await writer.remove(id), await owner.read(id), await owner.patch(id, { tags: [] })])
        expectProblem(response, "connection_not_found");
      for (const filter of [
        { tags: "short-lived" },
        { name: "short lived" },
        { identity: connection.identity },
        { key: connection.key },
      ]) {
        expectConnections(await reader.list({ active: "false", ...filter }), { total: 0, rows: [] });
      }
      assert.equal(await total(), before - 1);
      const { platform, identity, identityType } = connection;
      const recreated = expectConnection(
        await owner.create({ platform, identity, identityType }),
        { version: "1" },
        { status: 201 },
      );
      assert.notEqual(recreated.connection.id, id);
    });

    test("counters are right", () => expectCorrectCounts(fixture.database));
  });
}
