// Many readers of expiring credentials, in two processes on one storage, against an authorization server that revokes
// the grant if a refresh token is used twice; also with a slow server and with a killed process.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { App, Visitor, agree, openCallback, connectingKey, isCallback } from "../support/connecting.mjs";
import { store } from "../support/keys.mjs";
import { CLIENTS, IDP_SCOPES } from "../support/oidc.mjs";
import { Server } from "../support/server.mjs";
import { freshTokens, reply } from "../support/stub.mjs";
import { proof, isProof } from "../support/proof.mjs";

const READERS = 200;
const PLATFORM = "idp-basic";
/** The duration of a refresh lease. */
const LEASE_MS = 30_000;
/** For `npm run proof`, the readers' servers have timers that are twice as fast: they wait for a token request for 10 seconds. */
const TIMERS = isProof ? 2 : 1;
const DEADLINE_MS = 20_000 / TIMERS;

export function connectRace(fixture) {
  const apiKey = connectingKey({ account: "race" });
  const servers = [];
  const first = new App(() => fixture.server, apiKey);
  const readers = [0, 1].map((index) => new App(() => servers[index], apiKey));

  const connected = async (identity) => {
    const visitor = new Visitor();
    const { id, link } = await first.begin({ platform: PLATFORM, identity });
    const back = await fixture.idp.visit(visitor, await agree(visitor, link), { login: identity }, isCallback);
    await openCallback(visitor, back);
    return (await first.expectConnected(id)).id;
  };

  const change = (id, sql) =>
    fixture.database.prepare(`UPDATE credentials SET ${sql} WHERE connection_id = ?`).bind(id).run();
  /** Sets the remaining lifetime of an access token in storage; the platform accepts the token for longer. */
  const setRemainingLifetime = (id, milliseconds) =>
    change(id, `issued_at = ${Date.now() - 3_600_000}, expires_at = ${Date.now() + milliseconds}`);

  /** Reads credentials. Retries, as documented, if another request's refresh takes longer than a request waits. */
  async function readCredentials(reader, id) {
    const response = await reader.requestCredentials(id);
    return response.status === 503 && response.json.code === "unavailable" ? readCredentials(reader, id) : response;
  }

  /** All readers send their requests concurrently, half of them to each process. */
  const read = (id) => Promise.all(Array.from({ length: READERS }, (_, n) => readCredentials(readers[n % 2], id)));

  const statuses = (responses) => {
    const counts = {};
    for (const { status } of responses) counts[status] = (counts[status] ?? 0) + 1;
    return counts;
  };

  /** Asserts that every reader got a token that the platform accepts. Returns the distinct tokens. */
  async function expectValid(responses, identity) {
    assert.deepEqual(statuses(responses), { 200: READERS }, responses.find(({ status }) => status !== 200)?.text);
    const tokens = [...new Set(responses.map(({ json }) => json.accessToken))];
    for (const token of tokens) assert.equal(await fixture.idp.userOf({ authorization: `Bearer ${token}` }), identity);
    return tokens;
  }

  /** Asserts that the platform still refreshes: if a refresh token had been used twice, it would not. */
  async function expectAlive(id, identity) {
    for (const app of readers) {
      const { headers } = await app.credentials(id, "?refresh=true");
      assert.equal(await fixture.idp.userOf(headers), identity);
    }
    const { state, reason } = await first.status(id);
    assert.deepEqual([state, reason], ["operational", null]);
  }

  /** The token requests after the first `sent` ones. */
  const requestsSince = (sent) => fixture.idp.requests.slice(sent);
  const ONE_REFRESH = [{ grant: "refresh_token" }];

  const until = async (holds) => {
    while (!holds()) await new Promise((done) => setImmediate(done));
  };

  describe(`${READERS} readers in two processes`, () => {
    before(async () => {
      await store(fixture.database, [apiKey]);
      for (const name of ["race-one", "race-two"])
        servers.push(await Server.start(fixture.state, { ...fixture.configuration(name), timers: TIMERS }));
      const { client_id: clientId, client_secret: clientSecret } = CLIENTS[PLATFORM];
      await first.setClient(PLATFORM, { clientId, clientSecret, scopes: IDP_SCOPES });
      await first.setClient("plain", { clientId: "app", clientSecret: "the racing app's secret", scopes: ["read"] });
    });

    after(async () => {
      fixture.idp.responseDelayMs = 0;
      await Promise.all(servers.map((server) => server.stop()));
      assert.deepEqual(fixture.idp.faults, []);
    });

    for (const [what, left, run] of [
      ["has expired", -1, test],
      ["is about to expire", 60_000, proof],
    ])
      run(`reading a token that ${what}: one refresh, and the grant stays valid`, async () => {
        const identity = `racer ${left}`;
        const id = await connected(identity);
        await setRemainingLifetime(id, left);
        const sent = fixture.idp.requests.length;
        const tokens = await expectValid(await read(id), identity);
        assert.deepEqual(requestsSince(sent), ONE_REFRESH);
        const refreshed = (await first.credentials(id)).accessToken;
        assert.ok(tokens.includes(refreshed));
        // After the old token has expired, every read returns the new one.
        if (left < 0) assert.deepEqual(tokens, [refreshed]);
        await expectAlive(id, identity);
      });

    proof("all get a valid token if the platform takes half the deadline, or three times the deadline", async () => {
      const [slow, late] = ["slow", "late"].map((word) => `${word} racer`);
      const ids = {};
      for (const identity of [slow, late]) ids[identity] = await connected(identity);
      const sent = fixture.idp.requests.length;
      /** Starts reading, and returns the promise of the responses once the platform has processed the refresh. */
      const begin = async (identity, milliseconds) => {
        await setRemainingLifetime(ids[identity], 120_000);
        fixture.idp.responseDelayMs = milliseconds;
        const before = fixture.idp.requests.length;
        const responses = read(ids[identity]);
        await until(() => fixture.idp.requests.length > before);
        return { responses };
      };
      // The two groups of reads overlap. Every reader gets a valid token, because the old one outlives the platform's delay.
      const reads = { [slow]: await begin(slow, DEADLINE_MS / 2), [late]: await begin(late, 3 * DEADLINE_MS) };

      await expectValid(await reads[slow].responses, slow);
      // The response comes too late for every reader, but the old token that they get is still valid.
      assert.equal((await expectValid(await reads[late].responses, late)).length, 1);
      assert.deepEqual(requestsSince(sent), [...ONE_REFRESH, ...ONE_REFRESH]);

      fixture.idp.responseDelayMs = 0;
      await expectAlive(ids[slow], slow);

      // Tokens that arrive too late are lost: the service reports this and waits, and does not return the old token in
      // the meantime.
      const status = await first.status(ids[late]);
      assert.partialDeepStrictEqual(status, { state: "degraded", actor: "nobody", attempts: 1 });
      assert.equal(status.reason.code, "platform_unavailable");
      assert.ok(Date.parse(status.nextAttemptAt) > Date.now());
      const before = fixture.idp.requests.length;
      await expectValid(await read(ids[late]), late);
      assert.deepEqual(requestsSince(before), []);
    });

    proof("get the old token until the lease ends if a process is killed before it stores the new one", async () => {
      const identity = "killed racer";
      const id = await connected(identity);
      const old = await first.credentials(id);
      const plain = "refresh of the killed racer Zx9Qw7";
      const input = { platform: "plain", identity, identityType: "user" };
      const { id: other } = await first.expect(201, "POST", "/v1/vault/connections", input);
      const tokens = freshTokens({ refresh_token: plain });
      fixture.stub.on(plain, (it) => reply(it, tokens));
      const imported = { type: "oauth2", refreshToken: plain };
      await first.expect(204, "PUT", `/v1/vault/connections/${other}/credentials`, imported);
      // From here on, storage rejects the writes of refreshes, and the service retries for a few seconds.
      await fixture.database
        .prepare(
          "CREATE TRIGGER nothing_is_written BEFORE UPDATE OF sealed ON credentials BEGIN SELECT RAISE(ABORT, 'not now'); END",
        )
        .run();
      const [sent, spent] = [fixture.idp.requests.length, fixture.stub.requestCount(plain)];
      try {
        const lost = [id, other].map((connectionId) =>
          readers[0].requestCredentials(connectionId, "?refresh=true").catch((error) => error),
        );
        await until(() => fixture.idp.requests.length > sent && fixture.stub.requestCount(plain) > spent);
        servers[0].kill("SIGKILL");
        await servers[0].ended;
        await Promise.all(lost);
      } finally {
        await fixture.database.prepare("DROP TRIGGER nothing_is_written").run();
      }
      assert.deepEqual(requestsSince(sent), ONE_REFRESH);

      // Until the lease of the killed process ends, the old token is returned and the platform is not called.
      const responses = await Promise.all(Array.from({ length: READERS }, () => readers[1].requestCredentials(id)));
      assert.deepEqual(await expectValid(responses, identity), [old.accessToken]);
      const unavailableResponse = await readers[1].requestCredentials(other);
      assert.deepEqual(
        [unavailableResponse.status, unavailableResponse.json.code, unavailableResponse.header("retry-after")],
        [503, "unavailable", "5"],
      );
      assert.deepEqual([requestsSince(sent), fixture.stub.requestCount(plain)], [ONE_REFRESH, spent + 1]);

      for (const connectionId of [id, other]) await change(connectionId, `lease_until = lease_until - ${LEASE_MS}`);
      // If the platform accepts the used refresh token again, the next refresh restores the connection.
      assert.equal((await readers[1].credentials(other)).accessToken, tokens.access_token);
      assert.equal(fixture.stub.requestCount(plain), spent + 2);
      assert.equal((await first.status(other)).state, "operational");
      // If the platform has revoked the grant, the connection fails, and its status gives the reason.
      const refused = await readers[1].requestCredentials(id, "?refresh=true");
      assert.deepEqual([refused.status, refused.json.code], [503, "refresh_failed"]);
      const status = await first.status(id);
      assert.deepEqual([status.state, status.reason.code, status.actor], ["degraded", "grant_rejected", "nobody"]);
    });
  });
}
