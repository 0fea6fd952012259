// The service is killed during an exchange: nothing partially connected is left, and a new attempt succeeds.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import {
  App,
  Visitor,
  callbackAtPort,
  openCallback,
  connectingKey,
  issuedSecrets,
  obtainCallback,
} from "../support/connecting.mjs";
import { store } from "../support/keys.mjs";
import { Server } from "../support/server.mjs";
import { freshTokens, reply } from "../support/stub.mjs";
import { isProof } from "../support/proof.mjs";

/** The time limits of an exchange and of a refresh. The service treats older ones as interrupted. */
const [EXCHANGE_MS, LEASE_MS] = [60_000, 30_000];

export function connectInterrupted(fixture) {
  const apiKey = connectingKey({ account: "interrupted" });
  let server;
  const app = new App(() => server, apiKey);

  const start = async () => {
    server = await Server.start(fixture.state, fixture.configuration("connect-killed"));
  };
  const kill = async () => {
    server.kill("SIGKILL");
    await server.ended;
  };

  /** A response that is withheld until the test releases it; `reached` resolves when the request arrives. */
  function withheld(reply) {
    let [resolveReached, release] = [];
    const reached = new Promise((done) => (resolveReached = done));
    const released = new Promise((done) => (release = done));
    const hold = async (response) => {
      resolveReached();
      await released;
      reply(response);
    };
    return { hold, reached, release };
  }

  async function userAtPlatform(identity, response, visitor = new Visitor()) {
    const attempt = await app.begin({ platform: "plain", identity });
    const code = fixture.stub.on(`code of ${identity} Qx7`, response);
    const back = await obtainCallback(visitor, attempt.link, code);
    return { ...attempt, visitor, back, code };
  }

  const count = async (table) => {
    const { rows } = await fixture.database
      .prepare(`SELECT count(*) AS rows FROM ${table} WHERE account = 'interrupted'`)
      .first();
    return rows;
  };

  describe("a service that is killed", { skip: !isProof }, () => {
    before(async () => {
      await store(fixture.database, [apiKey]);
      await start();
      await app.setClient("plain", { clientId: "app", clientSecret: "the interrupted app's secret", scopes: ["read"] });
    });

    after(() => server?.stop());

    test("an interrupted exchange stores nothing, and its code is not used again", async () => {
      const tokens = freshTokens();
      const { hold, reached, release } = withheld((it) => reply(it, tokens));
      const { id, visitor, back, code } = await userAtPlatform("ann", hold);
      const lostResponse = visitor.get(back).catch((error) => error);
      await reached;
      assert.equal((await app.attempt(id)).status, "pending");
      await kill();
      release();
      await lostResponse;
      await start();
      assert.equal((await app.attempt(id)).status, "pending");
      assert.deepEqual([await count("connections"), await count("credentials")], [0, 0]);
      // The user reloads the page in the same browser.
      const reloaded = callbackAtPort(server.port, visitor, back);
      assert.deepEqual([(await openCallback(visitor, reloaded)).status, fixture.stub.requestCount(code)], [409, 1]);
      await fixture.database
        .prepare("UPDATE connect_attempts SET claimed_at = claimed_at - ? WHERE id = ?")
        .bind(EXCHANGE_MS, id)
        .run();
      assert.equal(
        await app.expectFailed(id, "interrupted"),
        "The service was interrupted while it exchanged the code. Try again.",
      );
      assert.equal((await openCallback(visitor, reloaded)).heading, "plain could not be connected");
      assert.deepEqual([await count("connections"), await count("credentials")], [0, 0]);
      assert.equal(fixture.stub.requestCount(code), 1, "a code is used once");
      const next = await userAtPlatform("ann", (it) => reply(it, freshTokens()), visitor);
      await openCallback(visitor, next.back);
      const connection = await app.expectConnected(next.id);
      assert.equal(connection.state, "operational");
      assert.deepEqual([await count("connections"), await count("credentials")], [1, 1]);
    });

    test("an interrupted refresh keeps the old token, and is repeated after the lease", async () => {
      const [first, second] = [freshTokens(), freshTokens()];
      const { id, visitor, back } = await userAtPlatform("bob", (it) => reply(it, first));
      await openCallback(visitor, back);
      const connection = await app.expectConnected(id);
      const { hold, reached, release } = withheld((it) => reply(it, freshTokens()));
      fixture.stub.on(first.refresh_token, hold);
      const lostResponse = app.requestCredentials(connection.id, "?refresh=true").catch((error) => error);
      await reached;
      await kill();
      release();
      await lostResponse;
      await start();
      // The old token is still valid, and no other request refreshes it while the lease lasts.
      assert.equal((await app.credentials(connection.id)).accessToken, first.access_token);
      fixture.stub.on(first.refresh_token, (it) => reply(it, second));
      const unavailableResponse = await app.requestCredentials(connection.id, "?refresh=true");
      assert.deepEqual(
        [unavailableResponse.status, unavailableResponse.json.code, unavailableResponse.header("retry-after")],
        [503, "unavailable", "5"],
      );
      await fixture.database
        .prepare("UPDATE credentials SET lease_until = lease_until - ? WHERE connection_id = ?")
        .bind(LEASE_MS, connection.id)
        .run();
      assert.equal((await app.credentials(connection.id, "?refresh=true")).accessToken, second.access_token);
      assert.ok(issuedSecrets.has(second.access_token));
    });
  });
}
