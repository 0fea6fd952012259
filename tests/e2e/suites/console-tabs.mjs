// The tabs of a browser share one session through messages, and never write it to shared storage.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { launch } from "../support/browser.mjs";
import { expectHidden, heading, storedSecret, linkFor, signIn } from "../support/console-session.mjs";
import { proof } from "../support/proof.mjs";

/** Records every sign-in form that is rendered, even briefly. */
const watchForms = () => {
  window.forms = 0;
  new MutationObserver(() => (window.forms += document.querySelectorAll(".sign-in").length)).observe(document, {
    childList: true,
    subtree: true,
  });
};

/** @param {{ console: import("../support/console.mjs").Console }} fixture */
export function consoleTabs(fixture) {
  let browser;
  const signedIn = async (use, options = {}) =>
    fixture.console.visit(
      "/connectors",
      async (page) => {
        await signIn(page, fixture.console.keys.full);
        await heading(page, "Connectors").waitFor();
        await use(page);
      },
      { as: null, browser, ...options },
    );
  /** Opens another tab without a link, as a user would. */
  const open = async (page, path = "/connectors") => {
    const tab = await page.context().newPage();
    await tab.goto(fixture.console.baseUrl + path);
    return tab;
  };

  describe("the tabs of a browser", () => {
    before(async () => {
      browser = await launch([], { full: true });
    });
    after(() => browser?.close());

    test("share a session with a new tab, without showing a form", () =>
      signedIn(async (page) => {
        await page.context().addInitScript(watchForms);
        const [tab] = await Promise.all([
          page.context().waitForEvent("page"),
          page.getByRole("link", { name: "Connections", exact: true }).click({ modifiers: ["Control"] }),
        ]);
        await heading(tab, "Connections").waitFor();
        assert.equal(await tab.evaluate(() => window.forms), 0);
        const { secret } = fixture.console.keys.full;
        assert.equal(await storedSecret(tab), secret);
        for (const each of [page, tab]) await expectHidden(each, secret);
        await tab.reload();
        await heading(tab, "Connections").waitFor();
      }));

    proof("do not delay the first tab", () =>
      fixture.console.visit(
        "/",
        async (page) => {
          await heading(page, "Sign in").waitFor();
          assert.equal(await page.evaluate(async () => (await navigator.locks.query()).held.length), 0);
        },
        { as: null },
      ),
    );

    proof("sign in together", () =>
      fixture.console.visit(
        "/connectors",
        async (page) => {
          const tab = await open(page);
          await heading(tab, "Sign in").waitFor();
          await heading(page, "Sign in").waitFor();
          await signIn(page, fixture.console.keys.full);
          for (const each of [page, tab]) await heading(each, "Connectors").waitFor();
          assert.equal(await storedSecret(tab), fixture.console.keys.full.secret);
        },
        { as: null },
      ),
    );

    test("sign out together, also frozen ones", () =>
      signedIn(async (page) => {
        const [tab, sleeper] = [await open(page), await open(page)];
        for (const each of [tab, sleeper]) await heading(each, "Connectors").waitFor();
        await sleeper.goto(`${fixture.console.baseUrl}/problems/`);
        await tab.getByRole("button", { name: "Sign out" }).click();
        for (const each of [tab, page]) {
          await each.getByText("You are signed out").waitFor();
          assert.equal(await each.evaluate(() => sessionStorage.length), 0);
        }
        await sleeper.goBack();
        await sleeper.getByText("You are signed out").waitFor();
        assert.equal(await storedSecret(sleeper), null);
        const newTab = await open(page);
        await heading(newTab, "Sign in").waitFor();
        assert.equal(await storedSecret(newTab), null);
      }));

    proof("hand the most recently used of two sessions to a new tab", () =>
      signedIn(async (page) => {
        const tab = await open(
          page,
          await linkFor(fixture.console, "ann@example.com", { as: fixture.console.keys.other }),
        );
        await tab.getByRole("button", { name: "Open the link" }).click();
        await heading(tab, "Your connections").waitFor();
        // The other tab is unchanged.
        await page.getByRole("link", { name: "Connections", exact: true }).click();
        await heading(page, "Connections").waitFor();
        await heading(await open(page), "Connectors").waitFor();
        await tab.getByRole("heading", { level: 1 }).click();
        await heading(await open(page), "Your connections").waitFor();
      }),
    );

    proof("delay a new tab only briefly if they do not reply", () =>
      fixture.console.visit(
        "/problems/",
        async (page) => {
          await page.evaluate(
            () =>
              void navigator.locks.request("connector-vault.session", { mode: "shared" }, () => new Promise(() => {})),
          );
          const tab = await open(page);
          await heading(tab, "Sign in").waitFor();
          await signIn(tab, fixture.console.keys.full);
          await heading(tab, "Connectors").waitFor();
        },
        { as: null },
      ),
    );

    proof("ignore invalid messages", () =>
      signedIn(async (page) => {
        const tab = await open(page, "/problems/");
        await tab.evaluate(() => {
          const channel = new BroadcastChannel("connector-vault.session");
          for (const message of [null, undefined, 1, "x", [], {}, { kind: "reply", to: "x" }, { kind: "toString" }])
            channel.postMessage(message);
        });
        const other = await open(page);
        await heading(other, "Connectors").waitFor();
        await heading(page, "Connectors").waitFor();
      }),
    );

    proof("keep their own key when another tab's key is rejected", async () => {
      const short = await fixture.console.newKey({});
      await fixture.console.visit(
        "/connectors",
        async (page) => {
          await signIn(page, short);
          // Waits until all requests of this view have ended.
          await page.getByRole("list", { name: "Connectors" }).waitFor();
          await fixture.console.expire(short, page);
          await page.getByRole("link", { name: "Connections", exact: true }).click();
          await page.getByText("Your key has expired or was revoked.").waitFor();
          const tab = await open(page);
          await signIn(tab, fixture.console.keys.full);
          await heading(tab, "Connectors").waitFor();
          await heading(page, "Connections").waitFor();
        },
        { as: null, expects: [401] },
      );
    });
  });
}
