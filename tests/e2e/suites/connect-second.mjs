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

  describe("a second authorization server", () => {
    before(() => store(world.database, [made]));

    for (const platform of ["second-basic", "second-post"]) {
      test(`${platform}: connected, used, renewed`, async () => {
        await app.setClient(platform, SECOND_CLIENT);
        const { id, page } = await visit(platform, { user: "ann there" });
        assert.deepEqual([page.status, page.heading], [200, `${platform} is connected`]);
        const connection = await app.connected(id);
        const first = await app.credentials(connection.id);
        assert.deepEqual(first.scopes, ["read", "write"]);
        assert.equal(await world.second.whose(first.headers), "ann there");
        for (let n = 0; n < 3; n += 1) {
          const renewed = await app.credentials(connection.id, "?refresh=true");
          assert.notEqual(renewed.accessToken, first.accessToken);
          assert.equal(await world.second.whose(renewed.headers), "ann there");
        }
        const refused = await visit(platform, { user: "ann there", allowed: "false" }).catch((error) => error);
        // The account is connected already, so that a second attempt is not begun.
        assert.match(refused.message, /connection_exists/);
        await app.expect(204, "DELETE", `/v1/vault/connections/${connection.id}`);
        const denied = await visit(platform, { user: "ann there", allowed: "false" });
        assert.equal(denied.page.heading, `${platform} was not connected`);
        await app.failed(denied.id, "denied");
      });
    }
  });
}
