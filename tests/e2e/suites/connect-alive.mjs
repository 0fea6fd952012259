// The life of a connection, whose minutes pass at once: all times that the service has written of it are put back.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { Life } from "../support/alive.mjs";
import { launch } from "../support/browser.mjs";
import { connectingKey } from "../support/connecting.mjs";
import { ALL, store } from "../support/keys.mjs";

/** Times of a row of credentials. */
const TIMES = ["issued_at", "expires_at", "next_attempt_at", "refused_since", "failing_since", "handed_until"];
const BACK = `UPDATE credentials SET ${TIMES.map((time) => `${time} = ${time} - ?1`).join(", ")} WHERE connection_id = ?2`;

export function connectAlive(world) {
  const key = connectingKey({ account: "alive", scopes: ALL });
  let browser;

  async function later(ms, id) {
    await world.database.prepare(BACK).bind(ms, id).run();
    const ran = await world.server.send("/cdn-cgi/local/scheduled?cron=*+*+*+*+*");
    assert.deepEqual([ran.status, ran.text], [200, "ok"]);
  }

  describe("the life of a connection", () => {
    before(async () => {
      await store(world.database, [key]);
      // Only what belongs to this suite is due.
      await world.database.prepare("UPDATE credentials SET check_at = NULL, next_attempt_at = NULL").run();
      browser = await launch();
    });

    after(() => browser?.close());

    test("used, idle, an outage, a revoked grant, reconnected", async (context) => {
      const say = (text) => context.diagnostic(text);
      const { server, idp } = world;
      await new Life({ server, idp, key, browser, minutes: 6, later, say }).live();
    });
  });
}
