// Two processes that serve the same storage must use each refresh token only once.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { App, Visitor, openCallback, connectingKey, obtainCallback } from "../support/connecting.mjs";
import { store } from "../support/keys.mjs";
import { Server } from "../support/server.mjs";
import { freshTokens, reply } from "../support/stub.mjs";
import { isProof } from "../support/proof.mjs";

const [ROUNDS, CONCURRENT_READS] = [8, 12];
/** The delay of the platform's responses, so that requests of both processes arrive during a refresh. */
const RESPONSE_DELAY_MS = 300;
/** The maximum number of retries of a client. */
const MAX_RETRIES = 4;

export function connectProcesses(fixture) {
  const apiKey = connectingKey({ account: "processes" });
  const servers = [];
  const [one, two] = [0, 1].map((index) => new App(() => servers[index], apiKey));

  const connection = async (identity, tokens) => {
    const visitor = new Visitor();
    const { id, link } = await one.begin({ platform: "plain", identity });
    const code = fixture.stub.on(`code of ${identity} in two processes`, (it) => reply(it, tokens));
    await openCallback(visitor, await obtainCallback(visitor, link, code));
    return (await one.expectConnected(id)).id;
  };

  const change = (id, sql) =>
    fixture.database.prepare(`UPDATE credentials SET ${sql} WHERE connection_id = ?`).bind(id).run();

  describe("two processes on one storage", { skip: !isProof }, () => {
    before(async () => {
      await store(fixture.database, [apiKey]);
      servers.push(await Server.start(fixture.state, fixture.configuration("processes-one")));
      servers.push(await Server.start(fixture.state, fixture.configuration("processes-two")));
      const client = { clientId: "app", clientSecret: "the secret of two processes", scopes: ["read"] };
      await one.setClient("plain", client);
    });

    after(() => Promise.all(servers.map((server) => server.stop())));

    test("an access token that is about to expire is refreshed by one of them", async () => {
      let tokens = freshTokens();
      const id = await connection("ann", tokens);
      for (let round = 0; round < ROUNDS; round += 1) {
        const next = freshTokens();
        const { refresh_token: spent } = tokens;
        fixture.stub.on(spent, (it) => setTimeout(() => reply(it, next), RESPONSE_DELAY_MS));
        // In half of the rounds, the old token has expired, so that it can't be returned.
        const isExpired = round % 2 === 1;
        const [issued, left] = [Date.now() - 3_600_000, isExpired ? -1 : 5000];
        await change(id, `issued_at = ${issued}, expires_at = ${Date.now() + left}`);
        const reads = Array.from({ length: CONCURRENT_READS }, (_, n) => [one, two][n % 2].requestCredentials(id));
        const responses = await Promise.all(reads);
        assert.deepEqual(
          responses.map(({ status }) => status),
          responses.map(() => 200),
          responses.map(({ text }) => text).join("\n"),
        );
        const returned = new Set(responses.map(({ json }) => json.accessToken));
        assert.ok(returned.has(next.access_token));
        returned.delete(next.access_token);
        assert.deepEqual([...returned], isExpired || returned.size === 0 ? [] : [tokens.access_token]);
        assert.equal(fixture.stub.requestCount(spent), 1, "a refresh token is used once");
        tokens = next;
      }
    });

    // The file of a local database accepts one writer at a time, unlike Cloudflare's D1. The service tries three times;
    // on a busy machine that may not be enough. It then writes nothing, and its response has a `Retry-After`.
    test("concurrent writes of both succeed once each, after a retry if the database is busy", async () => {
      const create = async (app, n) => {
        const connection = { platform: "plain", identity: `busy ${n}`, identityType: "user" };
        for (let left = MAX_RETRIES; ; left -= 1) {
          const response = await app.call("POST", "/v1/vault/connections", connection);
          if (response.status !== 503 || left === 1) return response;
          assert.equal(response.json.code, "unavailable");
          await pause(Number(response.header("retry-after")) * 1000);
        }
      };
      const responses = await Promise.all(Array.from({ length: 24 }, (_, n) => create([one, two][n % 2], n)));
      assert.deepEqual(
        responses.filter(({ status }) => status !== 201).map(({ text }) => text),
        [],
      );
    });
  });
}
