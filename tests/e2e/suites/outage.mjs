// When the vault's storage fails, the service responds with a constant 503, logs the cause, and neither writes nor reads partially.
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { expectProblem } from "../support/expect.mjs";
import { key, store } from "../support/keys.mjs";
import { Description } from "../support/openapi.mjs";
import {
  CONNECTIONS,
  Caller,
  expectConnection,
  expectConnections,
  expectCorrectCounts,
  connectionPath,
  stored,
} from "../support/vault.mjs";

const DETAIL = "The service can't reach its storage. Try again shortly.";
/** Data that the log of a failure must not contain. */
const PRIVATE = "private-matter";

export function outage(fixture) {
  const apiKey = key({ account: "outage" });
  const description = Description.committed();
  const caller = new Caller(fixture, apiKey);
  const input = { platform: "github", identity: `${PRIVATE}-identity`, identityType: "user", name: `${PRIVATE} name` };
  const run = (sql) => fixture.database.prepare(sql).run();

  /** Asserts a 503 whose cause is in the log with the request id, and that neither contains private data. */
  async function expectUnavailable(response, cause) {
    const { requestId } = expectProblem(response, "unavailable", { detail: DETAIL });
    // Every operation documents the 503 in the same way.
    description.expect("listConnections", response);
    const line = await fixture.server.logged(`unavailable request=${requestId}`, cause);
    assert.ok(!line.includes(PRIVATE), line);
    assert.ok(!/sql|d1:|no such|trigger|connection_/i.test(response.text), response.text);
  }

  describe("an outage of the vault", () => {
    let id;
    before(async () => {
      await store(fixture.database, [apiKey]);
      id = expectConnection(await caller.create({ ...input, tags: ["kept"] }), {}, { status: 201 }).connection.id;
    });

    test("a failing write is rolled back", async () => {
      const rows = await stored(fixture.database, "outage");
      // The trigger fails after the connection's row and some of its tags were written.
      await run(
        "CREATE TRIGGER broken AFTER INSERT ON connection_tags WHEN NEW.tag = 'boom' BEGIN SELECT RAISE(ABORT, 'a broken trigger'); END",
      );
      try {
        const tags = ["a", `${PRIVATE}-tag`, "boom", "z"];
        await expectUnavailable(await caller.create({ ...input, identity: `${PRIVATE}-2`, tags }), "a broken trigger");
        await expectUnavailable(await caller.patch(id, { tags }), "a broken trigger");
        assert.equal(await stored(fixture.database, "outage"), rows);
        expectConnection(await caller.read(id), { version: "1", tags: ["kept"] });
      } finally {
        await run("DROP TRIGGER broken");
      }
      expectConnection(await caller.patch(id, { tags: ["kept", "boom"] }), { version: "2" });
    });

    test("a missing table causes 503 until it is restored", async () => {
      const list = () => caller.list({ platform: "github" });
      const all = [
        list,
        () => caller.read(id),
        () => caller.patch(id, { tags: [`${PRIVATE}-tag`] }),
        () => caller.remove(id),
        () => caller.create({ ...input, identity: `${PRIVATE}-3` }),
      ];
      // Renaming a table instead of dropping it preserves its triggers, so that counters stay right.
      for (const [table, calls] of [
        ["connections", all],
        ["connection_counts", [list, () => caller.summary()]],
      ]) {
        const rows = await stored(fixture.database, "outage");
        await run(`ALTER TABLE ${table} RENAME TO lost`);
        try {
          for (const ask of calls) await expectUnavailable(await ask(), `no such table: ${table}`);
          const head = await caller.send("HEAD", CONNECTIONS);
          assert.deepEqual([head.status, head.body.length, head.header("retry-after")], [503, 0, "5"]);
          assert.equal((await fixture.server.send("/health")).status, 200);
          expectProblem(await fixture.server.send(connectionPath(id)), "missing_key");
        } finally {
          await run(`ALTER TABLE lost RENAME TO ${table}`);
        }
        assert.equal(await stored(fixture.database, "outage"), rows);
        expectConnections(await list(), { total: 1 });
      }
      await expectCorrectCounts(fixture.database);
    });

    test("the log contains no request bodies", () => {
      assert.ok(fixture.server.output.includes("unavailable request="));
      assert.ok(!fixture.server.output.includes(PRIVATE));
    });
  });
}
