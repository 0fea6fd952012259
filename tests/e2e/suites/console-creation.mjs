// Connections that are created in the console.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { describe, test } from "node:test";
import { PATH, asked, expectRows, newConnection, panelOf } from "../support/console-connections.mjs";
import { expectAccessible } from "../support/console.mjs";

export function createdInConsole(world) {
  const visit = (...given) => world.console.visit(...given);
  const caller = () => world.console.caller();

  /** The dialog's parts. */
  function dialogOf(page) {
    const form = page.getByRole("dialog", { name: "New connection" });
    const sure = page.getByRole("alertdialog", { name: "Create this connection?" });
    const field = (name) => form.getByLabel(name, { exact: true });
    return {
      form, sure, field,
      open: () => page.getByRole("button", { name: "New connection" }).click(),
      fill: async (values) => {
        for (const [name, value] of Object.entries(values)) await field(name).fill(value);
      },
      goOn: () => form.getByRole("button", { name: "Continue" }).click(),
      create: () => sure.getByRole("button", { name: "Create connection" }).click(),
    };
  }

  describe("creating", () => {
    test("takes all that a connection has, names the key, and shows what has become of it", async () => {
      const identity = `new-${randomUUID()}`;
      await visit(`${PATH}?identity=${identity}`, async (page) => {
        const { form, sure, field, open, fill, goOn, create } = dialogOf(page);
        await page.getByText("No connection matches").waitFor();
        await open();
        const list = await field("Platform").getAttribute("list");
        await form.locator(`datalist#${list} option[value="github"]`).waitFor({ state: "attached" });
        await fill({ Platform: "github", Identity: identity, "Name (optional)": "A name", "Label (optional)": "work", "Platform version (optional)": "v7", "Tags (optional)": "eu, production," });
        await field("Identity type").selectOption("project");
        await field("State").selectOption("failed");
        await field("Active").uncheck();
        await goOn();
        const key = `test::github::work::${identity}`;
        for (const part of [identity, key, "GitHub v3 REST API"]) await sure.getByText(part, { exact: true }).waitFor();
        // Going back loses nothing, and creates nothing.
        await sure.getByRole("button", { name: "Back" }).click();
        assert.equal(await field("Identity").inputValue(), identity);
        await goOn();
        assert.equal((await caller().list({ key, active: "false" })).json.total, 0);
        await create();
        const { panel, opened, closed } = panelOf(page);
        await opened();
        await panel.getByText("The connection is created.").waitFor();
        const [row] = (await caller().list({ key, active: "false" })).json.rows;
        const { platform, identityType, name, platformVersion, state, tags, active } = row;
        assert.deepEqual({ platform, identityType, name, platformVersion, state, tags, active }, {
          platform: "github", identityType: "project", name: "A name", platformVersion: "v7", state: "failed", tags: ["eu", "production"], active: false,
        });
        assert.equal(asked(page).connection, row.id);
        await page.goBack();
        await closed();
        assert.deepEqual(asked(page), { identity });
        // The next one begins from nothing.
        await open();
        assert.equal(await field("Identity").inputValue(), "");
      });
    });

    test("needs three things only, and the list has it at once", async () => {
      const identity = `few-${randomUUID()}`;
      await visit(`${PATH}?identity=${identity}`, async (page) => {
        const { open, fill, goOn, create } = dialogOf(page);
        await open();
        await fill({ Platform: "github", Identity: ` ${identity} ` });
        await goOn();
        await create();
        await panelOf(page).opened();
        const { id, key } = (await caller().list({ identity })).json.rows[0];
        assert.equal(key, `test::github::default::${identity}`);
        await page.keyboard.press("Escape");
        await expectRows(page, [id]);
      });
    });

    test("tells what is wrong at the fields that were touched, and at all when it is asked to go on", () =>
      visit(`${PATH}?new=1`, async (page) => {
        const { form, field, fill, goOn, sure } = dialogOf(page);
        await form.waitFor();
        assert.ok(await field("Platform").evaluate((input) => input === document.activeElement), "one can type at once");
        assert.equal(await form.locator(".problem").count(), 0, "nobody has done anything wrong yet");
        await fill({ Identity: "a,b" });
        await form.getByText("Must have 1 to 256 characters, no comma and no control character.").waitFor();
        assert.equal(await form.locator(".problem").count(), 1);
        await fill({ Identity: "ab", "Label (optional)": "Big" });
        await form.getByText("Must be 1 to 64 of a-z, 0-9 and -.").waitFor();
        assert.equal(await form.locator(".problem").count(), 1);
        await fill({ "Platform version (optional)": "1", "Name (optional)": "n".repeat(129), "Tags (optional)": "t".repeat(129) });
        assert.equal(await form.locator(".problem").count(), 4);
        await goOn();
        await form.getByText("Is required.").waitFor();
        assert.equal(await form.locator(".problem").count(), 5);
        await page.waitForFunction(() => document.activeElement?.getAttribute("list") !== null && document.activeElement?.getAttribute("aria-invalid") === "true");
        assert.equal(await sure.count(), 0);
        assert.equal(await field("Platform").getAttribute("aria-invalid"), "true");
        await expectAccessible(page, "with faults");
      }));

    test("tells at its field what the service alone knows", () =>
      visit(`${PATH}?new=1`, async (page) => {
        const { form, field, fill, goOn, create } = dialogOf(page);
        await fill({ Platform: "githubb", Identity: "kept" });
        await goOn();
        await create();
        await form.getByText("did you mean github?").waitFor();
        assert.equal(await field("Platform").getAttribute("aria-invalid"), "true");
        assert.equal(await field("Identity").inputValue(), "kept");
        await fill({ Platform: "github" });
        await form.getByText("did you mean github?").waitFor({ state: "detached" });
      }, { expects: [400] }));

    test("of what is there already leads to it", async () => {
      const { id, identity } = await newConnection(caller());
      await visit(PATH, async (page) => {
        const { open, fill, goOn, create, sure } = dialogOf(page);
        await open();
        await fill({ Platform: "github", Identity: identity });
        await goOn();
        await create();
        await sure.getByText("There is a connection with this key already.").waitFor();
        await expectAccessible(page, "a conflict");
        await sure.getByRole("link", { name: "Open that connection" }).click();
        await panelOf(page).opened();
        await page.getByRole("dialog", { name: identity }).waitFor();
        assert.deepEqual(asked(page), { connection: id });
      }, { expects: [409] });
    });

    test("keeps what was filled in when it fails, and when the dialog is left", async () => {
      const identity = `patient-${randomUUID()}`;
      await visit(PATH, async (page) => {
        const { open, form, field, fill, goOn, create, sure } = dialogOf(page);
        await open();
        await fill({ Platform: "github", Identity: identity });
        await page.keyboard.press("Escape");
        await form.waitFor({ state: "detached" });
        assert.deepEqual(asked(page), {});
        assert.equal(await page.evaluate(() => document.activeElement.textContent), "New connection");
        await open();
        assert.equal(await field("Identity").inputValue(), identity);
        await goOn();
        await page.route("**/v1/vault/connections", (route) => route.abort());
        await create();
        await sure.getByText("What you have filled in is kept.").waitFor();
        await page.unroute("**/v1/vault/connections");
        await create();
        await panelOf(page).opened();
        assert.equal((await caller().list({ identity })).json.total, 1);
      }, { expects: ["ERR_FAILED"] });
    });

    test("has nothing that axe finds, light and dark", async () => {
      for (const [theme, width] of [["light", 1280], ["dark", 1280], ["light", 390], ["dark", 390]]) {
        await visit(`${PATH}?new=1`, async (page) => {
          const { form, fill, goOn, sure } = dialogOf(page);
          await form.waitFor();
          await expectAccessible(page, `the form, ${theme} ${width}`);
          await fill({ Platform: "github", Identity: "someone" });
          await goOn();
          await sure.waitFor();
          await expectAccessible(page, `the question, ${theme} ${width}`);
          assert.equal(await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth), 0);
        }, { theme, width });
      }
    });
  });
}
