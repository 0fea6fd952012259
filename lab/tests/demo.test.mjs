// The first steps of a user after `npm start`: connects an account of the demo platform in the browser, uses it, revokes it at the
// platform, reconnects it, and uses it with an agent. Everything persists across a restart.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { launch } from "../../tests/e2e/support/browser.mjs";
import { button, confirm, heading } from "../../tests/e2e/support/connect.mjs";
import { send } from "../../tests/e2e/support/http.mjs";
import { whileStarted } from "../../tests/e2e/support/npm-start.mjs";
import { State, build } from "../../tests/e2e/support/workspace.mjs";

const IDENTITY = "you@example.com";
const DEMO_PLATFORM_NAME = "Demo Notes (local)";
const SCOPES = ["catalog:read", "connections:read", "connections:connect", "connections:call"];
const MINUTE_MS = 60_000;
const LOOPBACK_ARGS = ["--ip", "127.0.0.1"];

/** A user of a service that `npm start` runs. */
class Visit {
  constructor({ output, key, port }) {
    Object.assign(this, { output, key, port });
    this.demo = output.match(/^ {2}Demo platform {2}(http:\/\/127\.0\.0\.1:\d+)\/$/m)?.[1];
  }

  async ask(status, method, path, value) {
    const headers = [
      ["x-service-secret", this.key],
      ["content-type", "application/json"],
    ];
    const body = value === undefined ? undefined : JSON.stringify(value);
    const response = await send({ port: this.port, method, path, headers, body });
    assert.equal(response.status, status, `${method} ${path}: ${response.text}`);
    return response.body.length > 0 ? response.json : undefined;
  }

  session = (scopes = SCOPES) => this.ask(201, "POST", "/v1/sessions", { identity: IDENTITY, scopes });
  run = (id, action, input = {}) => this.ask(200, "POST", `/v1/vault/connections/${id}/actions/${action}`, input);
  status = (id) => this.ask(200, "GET", `/v1/vault/connections/${id}/status`);

  /** Goes through the connect window as the user, up to the consent page of the demo platform, and calls `decide` there. */
  async connect(browser, { reconnects = false }, decide) {
    const { connectUrl } = await this.session();
    const page = await browser.newPage();
    try {
      await page.goto(reconnects ? connectUrl : `${connectUrl}&platform=demo-notes`);
      await confirm(page);
      if (reconnects) await page.getByRole("button", { name: `Reconnect ${DEMO_PLATFORM_NAME}` }).click();
      await button(page, `Continue to ${DEMO_PLATFORM_NAME}`).click();
      await heading(page, "Connector Vault (local) asks for access").waitFor();
      assert.equal(new URL(page.url()).origin, this.demo);
      await decide(page);
    } finally {
      await page.close();
    }
  }
}

const allow = async (page, person) => {
  await page.getByLabel(person).check();
  await button(page, "Allow").click();
};

describe("the demo platform of npm start", { timeout: 1_200_000 }, () => {
  const state = new State("demo");
  let browser;
  let id;
  before(async () => {
    await build();
    browser = await launch();
  });
  after(() => browser?.close());

  test("an account is connected, used, revoked, reconnected, and used by an agent", () =>
    whileStarted(
      state,
      async (started) => {
        const visit = new Visit(started);
        assert.ok(visit.demo, started.output);

        // The user selects an account at the platform.
        await visit.connect(browser, {}, async (page) => {
          await allow(page, /Ada Example/);
          await heading(page, `${DEMO_PLATFORM_NAME} is connected`).waitFor();
        });
        const { rows } = await visit.ask(200, "GET", `/v1/vault/connections?platform=demo-notes&identity=${IDENTITY}`);
        assert.deepEqual(
          rows.map((row) => row.state),
          ["operational"],
        );
        ({ id } = rows[0]);
        assert.deepEqual((await visit.status(id)).scopes, ["notes:read", "notes:write"]);

        const created = await visit.run(id, "createNote", { body: { title: "By an action" } });
        assert.equal(created.status, 201);
        const searchResponse = await visit.run(id, "searchNotes", { query: { q: "action" } });
        assert.deepEqual(searchResponse.body.notes, [created.body]);

        const path = `/v1/vault/connections/${id}/credentials`;
        const first = await visit.ask(200, "GET", path);
        const { accessToken } = await visit.ask(200, "GET", `${path}?refresh=true`);
        assert.notEqual(accessToken, first.accessToken);
        const lifetime = Date.parse(first.expiresAt) - Date.now();
        assert.ok(lifetime > 4 * MINUTE_MS && lifetime <= 5 * MINUTE_MS, `${lifetime} ms`);

        const platform = await browser.newPage();
        await platform.goto(`${visit.demo}/people/ada`);
        await platform.getByText("1×, last").waitFor();
        await button(platform, "Revoke access").click();
        await platform.getByText("None.").waitFor();
        await platform.close();
        // For ten seconds after a refresh, the service forwards a 401 without refreshing again.
        assert.equal((await visit.run(id, "listNotes")).status, 401);
        await visit.ask(503, "GET", `${path}?refresh=true`);
        const degradedStatus = await visit.status(id);
        assert.equal(degradedStatus.state, "degraded", JSON.stringify(degradedStatus));
        // A second rejection only counts a minute after the first.
        const { vault, close } = await state.open();
        await vault
          .prepare(
            "UPDATE credentials SET refused_since = refused_since - ?, next_attempt_at = 1 WHERE connection_id = ?",
          )
          .bind(MINUTE_MS, id)
          .run();
        await close();
        await visit.ask(409, "GET", `${path}?refresh=true`);
        const failed = await visit.status(id);
        assert.deepEqual([failed.state, failed.actor], ["failed", "user"]);

        // Another person's account is rejected.
        await visit.connect(browser, { reconnects: true }, async (page) => {
          await allow(page, /Ben Example/);
          await heading(page, `${DEMO_PLATFORM_NAME} could not be connected`).waitFor();
          await page.getByText("with a different account than before").waitFor();
        });
        assert.equal((await visit.status(id)).state, "failed");
        await visit.connect(browser, { reconnects: true }, async (page) => {
          await allow(page, /Ada Example/);
          await heading(page, `${DEMO_PLATFORM_NAME} is connected`).waitFor();
        });
        assert.equal((await visit.status(id)).state, "operational");

        const { token } = await visit.session();
        const client = new Client({ name: "test", version: "1" });
        const headers = { authorization: `Bearer ${token}` };
        const address = new URL(`http://127.0.0.1:${visit.port}/mcp`);
        await client.connect(new StreamableHTTPClientTransport(address, { requestInit: { headers } }));
        const use = async (name, args) => {
          const { isError, structuredContent, content } = await client.callTool({ name, arguments: args });
          assert.ok(!isError, JSON.stringify(content));
          // The response of a platform is in the text of a result, not in its structured content.
          return structuredContent ?? JSON.parse(content[0].text);
        };
        const actions = await use("search_actions", { query: "search notes", platform: "demo-notes" });
        assert.equal(actions.rows[0].key, "searchNotes");
        const connections = await use("list_connections", { platform: "demo-notes" });
        assert.deepEqual(
          connections.rows.map((row) => row.id),
          [id],
        );
        const input = { query: { q: "by an action" } };
        const found = await use("run_action", { connection: id, key: "searchNotes", input });
        assert.deepEqual(found.body.notes, [created.body]);
        await client.close();
      },
      LOOPBACK_ARGS,
    ));

  test("keeps its accounts and notes across a restart", () =>
    whileStarted(
      state,
      async (started) => {
        const visit = new Visit(started);
        assert.doesNotMatch(
          started.output,
          /✓ (?:sample catalog|catalog in local storage|OAuth client|200 connections)/,
        );
        const found = await visit.run(id, "searchNotes", { query: { q: "by an action" } });
        assert.equal(found.body.notes.length, 1);
        await visit.ask(200, "GET", `/v1/vault/connections/${id}/credentials?refresh=true`);

        // Disconnecting also revokes the access at the platform.
        const grants = async () => (await (await fetch(`${visit.demo}/people/ada`)).text()).match(/Revoke access/g);
        assert.equal((await grants()).length, 1);
        await visit.ask(204, "DELETE", `/v1/vault/connections/${id}`);
        for (const until = Date.now() + MINUTE_MS; (await grants()) !== null; await pause(100))
          assert.ok(Date.now() < until, "the platform still lists the app");
      },
      LOOPBACK_ARGS,
    ));

  test("is not started with --no-demo", () =>
    whileStarted(
      state,
      async (started) => {
        const visit = new Visit(started);
        assert.equal(visit.demo, undefined);
        await visit.ask(404, "GET", "/v1/available-connectors/demo-notes");
        const { port } = JSON.parse(readFileSync(join(state.path, "v3", "demo-notes.json"), "utf8"));
        await assert.rejects(fetch(`http://127.0.0.1:${port}/`));
      },
      [...LOOPBACK_ARGS, "--no-demo"],
    ));
});
