// `vault.connect` opens the window from an app's page, and returns the connection.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { consent, button, confirm, heading, openWindow, declineAtProvider } from "../support/connect.mjs";
import { EMPTY_PAGE } from "../support/console.mjs";
import { proof } from "../support/proof.mjs";

/** @param {{ connect: import("../support/connect.mjs").ConnectConsole }} fixture */
export function connectPackage(fixture) {
  /** Opens the app's page and, with its button, the window. */
  const connect = async (identity, options, use) =>
    fixture.connect.visit(
      await fixture.connect.appUrl(identity, options),
      async (page) => {
        const popup = await openWindow(page, () => button(page, "Connect").click());
        await use(page, popup);
      },
      { as: null },
    );
  const waitForText = (page, text) => page.getByText(text, { exact: true }).waitFor();

  describe("vault.connect", () => {
    test("returns the connection, and closes the window", () =>
      connect("p1@example.com", { platform: "keyed" }, async (page, popup) => {
        await popup.getByLabel("API key", { exact: true }).fill("k");
        await button(popup, "Connect").click();
        await waitForText(page, "keyed of p1@example.com");
        if (!popup.isClosed()) await popup.waitForEvent("close");
      }));

    proof("goes through consent at the platform in the same window", () =>
      connect("p2@example.com", { platform: "login" }, async (page, popup) => {
        await button(popup, "Continue to Login").click();
        await consent(popup);
        await waitForText(page, "login of p2@example.com");
        if (!popup.isClosed()) await popup.waitForEvent("close");
        const open = page.context().pages();
        assert.equal(open.filter((openPage) => !openPage.url().endsWith(EMPTY_PAGE)).length, 1);
      }),
    );

    proof("returns to the window after a failure, and lets the user try again", () =>
      connect("p4@example.com", { platform: "login" }, async (page, popup) => {
        await button(popup, "Continue to Login").click();
        await declineAtProvider(popup);
        await heading(popup, "You did not allow access").waitFor();
        assert.equal(popup.url(), `${fixture.connect.baseUrl}/connect`);
        await button(popup, "Try again").click();
        await button(popup, "Continue to Login").click();
        await consent(popup);
        await waitForText(page, "login of p4@example.com");
      }),
    );

    proof("asks for confirmation before the platform, and not after it, with a token for all origins", async () => {
      const token = await fixture.connect.token("p8@example.com", { origins: undefined });
      const address = `${fixture.connect.app.origin}/#${new URLSearchParams({ base: fixture.connect.baseUrl, token, platform: "login" })}`;
      await fixture.connect.visit(
        address,
        async (page) => {
          const popup = await openWindow(page, () => button(page, "Connect").click());
          await confirm(popup);
          await button(popup, "Continue to Login").click();
          await declineAtProvider(popup);
          await heading(popup, "You did not allow access").waitFor();
          // The next step connects an account, so the window asks again.
          await button(popup, "Try again").click();
          await confirm(popup);
          await button(popup, "Continue to Login").click();
          await consent(popup);
          await waitForText(page, "login of p8@example.com");
        },
        { as: null },
      );
    });

    proof("works with a platform that severs the opener", async () => {
      await connect("p3@example.com", { platform: "login" }, async (page, popup) => {
        // A headless browser gives the focus to all pages, so this simulates that the page behind the popup lost it.
        await page.evaluate(() => (document.hasFocus = () => false));
        await page.context().route(`${fixture.connect.provider.issuer}/**`, async (route) => {
          const response = await route.fetch({ maxRedirects: 0 });
          const headers = { ...response.headers(), "cross-origin-opener-policy": "same-origin" };
          await route.fulfill({ response, headers });
        });
        await button(popup, "Continue to Login").click();
        await consent(popup);
        await waitForText(page, "login of p3@example.com");
        await heading(popup, "Login is connected").waitFor();
      });
    });

    test("reports that the user cancelled, and closes the window on the caller's signal", () =>
      connect("p5@example.com", {}, async (page, popup) => {
        await button(popup, "Cancel").click();
        await waitForText(page, "ConnectError closed without an attempt");
        const next = await openWindow(page, () => button(page, "Connect").click());
        await heading(next, "What do you want to connect?").waitFor();
        await page.evaluate(() => window.controller.abort());
        await waitForText(page, "AbortError aborted without an attempt");
        if (!next.isClosed()) await next.waitForEvent("close");
      }));

    proof("reports that the user declined and closed the window", () =>
      connect("p6@example.com", { platform: "login" }, async (page, popup) => {
        await button(popup, "Continue to Login").click();
        await declineAtProvider(popup);
        await heading(popup, "You did not allow access").waitFor();
        await popup.close();
        await waitForText(page, "ConnectError denied with an attempt");
      }),
    );

    proof("reports a window that was closed at the platform", () =>
      connect("p7@example.com", { platform: "login" }, async (page, popup) => {
        await button(popup, "Continue to Login").click();
        await popup.getByLabel("Account").waitFor();
        await popup.close();
        await waitForText(page, "ConnectError closed with an attempt");
      }),
    );

    proof("reports a window that the browser blocked", async () =>
      fixture.connect.visit(
        await fixture.connect.appUrl("p9@example.com"),
        async (page) => {
          await page.evaluate(() => (window.open = () => null));
          await button(page, "Connect").click();
          await waitForText(page, "ConnectError blocked without an attempt");
        },
        { as: null },
      ),
    );

    test("turns the page itself into the window without a popup, and returns", async () =>
      fixture.connect.visit(
        await fixture.connect.appUrl("p10@example.com", { platform: "login", ui: "page" }),
        async (page) => {
          await button(page, "Connect").click();
          await page.waitForURL(`${fixture.connect.baseUrl}/connect`);
          await confirm(page);
          await button(page, "Continue to Login").click();
          await consent(page);
          await page.waitForURL((url) => url.origin === fixture.connect.app.origin && url.searchParams.has("connect"));
        },
        { as: null },
      ));

    proof("ignores messages of other windows, and ends when the user closes the window", async () =>
      connect("p11@example.com", {}, async (page, popup) => {
        await heading(popup, "What do you want to connect?").waitFor();
        const connection = { id: "x", key: "x", version: "1", platform: "forged", identity: "forged" };
        const message = { type: "connector-vault:connect", status: "succeeded", connection };
        await page.evaluate((message) => window.postMessage(message, "*"), message);
        await page.waitForFunction(() => window.messages.some(({ connection }) => connection?.platform === "forged"));
        await waitForText(page, "Connecting");
        await popup.close();
        await waitForText(page, "ConnectError closed without an attempt");
      }),
    );

    proof("never puts an API key into the address of a window", async () => {
      const url = `${fixture.connect.app.origin}/#${new URLSearchParams({ base: fixture.connect.baseUrl, token: fixture.connect.keys.full.secret })}`;
      await fixture.connect.visit(
        url,
        async (page) => {
          const popup = await openWindow(page, () => button(page, "Connect").click());
          await page.getByText(/^ValidationError secret_in_browser/).waitFor();
          if (!popup.isClosed()) await popup.waitForEvent("close");
          assert.equal(popup.url(), "about:blank");
        },
        { as: null },
      );
    });
  });
}
