// Agents sign in on the real runtime: the official MCP client uses its own OAuth against `/mcp/{endpointId}`, with `oidc-provider` as
// the account's identity provider.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setImmediate } from "node:timers/promises";
import { UnauthorizedError } from "@modelcontextprotocol/sdk/client/auth.js";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { root } from "../../scripts/lib/paths.mjs";
import { launch, open } from "./support/browser.mjs";
import { Platform, calledCatalog } from "./support/called.mjs";
import { App, SCOPES, VAULT_KEY } from "./support/connecting.mjs";
import { expectAccessible, expectFits } from "./support/console.mjs";
import { key, store } from "./support/keys.mjs";
import { CLIENTS, Idp } from "./support/oidc.mjs";
import { proof } from "./support/proof.mjs";
import { PythonClient } from "./support/python.mjs";
import { State, build, folder } from "./support/workspace.mjs";
import { SESSION_SECRET, Server, freePort } from "./support/server.mjs";
import { OAuthStorage, startProxy } from "./support/signing-in.mjs";
import { Visitor } from "./support/visitor.mjs";

const CALLBACK = "http://localhost:3334/oauth/callback";
const MCP_REMOTE = join(root, "node_modules", "mcp-remote", "dist", "proxy.js");
const { client_id: CLIENT_ID, client_secret: CLIENT_SECRET } = CLIENTS["idp-post"];

describe("agents that sign in", () => {
  let [platform, state, server, opened, app, proxy, idp, base, endpoint] = [];
  const apiKey = key({ scopes: `${SCOPES} connections:call agents:read agents:write`, account: "sign-in" });

  before(async () => {
    await build();
    [platform, idp, proxy] = await Promise.all([Platform.start(), Idp.start(), startProxy()]);
    base = `http://127.0.0.1:${proxy.port}`;
    const catalog = await calledCatalog("agent-sign-in", platform);
    state = new State("agent-sign-in");
    await state.prepare(catalog);
    server = await Server.start(state, {
      name: "agent-sign-in",
      variables: { LOCAL_TARGETS: "allow", BASE_URL: base },
      secrets: { SESSION_SECRET, VAULT_KEYS: `tests:${VAULT_KEY}` },
    });
    proxy.to = server.port;
    opened = await state.open();
    await store(opened.vault, [apiKey]);
    app = new App(() => server, apiKey);
    for (const identity of ["ann", "bob"])
      await app.expect(201, "POST", "/v1/vault/connections", { platform: "called", identity, identityType: "user" });
    idp.open(CALLBACK);
    const signIn = await app.expect(201, "PUT", "/v1/agent-sign-in", {
      type: "oidc",
      issuer: idp.issuer,
      clientId: CLIENT_ID,
      clientSecret: CLIENT_SECRET,
      identityType: "user",
    });
    ({ endpoint } = signIn);
    assert.ok(endpoint.startsWith(`${base}/mcp/`), endpoint);
    idp.open(signIn.redirectUri);
  });

  after(async () => {
    proxy?.closeAllConnections();
    proxy?.close();
    await Promise.all([server?.stop(), platform?.stop(), idp?.stop()]);
    await opened?.close();
    assert.deepEqual(idp.faults, []);
  });

  const start = (authProvider) => {
    const transport = new StreamableHTTPClientTransport(new URL(endpoint), { authProvider });
    return { transport, client: new Client({ name: "test", version: "1" }) };
  };

  /** Signs a user in at the provider, up to the consent page. */
  async function openConsent(visitor, url, login) {
    const back = await idp.visit(visitor, url, { login }, (at) => at.startsWith(`${endpoint}/callback`));
    const page = await visitor.get(back);
    assert.equal(page.status, 200, page.text);
    return { page, grant: /name="grant" value="([^"]+)"/.exec(page.text)[1] };
  }

  /** Signs in and grants access. Returns the authorization code. */
  async function agree(visitor, url, login, choice) {
    const { page, grant } = await openConsent(visitor, url, login);
    assert.match(page.text, new RegExp(`that “${login}” has connected`));
    assert.match(page.text, /Sample Agent/);
    const response = await visitor.submit(`${endpoint}/consent`, { grant, decision: "allow", ...choice });
    assert.equal(response.status, 303, response.text);
    const at = new URL(response.header("location"));
    assert.deepEqual([at.origin + at.pathname, at.searchParams.get("iss")], [CALLBACK, endpoint]);
    assert.equal(at.searchParams.get("state"), "a state");
    return at.searchParams.get("code");
  }

  /** Signs in and grants access, for any client. Returns the URL to which the browser is redirected. */
  async function allow(url, login) {
    const visitor = new Visitor();
    const { grant } = await openConsent(visitor, url, login);
    const choice = { grant, decision: "allow", access: "write", accounts: "all" };
    const response = await visitor.submit(`${endpoint}/consent`, choice);
    assert.equal(response.status, 303, response.text);
    return new URL(response.header("location"));
  }

  async function rowsOf(client) {
    const { content, isError } = await client.callTool({ name: "list_connections", arguments: {} });
    assert.ok(!isError, JSON.stringify(content));
    return JSON.parse(content[0].text).rows.map((row) => row.identity);
  }

  test("the official client registers, signs in, calls, refreshes, and is rejected after revocation", async () => {
    const oauthStorage = new OAuthStorage(CALLBACK);
    const first = start(oauthStorage);
    await assert.rejects(first.client.connect(first.transport), UnauthorizedError);
    const authorize = new URL(oauthStorage.url);
    assert.equal(authorize.origin + authorize.pathname, `${endpoint}/authorize`);
    assert.equal(authorize.searchParams.get("resource"), endpoint);
    assert.equal(authorize.searchParams.get("scope"), "read write");
    const code = await agree(new Visitor(), oauthStorage.url, "ann", { access: "write", accounts: "all" });
    await first.transport.finishAuth(code);

    const { transport, client } = start(oauthStorage);
    await client.connect(transport);
    assert.deepEqual(await rowsOf(client), ["ann"]);
    // An invalid access token makes the client use its refresh token.
    const { access_token: previous, refresh_token: refresh } = oauthStorage.saved;
    oauthStorage.saved = { ...oauthStorage.saved, access_token: `${previous}x` };
    assert.deepEqual(await rowsOf(client), ["ann"]);
    assert.notEqual(oauthStorage.saved.refresh_token, refresh);
    const { rows } = await app.expect(200, "GET", "/v1/agent-grants");
    assert.deepEqual(
      rows.map(({ identity, access, client: { name } }) => [identity, access, name]),
      [["ann", "write", "Sample Agent"]],
    );
    await app.expect(204, "DELETE", `/v1/agent-grants/${rows[0].id}`);
    await assert.rejects(rowsOf(client), UnauthorizedError);
    await client.close();
  });

  // lab/tests/agent-clients.test.mjs also tests an expired token, a conformance suite and a browser.
  test("mcp-remote and PyPI's mcp call a tool with only the URL, and are rejected after revocation", async () => {
    // Runs mcp-remote without a browser in its PATH, so that it does not open the developer's.
    const [port, place] = [await freePort(), join(folder, "agent-sign-in-remote")];
    mkdirSync(place);
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [MCP_REMOTE, endpoint, String(port), "--allow-http"],
      env: { PATH: place, HOME: place, MCP_REMOTE_CONFIG_DIR: place },
      stderr: "pipe",
    });
    const remote = new Client({ name: "test", version: "1" });
    const { promise: secondSignIn, resolve: reportSecondSignIn } = Promise.withResolvers();
    let signIns = 0;
    createInterface({ input: transport.stderr }).on("line", async (line) => {
      if (!line.startsWith(`${endpoint}/authorize?`)) return;
      signIns += 1;
      if (signIns > 1) reportSecondSignIn();
      else await requestCallback(await allow(line, "ann"));
    });
    // mcp-remote can print the link before it listens for the callback.
    const requestCallback = (url) =>
      fetch(url).catch(async (error) => {
        if (error.cause?.code !== "ECONNREFUSED" || transport.pid === null) throw error;
        await setImmediate();
        return requestCallback(url);
      });
    let followed = false;
    const follow = async (url) => {
      if (followed) throw new Error("The user is asked again.");
      followed = true;
      return (await allow(url, "bob")).searchParams;
    };
    const python = await PythonClient.signIn(endpoint, CALLBACK, follow);
    try {
      await remote.connect(transport);
      assert.deepEqual([await rowsOf(remote), await rowsOf(python)], [["ann"], ["bob"]]);
      const { rows } = await app.expect(200, "GET", "/v1/agent-grants");
      assert.deepEqual(rows.map(({ identity }) => identity).sort(), ["ann", "bob"]);
      for (const { id } of rows) await app.expect(204, "DELETE", `/v1/agent-grants/${id}`);
      await assert.rejects(rowsOf(python));
      // mcp-remote requests another sign-in, and waits for its user.
      rowsOf(remote).catch(() => {});
      await secondSignIn;
    } finally {
      await Promise.all([remote.close(), python.close()]);
    }
  });

  test("an agent with read access can read, but not write", async () => {
    const oauthStorage = new OAuthStorage(CALLBACK);
    const first = start(oauthStorage);
    await assert.rejects(first.client.connect(first.transport), UnauthorizedError);
    await first.transport.finishAuth(
      await agree(new Visitor(), oauthStorage.url, "bob", { access: "read", accounts: "all" }),
    );
    assert.equal(oauthStorage.saved.scope, "read");
    const { transport, client } = start(oauthStorage);
    await client.connect(transport);
    assert.deepEqual(await rowsOf(client), ["bob"]);
    // A tool's error must not make the client open a browser or disconnect.
    const refused = await client.callTool({ name: "start_connect", arguments: { platform: "called" } });
    assert.deepEqual([refused.isError, refused.structuredContent.code], [true, "insufficient_scope"]);
    assert.deepEqual(await rowsOf(client), ["bob"]);
    await client.close();
  });

  test("a sign-in can't continue in another browser", async () => {
    const oauthStorage = new OAuthStorage(CALLBACK);
    const { transport, client } = start(oauthStorage);
    await assert.rejects(client.connect(transport), UnauthorizedError);
    const isBack = (at) => at.startsWith(`${endpoint}/callback`);
    const visitor = new Visitor();
    const back = await idp.visit(visitor, oauthStorage.url, { login: "ann" }, isBack);
    const other = await new Visitor().get(back);
    assert.equal(other.status, 410, other.text);
    const response = await visitor.get(back);
    assert.equal(response.status, 200);
    assert.equal(response.header("x-frame-options"), "DENY");
    assert.match(response.header("content-security-policy"), /frame-ancestors 'none'/);
  });

  async function revokeGrants() {
    const { rows } = await app.expect(200, "GET", "/v1/agent-grants");
    for (const { id } of rows) await app.expect(204, "DELETE", `/v1/agent-grants/${id}`);
  }

  /** A connected client to which a user has granted full access. */
  async function connectAgent(login) {
    const oauthStorage = new OAuthStorage(CALLBACK);
    const first = start(oauthStorage);
    await assert.rejects(first.client.connect(first.transport), UnauthorizedError);
    const choice = { access: "write", accounts: "all" };
    await first.transport.finishAuth(await agree(new Visitor(), oauthStorage.url, login, choice));
    const { transport, client } = start(oauthStorage);
    await client.connect(transport);
    return client;
  }

  /** Opens a link in a new browser context and, with `login`, signs in at the provider. */
  async function visit(browser, link, login) {
    const opened = await open(browser, link);
    if (!login) return opened;
    const { page } = opened;
    await page.getByRole("textbox").fill(login);
    const continueButton = page.getByRole("button", { name: /^Go/ });
    await continueButton.click();
    await page.waitForFunction(() => document.title === "consent");
    await continueButton.click();
    await page.waitForURL((url) => url.origin === base);
    return opened;
  }

  /** Asserts that a page is accessible and fits, on a phone in the dark theme and on a desktop in the light one. */
  async function expectAccessibleEverywhere(page, what) {
    for (const [width, colorScheme] of [
      [390, "dark"],
      [1280, "light"],
    ]) {
      await page.setViewportSize({ width, height: 844 });
      await page.emulateMedia({ colorScheme });
      await expectFits(page, what);
      await expectAccessible(page, `${what}, ${colorScheme}`);
    }
  }

  proof("an agent's connect link works only for its user", async () => {
    const client = await connectAgent("ann");
    const list = () => app.expect(200, "GET", "/v1/vault/connections?identity=ann");
    const { rows, total } = await list();
    const startedAttempt = await client.callTool({ name: "start_connect", arguments: { connection: rows[0].id } });
    const { authorizationUrl: link, id } = JSON.parse(startedAttempt.content[0].text);
    assert.ok(link?.startsWith(`${endpoint}/connect?id=`), startedAttempt.content[0].text);
    const browser = await launch();
    try {
      // The link must not show anything until its user has signed in.
      const stranger = await visit(browser, link);
      assert.equal(new URL(stranger.page.url()).origin, idp.issuer);
      const bob = await visit(browser, link, "bob");
      await bob.page.getByRole("heading", { name: "This link does not work" }).waitFor();
      await expectAccessibleEverywhere(bob.page, "another user's link");
      const ann = await visit(browser, link, "ann");
      const confirm = ann.page.getByRole("button", { name: "Continue as ann" });
      await confirm.waitFor();
      await expectAccessibleEverywhere(ann.page, "a connect link");
      assert.match(await ann.page.locator("body").innerText(), /ann/);
      await confirm.click();
      await ann.page.getByRole("textbox", { name: "Access token" }).fill("good");
      await ann.page.getByRole("button", { name: "Reconnect" }).click();
      const connected = ann.page.getByText(/connected/i).first();
      await connected.waitFor();
      const waited = await client.callTool({ name: "start_connect", arguments: { attempt: id } });
      assert.equal(JSON.parse(waited.content[0].text).status, "succeeded", waited.content[0].text);
      assert.equal((await list()).total, total);
      const again = await visit(browser, link, "ann");
      assert.equal(await again.page.getByRole("button", { name: "Continue as ann" }).count(), 0);
      assert.deepEqual(ann.faults, []);
    } finally {
      await Promise.all([browser.close(), client.close(), revokeGrants()]);
    }
  });

  proof("users end their own grants with the keyboard", async () => {
    const clients = [await connectAgent("ann"), await connectAgent("ann")];
    const browser = await launch();
    try {
      const ann = await visit(browser, `${endpoint}/grants`, "ann");
      const boxes = ann.page.getByRole("checkbox");
      assert.equal(await boxes.count(), 2);
      await expectAccessibleEverywhere(ann.page, "the grants of a user");
      await boxes.first().focus();
      await ann.page.keyboard.press("Space");
      await ann.page.keyboard.press("Enter");
      await boxes.nth(1).waitFor({ state: "detached" });
      const outcomes = await Promise.allSettled(clients.map(rowsOf));
      assert.deepEqual(outcomes.map(({ status }) => status).sort(), ["fulfilled", "rejected"]);
      const bob = await visit(browser, `${endpoint}/grants`, "bob");
      assert.equal(await bob.page.getByRole("checkbox").count(), 0);
      for (const { faults } of [ann, bob]) assert.deepEqual(faults, []);
    } finally {
      await Promise.all([browser.close(), ...clients.map((client) => client.close()), revokeGrants()]);
    }
  });

  test("an operator revokes a grant in the console, and disables and enables sign-in", async () => {
    const oauthStorage = new OAuthStorage(CALLBACK);
    const first = start(oauthStorage);
    await assert.rejects(first.client.connect(first.transport), UnauthorizedError);
    await first.transport.finishAuth(
      await agree(new Visitor(), oauthStorage.url, "ann", { access: "read", accounts: "all" }),
    );
    const { transport, client } = start(oauthStorage);
    await client.connect(transport);
    const browser = await launch();
    try {
      const { page, faults } = await open(browser, `${base}/agents`);
      const button = (name) => page.getByRole("button", { name, exact: true });
      await page.getByLabel("API key", { exact: true }).fill(apiKey.secret);
      await button("Sign in").click();
      await page.getByRole("heading", { name: "Agents", exact: true }).waitFor();
      await page.getByText(endpoint, { exact: true }).waitFor();
      await page.getByText(idp.issuer, { exact: true }).waitFor();
      const grant = page.getByRole("list", { name: "Grants" }).getByRole("listitem").filter({ hasText: "For ann" });
      await grant.getByText("read only").waitFor();
      // Uses only the keyboard, because every page must work without a mouse.
      await grant.getByRole("button", { name: "Revoke the grant of Sample Agent for ann" }).focus();
      await page.keyboard.press("Enter");
      await button("Revoke grant").focus();
      await page.keyboard.press("Enter");
      await page.getByText("The grant was revoked.").waitFor();
      await assert.rejects(rowsOf(client), UnauthorizedError);
      assert.equal(await grant.count(), 0);

      await button("Turn off").click();
      await page.getByRole("alertdialog").getByRole("button", { name: "Turn off" }).click();
      await page.getByText("Sign-in is off", { exact: true }).waitFor();
      assert.equal(
        (await fetch(`${base}/.well-known/oauth-authorization-server${new URL(endpoint).pathname}`)).status,
        404,
      );
      faults.length = 0; // The console requests the sign-in configuration, which no longer exists.
      await button("Turn on sign-in").click();
      await page.getByLabel("Who authenticates your users").selectOption("app");
      await button("Save").click();
      await page.locator('[aria-invalid="true"]').waitFor();
      await page.getByLabel("URL of your app").fill("https://app.example.com/agents");
      await button("Save").click();
      await page.getByText("Sign-in was saved.").waitFor();
      await page.getByText(endpoint, { exact: true }).waitFor();
      assert.deepEqual(faults, []);
    } finally {
      await browser.close();
    }
  });
});
