// Connecting against `oidc-provider`: from the link to credentials that the server accepts, and their refreshes.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { App, Visitor, agree, openCallback, connectingKey, isCallback } from "../support/connecting.mjs";
import { store } from "../support/keys.mjs";
import { CLIENTS, IDP_SCOPES } from "../support/oidc.mjs";

const MANY = 50;
const POLL_MS = 100;

/** Polls `look` until it returns a truthy value, and returns that value. */
async function eventually(look) {
  for (const until = Date.now() + 15_000; ; ) {
    const seen = await look();
    if (seen !== undefined) return seen;
    assert.ok(Date.now() < until, "the result did not arrive in time");
    await pause(POLL_MS);
  }
}

export function connectIdp(fixture) {
  const apiKey = connectingKey({ account: "idp" });
  const app = new App(() => fixture.server, apiKey);

  /** Connects an account, as one person in one browser. Returns the attempt's id and the last page. */
  async function visit(input, { as = input.identity, deny, visitor = new Visitor() } = {}) {
    const { id, link } = await app.begin(input);
    const url = await agree(visitor, link);
    const callbackUrl = await fixture.idp.visit(visitor, url, { login: as, deny }, isCallback);
    return { id, page: await openCallback(visitor, callbackUrl), url: new URL(url), callbackUrl: new URL(callbackUrl) };
  }

  async function connected(input, how) {
    const { id } = await visit(input, how);
    return app.expectConnected(id);
  }

  /** Expires an access token in storage. */
  const expireToken = (id) =>
    fixture.database
      .prepare("UPDATE credentials SET expires_at = ? WHERE connection_id = ?")
      .bind(Date.now() - 1, id)
      .run();

  describe("an authorization server that rotates refresh tokens", () => {
    before(async () => {
      await store(fixture.database, [apiKey]);
      for (const [platform, { client_id: clientId, client_secret: clientSecret = null }] of Object.entries(CLIENTS))
        await app.setClient(platform, { clientId, clientSecret, scopes: IDP_SCOPES });
    });

    after(() => assert.deepEqual(fixture.idp.faults, []));

    for (const platform of Object.keys(CLIENTS)) {
      test(`${platform}: an account is connected, used and refreshed`, async () => {
        const { id, page, url, callbackUrl } = await visit({ platform, identity: "ann" });
        assert.equal(url.origin + url.pathname, `${fixture.idp.issuer}/auth`);
        assert.equal(url.searchParams.get("code_challenge_method"), "S256");
        assert.equal(url.searchParams.get("scope"), IDP_SCOPES.join(" "));
        assert.equal(callbackUrl.searchParams.get("iss"), fixture.idp.issuer);
        assert.deepEqual([page.status, page.heading, page.data.status], [200, `${platform} is connected`, "succeeded"]);
        const connection = await app.expectConnected(id);
        assert.deepEqual(
          [connection.state, connection.active, connection.platform, connection.identity],
          ["operational", true, platform, "ann"],
        );
        const first = await app.credentials(connection.id);
        assert.deepEqual([first.type, first.tokenType, first.scopes], ["oauth2", "Bearer", IDP_SCOPES]);
        assert.deepEqual(first.headers, { authorization: `Bearer ${first.accessToken}` });
        assert.equal(await fixture.idp.userOf(first.headers), "ann");
        // Each refresh uses the refresh token that the previous one returned.
        for (let former = first, n = 0; n < 3; n += 1) {
          const refreshed = await app.credentials(connection.id, "?refresh=true");
          assert.notEqual(refreshed.accessToken, former.accessToken);
          assert.equal(await fixture.idp.userOf(refreshed.headers), "ann");
          former = refreshed;
        }
        const status = await app.status(connection.id);
        assert.deepEqual([status.state, status.reason, status.missingScopes], ["operational", null, []]);
      });
    }

    for (const platform of Object.keys(CLIENTS)) {
      test(`${platform}: a deleted connection's grant is revoked`, async () => {
        const { id } = await connected({ platform, identity: "leaver" });
        const credentials = await app.credentials(id);
        assert.equal(await fixture.idp.userOf(credentials.headers), "leaver");
        await app.expect(204, "DELETE", `/v1/vault/connections/${id}`);
        assert.equal(await fixture.idp.userOf(credentials.headers), undefined);
        const left = fixture.database.prepare("SELECT count(*) AS rows FROM revocations WHERE connection_id = ?");
        assert.deepEqual(await left.bind(id).first(), { rows: 0 });
      });
    }

    test("an expired token is refreshed when credentials are read", async () => {
      const lifetime = fixture.idp.lifetime;
      fixture.idp.lifetime = 2;
      const { id } = await connected({ platform: "idp-basic", identity: "brief" });
      const first = await app.credentials(id);
      assert.equal(await fixture.idp.userOf(first.headers), "brief");
      fixture.idp.lifetime = lifetime;
      const second = await eventually(async () => {
        const credentials = await app.credentials(id);
        return credentials.accessToken === first.accessToken ? undefined : credentials;
      });
      assert.equal(await fixture.idp.userOf(second.headers), "brief");
      assert.deepEqual(await app.credentials(id), second, "a valid token is not refreshed");
    });

    test("a check refreshes, and detects a revoked grant", async () => {
      const { id } = await connected({ platform: "idp-basic", identity: "checked" });
      const first = await app.credentials(id);
      const check = () => app.expect(200, "POST", `/v1/vault/connections/${id}/check`);
      const sent = fixture.idp.requests.length;
      assert.partialDeepStrictEqual(await check(), { id, state: "operational" });
      assert.deepEqual(fixture.idp.requests.slice(sent), [{ grant: "refresh_token" }]);
      const second = await app.credentials(id);
      assert.notEqual(second.accessToken, first.accessToken);
      const { grantId } = await fixture.idp.provider.AccessToken.find(second.accessToken);
      await fixture.idp.provider.RefreshToken.revokeByGrantId(grantId);
      assert.partialDeepStrictEqual(await check(), { id, state: "degraded", active: true });
      const early = await app.call("POST", `/v1/vault/connections/${id}/check`);
      assert.deepEqual([early.status, early.json.code], [429, "too_many_requests"]);
      assert.partialDeepStrictEqual((await app.status(id)).reason, { code: "grant_rejected", httpStatus: 400 });
    });

    test(`${MANY} concurrent requests cause one refresh`, async () => {
      const { id } = await connected({ platform: "idp-basic", identity: "crowd" });
      for (let round = 0; round < 3; round += 1) {
        await expireToken(id);
        const sent = fixture.idp.requests.length;
        const reads = Array.from({ length: MANY }, () => app.credentials(id));
        const tokens = new Set((await Promise.all(reads)).map(({ accessToken }) => accessToken));
        assert.deepEqual(fixture.idp.requests.slice(sent), [{ grant: "refresh_token" }]);
        assert.equal(tokens.size, 1);
        const [token] = tokens;
        assert.equal(await fixture.idp.userOf({ authorization: `Bearer ${token}` }), "crowd");
      }
      // The grant still exists: no refresh token was used twice.
      const refreshed = await app.credentials(id, "?refresh=true");
      assert.equal(await fixture.idp.userOf(refreshed.headers), "crowd");
    });

    test("reconnecting keeps the connection, and accepts another account only if allowed", async () => {
      const before = await connected({ platform: "idp-post", identity: "dora", tags: ["kept"] });
      const same = await connected({ connection: before.id }, { as: "dora" });
      assert.deepEqual([same.id, same.key, same.tags, same.state], [before.id, before.key, ["kept"], "operational"]);
      const credentials = await app.credentials(before.id);

      const other = await visit({ connection: before.id }, { as: "another user" });
      assert.deepEqual([other.page.status, other.page.heading], [200, "idp-post could not be connected"]);
      assert.match(
        await app.expectFailed(other.id, "account_mismatch"),
        /^This is a different account at idp-post than before/,
      );
      assert.deepEqual(await app.credentials(before.id), credentials);
      assert.equal(await fixture.idp.userOf(credentials.headers), "dora");

      const allowed = await connected({ connection: before.id, allowOtherAccount: true }, { as: "another user" });
      assert.equal(allowed.id, before.id);
      assert.equal(await fixture.idp.userOf((await app.credentials(before.id)).headers), "another user");
    });

    test("an app waits for the outcome", async () => {
      const visitor = new Visitor();
      const { id, link } = await app.begin({ platform: "idp-post", identity: "awaited" });
      const callbackUrl = await fixture.idp.visit(
        visitor,
        await agree(visitor, link),
        { login: "awaited" },
        isCallback,
      );
      const outcome = app.expect(200, "GET", `/v1/vault/connect/${id}?wait=25`);
      await openCallback(visitor, callbackUrl);
      const { status, connection } = await outcome;
      assert.deepEqual([status, connection.identity, connection.state], ["succeeded", "awaited", "operational"]);
    });

    test("a user who declines is not connected", async () => {
      const deny = 'No "thanks" <img src=x onerror=alert(1)>';
      const { id, page } = await visit({ platform: "idp-none", identity: "eve" }, { deny });
      assert.deepEqual([page.status, page.heading, page.data.status], [200, "idp-none was not connected", "failed"]);
      assert.match(await app.expectFailed(id, "denied"), /\(access_denied\)/);
    });

    test("a connection whose grant has ended is degraded", async () => {
      const { id } = await connected({ platform: "idp-none", identity: "gone" });
      const { provider } = fixture.idp;
      const credentials = await app.credentials(id);
      const { grantId } = await provider.AccessToken.find(credentials.accessToken);
      await provider.RefreshToken.revokeByGrantId(grantId);
      await expireToken(id);
      const response = await app.requestCredentials(id);
      assert.deepEqual([response.status, response.json.code], [503, "refresh_failed"]);
      assert.ok(Number(response.header("retry-after")) >= 45);
      const status = await app.status(id);
      assert.deepEqual(
        [status.state, status.reason.code, status.attempts, status.actor],
        ["degraded", "grant_rejected", 1, "nobody"],
      );
    });

    test("a client with a wrong secret connects no account, and the error has the platform's message", async () => {
      const { client_id: clientId, client_secret: clientSecret } = CLIENTS["idp-basic"];
      const set = (secret) =>
        app.call("PUT", "/v1/oauth-clients/idp-basic", { clientId, clientSecret: secret, scopes: IDP_SCOPES });
      assert.equal((await set("another secret")).status, 200);
      const { id, page } = await visit({ platform: "idp-basic", identity: "flo" });
      assert.equal(page.paragraphs[1], "You can't fix this yourself. Contact the people who run the app.");
      assert.match(await app.expectFailed(id, "client_rejected"), /^idp-basic rejects the app \(invalid_client\)/);
      assert.equal((await set(clientSecret)).status, 200);
    });

    test("a code of another attempt is rejected", async () => {
      const [victim, attacker] = [new Visitor(), new Visitor()];
      const [theirs, own] = [
        await app.begin({ platform: "idp-post", identity: "victim" }),
        await app.begin({ platform: "idp-post", identity: "attacker" }),
      ];
      const stolen = await fixture.idp.visit(victim, await agree(victim, theirs.link), { login: "victim" }, isCallback);
      const callbackUrl = await fixture.idp.visit(
        attacker,
        await agree(attacker, own.link),
        { login: "attacker" },
        isCallback,
      );
      const injected = new URL(callbackUrl);
      injected.searchParams.set("code", new URL(stolen).searchParams.get("code"));
      const page = await openCallback(attacker, injected.href);
      assert.equal(page.heading, "idp-post could not be connected");
      // The code fails, because it was issued for the PKCE challenge of another attempt.
      assert.match(await app.expectFailed(own.id, "code_rejected"), /\(invalid_grant\)/);
      // The attacker's code is not accepted in the victim's browser either.
      assert.deepEqual(
        [(await openCallback(victim, callbackUrl)).status, (await openCallback(victim, callbackUrl)).heading],
        [403, "This was started in another browser"],
      );
    });
  });
}
