// Users with several tabs, browsers or accounts, who navigate back and forth or take a long time.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { launch } from "../support/browser.mjs";
import {
  openFrame,
  consent,
  button,
  confirm,
  heading,
  openWindow,
  linkConfirmation,
  declineAtProvider,
} from "../support/connect.mjs";
import { proof, isProof } from "../support/proof.mjs";

/** @param {{ connect: import("../support/connect.mjs").ConnectConsole }} fixture */
export function connectTabs(fixture) {
  const visit = (path, use, options) => fixture.connect.visit(path, use, { as: null, ...options });
  const connections = async (identity) =>
    (await fixture.connect.connectionsOf(identity)).map(({ platform, state }) => `${platform} ${state}`).sort();

  /** Opens the connect window in another tab of the same browser. */
  async function tab(page, identity, platform) {
    const other = await page.context().newPage();
    await other.goto(fixture.connect.baseUrl + (await fixture.connect.path(identity, { platform })));
    await confirm(other);
    return other;
  }

  /** Signs in where the platform remembers the user's consent. */
  async function signIn(page) {
    await page.getByLabel("Account").fill("ann");
    await button(page, "Sign in").click();
  }
  const messageOn = (page) => page.locator("main > p").first();

  /** Shows the window in a frame of the app's page. Returns the frame. */
  async function framedFor(page, identity, more = { platform: "login" }) {
    const src = fixture.connect.baseUrl + (await fixture.connect.link(identity, more));
    return openFrame(page, src);
  }

  /** Presses the button that opens the platform's page, and waits for that page. */
  async function openPlatform(page, press) {
    const popup = await openWindow(page, press);
    await Promise.race([popup.getByLabel("Account").waitFor(), linkConfirmation(popup, "Login").click()]);
    await popup.getByLabel("Account").waitFor();
    return popup;
  }

  /** Confirms the link, unless the window continues and closes by itself. */
  async function confirmIfAsked(popup) {
    try {
      await linkConfirmation(popup, "Login").click();
    } catch (error) {
      if (!popup.isClosed()) throw error;
    }
  }

  describe("tabs, browsers, accounts, and history", () => {
    test("two platforms in two tabs are both connected, in either order", async () => {
      const identity = "tabs@example.com";
      await visit(await fixture.connect.path(identity, { platform: "login" }), async (first) => {
        await button(first, "Continue to Login").click();
        await first.getByLabel("Account").waitFor();
        const second = await tab(first, identity, "both");
        await button(second, "Continue to Both").click();
        await consent(second);
        await heading(second, "Both is connected").waitFor();
        await signIn(first);
        await heading(first, "Login is connected").waitFor();
      });
      assert.deepEqual(await connections(identity), ["both operational", "login operational"]);
    });

    proof("the later of two popups for one platform reports the connection, and can reconnect it", async () => {
      const identity = "race@example.com";
      await visit(
        await fixture.connect.appUrl(identity),
        async (page) => {
          const frame = await framedFor(page, identity);
          const popup = await openPlatform(page, () => button(frame, "Continue to Login").click());
          const other = await tab(page, identity, "login");
          await button(other, "Continue to Login").click();
          await consent(other);
          await heading(other, "Login is connected").waitFor();
          const [before] = await fixture.connect.connectionsOf(identity);
          await signIn(popup);
          await heading(frame, "Login is already connected").waitFor();
          assert.deepEqual(await fixture.connect.connectionsOf(identity), [before]);
          await button(frame, "Try again").click();
          await button(frame, "Reconnect it").click();
          const secondPopup = await openWindow(page, () => button(frame, "Continue to Login").click());
          await confirmIfAsked(secondPopup);
          await heading(frame, "Login is connected").waitFor();
          assert.deepEqual(
            (await fixture.connect.connectionsOf(identity)).map(({ id }) => id),
            [before.id],
          );
        },
        { expects: [409] },
      );
    });

    proof("the later of two full pages for one platform reports the connection", async () => {
      const identity = "pages@example.com";
      await visit(await fixture.connect.path(identity, { platform: "login" }), async (first) => {
        await button(first, "Continue to Login").click();
        await first.getByLabel("Account").waitFor();
        const second = await tab(first, identity, "login");
        await button(second, "Continue to Login").click();
        await consent(second);
        await heading(second, "Login is connected").waitFor();
        await signIn(first);
        await heading(first, "Login could not be connected").waitFor();
        assert.equal(
          await messageOn(first).textContent(),
          "This account was connected in the meantime, perhaps in another tab.",
        );
      });
      assert.deepEqual(await connections(identity), ["login operational"]);
    });

    proof("going back from the platform shows the form again, and going forward still works", async () => {
      const identity = "there-and-back@example.com";
      await visit(await fixture.connect.path(identity, { platform: "login" }), async (page) => {
        await button(page, "Continue to Login").click();
        await page.getByLabel("Account").waitFor();
        await page.goBack();
        await heading(page, "Connect Login").waitFor();
        assert.equal(page.url(), `${fixture.connect.baseUrl}/connect`);
        await page.goForward();
        await consent(page);
        await heading(page, "Login is connected").waitFor();
      });
      assert.deepEqual(await connections(identity), ["login operational"]);
    });

    proof("going back and forward after the end shows the same result, and connects nothing twice", async () => {
      const identity = "end-and-back@example.com";
      await visit(
        await fixture.connect.path(identity, { platform: "login" }),
        async (page) => {
          await button(page, "Continue to Login").click();
          await consent(page);
          await heading(page, "Login is connected").waitFor();
          const [before] = await fixture.connect.connectionsOf(identity);
          await page.reload();
          await heading(page, "Login is connected").waitFor();
          await page.goBack();
          assert.equal(new URL(page.url()).origin, fixture.connect.provider.issuer);
          await page.goForward();
          await heading(page, "Login is connected").waitFor();
          assert.deepEqual(await fixture.connect.connectionsOf(identity), [before]);
        },
        { expects: [500, 400] },
      );
    });

    describe("with a back/forward cache", { skip: !isProof }, () => {
      let browser;
      /** The window's index in its tab's history. */
      let historyIndex;
      before(async () => {
        browser = await launch([], { keepsPages: true });
      });
      after(() => browser?.close());

      /** Opens the window, and marks its page to detect whether the browser restores it from the cache. */
      const visitMarkedPage = async (identity, platform, use, options = {}) =>
        visit(
          await fixture.connect.path(identity, { platform }),
          async (page) => {
            await page.evaluate(() => addEventListener("pageshow", ({ persisted }) => (window.isKept = persisted)));
            historyIndex = await page.evaluate(() => history.length);
            await use(page);
          },
          { browser, ...options },
        );

      /** Goes back to the window, and asserts that the browser restored the page. */
      async function back(page) {
        await page.evaluate(
          (historyIndex) => void setTimeout(() => history.go(historyIndex - history.length)),
          historyIndex,
        );
        await page.waitForURL(`${fixture.connect.baseUrl}/connect`, { waitUntil: "commit" });
        await page.waitForFunction(() => window.isKept);
      }

      proof("going back from the platform shows the form with the input, which still works", async () => {
        const identity = "kept@example.com";
        await fixture.connect.setClient("shops");
        await visitMarkedPage(
          identity,
          "shops",
          async (page) => {
            await page.getByLabel("Region (optional)").selectOption("us");
            await button(page, "Continue to Shops").click();
            await page.getByLabel("Shop", { exact: true }).fill("mine");
            await button(page, "Continue to Shops").click();
            await page.getByLabel("Account").waitFor();
            await back(page);
            await heading(page, "Connect Shops").waitFor();
            assert.equal(await page.getByLabel("Region (optional)").inputValue(), "us");
            assert.equal(await page.getByLabel("Shop", { exact: true }).inputValue(), "mine");
            await button(page, "Continue to Shops").click();
            await consent(page);
            await heading(page, "Shops is connected").waitFor();
          },
          { expects: [400] },
        );
        assert.deepEqual(await connections(identity), ["shops operational"]);
      });

      proof("going back after the end shows the result", async () => {
        const identity = "kept-to-the-end@example.com";
        await visitMarkedPage(identity, "login", async (page) => {
          await button(page, "Continue to Login").click();
          await consent(page);
          await heading(page, "Login is connected").waitFor();
          await back(page);
          await heading(page, "Login is connected").waitFor();
        });
        await visitMarkedPage("kept-and-refused@example.com", "login", async (page) => {
          await button(page, "Continue to Login").click();
          await declineAtProvider(page);
          await heading(page, "Login was not connected").waitFor();
          await back(page);
          await heading(page, "You did not allow access").waitFor();
          await button(page, "Try again").click();
          await button(page, "Continue to Login").click();
          await consent(page);
          await heading(page, "Login is connected").waitFor();
        });
      });
    });

    test("an attempt that starts in one browser does not end in another", async () => {
      const identity = "forwarded@example.com";
      const input = { platform: "login", identity, identityType: "user" };
      const { json } = await fixture.connect.caller().sendJson("POST", "/v1/vault/connect", input);
      const link = json.authorizationUrl;
      await visit(new URL(link).pathname, async (page) => {
        const [requested] = await Promise.all([
          page.waitForRequest((request) => new URL(request.url()).pathname === "/auth"),
          linkConfirmation(page, "Login").click(),
        ]);
        const other = await fixture.connect.browser.newContext();
        try {
          const stranger = await other.newPage();
          await stranger.goto(link);
          await heading(stranger, "This was started in another browser").waitFor();
          await stranger.goto(requested.url());
          await consent(stranger, "bob");
          await heading(stranger, "This was started in another browser").waitFor();
          assert.match(await messageOn(stranger).textContent(), /Nothing was connected\.$/);
        } finally {
          await other.close();
        }
        assert.deepEqual(await connections(identity), []);
        await consent(page);
        await heading(page, "Login is connected").waitFor();
      });
      assert.deepEqual(await connections(identity), ["login operational"]);
    });

    proof("another account does not replace the original one", async () => {
      const identity = "two-accounts@example.com";
      await visit(await fixture.connect.path(identity, { platform: "login" }), async (page) => {
        await button(page, "Continue to Login").click();
        await consent(page, "ann");
        await heading(page, "Login is connected").waitFor();
      });
      const [before] = await fixture.connect.connectionsOf(identity);
      await visit(await fixture.connect.appUrl(identity), async (page) => {
        const frame = await framedFor(page, identity, { connection: before.id });
        await heading(frame, "Reconnect Login").waitFor();
        await consent(await openPlatform(page, () => button(frame, "Continue to Login").click()), "bob");
        await heading(frame, "This is a different account").waitFor();
        await frame
          .getByText(/^This is a different account at Login than before\. The connection keeps the previous one, “ann/)
          .waitFor();
      });
      assert.deepEqual(await fixture.connect.connectionsOf(identity), [before]);
    });

    proof("an attempt that times out can be restarted", async () => {
      const identity = "slow@example.com";
      await visit(
        await fixture.connect.appUrl(identity),
        async (page) => {
          const frame = await framedFor(page, identity);
          // Once the window knows that the attempt has expired, it closes the popup. This delays the window's requests until
          // the popup has shown the expiry.
          const popupShown = Promise.withResolvers();
          await page.route("**/v1/vault/connect/*", (route) => popupShown.promise.then(() => route.continue()));
          const popup = await openPlatform(page, () => button(frame, "Continue to Login").click());
          const sql = "UPDATE connect_attempts SET expires_at = ? WHERE identity = ?";
          await fixture.connect.database
            .prepare(sql)
            .bind(Date.now() - 1, identity)
            .run();
          await consent(popup);
          await heading(popup, "This link has expired").waitFor();
          popupShown.resolve();
          await heading(frame, "The sign-in took too long").waitFor();
          assert.deepEqual(await connections(identity), []);
          const secondPopup = await openWindow(page, () => button(frame, "Try again").click());
          await confirmIfAsked(secondPopup);
          await heading(frame, "Login is connected").waitFor();
        },
        { expects: [410] },
      );
      assert.deepEqual(await connections(identity), ["login operational"]);
    });
  });
}
