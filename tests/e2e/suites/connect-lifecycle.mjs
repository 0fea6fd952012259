// The lifecycle of a connection. Simulates time by moving all timestamps of the connection into the past.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { ConnectionLifecycle } from "../support/connection-lifecycle.mjs";
import { launch } from "../support/browser.mjs";
import { connectingKey } from "../support/connecting.mjs";
import { ALL_SCOPES, store } from "../support/keys.mjs";
import { isProof } from "../support/proof.mjs";

/** Timestamp columns of credentials. */
const TIMESTAMP_COLUMNS = [
  "issued_at",
  "expires_at",
  "next_attempt_at",
  "refused_since",
  "failing_since",
  "handed_until",
];
const SHIFT_TIMESTAMPS = `UPDATE credentials SET ${TIMESTAMP_COLUMNS.map((time) => `${time} = ${time} - ?1`).join(", ")} WHERE connection_id = ?2`;

export function connectLifecycle(fixture) {
  const key = connectingKey({ account: "alive", scopes: ALL_SCOPES });
  let browser;

  async function later(ms, id) {
    await fixture.database.prepare(SHIFT_TIMESTAMPS).bind(ms, id).run();
    const response = await fixture.server.send("/cdn-cgi/local/scheduled?cron=*+*+*+*+*");
    assert.deepEqual([response.status, response.text], [200, "ok"]);
  }

  describe("the lifecycle of a connection", { skip: !isProof }, () => {
    before(async () => {
      await store(fixture.database, [key]);
      // Only the connection of this suite may be due.
      await fixture.database.prepare("UPDATE credentials SET check_at = NULL, next_attempt_at = NULL").run();
      browser = await launch();
    });

    after(() => browser?.close());

    test("a connection survives use, idle periods, an outage, a revoked grant and a reconnect", async (context) => {
      const log = (text) => context.diagnostic(text);
      const { server, idp } = fixture;
      await new ConnectionLifecycle({ server, idp, key, browser, minutes: 6, later, log }).run();
    });
  });
}
