// Connecting against a second, independent authorization server.
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { SECOND_CLIENT } from "../support/authlib.mjs";
import { App, Visitor, agree, openCallback, connectingKey, issuedSecrets, isCallback } from "../support/connecting.mjs";
import { store } from "../support/keys.mjs";

/** The maximum number of characters of a token, and of bytes of a body. */
const [MAX_TOKEN, MAX_BODY] = [16 << 10, 64 << 10];

export function connectSecondServer(fixture) {
  const apiKey = connectingKey({ account: "second" });
  const app = new App(() => fixture.server, apiKey);

  async function visit(platform, how) {
    const visitor = new Visitor();
    const { id, link } = await app.begin({ platform, identity: "ann" });
    const url = new URL(await agree(visitor, link));
    for (const [name, value] of Object.entries(how)) url.searchParams.set(name, value);
    const { url: back } = await visitor.follow(await visitor.get(url.href), url.href, isCallback);
    return { id, page: await openCallback(visitor, back) };
  }

  /** Refreshes a connection's credentials three times, and returns the last ones. */
  async function refreshed(id, name) {
    let credentials = await app.credentials(id);
    assert.deepEqual([credentials.scopes, credentials.tokenType], [SECOND_CLIENT.scopes, "Bearer"]);
    assert.equal(await fixture.second.userOf(credentials.headers), name);
    for (let n = 0; n < 3; n += 1) {
      const next = await app.credentials(id, "?refresh=true");
      assert.notEqual(next.accessToken, credentials.accessToken);
      assert.equal(await fixture.second.userOf(next.headers), name);
      credentials = next;
    }
    const { state, reason, missingScopes } = await app.status(id);
    assert.deepEqual([state, reason, missingScopes], ["operational", null, []]);
    return credentials;
  }

  /** Deletes a connection, which revokes its tokens at the server. */
  async function disconnect(id, credentials, hint) {
    const before = (await fixture.second.revoked()).length;
    await app.expect(204, "DELETE", `/v1/vault/connections/${id}`);
    assert.deepEqual((await fixture.second.revoked()).slice(before), [hint]);
    assert.equal(await fixture.second.userOf(credentials.headers), undefined);
  }

  describe("a second authorization server", () => {
    before(async () => {
      await store(fixture.database, [apiKey]);
      for (const platform of ["second-basic", "second-post", "second-app"])
        await app.setClient(platform, SECOND_CLIENT);
    });

    for (const platform of ["second-basic", "second-post"]) {
      test(`${platform}: an account is connected, used, refreshed and revoked`, async () => {
        const { id, page } = await visit(platform, { user: "ann there" });
        assert.deepEqual([page.status, page.heading], [200, `${platform} is connected`]);
        const connection = await app.expectConnected(id);
        assert.equal(connection.state, "operational");
        const credentials = await refreshed(connection.id, "ann there");
        const attempt = await app.connect({ platform, identity: "ann" });
        assert.deepEqual([attempt.status, attempt.json.code], [409, "connection_exists"]);
        await disconnect(connection.id, credentials, "refresh_token");
        const denied = await visit(platform, { user: "ann there", allowed: "false" });
        assert.equal(denied.page.heading, `${platform} was not connected`);
        await app.expectFailed(denied.id, "denied");
      });
    }

    test("credentials up to the size limit of a request are stored, larger ones are rejected", async () => {
      const input = { platform: "second-post", identity: "large", identityType: "user" };
      const { id } = await app.expect(201, "POST", "/v1/vault/connections", input);
      const path = `/v1/vault/connections/${id}/credentials`;
      const token = (kind, length) => `${kind}-`.padEnd(length, "x-0.Yz_");
      const tokens = (length) => ({ accessToken: token("access", length), refreshToken: token("refresh", length) });
      const put = (sent, length = 0) => {
        const headers = [["content-type", "application/json"]];
        const body = JSON.stringify({ type: "oauth2", ...sent }).padEnd(length);
        return fixture.server.send(path, { method: "PUT", secret: apiKey.secret, headers, body });
      };
      const large = tokens(MAX_TOKEN);
      for (const secret of Object.values(large)) issuedSecrets.add(secret);
      assert.equal((await put(large, MAX_BODY)).status, 204);
      assert.equal((await app.credentials(id)).accessToken, large.accessToken);
      const longer = await put(large, MAX_BODY + 1);
      assert.deepEqual([longer.status, longer.json.code], [413, "body_too_large"]);
      const tooLarge = await put(tokens(MAX_TOKEN + 1));
      assert.deepEqual([tooLarge.status, tooLarge.json.code], [400, "invalid_body"]);
      const pointers = tooLarge.json.errors.map(({ pointer }) => pointer);
      assert.deepEqual(pointers.sort(), ["/accessToken", "/refreshToken"]);
      assert.equal((await app.credentials(id)).accessToken, large.accessToken);
    });

    test("second-app: the app itself is connected, used, refreshed and revoked", async () => {
      const response = await app.connect({ platform: "second-app", identity: "ann" });
      assert.deepEqual([response.status, response.json.state], [201, "operational"], response.text);
      const { id } = response.json;
      await disconnect(id, await refreshed(id, SECOND_CLIENT.clientId), "access_token");
    });
  });
}
