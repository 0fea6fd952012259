// The README's example of connecting an account, word for word, with a real authorization server in GitHub's place.
import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { CLIENT, agree, heading, question } from "../support/connect.mjs";
import { page as pageOf } from "../support/docs.mjs";
import { ALL } from "../support/keys.mjs";
import { Shell } from "../support/shell.mjs";
import { folder } from "../support/workspace.mjs";

/** @param {{ connect: import("../support/connect.mjs").Connecting }} world */
export function connectReadme(world) {
  describe("the README's example", () => {
    test("a client is set, a link is opened, and the platform accepts the credentials", async () => {
      const { baseUrl, provider } = world.connect;
      const { secret } = await world.connect.newKey({ scopes: ALL });
      const examples = pageOf("README.md").marked("sh run");
      const after = examples.findIndex(({ code }) => code.startsWith("send() {"));
      const [begin, rest] = examples.slice(after).map(({ code }) => code);
      const [look, use] = rest.split(/^(?=ID=)/m);
      const get = examples.map(({ code }) => /^get\(\) \{.*$/m.exec(code)?.[0]).find(Boolean);
      const path = join(folder, "connect-readme");
      mkdirSync(path, { recursive: true });
      const shell = new Shell(path);
      /** Runs an example; what its reader fills in is filled in. */
      const run = async (code, filled) => {
        const said = Object.entries(filled).reduce((text, [from, to]) => {
          assert.ok(text.includes(from), `${from} is not in the example`);
          return text.replaceAll(from, to);
        }, code);
        return (await shell.run(said)).answers.map(({ text }) => JSON.parse(text));
      };

      const address = { "http://localhost:8787": baseUrl };
      await run(`KEY=${secret}\n${get}`, address);
      const [client, { id, authorizationUrl }] = await run(begin, {
        ...address,
        github: "login",
        '"oauth2"': '"login"',
        "your-client-id": CLIENT.id,
        "your-client-secret": CLIENT.secret,
        "read:user": "openid",
      });
      assert.equal(client.redirectUri, `${baseUrl}/connect/callback`);
      await world.connect.visit(
        new URL(authorizationUrl).pathname,
        async (page) => {
          await question(page, "Login").click();
          await agree(page);
          await heading(page, "Login is connected").waitFor();
        },
        { as: null },
      );
      const [{ status, connection }] = await run(look, { "5f0c2a4e-…": id });
      assert.deepEqual(
        [status, connection.state, connection.identity],
        ["succeeded", "operational", "bob@example.com"],
      );
      const [{ headers }] = await run(use, { "0b9af7c6-…": connection.id });
      const answer = await fetch(`${provider.issuer}/me`, { headers });
      assert.deepEqual([answer.status, await answer.json()], [200, { sub: "ann" }]);
    });
  });
}
