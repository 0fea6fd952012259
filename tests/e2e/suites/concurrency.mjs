// Concurrent callers: no change is lost or applied twice, and a revoked key is rejected from then on.
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { costOf, expectJson, expectProblem } from "../support/expect.mjs";
import { key, store } from "../support/keys.mjs";
import {
  CONNECTIONS,
  Caller,
  SUMMARY,
  expectConnection,
  expectConnections,
  expectCorrectCounts,
  connectionPath,
  query,
  stored,
} from "../support/vault.mjs";
import { isProof } from "../support/proof.mjs";

const MANY = 50;
const REQUEST_COUNT = isProof ? 1000 : 200;
const REFUSED = "The API key is unknown, revoked or expired.";
const repeat = (count, make) => Promise.all(Array.from({ length: count }, (_, i) => make(i)));
/** Counts responses by status. */
function countByStatus(responses) {
  const counts = {};
  for (const { status } of responses) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

export function concurrency(fixture) {
  const apiKey = key({ account: "crowd" });
  const caller = new Caller(fixture, apiKey);
  const input = (identity, more) => ({ platform: "github", identity, identityType: "user", ...more });
  const fresh = async (identity, more) =>
    expectConnection(await caller.create(input(identity, more)), {}, { status: 201 });

  describe("concurrent requests", () => {
    before(() => store(fixture.database, [apiKey]));

    test("50 PATCHes of one connection are all applied in sequence", async () => {
      const {
        connection: { id },
      } = await fresh("patched");
      const sent = Array.from({ length: MANY }, (_, i) => [`tag-${i}`, "all", `tag-${i}`]);
      const responses = await repeat(MANY, (i) => caller.patch(id, { tags: sent[i] }));
      const changed = responses.map((response, i) => expectConnection(response, { tags: sent[i] }).connection);
      assert.deepEqual(
        changed.map(({ version }) => Number(version)).sort((a, b) => a - b),
        Array.from({ length: MANY }, (_, i) => i + 2),
        "every version once",
      );
      const { connection } = expectConnection(await caller.read(id), { version: String(MANY + 1) });
      assert.deepEqual(
        connection,
        changed.find(({ version }) => version === connection.version),
        "the last change is stored",
      );
      expectConnections(await caller.list({ tags: "all" }), { total: 1, rows: [connection] });
      for (const i of [0, 7, 49])
        expectConnections(await caller.list({ tags: `tag-${i}` }), {
          total: connection.tags.includes(`tag-${i}`) ? 1 : 0,
        });
    });

    test("of 50 PATCHes with the same entity tag, one succeeds", async () => {
      const {
        connection: { id },
        etag,
      } = await fresh("matched");
      const responses = await repeat(MANY, (i) => caller.patch(id, { tags: [`tag-${i}`] }, [["if-match", etag]]));
      assert.deepEqual(countByStatus(responses), { 200: 1, 412: MANY - 1 });
      for (const response of responses.filter(({ status }) => status === 412))
        expectProblem(response, "precondition_failed");
      const winner = expectConnection(
        responses.find(({ status }) => status === 200),
        { version: "2" },
      );
      assert.deepEqual(expectConnection(await caller.read(id)), winner);
    });

    test("read-modify-write with If-Match loses no tag", async () => {
      const {
        connection: { id },
      } = await fresh("counted");
      let refused = 0;
      await repeat(5, async (worker) => {
        for (let n = 0; n < 8; ) {
          const { connection, etag } = expectConnection(await caller.read(id));
          const response = await caller.patch(id, { tags: [...connection.tags, `${worker}-${n}`] }, [
            ["if-match", etag],
          ]);
          if (response.status === 200) n += 1;
          else refused += expectProblem(response, "precondition_failed").status === 412;
        }
      });
      const expected = Array.from({ length: 40 }, (_, i) => `${i % 5}-${Math.floor(i / 5)}`).sort();
      const { connection } = expectConnection(await caller.read(id), { version: "41" });
      assert.deepEqual(connection.tags.toSorted(), expected);
      assert.ok(refused > 0, "no requests conflicted");
    });

    test("of 30 POSTs with one key, one creates it, and the others return its id", async () => {
      const responses = await repeat(30, (i) =>
        caller.create(input("contested", { name: `try ${i}`, tags: [`try-${i}`] })),
      );
      assert.deepEqual(countByStatus(responses), { 201: 1, 409: 29 });
      const { connection } = expectConnection(
        responses.find(({ status }) => status === 201),
        {},
        { status: 201 },
      );
      for (const response of responses.filter(({ status }) => status === 409))
        expectProblem(response, "connection_exists", { connectionId: connection.id });
      expectConnections(await caller.list({ identity: "contested" }), { total: 1, rows: [connection] });
    });

    test("of 30 DELETEs of one connection, one succeeds", async () => {
      const {
        connection: { id },
        etag,
      } = await fresh("deleted", { tags: ["a", "b"] });
      const responses = await repeat(30, (i) => caller.remove(id, i % 2 ? [["if-match", etag]] : []));
      assert.deepEqual(countByStatus(responses), { 204: 1, 404: 29 });
    });

    test("concurrent PATCH, DELETE and POST of one key keep it consistent", async () => {
      const {
        connection: { id },
      } = await fresh("mixed");
      const responses = await repeat(60, (i) =>
        [() => caller.patch(id, { tags: [`m${i}`] }), () => caller.remove(id), () => caller.create(input("mixed"))][
          i % 3
        ](),
      );
      const counts = countByStatus(responses);
      assert.deepEqual(
        Object.keys(counts).filter((status) => !["200", "201", "204", "404", "409"].includes(status)),
        [],
      );
      assert.equal(counts[204], 1);
      assert.ok((counts[201] ?? 0) <= 1);
      expectConnections(await caller.list({ identity: "mixed" }), { total: counts[201] ?? 0 });
      await expectCorrectCounts(fixture.database);
    });

    for (const [how, column] of [
      ["revoked", "revoked_at"],
      ["expired", "expires_at"],
    ]) {
      test(`a key that is ${how} is rejected from the next request on, and writes nothing`, async () => {
        const revokedKey = key({ account: "crowd" });
        await store(fixture.database, [revokedKey]);
        const revokedCaller = new Caller(fixture, revokedKey);
        const { connection, etag } = expectConnection(
          await revokedCaller.create(input(`left by one ${how}`, { tags: ["kept"] })),
          {},
          { status: 201 },
        );
        const page = expectConnections(await revokedCaller.list({ limit: 1 }));
        await fixture.database
          .prepare(`UPDATE api_keys SET ${column} = ? WHERE id = ?`)
          .bind(Date.now() - 1, revokedKey.row.id)
          .run();
        const rows = await stored(fixture.database, "crowd");
        const tries = [
          () => revokedCaller.patch(connection.id, { tags: ["no"] }),
          () => revokedCaller.patch(connection.id, { tags: ["no"] }, [["if-match", etag]]),
          () => revokedCaller.create(input("never")),
          () => revokedCaller.remove(connection.id),
          () => revokedCaller.read(connection.id),
          () => revokedCaller.read(connection.id, [["if-none-match", etag]]),
          () => revokedCaller.list(),
          () => revokedCaller.list({ key: connection.key }),
          () => revokedCaller.send("GET", page.next),
          () => revokedCaller.summary(),
          () => revokedCaller.create("{"),
          () => revokedCaller.list("limit=0"),
        ];
        for (const attempt of tries) {
          const response = await attempt();
          expectProblem(response, "invalid_key", { detail: REFUSED });
          assert.deepEqual([costOf(response).calls, costOf(response).rowsWritten], [1, 0]);
        }
        assert.equal(await stored(fixture.database, "crowd"), rows);
        expectConnection(await caller.read(connection.id), { tags: ["kept"], version: "1" });
      });
    }

    test("writes that are rejected because the key has expired have no effect", async () => {
      const {
        connection: { id },
      } = await fresh("until expired");
      const expiringKey = key({ account: "crowd", expires_at: Date.now() + 500 });
      await store(fixture.database, [expiringKey]);
      const expiringCaller = new Caller(fixture, expiringKey);
      const responses = [];
      while (responses.every(({ status }) => status === 200)) {
        responses.push(...(await repeat(10, (i) => expiringCaller.patch(id, { tags: [`e${responses.length + i}`] }))));
      }
      const refused = responses.filter(({ status }) => status !== 200);
      for (const response of refused) expectProblem(response, "invalid_key", { detail: REFUSED });
      expectConnection(await caller.read(id), { version: String(responses.length - refused.length + 1) });
    });

    test(`${REQUEST_COUNT} concurrent requests of all kinds get responses`, async () => {
      const {
        connection: { id, key: name },
      } = await fresh("busy");
      const kinds = [
        [() => caller.list(), 200],
        [() => caller.read(id), 200],
        [() => caller.list({ key: name }), 200],
        [() => caller.send("GET", SUMMARY), 200],
        [() => caller.list("limit=0"), 400],
        [() => caller.read("nothing"), 404],
        [() => caller.create(input("busy")), 409],
        [() => caller.patch(id, {}), 200],
        [() => caller.patch(id, "["), 400],
        [() => caller.send("PUT", CONNECTIONS), 405],
      ];
      const responses = await repeat(REQUEST_COUNT, (i) => kinds[i % kinds.length][0]());
      responses.forEach((response, i) =>
        assert.equal(response.status, kinds[i % kinds.length][1], response.text.slice(0, 300)),
      );
      expectJson(await caller.send("GET", SUMMARY), 200);
      expectConnection(await caller.send("GET", `${connectionPath(id)}?${query({})}`), { version: "1" });
      assert.ok(fixture.server.alive);
    });
  });
}
