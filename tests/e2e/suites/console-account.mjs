// Account-wide features of the console: API keys, events, and the two environments.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { describe, test } from "node:test";
import { expectAccessible, expectAccessibleEverywhere, expectFocus, readCopied } from "../support/console.mjs";
import { newConnection } from "../support/console-connections.mjs";
import { expectHidden, heading, storedSecret } from "../support/console-session.mjs";
import { proof } from "../support/proof.mjs";

/** @param {{ console: import("../support/console.mjs").Console }} fixture */
export function consoleAccount(fixture) {
  const { everything: fullKey, live } = fixture.accountKeys;
  const visit = (path, use, options) => fixture.console.visit(path, use, { as: fullKey, ...options });
  const button = (within, name) => within.getByRole("button", { name, exact: true });
  const caller = (as = fullKey) => fixture.console.caller(as);
  const use = async (secret) => (await fixture.console.server.send("/v1/whoami", { method: "GET", secret })).status;

  describe("account settings", () => {
    test("creates, rotates and revokes keys, and shows each secret once", () =>
      visit("/keys", async (page) => {
        const card = (name) =>
          page.getByRole("listitem").filter({ has: page.getByRole("heading", { name, exact: true }) });
        await page.getByText("your key").waitFor();
        await expectAccessibleEverywhere(page, "the keys");
        // A key with all scopes sees every menu entry, even on a phone.
        await page.setViewportSize({ width: 390, height: 844 });
        const entries = await page.getByRole("navigation", { name: "Main" }).getByRole("link").all();
        assert.equal(entries.length, 11);
        for (const entry of entries) {
          const { left, right } = await entry.evaluate((shown) => shown.getBoundingClientRect().toJSON());
          assert.ok(left >= 0 && right <= 390, `from ${left} to ${right}`);
        }
        await page.setViewportSize({ width: 1280, height: 900 });
        const header = await page.locator(".site-header").boundingBox();
        assert.ok(header.height < 70, `the header takes one row, not ${header.height} pixels`);
        await button(page, "New key").click();
        const form = page.getByRole("dialog", { name: "New API key" });
        await expectFocus(form.getByLabel("Name (optional)"));
        await page.keyboard.type("Nightly export");
        // Dangerous scopes are not preselected.
        assert.equal(await form.getByRole("checkbox", { name: "keys:write" }).isChecked(), false);
        await form.getByLabel("Expires").selectOption({ label: "30 days" });
        await button(form, "Create key").click();
        const dialog = page.getByRole("alertdialog", { name: "The new key" });
        await dialog.getByText("it is shown only once").waitFor();
        // Escape does not close a dialog that shows a secret.
        await page.keyboard.press("Escape");
        await page.keyboard.press("Escape");
        await dialog.waitFor();
        assert.equal(await button(dialog, "Close").count(), 0);
        await button(dialog, "Copy the secret").click();
        const secret = await readCopied(dialog);
        assert.equal(await use(secret), 200);
        await button(dialog, "I have stored it").click();
        await card("Nightly export").getByText("in 4 weeks").waitFor();
        await expectHidden(page, secret);

        await button(page, "Rotate Nightly export").click();
        await button(page.getByRole("alertdialog", { name: "Rotate this key?" }), "Rotate key").click();
        await button(page.getByRole("alertdialog", { name: "The new key" }), "I have stored it").click();
        await card("Nightly export")
          .getByText(/Replaced by/)
          .waitFor();
        assert.equal(await card("Nightly export").count(), 2);
        assert.equal(await use(secret), 200);

        await button(card("Nightly export").filter({ hasText: "Replaced by" }), "Revoke Nightly export").click();
        await button(page.getByRole("alertdialog", { name: "Revoke this key?" }), "Revoke key").click();
        await page.getByText("The key was revoked.").waitFor();
        await page.getByText("1 revoked or expired key").waitFor();
        assert.equal(await use(secret), 401);
      }));

    proof("shows new events live, filters them, and links to their connection", () =>
      visit("/events", async (page) => {
        await heading(page, "Events").waitFor();
        const rows = page.getByRole("list", { name: "Events" }).getByRole("listitem");
        const identity = `event-${randomUUID()}`;
        const { id } = await newConnection(caller(), { identity });
        await rows.first().getByRole("link", { name: identity }).waitFor();
        await expectAccessible(page, "the events");
        await caller().setState(id, { state: "failed", reason: "The account was closed." });
        await rows.first().getByText("Connection failed").waitFor();
        await rows.first().getByText("The account was closed.").waitFor();
        await page.getByLabel("Type").selectOption({ label: "Connection created" });
        await page.waitForURL("**/events?type=connection.created");
        await rows.first().getByText("Connection created").waitFor();
        assert.equal(await rows.filter({ hasText: "Connection failed" }).count(), 0);
        await page.getByLabel("Type").selectOption({ label: "Problems only" });
        await rows.first().getByText("The account was closed.").waitFor();
        await rows.first().getByRole("link", { name: identity }).click();
        await page.waitForURL(`**/connections/${id}`);
      }),
    );

    proof("says that there are no events", () =>
      visit(
        "/events",
        async (page) => {
          await page.getByText("New ones appear here as they happen.").waitFor();
          assert.equal(await button(page, "Show older").count(), 0);
        },
        { as: live },
      ),
    );

    test("switches between environments and always shows the current one", () =>
      visit("/connections", async (page) => {
        const environment = page.getByRole("group", { name: "Environment" });
        const isShown = (name) => environment.getByRole("button", { name, pressed: true }).waitFor();
        await isShown("test");
        await button(environment, "live").click();
        const dialog = page.getByRole("dialog", { name: "Open the live environment" });
        await dialog.getByLabel("API key of the live environment").fill(fullKey.secret);
        await page.keyboard.press("Enter");
        await dialog.getByText("it begins with sk_live_").waitFor();
        await expectAccessible(page, "the other key");
        await dialog.getByLabel("API key of the live environment").fill(live.secret);
        await page.keyboard.press("Enter");
        await isShown("live");
        assert.equal(await storedSecret(page), live.secret);
        await heading(page, "Connections").waitFor();
        // After a reload, the tab still has the keys of both environments.
        await page.reload();
        await isShown("live");
        await button(environment, "test").click();
        await isShown("test");
        assert.equal(await storedSecret(page), fullKey.secret);
        await button(page, "Sign out").click();
        await page.getByLabel("API key", { exact: true }).waitFor();
        assert.equal(await page.evaluate(() => sessionStorage.getItem("connector-vault.other-environment")), null);
      }));
  });
}
