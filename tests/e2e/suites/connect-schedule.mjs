// The schedule on the real runtime: the cron trigger finds due work, the queue processes it, and the feed reports it.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { App, SCOPES, connectingKey } from "../support/connecting.mjs";
import { store } from "../support/keys.mjs";
import { Server } from "../support/server.mjs";
import { freshTokens, reply } from "../support/stub.mjs";

const CONNECTIONS = 20;
/** The maximum time for the queue. */
const QUEUE_TIMEOUT_MS = 30_000;

export function connectSchedule(fixture) {
  const apiKey = connectingKey({ account: "scheduled", scopes: `${SCOPES} events:read` });
  let server;
  const app = new App(() => server, apiKey);
  let ids;
  let cursor = "evt_0000000000000";

  const fireCron = async () => {
    const response = await server.send("/cdn-cgi/local/scheduled?cron=*+*+*+*+*");
    assert.deepEqual([response.status, response.text], [200, "ok"]);
  };

  /** The events since the last call, once this many have arrived. */
  async function newEvents(count) {
    const rows = [];
    const until = Date.now() + QUEUE_TIMEOUT_MS;
    while (rows.length < count && Date.now() < until) {
      const page = await app.expect(200, "GET", `/v1/events?limit=500&after=${cursor}`);
      rows.push(...page.rows);
      cursor = page.next;
    }
    assert.equal(rows.length, count);
    return rows;
  }

  const due = () =>
    fixture.database
      .prepare("UPDATE credentials SET check_at = 1, next_attempt_at = NULL WHERE account = 'scheduled'")
      .run();

  describe("the schedule", () => {
    before(async () => {
      await store(fixture.database, [apiKey]);
      server = await Server.start(fixture.state, fixture.configuration("connect-schedule"));
      await app.setClient("plain", { clientId: "app", clientSecret: "the scheduled app's secret", scopes: ["read"] });
      // Only rows of this suite are due.
      await fixture.database.prepare("UPDATE credentials SET check_at = NULL, next_attempt_at = NULL").run();
      ids = [];
      for (let index = 0; index < CONNECTIONS; index += 1) {
        const key = { platform: "plain", identity: `user ${index}`, identityType: "user" };
        const { id } = await app.expect(201, "POST", "/v1/vault/connections", key);
        const refreshToken = fixture.stub.on(`refresh of ${index} Zx9Qw7`, (it) =>
          reply(it, freshTokens({ refresh_token: `refresh of ${index} Zx9Qw7` })),
        );
        await app.expect(204, "PUT", `/v1/vault/connections/${id}/credentials`, { type: "oauth2", refreshToken });
        ids.push(id);
      }
      await newEvents(2 * CONNECTIONS);
    });

    after(() => server?.stop());

    test("due connections are refreshed through the queue, each once", async () => {
      await due();
      const before = fixture.stub.requests.length;
      await fireCron();
      const events = await newEvents(CONNECTIONS);
      assert.deepEqual(new Set(events.map(({ type }) => type)), new Set(["connection.updated"]));
      assert.deepEqual(new Set(events.map(({ data }) => data.connection.id)), new Set(ids));
      assert.ok(events.every(({ data }) => data.connection.state === "operational"));
      assert.equal(fixture.stub.requests.length - before, CONNECTIONS);
      await fireCron();
      assert.equal(fixture.stub.requests.length - before, CONNECTIONS, "no connection is due");
    });

    test("a platform that is down degrades connections, and they recover", async () => {
      const [id] = ids;
      fixture.stub.on("refresh of 0 Zx9Qw7", (it) => reply(it, "down", { status: 503, type: "text/html" }));
      const runForId = (sql) => fixture.database.prepare(sql).bind(id).run();
      await runForId("UPDATE credentials SET check_at = 1 WHERE connection_id = ?1");
      await fireCron();
      const [degraded] = await newEvents(1);
      assert.deepEqual([degraded.type, degraded.data.reason.httpStatus], ["connection.degraded", 503]);
      const { state, nextAttemptAt } = await app.status(id);
      assert.equal(state, "degraded");
      assert.ok(Date.parse(nextAttemptAt) > Date.now());
      fixture.stub.on("refresh of 0 Zx9Qw7", (it) => reply(it, freshTokens({ refresh_token: "refresh of 0 Zx9Qw7" })));
      await runForId("UPDATE credentials SET next_attempt_at = 1 WHERE connection_id = ?1");
      await fireCron();
      const [recovered] = await newEvents(1);
      assert.deepEqual([recovered.type, recovered.data.connection.id], ["connection.recovered", id]);
    });
  });
}
