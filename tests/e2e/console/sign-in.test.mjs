// People sign in to the console with an OpenID provider. `oidc-provider` is the provider.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { App, SCOPES, VAULT_KEY } from "../support/connecting.mjs";
import { Console, expectAccessibleEverywhere } from "../support/console.mjs";
import { key } from "../support/keys.mjs";
import { CLIENTS, Idp } from "../support/oidc.mjs";
import { SESSION_SECRET } from "../support/server.mjs";
import { startProxy } from "../support/signing-in.mjs";

const { client_id: CLIENT_ID, client_secret: CLIENT_SECRET } = CLIENTS["idp-post"];
const PERSON = "ann";

describe("the console: sign-in of people", () => {
  const keys = {
    admin: key({ scopes: `${SCOPES} keys:read audit:read console:read console:write`, account: "signed-in" }),
    reader: key({ scopes: "catalog:read connections:read", account: "signed-in" }),
  };
  let [fixture, idp, proxy, app, signIn] = [];

  before(async () => {
    [idp, proxy] = await Promise.all([Idp.start(), startProxy()]);
    const base = `http://127.0.0.1:${proxy.port}`;
    const server = {
      name: "console-sign-in",
      variables: { LOCAL_TARGETS: "allow", BASE_URL: base },
      secrets: { SESSION_SECRET, VAULT_KEYS: `tests:${VAULT_KEY}` },
    };
    fixture = await Console.start({ name: "console-sign-in", connections: [], keys, server });
    proxy.to = fixture.server.port;
    fixture.baseUrl = base;
    Object.defineProperty(fixture, "origins", { value: [base, idp.issuer] });
    app = new App(() => fixture.server, keys.admin);
    idp.open(`${base}/unknown`);
  });
  after(async () => {
    proxy?.closeAllConnections();
    proxy?.close();
    await Promise.all([fixture?.stop(), idp?.stop()]);
    assert.deepEqual(idp.faults, []);
  });

  const visit = (path, use, options) => fixture.visit(path, use, { as: null, ...options });

  /** Signs in at the provider. */
  async function authenticate(page, login) {
    await page.getByRole("textbox").fill(login);
    await page.getByRole("button").click();
    await page.waitForFunction(() => document.title === "consent");
    await page.getByRole("button").click();
  }

  const heading = (page, name) => page.getByRole("heading", { level: 1, name }).waitFor();

  test("an administrator configures the sign-in", () =>
    visit(
      "/people",
      async (page) => {
        await page.getByRole("button", { name: "Set up sign-in" }).click();
        const dialog = page.getByRole("dialog");
        await dialog.getByRole("button", { name: "Save" }).click();
        // The form sends nothing while a required value is missing.
        await dialog.getByText("Enter a value of the claim.").waitFor();
        await dialog.getByLabel("Issuer").fill(idp.issuer);
        await dialog.getByLabel("Client ID").fill(CLIENT_ID);
        await dialog.getByLabel("Client secret (optional)").fill(CLIENT_SECRET);
        await dialog.getByLabel("Claim with roles").fill("sub");
        await dialog.getByLabel("Value of the claim").fill(PERSON);
        for (const scope of ["audit:read", "console:read", "console:write"])
          await dialog.getByRole("checkbox", { name: scope }).check();
        await expectAccessibleEverywhere(page, "the form of the sign-in", { widths: [390], others: [390] });
        await dialog.getByRole("button", { name: "Save" }).click();
        await page.getByText("Sign-in was saved.").waitFor();
        signIn = await app.expect(200, "GET", "/v1/console-sign-in");
        await page.getByText(signIn.redirectUri, { exact: true }).waitFor();
        assert.deepEqual(signIn.roles, {
          [PERSON]: ["catalog:read", "connections:read", "audit:read", "console:read", "console:write"],
        });
        idp.open(signIn.redirectUri);
      },
      { as: keys.admin, expects: [404] },
    ));

  test("a person signs in, is named in the audit, and signs out", () =>
    visit(new URL(signIn.signInUrl).pathname, async (page) => {
      await heading(page, "Sign in to signed-in");
      await page.getByRole("button").click();
      await authenticate(page, PERSON);
      await page.getByText("Signed in as").waitFor();
      assert.equal(new URL(page.url()).hash, "");
      await page.goto(`${fixture.baseUrl}/people`);
      await page.getByText("this session").waitFor();
      await expectAccessibleEverywhere(page, "the people", { widths: [390], others: [390] });
      await page.goto(`${fixture.baseUrl}/audit`);
      await page.getByRole("list", { name: "Entries" }).getByText("Person signed in").first().waitFor();
      await page.getByRole("button", { name: "Sign out" }).click();
      await page.getByText("You are signed out in all tabs.").waitFor();
      assert.deepEqual((await app.expect(200, "GET", "/v1/console-sessions")).rows, []);
      // The browser remembers the provider, and the provider's session is still valid.
      await page.getByRole("link", { name: "Sign in to signed-in (test)" }).click();
      await heading(page, "Sign in to signed-in");
      await page.getByRole("button").click();
      await page.getByText("Signed in as").waitFor();
    }));

  test("a person without a role has no access", () =>
    visit(
      new URL(signIn.signInUrl).pathname,
      async (page) => {
        await page.getByRole("button").click();
        await authenticate(page, "bob");
        await heading(page, "You have no access");
      },
      { expects: [403] },
    ));

  test("a person whose session was ended must sign in again", () =>
    visit(
      new URL(signIn.signInUrl).pathname,
      async (page) => {
        await page.getByRole("button").click();
        await authenticate(page, PERSON);
        await page.getByText("Signed in as").waitFor();
        const { rows } = await app.expect(200, "GET", "/v1/console-sessions");
        for (const { id } of rows) await app.expect(204, "DELETE", `/v1/console-sessions/${id}`);
        await page.goto(`${fixture.baseUrl}/people`);
        await page.getByText("Your session has ended.").waitFor();
      },
      { expects: [401] },
    ));

  test("disabling the sign-in ends all sessions", () =>
    visit(
      "/people",
      async (page) => {
        await page.getByRole("button", { name: "Turn off" }).click();
        await page.getByRole("alertdialog").getByRole("button", { name: "Turn off" }).click();
        await page.getByText("Sign-in is off.").waitFor();
        await page.getByText("Sign-in is off", { exact: true }).waitFor();
        await app.expect(404, "GET", "/v1/console-sign-in");
      },
      { as: keys.admin, expects: [404] },
    ));
});
