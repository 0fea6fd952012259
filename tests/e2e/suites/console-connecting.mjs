// Connecting an account in the console: with entered credentials, or with a link for the user.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { describe, test } from "node:test";
import { consent, button, heading, openWindow, declineAtProvider } from "../support/connect.mjs";
import { expectAccessible, expectAccessibleEverywhere, expectFocus, readCopied } from "../support/console.mjs";
import { proof } from "../support/proof.mjs";

/** @param {{ connect: import("../support/connect.mjs").ConnectConsole }} fixture */
export function consoleConnecting(fixture) {
  const visit = (...args) => fixture.connect.visit(...args);
  const newIdentity = () => `user-${randomUUID()}@example.com`;
  function dialogOf(page, name) {
    const dialog = page.getByRole("dialog", { name: `Connect an account to ${name}` });
    return {
      dialog,
      field: (label) => dialog.getByLabel(label, { exact: true }),
      open: async () => {
        await button(page, "Connect an account").click();
        await dialog.getByLabel("Identity", { exact: true }).waitFor();
      },
      submit: (text) => button(dialog, text).click(),
    };
  }

  describe("connecting an account", () => {
    test("connects with an API key, and shows missing values next to their fields", async () => {
      const identity = newIdentity();
      await visit("/connectors/keyed", async (page) => {
        const { dialog, field, open, submit } = dialogOf(page, "Keyed");
        await open();
        await expectFocus(field("Identity"));
        await field("Who enters the credentials").selectOption("I enter them here");
        await submit("Connect");
        await expectFocus(field("Identity"));
        assert.equal(await dialog.getByText("This is required.").count(), 2);
        await expectAccessible(page, "missing values");
        await field("Identity").fill(` ${identity} `);
        await field("Identity type").selectOption("team");
        await field("Label (optional)").fill("work");
        await dialog.locator("input[type=password]").fill("the-key");
        await page.keyboard.press("Enter");
        await expectFocus(dialog.getByText(`${identity} is now connected to Keyed.`));
        await expectAccessible(page, "the success");
        const [connection] = await fixture.connect.connectionsOf(identity);
        assert.equal(connection.key, `test::keyed::work::${identity}`);
        assert.equal(connection.identityType, "team");
        await dialog.getByRole("link", { name: "Open the connection" }).click();
        const state = page.getByRole("dialog", { name: identity }).getByRole("region", { name: "State" });
        await state.getByText("In the vault, encrypted").waitFor();
        assert.equal(new URL(page.url()).pathname, `/connections/${connection.id}`);
      });
    });

    proof("links to the existing connection", async () => {
      const identity = newIdentity();
      const start = { platform: "keyed", identity, identityType: "user", fields: { apiKey: "a" } };
      const { json } = await fixture.connect.caller().sendJson("POST", "/v1/vault/connect", start);
      await visit(
        "/connectors/keyed",
        async (page) => {
          const { dialog, field, open, submit } = dialogOf(page, "Keyed");
          await open();
          await field("Identity").fill(identity);
          await field("Who enters the credentials").selectOption("I enter them here");
          await dialog.locator("input[type=password]").fill("another");
          await submit("Connect");
          await dialog.getByText("This identity is already connected to Keyed with this label.").waitFor();
          await expectAccessible(page, "a conflict");
          await dialog.getByRole("link", { name: "Open that connection" }).click();
          await page.getByRole("dialog", { name: identity }).waitFor();
          assert.equal(new URL(page.url()).pathname, `/connections/${json.id}`);
        },
        { expects: [409] },
      );
    });

    proof("links to the form of a missing OAuth client", async () => {
      await fixture.connect.caller().send("DELETE", "/v1/oauth-clients/login");
      try {
        await visit(
          "/connectors/login",
          async (page) => {
            const { dialog, field, open, submit } = dialogOf(page, "Login");
            await open();
            await field("Identity").fill("x");
            await submit("Get the link");
            await dialog.getByText("Your OAuth client for Login is missing or incomplete.").waitFor();
            await dialog.getByRole("link", { name: "Open it in Integrations" }).click();
            await page.getByRole("dialog", { name: "OAuth client for Login" }).getByLabel("Client ID").waitFor();
          },
          { expects: [409] },
        );
      } finally {
        await fixture.connect.setClient("login");
      }
    });

    proof("shows rejected values next to their fields", () =>
      visit(
        "/connectors/simple",
        async (page) => {
          const { dialog, field, open, submit } = dialogOf(page, "Simple");
          const problem = {
            status: 400,
            code: "invalid_body",
            detail: "The body is not valid.",
            requestId: "r",
            errors: [{ pointer: "/fields/username", detail: "`/fields/username` must be somebody" }],
          };
          await page.route("**/v1/vault/connect", (route) =>
            route.fulfill({ status: 400, contentType: "application/problem+json", body: JSON.stringify(problem) }),
          );
          await open();
          await field("Identity").fill("x");
          await field("Who enters the credentials").selectOption("I enter them here");
          const username = dialog.locator("input[name=username]");
          await username.fill("ann");
          await dialog.locator("input[name=password]").fill("secret");
          await submit("Connect");
          await dialog.getByText("Must be somebody.").waitFor();
          await expectFocus(username);
          await page.keyboard.press("End");
          await page.keyboard.type("a");
          await dialog.getByText("Must be somebody.").waitFor({ state: "detached" });
        },
        { expects: [400] },
      ),
    );

    test("shows a link for the user, and then the outcome", async () => {
      const identity = newIdentity();
      await visit("/connectors/both", async (page) => {
        const { dialog, field, open, submit } = dialogOf(page, "Both");
        await open();
        await field("Identity").fill(identity);
        await field("Method").selectOption({ label: "Access token" });
        await field("Who enters the credentials").selectOption("I enter them here");
        await dialog.locator("input[name=token]").waitFor();
        await field("Method").selectOption({ label: "OAuth 2.0" });
        await dialog.locator("input[name=token]").waitFor({ state: "detached" });
        await submit("Get the link");
        await dialog.getByText("Waiting for the user to connect Both…").waitFor();
        await expectAccessible(page, "the link");
        await button(dialog, "Copy the link").click();
        const link = await readCopied(dialog);
        assert.ok(link.startsWith(`${fixture.connect.baseUrl}/connect/go/`), link);
        const tab = await openWindow(page, () => dialog.getByRole("link", { name: "Open in a new tab" }).click());
        await button(tab, "Yes, continue to Both").click();
        await consent(tab);
        await expectFocus(dialog.getByText(`${identity} is now connected to Both.`));
        const [{ state, platform }] = await fixture.connect.connectionsOf(identity);
        assert.deepEqual([state, platform], ["operational", "both"]);
        await button(dialog.locator(".buttons"), "Close").click();
        await page.getByRole("region", { name: "Connections" }).getByRole("link", { name: identity }).waitFor();
      });
    });

    test("gets a link with which the user enters a key, for a new connection and to reconnect it", async () => {
      const identity = newIdentity();
      const enterKey = async (tab, apiKey, title) => {
        await button(tab, `Continue as ${identity}`).click();
        await heading(tab, title).waitFor();
        await tab.locator("input[name=apiKey]").fill(apiKey);
        await tab.locator("button.primary").click();
        await heading(tab, "Keyed is connected").waitFor();
      };
      await visit("/connectors/keyed", async (page) => {
        const { dialog, field, open, submit } = dialogOf(page, "Keyed");
        await open();
        await field("Identity").fill(identity);
        assert.equal(await dialog.locator("input[type=password]").count(), 0);
        await expectAccessible(page, "the form of a link");
        await submit("Get the link");
        await dialog.getByText("Waiting for the user to connect Keyed…").waitFor();
        const openLink = () => dialog.getByRole("link", { name: "Open in a new tab" }).click();
        await enterKey(await openWindow(page, openLink), "k-1", "Connect Keyed");
        await dialog.getByText(`${identity} is now connected to Keyed.`).waitFor();
        await dialog.getByRole("link", { name: "Open the connection" }).click();
        await button(page, "Reconnect").click();
        const again = page.getByRole("dialog", { name: `Reconnect ${identity}` });
        await button(again, "Get the link").click();
        const openAgain = () => again.getByRole("link", { name: "Open in a new tab" }).click();
        await enterKey(await openWindow(page, openAgain), "k-2", "Reconnect Keyed");
        await again.getByText(`${identity} is connected to Keyed again.`).waitFor();
      });
    });

    proof("does not ask for values that decide which host receives the app's secret", async () => {
      await fixture.connect.setClient("hosted");
      await visit(
        "/connectors/hosted",
        async (page) => {
          const { dialog, field, open, submit } = dialogOf(page, "Hosted");
          await open();
          await field("Identity").fill(newIdentity());
          assert.equal(await dialog.getByLabel("Host").count(), 0);
          await submit("Get the link");
          await dialog.getByText("Your OAuth client for Hosted is missing or incomplete.").waitFor();
        },
        { expects: [409] },
      );
    });

    test("shows why the user declined, offers a retry, and lists the failed attempt", () =>
      visit("/connectors/login", async (page) => {
        const { dialog, field, open, submit } = dialogOf(page, "Login");
        const identity = newIdentity();
        await open();
        await field("Identity").fill(identity);
        await submit("Get the link");
        const tab = await openWindow(page, () => dialog.getByRole("link", { name: "Open in a new tab" }).click());
        await button(tab, "Yes, continue to Login").click();
        await declineAtProvider(tab);
        await dialog.getByText("The account was not connected.").waitFor();
        await dialog.getByText("denied", { exact: true }).waitFor();
        await expectAccessible(page, "a failure");
        await submit("Try again");
        assert.equal(await field("Identity").inputValue(), identity);
        await page.goto(`${fixture.connect.baseUrl}/integrations`);
        const failed = page.getByRole("list", { name: "Failed attempts" }).getByRole("listitem");
        const attempt = failed.filter({ hasText: `${identity} (user) at Login` });
        for (const text of ["denied", "The user must try again."])
          await attempt.getByText(text, { exact: true }).waitFor();
        await expectAccessible(page, "failed attempts");
      }));

    proof("names the missing scope", async () => {
      const reader = await fixture.connect.newKey({ scopes: "catalog:read connections:read" });
      await visit(
        "/connectors/keyed",
        async (page) => {
          await heading(page, "Keyed").waitFor();
          await page.getByText("connections:connect", { exact: true }).waitFor();
          assert.equal(await button(page, "Connect an account").count(), 0);
        },
        { as: reader },
      );
    });

    test("fits and is accessible in both themes and at each width", () =>
      visit("/connectors/login", async (page) => {
        const { dialog, field, open, submit } = dialogOf(page, "Login");
        const fits = (what) => expectAccessibleEverywhere(page, what, { widths: [320], parts: [dialog] });
        await open();
        await fits("the form");
        await field("Identity").fill(newIdentity());
        await submit("Get the link");
        await dialog.getByText("Waiting for the user").waitFor();
        await fits("the link");
      }));
  });
}
