// Creating connections in the console.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { describe, test } from "node:test";
import {
  PATH,
  addressParams,
  choosePlatform,
  expectRows,
  newConnection,
  panelHelpers,
} from "../support/console-connections.mjs";
import { expectAccessible, expectAccessibleEverywhere } from "../support/console.mjs";
import { proof } from "../support/proof.mjs";

export function consoleCreation(fixture) {
  const visit = (...args) => fixture.console.visit(...args);
  const caller = () => fixture.console.caller();

  function dialogOf(page) {
    const form = page.getByRole("dialog", { name: "Add a record" });
    const field = (name) => form.getByLabel(name, { exact: true });
    return {
      form,
      field,
      open: () => page.getByRole("button", { name: "Add a record" }).click(),
      fill: async (values) => {
        for (const [name, value] of Object.entries(values))
          await (name === "Platform" ? choosePlatform(form, value) : field(name).fill(value));
      },
      create: () => form.getByRole("button", { name: "Create connection" }).click(),
    };
  }

  describe("creating a connection", () => {
    test("sends every field, and previews the key", async () => {
      const identity = `new-${randomUUID()}`;
      await visit(`${PATH}?identity=${identity}`, async (page) => {
        const { form, field, open, fill, create } = dialogOf(page);
        await page.getByText("No connections match").waitFor();
        await open();
        const expectKey = (key) => form.getByText(key, { exact: true }).waitFor();
        await expectKey("test::…::default::…");
        await fill({ Platform: "github" });
        await expectKey("test::github::default::…");
        await fill({ Identity: identity });
        await expectKey(`test::github::default::${identity}`);
        await fill({
          "Name (optional)": "A name",
          "Label (optional)": "work",
          "Platform version (optional)": "v7",
          "Tags (optional)": "eu, production,",
        });
        const key = `test::github::work::${identity}`;
        await expectKey(key);
        await field("Identity type").selectOption("project");
        await field("State").selectOption("failed");
        await field("Active").uncheck();
        assert.equal((await caller().list({ key, active: "false" })).json.total, 0, "nothing is created yet");
        await create();
        const { panel, opened, closed } = panelHelpers(page);
        await opened();
        await panel.getByText("The connection was created.").waitFor();
        const [row] = (await caller().list({ key, active: "false" })).json.rows;
        const { platform, identityType, name, platformVersion, state, tags, active } = row;
        assert.deepEqual(
          { platform, identityType, name, platformVersion, state, tags, active },
          {
            platform: "github",
            identityType: "project",
            name: "A name",
            platformVersion: "v7",
            state: "failed",
            tags: ["eu", "production"],
            active: false,
          },
        );
        assert.equal(addressParams(page).connection, row.id);
        await page.goBack();
        await closed();
        assert.deepEqual(addressParams(page), { identity });
        // The form must be empty when it is opened again.
        await open();
        assert.equal(await field("Identity").inputValue(), "");
      });
    });

    proof("works by keyboard with only the two required fields, and updates the list at once", async () => {
      const identity = `few-${randomUUID()}`;
      await visit(`${PATH}?identity=${identity}`, async (page) => {
        const { form, open } = dialogOf(page);
        await open();
        await form.waitFor();
        await page.keyboard.type("github");
        await page.keyboard.press("Tab");
        await page.keyboard.type(` ${identity} `);
        await page.keyboard.press("Enter");
        await panelHelpers(page).opened();
        const { id, key } = (await caller().list({ identity })).json.rows[0];
        assert.equal(key, `test::github::default::${identity}`);
        await page.keyboard.press("Escape");
        await expectRows(page, [id]);
      });
    });

    proof("shows errors of touched fields, and all errors on submit", () =>
      visit(`${PATH}?new=1`, async (page) => {
        const { form, field, fill, create } = dialogOf(page);
        await form.waitFor();
        assert.ok(
          await field("Platform").evaluate((input) => input === document.activeElement),
          "the field has the focus",
        );
        assert.equal(await form.locator(".field-error").count(), 0, "no errors before the first input");
        await fill({ Identity: "a,b" });
        await field("Identity").and(page.locator('[aria-invalid="true"]')).waitFor();
        assert.equal(await form.locator(".field-error").count(), 1);
        await fill({ Identity: "ab", "Label (optional)": "Big" });
        await form.getByText("Must be 1 to 64 of a-z, 0-9 and -.").waitFor();
        assert.equal(await form.locator(".field-error").count(), 1);
        await fill({
          "Platform version (optional)": "1",
          "Name (optional)": "n".repeat(129),
          "Tags (optional)": "t".repeat(129),
        });
        assert.equal(await form.locator(".field-error").count(), 4);
        await create();
        await form.getByText("This is required.").waitFor();
        assert.equal(await form.locator(".field-error").count(), 5);
        await page.waitForFunction(
          () =>
            document.activeElement?.role === "combobox" &&
            document.activeElement?.getAttribute("aria-invalid") === "true",
        );
        await expectAccessible(page, "with faults");
      }),
    );

    proof("sends no request for an unknown platform", () =>
      visit(`${PATH}?new=1`, async (page) => {
        const { form, field, fill, create } = dialogOf(page);
        const sent = [];
        page.on("request", (request) => request.method() === "POST" && sent.push(request.url()));
        await fill({ Identity: "kept" });
        await field("Platform").pressSequentially("githubb");
        await form.getByText("The catalog has no platform “githubb”.").waitFor();
        await create();
        assert.equal(await field("Platform").getAttribute("aria-invalid"), "true");
        await field("Platform").fill("git");
        await field("Identity").focus();
        await form.getByText("Choose a platform from the list.").waitFor();
        await create();
        assert.equal(await field("Identity").inputValue(), "kept");
        assert.deepEqual(sent, []);
        await fill({ Platform: "github" });
        await form.locator(".field-error").waitFor({ state: "detached" });
      }),
    );

    test("shows errors that only the service finds next to their fields", () =>
      visit(
        `${PATH}?new=1`,
        async (page) => {
          const { form, field, fill, create } = dialogOf(page);
          const problem = {
            type: "about:blank",
            title: "Invalid body",
            status: 400,
            detail: "It is not valid.",
            code: "invalid_body",
            requestId: "r",
            errors: [{ pointer: "/platform", detail: "`/platform` is not in the catalog", suggestion: "gitlab" }],
          };
          await page.route("**/v1/vault/connections", (route) =>
            route.request().method() === "POST"
              ? route.fulfill({ status: 400, contentType: "application/problem+json", body: JSON.stringify(problem) })
              : route.fallback(),
          );
          await fill({ Platform: "github", Identity: "kept" });
          await create();
          await form.getByText("did you mean gitlab?").waitFor();
          await page.waitForFunction(() => document.activeElement?.role === "combobox");
          assert.equal(await field("Identity").inputValue(), "kept");
          await field("Platform").fill("");
          await form.getByText("did you mean gitlab?").waitFor({ state: "detached" });
        },
        { expects: [400] },
      ));

    proof("links to an existing connection", async () => {
      const { id, identity } = await newConnection(caller());
      await visit(
        PATH,
        async (page) => {
          const { form, open, fill, create } = dialogOf(page);
          await open();
          await fill({ Platform: "github", Identity: identity });
          await create();
          await form.getByText("A connection with this key already exists.").waitFor();
          await expectAccessible(page, "a conflict");
          await form.getByRole("link", { name: "Open that connection" }).click();
          await panelHelpers(page).opened();
          await page.getByRole("dialog", { name: identity }).waitFor();
          assert.deepEqual(addressParams(page), { connection: id });
        },
        { expects: [409] },
      );
    });

    proof("keeps the input after a failure, and after closing the dialog", async () => {
      const identity = `patient-${randomUUID()}`;
      await visit(
        PATH,
        async (page) => {
          const { open, form, field, fill, create } = dialogOf(page);
          await open();
          await fill({ Platform: "github", Identity: identity });
          await page.keyboard.press("Escape");
          await form.waitFor({ state: "detached" });
          assert.deepEqual(addressParams(page), {});
          assert.equal(await page.evaluate(() => document.activeElement.textContent), "Add a record");
          await open();
          assert.equal(await field("Identity").inputValue(), identity);
          await page.route("**/v1/vault/connections", (route) => route.abort());
          await create();
          await form.getByText("Your input is kept.").waitFor();
          await page.unroute("**/v1/vault/connections");
          await create();
          await panelHelpers(page).opened();
          assert.equal((await caller().list({ identity })).json.total, 1);
        },
        { expects: ["ERR_FAILED"] },
      );
    });

    test("is accessible in both themes", async () => {
      await visit(`${PATH}?new=1`, async (page) => {
        const { form, field } = dialogOf(page);
        await form.waitFor();
        await expectAccessibleEverywhere(page, "the form", { parts: [form], others: [390] });
        await field("Platform").fill("git");
        await form.getByRole("option").first().waitFor();
        await expectAccessibleEverywhere(page, "with suggestions", { parts: [form] });
      });
    });
  });
}
