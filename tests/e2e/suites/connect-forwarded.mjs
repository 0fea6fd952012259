// A connect window whose link another person forwarded first asks the user to confirm the identity.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { button, confirm, openFrame, heading, openWindow } from "../support/connect.mjs";
import { expectAccessible } from "../support/console.mjs";
import { proof } from "../support/proof.mjs";

/** @param {{ connect: import("../support/connect.mjs").ConnectConsole }} fixture */
export function connectForwarded(fixture) {
  const visit = (path, use, options) => fixture.connect.visit(path, use, { as: null, asks: false, ...options });
  const platforms = async (identity) => (await fixture.connect.connectionsOf(identity)).map(({ platform }) => platform);
  const enterKey = async (place) => {
    await place.getByLabel("API key", { exact: true }).fill("k");
    await button(place, "Connect").click();
    await heading(place, "Keyed is connected").waitFor();
  };
  describe("a forwarded window", () => {
    test("names the identity of a link and asks, and works once", async () => {
      const link = await fixture.connect.link("mallory@example.com", { platform: "keyed" });
      await visit(link, async (page) => {
        await heading(page, "Are you mallory@example.com?").waitFor();
        await page.getByText("This connects your account to mallory@example.com at Acme Planner.").waitFor();
        await expectAccessible(page, "the question");
        const [cookie] = await page.context().cookies();
        assert.equal(cookie.name, "__Host-connect");
        assert.equal(await page.getByLabel("API key", { exact: true }).count(), 0);
      });
      assert.deepEqual(await platforms("mallory@example.com"), []);
      // Viewing a link does not use it up.
      await visit(link, async (page) => {
        await confirm(page);
        await enterKey(page);
      });
      await visit(
        link,
        async (page) => {
          await confirm(page);
          await heading(page, "This link no longer works").waitFor();
        },
        { expects: [401] },
      );
      assert.deepEqual(await platforms("mallory@example.com"), ["keyed"]);
    });

    proof("also asks for a token in the address", async () => {
      await visit(await fixture.connect.path("tok@example.com", { platform: "login" }), async (page) => {
        await heading(page, "Are you tok@example.com?").waitFor();
        assert.equal(await button(page, "Continue to Login").count(), 0);
      });
    });

    test("asks if it was opened by a page that the token is not for", async () => {
      const token = await fixture.connect.token("evil@example.com", { origins: ["https://other.example"] });
      const address = `${fixture.connect.app.origin}/#${new URLSearchParams({ base: fixture.connect.baseUrl, token, platform: "keyed" })}`;
      await visit(address, async (page) => {
        const popup = await openWindow(page, () => button(page, "Connect").click());
        await heading(popup, "Are you evil@example.com?").waitFor();
      });
    });

    proof("does not ask in a frame of the app", async () => {
      await visit(await fixture.connect.appUrl("framed@example.com"), async (page) => {
        const src = fixture.connect.baseUrl + (await fixture.connect.link("framed@example.com", { platform: "keyed" }));
        await enterKey(await openFrame(page, src));
      });
      assert.deepEqual(await platforms("framed@example.com"), ["keyed"]);
    });

    proof("asks in a separate window when it is in a frame of another page", async () => {
      const tokenOptions = { origins: ["https://other.example"] };
      await visit(await fixture.connect.appUrl("covered@example.com"), async (page) => {
        const link = await fixture.connect.link("covered@example.com", { platform: "keyed" }, tokenOptions);
        const inner = await openFrame(page, fixture.connect.baseUrl + link);
        const popup = await openWindow(page, () => button(inner, "Continue in a new window").click());
        await heading(popup, "Are you covered@example.com?").waitFor();
        await confirm(popup);
        await enterKey(popup);
        await heading(inner, "Your account is connected").waitFor();
        const statuses = await page.evaluate(() => window.messages.map(({ status }) => status));
        assert.deepEqual(
          [...new Set(statuses)],
          ["waiting"],
          "a page that the token is not for only learns that a window waits",
        );
      });
      assert.deepEqual(await platforms("covered@example.com"), ["keyed"]);
    });

    proof("ignores a page that replies for another link, or for none", async () => {
      const link = await fixture.connect.link("swapped@example.com", { platform: "keyed" });
      const other = await fixture.connect.link("ann@example.com", { platform: "keyed" });
      for (const opened of [other, undefined])
        await visit(await fixture.connect.appUrl("ann@example.com"), async (page) => {
          await page.evaluate((opened) => (document.querySelector("iframe").dataset.opened = opened), opened ?? "none");
          const inner = await openFrame(page, fixture.connect.baseUrl + link, { vouches: false });
          await heading(inner, "Are you swapped@example.com?").waitFor();
        });
    });

    proof("connects the app's token if a popup is navigated to another token", async () => {
      await visit(await fixture.connect.appUrl("victim@example.com", { platform: "keyed" }), async (page) => {
        const popup = await openWindow(page, () => button(page, "Connect").click());
        await popup.getByLabel("API key", { exact: true }).waitFor();
        const path = await fixture.connect.path("mallory2@example.com", { platform: "keyed" });
        await popup.goto("about:blank");
        await popup.goto(fixture.connect.baseUrl + path);
        await popup.getByText("victim@example.com").waitFor();
        assert.equal(await popup.getByText("mallory2@example.com").count(), 0);
      });
    });
  });
}
