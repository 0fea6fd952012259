// Connecting with entered credentials: an API key, a user name and password, Amazon keys.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { button, enteredSecret, heading } from "../support/connect.mjs";
import { expectAccessibleEverywhere, expectFocus, tabTo } from "../support/console.mjs";
import { expectHidden } from "../support/console-session.mjs";
import { proof } from "../support/proof.mjs";

/** Asserts that the page has stored only the confirmed identity, that it is done, the number of the step and the app's branding. */
async function expectNothingElseStored(page) {
  const stored = await page.evaluate(async () => [
    localStorage.length,
    Object.keys(sessionStorage).filter((name) => !["connect-app", "connect-confirmed", "connect-launch"].includes(name))
      .length,
    document.cookie,
    (await indexedDB.databases()).length,
    (await caches.keys()).length,
    // No parameters of the link, only that it was used.
    sessionStorage.getItem("connect-launch"),
    // The number of the current step.
    typeof history.state,
    Object.keys(JSON.parse(sessionStorage.getItem("connect-app") ?? "{}")).sort(),
  ]);
  assert.deepEqual(stored, [0, 0, "", 0, 0, "done=1", "number", ["color", "logoUrl", "name", "url"]]);
}

/** @param {{ connect: import("../support/connect.mjs").ConnectConsole }} fixture */
export function connectEnteredCredentials(fixture) {
  const visit = (path, use, options) => fixture.connect.visit(path, use, { as: null, ...options });
  const state = async (identity) =>
    (await fixture.connect.connectionsOf(identity)).map(({ platform, state }) => [platform, state]);

  describe("entering credentials", () => {
    test("connects with an API key: finds the platform, reports a missing key, connects, and stores nothing in the browser", async () => {
      const path = await fixture.connect.path("key@example.com");
      const apiKey = enteredSecret("k");
      const token = new URLSearchParams(path.split("#")[1]).get("token");
      await visit(path, async (page) => {
        await heading(page, "What do you want to connect?").waitFor();
        assert.equal(page.url(), `${fixture.connect.baseUrl}/connect`);
        await page.getByText("Acme Planner", { exact: true }).waitFor();
        await page.getByText("key@example.com").waitFor();
        await page.getByRole("list", { name: "Platforms" }).getByRole("button").nth(4).waitFor();
        await page.getByLabel("Search").fill("keyed");
        await page.getByRole("status").getByText("1 platform found").waitFor();
        await page.getByRole("button", { name: /^Keyed/ }).click();
        await expectFocus(heading(page, "Connect Keyed"));
        await page.goBack();
        await heading(page, "What do you want to connect?").waitFor();
        await page.goForward();
        await expectFocus(heading(page, "Connect Keyed"));
        const field = page.getByLabel("API key", { exact: true });
        assert.deepEqual(
          [await field.getAttribute("type"), await field.getAttribute("autocomplete")],
          ["password", "off"],
        );
        await button(page, "Connect").click();
        await page.getByText("This is required.").waitFor();
        await expectFocus(field);
        await field.fill(apiKey);
        assert.equal(await page.getByText("This is required.").count(), 0);
        await button(page, "Show API key").click();
        assert.equal(await field.getAttribute("type"), "text");
        await button(page, "Connect").click();
        await expectFocus(heading(page, "Keyed is connected"));
        await expectHidden(page, token);
        await expectHidden(page, `........${apiKey}`);
        await expectNothingElseStored(page);
        const loaded = await page.evaluate(() => performance.getEntriesByType("resource").map(({ name }) => name));
        assert.deepEqual(
          loaded.filter((name) => name.includes(".wasm")),
          [],
        );
        await button(page, "Connect something else").click();
        await expectFocus(heading(page, "What do you want to connect?"));
        await page.getByText("Keyed is already connected").waitFor();
      });
      assert.deepEqual(await state("key@example.com"), [["keyed", "unknown"]]);
    });

    proof("connects with a user name and password to the platform that the link names", async () => {
      await visit(await fixture.connect.path("basic@example.com", { platform: "simple" }), async (page) => {
        await heading(page, "Connect Simple").waitFor();
        assert.equal(await button(page, "Back").count(), 0);
        await page.getByLabel("User name", { exact: true }).fill("ann");
        await page.getByLabel("Password (optional)", { exact: true }).fill(enteredSecret("password"));
        await button(page, "Connect").click();
        await heading(page, "Simple is connected").waitFor();
      });
      assert.deepEqual(await state("basic@example.com"), [["simple", "unknown"]]);
    });

    proof("connects with Amazon keys", async () => {
      await visit(await fixture.connect.path("aws@example.com", { platform: "amazonaws-polly" }), async (page) => {
        await page.getByLabel("Access key ID", { exact: true }).fill("AKIA0000");
        await page.getByLabel("Secret access key", { exact: true }).fill(enteredSecret("secret"));
        await page.getByLabel(/^Region/).selectOption("eu-west-1");
        await button(page, "Connect").click();
        await page.getByRole("heading", { name: /Polly is connected$/ }).waitFor();
      });
      assert.deepEqual(await state("aws@example.com"), [["amazonaws-polly", "unknown"]]);
    });

    test("connects with one of several methods by keyboard alone", async () => {
      await visit(await fixture.connect.path("keys@example.com"), async (page) => {
        await tabTo(page, page.getByRole("button", { name: /^Both/ }));
        await page.keyboard.press("Enter");
        await expectFocus(heading(page, "Connect Both"));
        await tabTo(page, page.getByRole("radio", { name: "Sign in with Both" }));
        await page.keyboard.press("ArrowDown");
        assert.ok(await page.getByRole("radio", { name: "Access token" }).isChecked());
        await tabTo(page, page.getByLabel("Access token", { exact: true }).and(page.locator("[type=password]")));
        await page.keyboard.type("t-1");
        await page.keyboard.press("Enter");
        await expectFocus(heading(page, "Both is connected"));
      });
      assert.deepEqual(await state("keys@example.com"), [["both", "unknown"]]);
    });

    test("reconnects a failed connection in place", async () => {
      const { id } = await fixture.connect.storeFailed("again@example.com", "keyed");
      await visit(await fixture.connect.path("again@example.com"), async (page) => {
        await page.getByRole("button", { name: /Reconnect Keyed/ }).click();
        await heading(page, "Reconnect Keyed").waitFor();
        await page.getByLabel("API key", { exact: true }).fill("k-2");
        await button(page, "Reconnect").click();
        await heading(page, "Keyed is connected").waitFor();
      });
      const [connection, ...others] = await fixture.connect.connectionsOf("again@example.com");
      assert.deepEqual([connection.id, connection.active, others], [id, true, []]);
    });

    proof("shows the platform's logo of a failed connection, even if the platform is not offered", async () => {
      await fixture.connect.storeFailed("unoffered@example.com", "standard");
      await fixture.connect.storeFailed("unoffered@example.com", "keyed");
      await visit(await fixture.connect.path("unoffered@example.com"), async (page) => {
        const offered = page.getByRole("list", { name: "Platforms" });
        await offered.getByRole("button", { name: /^Keyed/ }).waitFor();
        assert.equal(await offered.getByRole("button", { name: /^Standard/ }).count(), 0);
        for (const name of ["Reconnect Standard", "Reconnect Keyed"]) {
          const platformButton = page.getByRole("button", { name });
          assert.equal(await platformButton.locator(".logo").count(), 1, name);
        }
      });
    });

    proof("offers only methods that can work: those with an OAuth client, or that need none", async () => {
      const { connect } = fixture;
      const remove = (platform) => connect.caller().send("DELETE", `/v1/oauth-clients/${platform}`);
      /** Whether the window offers Standard, which needs a client and is not in `catalog.toml`. */
      const offers = async (page, search) => {
        const offered = page.getByRole("list", { name: "Platforms" });
        await offered.getByRole("button", { name: /^Keyed/ }).waitFor();
        if (search !== "") {
          await page.getByLabel("Search").fill(search);
          await page
            .getByRole("status")
            .getByText(/platforms? found/)
            .waitFor();
        }
        return (await offered.getByRole("button", { name: /^Standard/ }).count()) > 0;
      };
      const standard = async (search, request) => {
        let isOffered;
        const path = await connect.path("offered@example.com", {}, request);
        await visit(path, async (page) => (isOffered = await offers(page, search)));
        return isOffered;
      };
      assert.deepEqual([await standard(""), await standard("standard")], [false, false]);
      await connect.setClient("standard");
      try {
        assert.deepEqual([await standard(""), await standard("standard")], [true, true]);
        assert.equal(await standard("", { platforms: ["keyed", "standard"] }), true);
        assert.equal(await standard("", { platforms: ["keyed", "login"] }), false);
      } finally {
        await remove("standard");
      }
      // Without a client, OAuth methods are omitted.
      await remove("both");
      try {
        await visit(await connect.path("offered@example.com", { platform: "both" }), async (page) => {
          await page.getByLabel("Access token", { exact: true }).waitFor();
          assert.equal(await page.getByRole("radio").count(), 0);
        });
      } finally {
        await connect.setClient("both");
      }
    });

    proof("reports an existing connection, and reconnects it", async () => {
      for (const times of [1, 2])
        await visit(
          await fixture.connect.path("twice@example.com", { platform: "keyed" }),
          async (page) => {
            await page.getByLabel("API key", { exact: true }).fill(`k-${times}`);
            await button(page, "Connect").click();
            if (times === 1) return heading(page, "Keyed is connected").waitFor();
            await expectFocus(heading(page, "Keyed is already connected"));
            await button(page, "Reconnect it").click();
            await page.getByLabel("API key", { exact: true }).fill("k-3");
            await button(page, "Reconnect").click();
            return heading(page, "Keyed is connected").waitFor();
          },
          { expects: [409] },
        );
      assert.equal((await fixture.connect.connectionsOf("twice@example.com")).length, 1);
    });

    test("fits and is accessible in each step, in both themes and at each width", async () => {
      const identity = "steps@example.com";
      await fixture.connect.storeFailed(identity, "simple");
      await visit(await fixture.connect.path(identity), async (page) => {
        const look = (what) => expectAccessibleEverywhere(page, what, { widths: [320, 390], others: [390] });
        await page.getByRole("button", { name: /Reconnect Simple/ }).waitFor();
        await page.getByRole("button", { name: /^Both/ }).waitFor();
        await look("the choice");
        await page.getByRole("button", { name: /^Both/ }).click();
        await page.getByRole("radio", { name: "Access token" }).check();
        await button(page, "Connect").click();
        await page.getByText("This is required.").waitFor();
        await look("the form");
        await page.getByLabel("Access token", { exact: true }).and(page.locator("[type=password]")).fill("t");
        await button(page, "Connect").click();
        await heading(page, "Both is connected").waitFor();
        await look("the end");
      });
    });
  });
}
