// Connecting against a second, independent authorization server.
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { App, Visitor, agree, comeBack, connectingKey, isCallback } from "../support/connecting.mjs";
import { store } from "../support/keys.mjs";
import { SECOND_CLIENT } from "../support/oauth2.mjs";

export function connectSecond(world) {
  const made = connectingKey({ account: "second" });
  const app = new App(() => world.server, made);

  async function visit(platform, how) {
    const visitor = new Visitor();
    const { id, link } = await app.begin({ platform, identity: "ann" });
    const url = new URL(await agree(visitor, link));
    for (const [name, value] of Object.entries(how)) url.searchParams.set(name, value);
    const { url: back } = await visitor.follow(await visitor.get(url.href), url.href, isCallback);
    return { id, page: await comeBack(visitor, back) };
  }

  /** Renews a connection's credentials three times, and returns the last ones. */
  async function renewed(id, name) {
    let held = await app.credentials(id);
    assert.deepEqual([held.scopes, held.tokenType], [SECOND_CLIENT.scopes, "Bearer"]);
    assert.equal(await world.second.whose(held.headers), name);
    for (let n = 0; n < 3; n += 1) {
      const next = await app.credentials(id, "?refresh=true");
      assert.notEqual(next.accessToken, held.accessToken);
      assert.equal(await world.second.whose(next.headers), name);
      held = next;
    }
    const { state, reason, missingScopes } = await app.status(id);
    assert.deepEqual([state, reason, missingScopes], ["operational", null, []]);
    return held;
  }

  /** Deletes a connection, which ends what it holds at the server. */
  async function disconnect(id, held, hint) {
    const before = world.second.revoked.length;
    await app.expect(204, "DELETE", `/v1/vault/connections/${id}`);
    assert.deepEqual(world.second.revoked.slice(before), [hint]);
    assert.equal(await world.second.whose(held.headers), undefined);
  }

  describe("a second authorization server", () => {
    before(async () => {
      await store(world.database, [made]);
      for (const platform of ["second-basic", "second-post", "second-app"])
        await app.setClient(platform, SECOND_CLIENT);
    });

    for (const platform of ["second-basic", "second-post"]) {
      test(`${platform}: connected, used, renewed, revoked`, async () => {
        const { id, page } = await visit(platform, { user: "ann there" });
        assert.deepEqual([page.status, page.heading], [200, `${platform} is connected`]);
        const connection = await app.connected(id);
        assert.equal(connection.state, "operational");
        const held = await renewed(connection.id, "ann there");
        const again = await app.connect({ platform, identity: "ann" });
        assert.deepEqual([again.status, again.json.code], [409, "connection_exists"]);
        await disconnect(connection.id, held, "refresh_token");
        const denied = await visit(platform, { user: "ann there", allowed: "false" });
        assert.equal(denied.page.heading, `${platform} was not connected`);
        await app.failed(denied.id, "denied");
      });
    }

    test("second-app: the app itself is connected, used, renewed, revoked", async () => {
      const answer = await app.connect({ platform: "second-app", identity: "ann" });
      assert.deepEqual([answer.status, answer.json.state], [201, "operational"], answer.text);
      const { id } = answer.json;
      await disconnect(id, await renewed(id, SECOND_CLIENT.clientId), "access_token");
    });
  });
}
