// A connection's health in its panel: reason, actor and reconnecting.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { describe, test } from "node:test";
import { consent, button, openWindow } from "../support/connect.mjs";
import { expectAccessible, expectAccessibleEverywhere } from "../support/console.mjs";
import { proof } from "../support/proof.mjs";

/** @param {{ connect: import("../support/connect.mjs").ConnectConsole }} fixture */
export function consoleHealth(fixture) {
  const visit = (...args) => fixture.connect.visit(...args);
  const newIdentity = () => `user-${randomUUID()}@example.com`;
  const partsOf = (page, identity) => {
    const panel = page.getByRole("dialog", { name: identity, exact: true });
    return { panel, state: panel.getByRole("region", { name: "State" }) };
  };
  const fact = (state, name) => state.locator(`dt:text-is("${name}") + dd`);

  /** Creates a connection with credentials in the vault. */
  async function connected(identity) {
    const start = { platform: "keyed", identity, identityType: "user", fields: { apiKey: "a" } };
    return (await fixture.connect.caller().sendJson("POST", "/v1/vault/connect", start)).json;
  }

  /** Sets a state in storage, as failed refreshes would. */
  async function storeState({ id }, state, credentials) {
    const { database } = fixture.connect;
    const names = Object.keys(credentials);
    await database.batch([
      database
        .prepare(`UPDATE credentials SET ${names.map((name) => `${name} = ?`).join(", ")} WHERE connection_id = ?`)
        .bind(...Object.values(credentials), id),
      database.prepare("UPDATE connections SET state = ? WHERE id = ?").bind(state, id),
    ]);
  }

  describe("the health of a connection", () => {
    proof("can be reported when the vault does not hold its credentials", async () => {
      const identity = newIdentity();
      const { json } = await fixture.connect.caller().create({ platform: "login", identity, identityType: "user" });
      await visit(`/connections/${json.id}`, async (page) => {
        const { state } = partsOf(page, identity);
        assert.equal(await fact(state, "Credentials").innerText(), "Not in the vault");
        assert.equal(await fact(state, "Who must act").count(), 0);
        await state.getByRole("button", { name: "Change the state" }).waitFor();
      });
    });

    test("shows who must act", async () => {
      const connection = await connected(newIdentity());
      const open = (check) =>
        visit(`/connections/${connection.id}`, async (page) => {
          const { state } = partsOf(page, connection.identity);
          await state.getByText("In the vault, encrypted").waitFor();
          // The state of a connection with stored credentials can't be changed by hand.
          assert.equal(await state.getByRole("button", { name: "Change the state" }).count(), 0);
          await check(state, page);
        });
      await storeState(connection, "degraded", {
        reason_code: "client_rejected",
        reason_detail: "The platform rejects the client.",
        reason_status: 401,
        attempts: 3,
        next_attempt_at: Date.now() + 3_600_000,
        expires_at: Date.now() - 60_000,
        refreshed_at: Date.now() - 7_200_000,
        scopes: '["read"]',
        missing_scopes: '["write"]',
      });
      await open(async (state, page) => {
        assert.equal(
          await fact(state, "Reason").innerText(),
          "The platform rejects the client. client_rejected HTTP status 401",
        );
        assert.equal(await fact(state, "Who must act").innerText(), "Your team must fix the OAuth client.");
        assert.equal(await fact(state, "Failed attempts").innerText(), "3");
        assert.match(await fact(state, "Next attempt").innerText(), /^in (1 hour|\d+ minutes)/);
        assert.match(await fact(state, "Token expired").innerText(), /^1 minute ago/);
        assert.match(await fact(state, "Last refreshed").innerText(), /^2 hours ago/);
        assert.equal(await fact(state, "Scopes").innerText(), "read");
        assert.equal(await fact(state, "Missing scopes").innerText(), "write\nCalls that need them fail.");
        await expectAccessible(page, "a degraded connection");
        await state.getByRole("link", { name: "the OAuth client" }).click();
        await page.waitForURL("**/integrations?set=keyed");
      });
      await storeState(connection, "degraded", {
        reason_code: "platform_unavailable",
        reason_detail: null,
        reason_status: null,
      });
      await open(async (state) => {
        assert.equal(await fact(state, "Reason").innerText(), "The platform can't be reached. platform_unavailable");
        assert.match(
          await fact(state, "Who must act").innerText(),
          /^No action needed: the service retries in (1 hour|\d+ minutes)\.$/,
        );
      });
      await storeState(connection, "failed", { reason_code: "grant_ended", next_attempt_at: null });
      await open(async (state) => {
        assert.equal(await fact(state, "Who must act").innerText(), "The user must reconnect.");
        assert.ok(await button(state, "Reconnect").evaluate((element) => element.classList.contains("primary")));
      });
    });

    proof("can be checked at once", async () => {
      const identity = newIdentity();
      const connection = await connected(identity);
      await visit(
        `/connections/${connection.id}`,
        async (page) => {
          const { state } = partsOf(page, identity);
          const check = button(state, "Check now");
          await check.click();
          await state.getByText("This connection can't be checked:").waitFor();
          await expectAccessible(page, "a connection that cannot be checked");
          let [status, document, headers] = [200, { ...connection, state: "operational", version: "2" }, {}];
          await page.route("**/check", (route) => route.fulfill({ status, json: document, headers }));
          await check.click();
          await state.getByText("Checked just now: it works.").waitFor();
          await state.getByText("operational", { exact: true }).waitFor();
          document = { ...connection, state: "degraded", version: "3" };
          await check.click();
          await state.getByText("Checked just now: it does not work.").waitFor();
          await expectAccessible(page, "a check");
          [status, headers] = [429, { "retry-after": "48" }];
          document = { status, code: "too_many_requests", title: "Too many requests", detail: "…", requestId: "r" };
          await check.click();
          await state.getByText("Try again in 48 seconds.").waitFor();
        },
        { expects: [409, 429] },
      );
      const failed = await fixture.connect.storeFailed(newIdentity(), "login");
      await visit(`/connections/${failed.id}`, async (page) => {
        const { state } = partsOf(page, failed.identity);
        await button(state, "Reconnect").waitFor();
        assert.equal(await button(state, "Check now").count(), 0);
      });
    });

    test("can be restored by reconnecting in place, with a link for the user", async () => {
      const identity = newIdentity();
      const { id } = await fixture.connect.storeFailed(identity, "login");
      await visit(`/connections/${id}`, async (page) => {
        const { panel, state } = partsOf(page, identity);
        await state.getByText("The user must reconnect.").waitFor();
        await button(state, "Reconnect").click();
        const dialog = page.getByRole("dialog", { name: `Reconnect ${identity}` });
        await dialog.getByLabel("Allow another account at Login").waitFor();
        assert.equal(await dialog.getByLabel("Identity", { exact: true }).count(), 0);
        await expectAccessible(page, "reconnecting");
        await button(dialog, "Get the link").click();
        const tab = await openWindow(page, () => dialog.getByRole("link", { name: "Open in a new tab" }).click());
        await button(tab, "Yes, continue to Login").click();
        await consent(tab);
        await dialog.getByText(`${identity} is connected to Login again.`).waitFor();
        await button(dialog.locator(".buttons"), "Close").click();
        await state.getByText("In the vault, encrypted").waitFor();
        await state.getByText("operational", { exact: true }).waitFor();
        assert.equal(await panel.getByText("Inactive", { exact: true }).count(), 0);
        const [connection] = await fixture.connect.connectionsOf(identity);
        assert.deepEqual([connection.id, connection.state, connection.active], [id, "operational", true]);
      });
    });

    test("fits in the panel in both themes and at each width", async () => {
      const connection = await connected(newIdentity());
      await visit(`/connections/${connection.id}`, async (page) => {
        const { panel, state } = partsOf(page, connection.identity);
        await state.getByText("In the vault, encrypted").waitFor();
        await expectAccessibleEverywhere(page, "the panel", { widths: [320], parts: [panel] });
      });
    });
  });
}
