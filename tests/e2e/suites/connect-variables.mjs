// Variables in a platform's URLs. The window only asks users for the variables that the app has not set.
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { openFrame, consent, button, heading, openWindow, linkConfirmation } from "../support/connect.mjs";
import { expectAccessible, expectFits, expectFocus } from "../support/console.mjs";
import { proof } from "../support/proof.mjs";

/** @param {{ connect: import("../support/connect.mjs").ConnectConsole }} fixture */
export function connectVariables(fixture) {
  const visit = (path, use, options) => fixture.connect.visit(path, use, { as: null, ...options });
  const open = (identity) => fixture.connect.path(identity, { platform: "shops" });
  let reader;

  /** The vault's values of the variables of an identity's connection. */
  async function storedVariables(identity) {
    const [{ id }] = await fixture.connect.connectionsOf(identity);
    const response = await fixture.connect.caller(reader).send("GET", `/v1/vault/connections/${id}/credentials`);
    return response.json.fields;
  }

  /** The number of attempts that an identity has started. */
  async function attemptCount(identity) {
    const sql = "SELECT count(*) AS n FROM connect_attempts WHERE identity = ?";
    return (await fixture.connect.database.prepare(sql).bind(identity).first()).n;
  }

  const waitForCallback = (page) => page.waitForURL((url) => url.pathname === "/connect/callback");

  describe("variables in a platform's URLs", () => {
    before(async () => {
      reader = await fixture.connect.newKey({ scopes: "credentials:read" });
    });

    test("are not asked for if the app has set them, unless they are optional", async () => {
      await fixture.connect.setClient("shops", { shop: "acme" });
      await visit(await open("set@example.com"), async (page) => {
        await page.getByLabel("Region (optional)").selectOption("us");
        assert.equal(await page.getByLabel("Shop").count(), 0);
        await button(page, "Continue to Shops").click();
        await consent(page);
        await waitForCallback(page);
      });
      assert.deepEqual(await storedVariables("set@example.com"), { shop: "acme", region: "us" });
    });

    test("are asked for before the attempt starts if the app has not set them", async () => {
      await fixture.connect.setClient("shops");
      const identity = "unset@example.com";
      await visit(
        await open(identity),
        async (page) => {
          await page.getByLabel("Region (optional)").selectOption("us");
          await button(page, "Continue to Shops").click();
          const shop = page.getByLabel("Shop", { exact: true });
          await expectFocus(shop);
          await page.getByRole("status").getByText("To continue to Shops, fill this in:").waitFor();
          assert.equal(await page.getByText("This is required.").count(), 0);
          assert.equal(await page.getByLabel("Region (optional)").inputValue(), "us");
          await expectAccessible(page, "a variable that is requested later");
          await expectFits(page, "a variable that is requested later");
          await button(page, "Continue to Shops").click();
          await page.getByText("This is required.").waitFor();
          await expectFocus(shop);
          assert.equal(await attemptCount(identity), 0);
          await shop.fill("mine");
          await button(page, "Continue to Shops").click();
          await consent(page);
          await waitForCallback(page);
        },
        { expects: [400], width: 320 },
      );
      assert.deepEqual(await storedVariables(identity), { shop: "mine", region: "us" });
      assert.equal(await attemptCount(identity), 1);
    });

    proof("are not asked for if they decide which host receives the app's secret", async () => {
      const identity = "hosted@example.com";
      const window = () => fixture.connect.path(identity, { platform: "hosted" });
      const isAsked = (page) => page.getByLabel("Host").count();
      await fixture.connect.setClient("hosted");
      await visit(
        await window(),
        async (page) => {
          await button(page, "Continue to Hosted").click();
          await expectFocus(heading(page, "Signing in with Hosted is not set up"));
          await page.getByText("You can't fix this here. Contact the people behind Acme Planner").waitFor();
          await page.getByText("Details", { exact: true }).click();
          await page
            .getByText("must set its `variables` `host`, which decide who receives its secret and tokens.")
            .waitFor();
          await button(page, "Try again").click();
          await heading(page, "Connect Hosted").waitFor();
          assert.equal(await isAsked(page), 0);
        },
        { expects: [409] },
      );
      assert.equal(await attemptCount(identity), 0);
      await fixture.connect.setClient("hosted", { host: "id.hosted.example" });
      await fixture.connect.setClient("standard");
      for (const [platform, name] of [
        ["hosted", "Hosted"],
        ["standard", "Standard"],
      ])
        await visit(await fixture.connect.path(identity, { platform }), async (page) => {
          await heading(page, `Connect ${name}`).waitFor();
          assert.equal(await isAsked(page), 0);
          await button(page, `Continue to ${name}`).click();
          await page.getByLabel("Account").waitFor();
        });
      assert.equal(await attemptCount(identity), 2);
    });

    proof("can be changed if the app has entered them, unless it has fixed them", async () => {
      await fixture.connect.setClient("shops");
      const identity = "fixed@example.com";
      const session = { platforms: ["shops"], fields: { region: "us" }, fixedFields: { shop: "acme" } };
      await visit(await fixture.connect.path(identity, { platform: "shops" }, session), async (page) => {
        const [shop, region] = [page.getByLabel("Shop"), page.getByLabel("Region (optional)")];
        assert.deepEqual([await shop.inputValue(), await region.inputValue()], ["acme", "us"]);
        assert.equal(await shop.isEditable(), false);
        await page.getByText("Set by Acme Planner. You can't change it.").waitFor();
        await expectAccessible(page, "what the app has entered");
        await region.selectOption("eu");
        await button(page, "Continue to Shops").click();
        await consent(page);
        await waitForCallback(page);
      });
      assert.deepEqual(await storedVariables(identity), { shop: "acme", region: "eu" });
    });

    proof("behave the same in a frame, with the platform in a popup", async () => {
      const identity = "framed@example.com";
      const src = fixture.connect.baseUrl + (await fixture.connect.link(identity, { platform: "shops" }));
      await visit(
        await fixture.connect.appUrl(identity),
        async (page) => {
          const frame = await openFrame(page, src);
          const early = await openWindow(page, () => button(frame, "Continue to Shops").click());
          await frame.getByLabel("Shop", { exact: true }).fill("mine");
          assert.ok(early.isClosed());
          const popup = await openWindow(page, () => button(frame, "Continue to Shops").click());
          await Promise.race([popup.getByLabel("Account").waitFor(), linkConfirmation(popup, "Shops").click()]);
          await consent(popup);
          await heading(frame, "Shops is connected").waitFor();
        },
        { expects: [400] },
      );
      assert.deepEqual(await storedVariables(identity), { shop: "mine", region: "eu" });
      assert.equal(await attemptCount(identity), 1);
    });
  });
}
