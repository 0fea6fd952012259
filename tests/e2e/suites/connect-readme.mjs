// The README's example of connecting an account, unchanged, with a real authorization server in place of GitHub.
import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { CLIENT, consent, heading, linkConfirmation } from "../support/connect.mjs";
import { page as pageOf } from "../support/docs.mjs";
import { ALL_SCOPES } from "../support/keys.mjs";
import { Shell } from "../support/shell.mjs";
import { folder } from "../support/workspace.mjs";

/** @param {{ connect: import("../support/connect.mjs").ConnectConsole }} fixture */
export function connectReadme(fixture) {
  describe("the README's example", () => {
    test("sets a client and opens a link, and the platform accepts the credentials", async () => {
      const { baseUrl, provider } = fixture.connect;
      const { secret } = await fixture.connect.newKey({ scopes: ALL_SCOPES });
      const examples = pageOf("README.md")
        .marked("sh run")
        .map(({ code }) => code);
      const helpers = examples.flatMap((code) => code.match(/^(get|field|send)\(\) \{.*$/gm) ?? []);
      const [create] = examples.flatMap((code) => code.match(/^ID=\$\(send POST .*$/m) ?? []);
      const after = examples.findIndex((code) => code.startsWith("send PUT /v1/oauth-clients/"));
      const [begin, look] = examples.slice(after);
      const path = join(folder, "connect-readme");
      mkdirSync(path, { recursive: true });
      const shell = new Shell(path);
      /** Runs an example with its placeholders filled in. */
      const run = async (code, filled) => {
        const script = Object.entries(filled).reduce((text, [from, to]) => {
          assert.ok(text.includes(from), `${from} is not in the example`);
          return text.replaceAll(from, to);
        }, code);
        return (await shell.run(script)).responses.map(({ text }) => JSON.parse(text));
      };

      const address = { "http://localhost:8787": baseUrl };
      await run(`KEY=${secret}\n${helpers.join("\n")}`, address);
      await run(create, { github: "login" });
      const [client, { id, authorizationUrl }] = await run(begin, {
        github: "login",
        '"oauth2"': '"login"',
        "your-client-id": CLIENT.id,
        "your-client-secret": CLIENT.secret,
        "read:user": "openid",
      });
      assert.equal(client.redirectUri, `${baseUrl}/connect/callback`);
      await fixture.connect.visit(
        new URL(authorizationUrl).pathname,
        async (page) => {
          await linkConfirmation(page, "Login").click();
          await consent(page);
          await heading(page, "Login is connected").waitFor();
        },
        { as: null },
      );
      const [attempt, { headers }] = await run(look, {});
      const { status, connection } = attempt;
      assert.deepEqual(
        [attempt.id, status, connection.state, connection.identity],
        [id, "succeeded", "operational", "ann@example.com"],
      );
      const response = await fetch(`${provider.issuer}/me`, { headers });
      assert.deepEqual([response.status, await response.json()], [200, { sub: "ann" }]);
    });
  });
}
