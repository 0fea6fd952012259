// Common MCP clients, unmodified, with their own OAuth, on the real runtime. With only the URL of an MCP endpoint, each runs an action,
// runs it again after the access token has expired, and is rejected after the grant was revoked. `oidc-provider` is the account's
// identity provider, and Chromium acts as the user.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createServer } from "node:http";
import { mkdirSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, before, describe, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import {
  Client as LatestClient,
  StreamableHTTPClientTransport as LatestTransport,
  UnauthorizedError as LatestUnauthorizedError,
} from "@modelcontextprotocol/client";
import { UnauthorizedError } from "@modelcontextprotocol/sdk/client/auth.js";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { root } from "../../scripts/lib/paths.mjs";
import { launch, open } from "../../tests/e2e/support/browser.mjs";
import { Platform, calledCatalog } from "../../tests/e2e/support/called.mjs";
import { App, SCOPES, VAULT_KEY } from "../../tests/e2e/support/connecting.mjs";
import { key, store } from "../../tests/e2e/support/keys.mjs";
import { listen } from "../../tests/e2e/support/listening.mjs";
import { CLIENTS, Idp } from "../../tests/e2e/support/oidc.mjs";
import { PythonClient } from "../../tests/e2e/support/python.mjs";
import { SESSION_SECRET, Server, freePort } from "../../tests/e2e/support/server.mjs";
import { OAuthStorage, startProxy } from "../../tests/e2e/support/signing-in.mjs";
import { State, build, folder } from "../../tests/e2e/support/workspace.mjs";

const { client_id: CLIENT_ID, client_secret: CLIENT_SECRET } = CLIENTS["idp-post"];
const MCP_REMOTE = join(root, "node_modules", "mcp-remote", "dist", "proxy.js");
const CONFORMANCE = join(root, "node_modules", "@modelcontextprotocol", "conformance", "dist", "index.js");
/** The scenarios of the conformance suite that test an authorization server. */
const SCENARIOS = ["authorization-server-metadata-endpoint", "authorization-code-grant"];
/** The shortest lifetime of an access token that can be configured, in seconds. */
const TOKEN_LIFETIME_S = 60;
const POLL_MS = 200;
const about = { name: "test", version: "1" };

/** Connects with an OAuth provider of the SDK: the first attempt needs the user, the second one has tokens. */
async function withOAuthStorage(start, finish, oauthStorage, follow, Refused) {
  const first = start();
  await assert.rejects(first.client.connect(first.transport), Refused);
  await finish(first.transport, await follow(oauthStorage.url));
  const { client, transport } = start();
  await client.connect(transport);
  return client;
}

/** The clients. Each connects to a URL, makes its user `follow` a link, and calls tools; `oauthStorage` stores its tokens. */
const clients = {
  "mcp-remote": async ({ address, follow }) => {
    // Runs mcp-remote without a browser in its PATH, so that it does not open the developer's.
    const [port, place] = [await freePort(), join(folder, "agent-clients-remote")];
    mkdirSync(place);
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [MCP_REMOTE, address, String(port), "--allow-http"],
      env: { PATH: place, HOME: place, MCP_REMOTE_CONFIG_DIR: place },
      stderr: "pipe",
    });
    const client = new Client(about);
    const links = [];
    createInterface({ input: transport.stderr }).on("line", (line) => {
      if (!line.startsWith(`${address}/authorize?`)) return;
      links.push(line);
      if (links.length === 1) follow(line);
    });
    await client.connect(transport);
    return Object.assign(client, { asked: links });
  },
  "PyPI's mcp": ({ address, callback, follow }) => PythonClient.signIn(address, callback, follow),
  "@modelcontextprotocol/client": ({ address, callback, follow }) => {
    const oauthStorage = new OAuthStorage(callback, "Latest Agent");
    const start = () => ({
      client: new LatestClient(about, { versionNegotiation: { mode: "auto" } }),
      transport: new LatestTransport(new URL(address), { authProvider: oauthStorage }),
    });
    const finish = (transport, back) => transport.finishAuth(back);
    return withOAuthStorage(start, finish, oauthStorage, follow, LatestUnauthorizedError);
  },
  "@modelcontextprotocol/sdk": async ({ address, callback, follow }) => {
    const oauthStorage = new OAuthStorage(callback, "Earlier Agent");
    const start = () => ({
      client: new Client(about),
      transport: new StreamableHTTPClientTransport(new URL(address), { authProvider: oauthStorage }),
    });
    const finish = (transport, back) => transport.finishAuth(back.get("code"));
    const client = await withOAuthStorage(start, finish, oauthStorage, follow, UnauthorizedError);
    return Object.assign(client, { oauthStorage });
  },
};

describe("agents with common MCP clients", () => {
  let [platform, state, server, opened, app, proxy, idp, browser, back, endpoint] = [];
  const apiKey = key({ scopes: `${SCOPES} connections:call agents:read agents:write`, account: "agent-clients" });
  const agents = new Map();

  before(async () => {
    await build();
    [platform, idp, proxy, browser] = await Promise.all([Platform.start(), Idp.start(), startProxy(), launch()]);
    back = createServer((_, response) => {
      response
        .setHeader("content-type", "text/html")
        .end('<!doctype html><title>back</title><link rel="icon" href="data:,">');
    });
    back.port = await listen(back);
    const base = `http://127.0.0.1:${proxy.port}`;
    const catalog = await calledCatalog("agent-clients", platform);
    state = new State("agent-clients");
    await state.prepare(catalog);
    server = await Server.start(state, {
      name: "agent-clients",
      variables: { LOCAL_TARGETS: "allow", BASE_URL: base, AGENT_TOKEN_SECONDS: String(TOKEN_LIFETIME_S) },
      secrets: { SESSION_SECRET, VAULT_KEYS: `tests:${VAULT_KEY}` },
    });
    proxy.to = server.port;
    opened = await state.open();
    await store(opened.vault, [apiKey]);
    app = new App(() => server, apiKey);
    idp.open(`${base}/unknown`);
    const signIn = await app.expect(201, "PUT", "/v1/agent-sign-in", {
      type: "oidc",
      issuer: idp.issuer,
      clientId: CLIENT_ID,
      clientSecret: CLIENT_SECRET,
      identityType: "user",
    });
    ({ endpoint } = signIn);
    idp.open(signIn.redirectUri);
  });

  after(async () => {
    for (const { client } of agents.values()) await client.close();
    for (const http of [proxy, back]) {
      http?.closeAllConnections();
      http?.close();
    }
    await Promise.all([server?.stop(), platform?.stop(), idp?.stop(), browser?.close()]);
    await opened?.close();
    assert.deepEqual(idp.faults, []);
  });

  /** Opens a link in a browser as the user, signs in, and grants access. Returns the parameters of the redirect. */
  async function follow(url, login) {
    const { page, faults, close } = await open(browser, url);
    await page.getByRole("textbox").fill(login);
    const continueToSignIn = page.getByRole("button", { name: "Go on" });
    await continueToSignIn.click();
    await page.waitForFunction(() => document.title === "consent");
    await continueToSignIn.click();
    await page.getByRole("heading", { level: 1, name: "use your accounts?" }).waitFor();
    await page.getByText(`that “${login}” has connected`).waitFor();
    await page.getByText("Warning: any program on this computer").waitFor();
    await page.getByRole("button", { name: "Allow" }).click();
    await page.waitForURL((at) => at.searchParams.has("code"));
    const { searchParams } = new URL(page.url());
    assert.equal(searchParams.get("iss"), endpoint);
    // The page of mcp-remote closes its window.
    assert.deepEqual(
      faults.filter((fault) => !fault.includes("Scripts may close only the windows")),
      [],
    );
    await close();
    return searchParams;
  }

  async function use(client, name, args) {
    const result = await client.callTool({ name, arguments: args });
    assert.ok(!result.isError, JSON.stringify(result));
    return JSON.parse(result.content[0].text);
  }

  /** Finds the account and the action, and runs the action. */
  async function callTools(client, login) {
    const { rows } = await use(client, "list_connections", { platform: "called" });
    assert.deepEqual(
      rows.map(({ identity }) => identity),
      [login],
    );
    const [action] = (await use(client, "search_actions", { query: "create thing" })).rows;
    const result = await use(client, "run_action", {
      connection: rows[0].id,
      key: action.key,
      input: { path: { owner: "o" }, body: { name: login } },
    });
    assert.deepEqual([result.status, result.body.url], [200, "/api/owners/o/things"]);
    assert.equal(platform.last.method, "POST");
  }

  const grantsOf = async (login) =>
    (await app.expect(200, "GET", `/v1/agent-grants?identity=${encodeURIComponent(login)}`)).rows;

  for (const [name, connect] of Object.entries(clients))
    test(`${name} runs an action with only the URL`, async () => {
      const login = `user of ${name}`;
      const input = { platform: "called", identity: login, identityType: "user" };
      const { id } = await app.expect(201, "POST", "/v1/vault/connections", input);
      await app.expect(204, "PUT", `/v1/vault/connections/${id}/credentials`, { type: "bearer", token: "good" });
      const callback = `http://127.0.0.1:${back.port}/callback`;
      let signIns = 0;
      const once = async (url) => {
        signIns += 1;
        if (signIns > 1) throw new Error("The client asks its user again.");
        return follow(url, login);
      };
      const client = await connect({ address: endpoint, callback, follow: once });
      agents.set(name, { client, login });
      await callTools(client, login);
      const [grant, ...others] = await grantsOf(login);
      assert.deepEqual([grant.access, others], ["write", []]);
    });

  test("each client refreshes an expired access token without its user", async () => {
    // The client that signed in last has the token that expires last.
    const { oauthStorage } = agents.get(Object.keys(clients).at(-1)).client;
    const authorization = `Bearer ${oauthStorage.saved.access_token}`;
    const isValid = async () => (await fetch(endpoint, { method: "POST", headers: { authorization } })).status !== 401;
    assert.ok(await isValid());
    while (await isValid()) await pause(POLL_MS);
    for (const { client, login } of agents.values()) await callTools(client, login);
    // Each client has refreshed its token. mcp-remote refreshes during the last minute of a token's lifetime, and these
    // tokens are only valid for a minute.
    const { results } = await opened.vault.prepare("SELECT identity, generation FROM agent_grants").all();
    const generations = new Map(results.map(({ identity, generation }) => [identity, generation]));
    for (const { login } of agents.values()) assert.ok(generations.get(login) >= 1, login);
  });

  for (const name of Object.keys(clients))
    test(`${name} is rejected after the grant was revoked`, async () => {
      const { client, login } = agents.get(name);
      const [grant] = await grantsOf(login);
      await app.expect(204, "DELETE", `/v1/agent-grants/${grant.id}`);
      const before = platform.requests.length;
      const follows = client.asked?.length;
      const pendingCall = client.callTool({ name: "list_connections", arguments: {} });
      if (follows === undefined) await assert.rejects(pendingCall);
      else {
        // mcp-remote requests a new sign-in and waits for its user, so the call never ends.
        pendingCall.catch(() => {});
        while (client.asked.length === follows) await pause(POLL_MS);
      }
      assert.equal(platform.requests.length, before);
      assert.deepEqual(await grantsOf(login), []);
    });

  test("the conformance suite's scenarios for authorization servers pass", async () => {
    const [port, out] = [await freePort(), join(folder, "conformance-authorization")];
    const response = await fetch(`${endpoint}/register`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ client_name: "Suite", redirect_uris: [`http://127.0.0.1:${port}/callback`] }),
    });
    const { client_id: id } = await response.json();
    const options = ["--url", endpoint, "--client-id", id, "--resource", endpoint, "-p", String(port), "-o", out];
    const child = spawn(process.execPath, [CONFORMANCE, "authorization", ...options], { stdio: ["ignore", "pipe", 2] });
    for await (const line of createInterface({ input: child.stdout }))
      if (line.startsWith(`${endpoint}/authorize?`)) await follow(line, "suite");
    const folders = readdirSync(out);
    for (const scenario of SCENARIOS) {
      const resultFolder = folders.find((name) => name.includes(scenario));
      assert.ok(resultFolder, `${scenario} did not run: ${folders}`);
      const checks = JSON.parse(readFileSync(join(out, resultFolder, "checks.json"), "utf8"));
      assert.ok(checks.some(({ status }) => status === "SUCCESS"));
      assert.deepEqual(
        checks.filter(({ status }) => status === "FAILURE"),
        [],
      );
    }
  });
});
