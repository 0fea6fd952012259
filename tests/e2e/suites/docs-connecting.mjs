// The connect window with connectors of the catalog of `npm start`. These platforms lack a `verify` request, so the service sends
// nothing to them.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { launch, open } from "../support/browser.mjs";
import { enteredSecret, heading } from "../support/connect.mjs";

const IDENTITY = "somebody@example.com";
/** Platforms with their names, form fields, and the headers and query that the credentials add to a request. */
const PLATFORMS = {
  virustotal: {
    name: "VirusTotal",
    fields: { apiKey: enteredSecret("key") },
    headers: ({ apiKey }) => ({ "x-apikey": apiKey }),
  },
  vonage: {
    name: "Vonage",
    fields: { username: "somebody", password: enteredSecret("password") },
    headers: ({ username, password }) => ({ authorization: `Basic ${btoa(`${username}:${password}`)}` }),
  },
  "aws-lambda": {
    name: "AWS Lambda",
    fields: { accessKeyId: enteredSecret("id"), secretAccessKey: enteredSecret("secret"), region: "eu-west-1" },
    // Amazon's requests are signed, so the credentials add no constant header.
    headers: () => ({}),
  },
};

/** @param {{ server: import("../support/server.mjs").Server }} fixture @param {{ KEY: string }} env with the key */
export function connectRealConnectors(fixture, env) {
  describe("connecting with real connectors", () => {
    let browser;
    before(async () => {
      browser = await launch();
    });
    after(() => browser?.close());

    const sendRequest = async (method, path, body) => {
      const url = `http://127.0.0.1:${fixture.server.port}${path}`;
      const headers = { "x-service-secret": env.KEY, "content-type": "application/json" };
      const response = await fetch(url, { method, headers, body: JSON.stringify(body) });
      const result = await response.json();
      assert.ok(response.ok, `${response.status} ${path}: ${JSON.stringify(result)}`);
      return result;
    };

    for (const [platform, { name, fields, headers }] of Object.entries(PLATFORMS)) {
      test(`${platform}: credentials are entered in the window and returned by the API`, async () => {
        const scopes = ["catalog:read", "connections:read", "connections:connect"];
        const { connectUrl } = await sendRequest("POST", "/v1/sessions", { identity: IDENTITY, scopes });
        const address = new URL(connectUrl);
        const hash = `${address.hash}&platform=${platform}`;
        const { page, faults, close } = await open(browser, `${address.origin}${address.pathname}${hash}`);
        try {
          await page.getByRole("button", { name: `Continue as ${IDENTITY}`, exact: true }).click();
          await heading(page, `Connect ${name}`).waitFor();
          for (const [field, value] of Object.entries(fields)) {
            const entry = page.locator(`[name="${field}"]`);
            await (field === "region" ? entry.selectOption(value) : entry.fill(value));
          }
          await page.getByRole("button", { name: "Connect", exact: true }).click();
          await heading(page, `${name} is connected`).waitFor();
          assert.deepEqual(faults, []);
        } finally {
          await close();
        }
        const { rows } = await sendRequest("GET", `/v1/vault/connections?platform=${platform}&identity=${IDENTITY}`);
        // The state is unknown until the credentials are used.
        assert.deepEqual(
          rows.map(({ state, active }) => [state, active]),
          [["unknown", true]],
        );
        const credentials = await sendRequest("GET", `/v1/vault/connections/${rows[0].id}/credentials`);
        for (const [field, value] of Object.entries(fields)) assert.equal(credentials[field], value, field);
        assert.deepEqual(credentials.headers, headers(fields));
      });
    }
  });
}
