// The panel of one connection: opening, closing, content, and permissions.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  PATH,
  fetchExpected,
  addressParams,
  at,
  expectRows,
  newConnection,
  panelHelpers,
  tagsOf,
} from "../support/console-connections.mjs";
import { expectAccessible, expectAccessibleEverywhere } from "../support/console.mjs";
import { proof } from "../support/proof.mjs";

export function consolePanel(fixture) {
  const visit = (...args) => fixture.console.visit(...args);
  const caller = () => fixture.console.caller();
  const focusedElement = (page) =>
    page.evaluate(() => document.activeElement?.dataset.connection ?? document.activeElement?.tagName);

  describe("the panel", () => {
    test("shows and copies every property, and links to the connector", async () => {
      const connection = await newConnection(caller(), { name: "Ann's", label: "work", state: "degraded" });
      await visit(`${PATH}?platform=github`, async (page) => {
        await page.locator(`a[data-connection="${connection.id}"]`).click();
        const { panel, expectChips, opened } = panelHelpers(page);
        await opened();
        assert.deepEqual(addressParams(page), { platform: "github", connection: connection.id });
        await page.getByRole("dialog", { name: connection.identity }).waitFor();
        const details = Object.fromEntries(
          await panel
            .getByRole("region", { name: "Details" })
            .locator("dl.description-list")
            .evaluate((list) =>
              [...list.querySelectorAll("dt")].map((term) => [
                term.textContent,
                term.nextElementSibling.innerText.trim(),
              ]),
            ),
        );
        assert.match(details.Created, /second|minute|now/);
        assert.match(details.Created, /\d{4}, \d+:\d\d:\d\d/);
        assert.match(details.Name, /^Ann's\s+Change\s+the name$/);
        assert.deepEqual(
          { ...details, Created: "", Name: "" },
          {
            Identity: connection.identity,
            "Identity type": "user",
            Name: "",
            State: "degraded",
            Active: "Yes",
            Created: "",
            Key: connection.key,
            ID: connection.id,
            Platform: "github v1",
            Environment: "test",
            Type: "api",
            Version: "1",
          },
        );
        assert.ok((await panel.innerText()).includes(connection.description));
        await expectChips(connection.tags);
        for (const [name, text] of [
          ["ID", connection.id],
          ["key", connection.key],
          ["identity", connection.identity],
        ]) {
          await panel.getByRole("button", { name: `Copy the ${name}`, exact: true }).click();
          await page.waitForFunction(async (expected) => (await navigator.clipboard.readText()) === expected, text);
        }
        await panel.getByText("API request to change its tags").click();
        assert.ok(
          (await panel.locator("pre").last().innerText()).includes(
            `-X PATCH '${fixture.console.baseUrl}/v1/vault/connections/${connection.id}'`,
          ),
        );
        await panel.getByRole("link").first().click();
        await page.waitForURL("**/connectors/github");
      });
    });

    proof("opens and closes by mouse: row, close button, outside click, Back", async () => {
      const { ids } = await fetchExpected(caller());
      await visit(PATH, async (page) => {
        const { panel, opened, closed } = panelHelpers(page);
        await expectRows(page, ids);
        const open = async () => {
          await page.locator("tbody tr").nth(1).locator(".cell-state").click();
          await opened();
          assert.deepEqual(addressParams(page), { connection: ids[1] });
        };
        for (const leave of [
          () => panel.getByRole("button", { name: "Close" }).click(),
          () => page.mouse.click(20, 400),
          () => page.goBack(),
        ]) {
          await open();
          await leave();
          await closed();
          assert.deepEqual(addressParams(page), {});
        }
        await page.goForward();
        await opened();
        await page.reload();
        await opened();
        await page.goBack();
        await closed();
      });
    });

    test("opens, works and closes by keyboard alone", async () => {
      const connection = await newConnection(caller(), { name: "keyboard" });
      await visit(`${PATH}?name=keyboard`, async (page) => {
        const { opened, closed, expectStatus, expectChips } = panelHelpers(page);
        await expectRows(page, [connection.id]);
        const tabTo = async (holds, key = "Tab") => {
          for (let steps = 0; steps < 60; steps += 1) {
            if (await page.evaluate(holds)) return;
            await page.keyboard.press(key);
          }
          assert.fail(`no element matches ${holds}`);
        };
        await tabTo(() => document.activeElement?.dataset.connection !== undefined);
        const outline = await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle);
        assert.equal(outline, "solid", "the focus is visible");
        await page.keyboard.press("Enter");
        await opened();
        assert.equal(await focusedElement(page), "H2");
        await tabTo(() => document.activeElement?.placeholder === "Add a tag");
        await page.keyboard.type("three");
        await page.keyboard.press("Enter");
        await page.keyboard.type("four,");
        await page.keyboard.press("Backspace");
        await expectChips(["one", "two", "three"]);
        await tabTo(() => document.activeElement?.getAttribute("aria-label") === "Remove one", "Shift+Tab");
        await page.keyboard.press("Enter");
        assert.equal(
          await page.evaluate(() => document.activeElement.getAttribute("aria-label")),
          "Remove two",
          "the focus moves to the next tag",
        );
        await tabTo(() => document.activeElement?.textContent === "Save tags");
        await page.keyboard.press("Enter");
        await expectStatus("Saved.");
        assert.deepEqual(await tagsOf(caller(), connection.id), ["two", "three"]);
        // The focus must not leave the dialog, except for the browser's controls.
        for (let steps = 0; steps < 30; steps += 1) {
          await page.keyboard.press("Tab");
          assert.ok(
            await page.evaluate(
              () => document.activeElement === document.body || document.activeElement.closest("dialog") !== null,
            ),
          );
        }
        await page.keyboard.press("Escape");
        await closed();
        assert.equal(await focusedElement(page), connection.id, "the focus returns to the row");
      });
    });

    test("opens from a link, also for inactive connections, and returns the focus to the list", async () => {
      const { ids } = await fetchExpected(caller(), { active: "false" });
      const {
        ids: [active],
      } = await fetchExpected(caller());
      for (const id of [ids[0], active]) {
        await visit(at(id), async (page) => {
          const { panel, opened, closed } = panelHelpers(page);
          await opened();
          assert.equal(await panel.getByText("Inactive").count(), id === active ? 0 : 1);
          await page.waitForFunction(
            (expected) => document.querySelector("tbody a")?.dataset.connection === expected,
            active,
          );
          await page.keyboard.press("Escape");
          await closed();
          assert.deepEqual(addressParams(page), {});
          assert.equal(await focusedElement(page), id === active ? id : "H1");
        });
      }
    });

    proof("reports an unknown connection", async () => {
      await visit(
        PATH,
        async (page) => {
          for (const id of ["0b9af7c6-0000-4000-8000-000000000000", "nothing"]) {
            await page.goto(fixture.console.baseUrl + at(id));
            await page.getByText("Connection not found").waitFor();
            await page.getByRole("button", { name: "Back to the list" }).click();
            await panelHelpers(page).closed();
            assert.deepEqual(addressParams(page), {});
            // An invalid id can be reported before the list is loaded.
            await page.locator("tbody a[data-connection]").first().waitFor();
          }
        },
        { expects: [404] },
      );
    });

    proof("is read-only without the scope, and explains why", async () => {
      const { ids } = await fetchExpected(caller());
      await visit(
        PATH,
        async (page) => {
          await page.getByText("Your key can read connections, but not change them.").waitFor();
          const create = page.getByRole("button", { name: "Add a record" });
          assert.equal(await create.getAttribute("aria-disabled"), "true");
          await create.focus();
          await page.keyboard.press("Enter");
          await page.locator(`a[data-connection="${ids[0]}"]`).click();
          const { panel, field, save } = panelHelpers(page);
          await panel
            .getByText("You can't make changes: your key does not have the scope connections:write.")
            .waitFor();
          assert.deepEqual(
            [
              await field.count(),
              await save.count(),
              await panel.getByRole("button", { name: /Delete|Remove|Change/ }).count(),
            ],
            [0, 0, 0],
          );
          await expectAccessible(page, "read-only");
          await page.goto(`${fixture.console.baseUrl}${PATH}?new=1`);
          await expectRows(page, ids);
          assert.equal(await page.locator("dialog").count(), 0);
        },
        { as: fixture.console.keys.reader },
      );
    });

    test("is accessible on a phone and a desktop, in both themes", async () => {
      const { ids } = await fetchExpected(caller());
      await visit(at(ids[2]), async (page) => {
        const { panel, field, opened } = panelHelpers(page);
        await opened();
        await field.fill("x".repeat(129));
        await field.press("Enter");
        await panel.getByText("Must have 1 to 128 characters").waitFor();
        await panel.getByText("API request to read it").click();
        await expectAccessibleEverywhere(page, "the panel", { parts: [panel], others: [390] });
      });
    });
  });
}
