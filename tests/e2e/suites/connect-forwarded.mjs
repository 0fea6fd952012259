// A window that somebody else has sent: its reader is asked whose account is connected before anything else.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { button, confirm, heading, opened } from "../support/connect.mjs";
import { expectAccessible } from "../support/console.mjs";

/** @param {{ connect: import("../support/connect.mjs").Connecting }} world */
export function connectForwarded(world) {
  const visit = (path, use, options) => world.connect.visit(path, use, { as: null, asks: false, ...options });
  const platforms = async (identity) => (await world.connect.connectionsOf(identity)).map(({ platform }) => platform);
  const enterKey = async (place) => {
    await place.getByLabel("API key", { exact: true }).fill("k");
    await button(place, "Connect").click();
    await heading(place, "Keyed is connected").waitFor();
  };
  /** Shows an address in the frame of a page that says nothing to it. */
  const frame = async (page, path) => {
    const src = world.connect.baseUrl + path;
    await page.evaluate((src) => (document.querySelector("iframe").src = src), src);
    return page.frameLocator("iframe");
  };

  describe("a window that was forwarded", () => {
    test("a link names the identity and asks, and works once", async () => {
      const link = await world.connect.link("mallory@example.com", { platform: "keyed" });
      await visit(link, async (page) => {
        await heading(page, "Are you mallory@example.com?").waitFor();
        await page.getByText("This connects your account to mallory@example.com at Acme Planner.").waitFor();
        await expectAccessible(page, "the question");
        const [cookie] = await page.context().cookies();
        assert.equal(cookie.name, "__Host-connect");
        assert.equal(await page.getByLabel("API key", { exact: true }).count(), 0);
      });
      assert.deepEqual(await platforms("mallory@example.com"), []);
      // Whoever only looked has not used the link up.
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

    test("a token in the address asks, too", async () => {
      await visit(await world.connect.path("tok@example.com", { platform: "login" }), async (page) => {
        await heading(page, "Are you tok@example.com?").waitFor();
        assert.equal(await button(page, "Continue to Login").count(), 0);
      });
    });

    test("a page that the token is not for opens the window: it asks", async () => {
      const token = await world.connect.token("evil@example.com", { origins: ["https://other.example"] });
      const address = `${world.connect.app.origin}/#${new URLSearchParams({ base: world.connect.baseUrl, token, platform: "keyed" })}`;
      await visit(address, async (page) => {
        const popup = await opened(page, () => button(page, "Connect").click());
        await heading(popup, "Are you evil@example.com?").waitFor();
      });
    });

    test("in a frame of the app, a link asks nothing", async () => {
      await visit(await world.connect.appUrl("framed@example.com"), async (page) => {
        await enterKey(await frame(page, await world.connect.link("framed@example.com", { platform: "keyed" })));
      });
      assert.deepEqual(await platforms("framed@example.com"), ["keyed"]);
    });

    test("in a frame of another page, the question is asked in a window that nothing covers", async () => {
      const wish = { origins: ["https://other.example"] };
      await visit(await world.connect.appUrl("covered@example.com"), async (page) => {
        const inner = await frame(page, await world.connect.link("covered@example.com", { platform: "keyed" }, wish));
        const popup = await opened(page, () => button(inner, "Continue in a new window").click());
        await heading(popup, "Are you covered@example.com?").waitFor();
        await confirm(popup);
        await enterKey(popup);
      });
      assert.deepEqual(await platforms("covered@example.com"), ["keyed"]);
    });
  });
}
