// Editing tags in the console, including concurrent edits, and deleting connections.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  PATH,
  addressParams,
  newConnection,
  panelHelpers,
  shownRows,
  tagsOf,
} from "../support/console-connections.mjs";
import { expectAccessible, expectAccessibleEverywhere, expectFocus } from "../support/console.mjs";
import { expectConnection } from "../support/vault.mjs";
import { proof } from "../support/proof.mjs";

export function consoleChanges(fixture) {
  const visit = (...args) => fixture.console.visit(...args);
  const caller = () => fixture.console.caller();
  const patch = async (id, tags) => expectConnection(await caller().patch(id, { tags }));

  /** Opens a new connection's panel from a list that contains only that connection. */
  async function edit(use, options) {
    const name = `edited ${Math.random()}`;
    const connection = await newConnection(caller(), { name });
    await visit(
      `${PATH}?name=${encodeURIComponent(name)}`,
      async (page) => {
        await page.locator(`a[data-connection="${connection.id}"]`).click();
        const parts = panelHelpers(page);
        await parts.opened();
        await use(page, parts, connection);
      },
      options,
    );
    return connection;
  }

  describe("tags", () => {
    test("are added, removed and pasted, and saved as displayed", () =>
      edit(async (page, { panel, field, save, expectChips, expectStatus }, { id }) => {
        assert.equal(await save.getAttribute("aria-disabled"), "true");
        await save.focus();
        assert.ok(
          await save.evaluate((button) => button === document.activeElement),
          "a disabled button can have the focus",
        );
        await page.keyboard.press("Enter");
        await panel.getByRole("button", { name: "Remove one" }).click();
        await field.fill("größer als");
        await field.press("Enter");
        await page.evaluate(() => navigator.clipboard.writeText(" a, b ,, a"));
        await field.focus();
        await page.keyboard.press("ControlOrMeta+v");
        await expectChips(["two", "größer als", "a", "b"]);
        assert.equal(await field.inputValue(), "");
        // Duplicates are not added, and text still in the field is saved.
        await field.fill("two");
        await field.press("Enter");
        await field.fill("last");
        assert.deepEqual(await tagsOf(caller(), id), ["one", "two"], "nothing is saved yet");
        await save.click();
        await expectStatus("Saved.");
        const expected = ["two", "größer als", "a", "b", "last"];
        await expectChips(expected);
        assert.deepEqual(await tagsOf(caller(), id), expected);
        assert.equal(await save.getAttribute("aria-disabled"), "true");
        await page.keyboard.press("Escape");
        assert.deepEqual(await page.locator("tbody tr").first().locator(".cell-tags .chip").allTextContents(), [
          "two",
          "größer als",
          "a",
          "+2 more",
        ]);
      }));

    proof("can be reset", () =>
      edit(async (page, { panel, field, expectChips, closed, expectStatus }, { id }) => {
        await field.fill("new,");
        await panel.getByRole("button", { name: "Discard changes" }).click();
        await expectStatus("Your changes are discarded.");
        await expectChips(["one", "two"]);
        await page.keyboard.press("Escape");
        await closed();
        assert.deepEqual(await tagsOf(caller(), id), ["one", "two"]);
      }),
    );

    proof("are validated while typing", () =>
      edit(async (_page, { panel, field, save }, { id }) => {
        const rule = panel.getByText("Must have 1 to 128 characters, no comma and no control character.");
        const isOff = async () => (await save.getAttribute("aria-disabled")) === "true";
        await field.fill("x".repeat(129));
        await rule.waitFor();
        assert.equal(await field.getAttribute("aria-invalid"), "true");
        assert.ok(await isOff());
        await field.press("Enter");
        assert.equal(await panel.locator("li[data-invalid]").count(), 1);
        assert.equal(await field.getAttribute("aria-invalid"), "false", "the tag is invalid, not the field");
        await save.dispatchEvent("click");
        await panel.getByRole("button", { name: `Remove ${"x".repeat(129)}` }).click();
        await rule.waitFor({ state: "detached" });
        await field.fill("x".repeat(128));
        assert.equal(await isOff(), false);
        await field.fill(`${Array.from({ length: 49 }, (_, n) => `t${n}`).join()},`);
        await panel.getByText("Has 51 items, but at most 50 are allowed.").waitFor();
        assert.ok(await isOff());
        assert.equal(await panel.getByRole("list", { name: "Tags" }).getByRole("listitem").count(), 51);
        assert.deepEqual(await tagsOf(caller(), id), ["one", "two"], "nothing was sent");
        await panel.getByRole("button", { name: "Discard changes" }).click();
      }),
    );

    proof("are discarded only after confirmation", () =>
      edit(async (page, { panel, field, expectChips, closed }, { id }) => {
        const question = page.getByRole("alertdialog", { name: "Discard your changes?" });
        await field.fill("draft");
        for (const leave of [
          () => page.keyboard.press("Escape"),
          () => page.mouse.click(20, 400),
          () => page.goBack(),
          () => panel.getByRole("button", { name: "Close" }).click(),
        ]) {
          await leave();
          await question.waitFor();
          await question.getByRole("button", { name: "Keep editing" }).click();
          await question.waitFor({ state: "detached" });
          assert.equal(await field.inputValue(), "draft");
          assert.equal(addressParams(page).connection, id);
        }
        // The draft survives navigation.
        await panel.getByRole("link").first().click();
        await page.waitForURL("**/connectors/github");
        await page.goBack();
        assert.equal(await field.inputValue(), "draft");
        await page.keyboard.press("Escape");
        await expectAccessible(page, "the question");
        await question.getByRole("button", { name: "Discard changes" }).click();
        await closed();
        await page.locator("tbody a").click();
        await expectChips(["one", "two"]);
        assert.equal(await field.inputValue(), "");
      }),
    );

    test("are kept when saving fails", () =>
      edit(
        async (page, { panel, field, save, expectStatus }, { id }) => {
          await field.fill("kept");
          await page.route("**/v1/vault/connections/*", (route) => route.abort());
          await save.click();
          await panel
            .getByRole("alert")
            .filter({ hasText: "Your changes are still here, but not saved yet" })
            .waitFor();
          assert.equal(await field.inputValue(), "kept");
          await page.unroute("**/v1/vault/connections/*");
          await save.click();
          await expectStatus("Saved.");
          assert.deepEqual(await tagsOf(caller(), id), ["one", "two", "kept"]);
        },
        { expects: ["ERR_FAILED"] },
      ));
  });

  describe("conflicting tag edits", () => {
    /** Creates a conflict: theirs are `two, theirs`, mine `one, two, mine`. */
    const conflict = (use, options) =>
      edit(
        async (page, parts, connection) => {
          await patch(connection.id, ["two", "theirs"]);
          await parts.field.fill("mine");
          await parts.save.click();
          await page.getByRole("heading", { name: "Someone else has changed these tags" }).waitFor();
          const side = (name) => page.getByRole("region", { name }).getByRole("listitem").allInnerTexts();
          const words = (texts) => texts.map((text) => text.replace(/\s+/g, " "));
          assert.deepEqual(words(await side("Theirs, saved")), ["two", "theirs added", "one removed"]);
          assert.deepEqual(words(await side("Yours, not saved")), ["one", "two", "mine added"]);
          assert.deepEqual(words(await side("Merged")), ["two", "theirs", "mine"]);
          await expectFocus(page.getByRole("heading", { name: "Someone else has changed these tags" }));
          await use(page, parts, connection);
        },
        { expects: [412], ...options },
      );

    for (const [button, tags, message] of [
      ["Keep theirs", ["two", "theirs"], "Your changes are discarded."],
      ["Save mine", ["one", "two", "mine"], "Saved."],
      // The merge does not restore tags that they removed.
      ["Save merged", ["two", "theirs", "mine"], "Saved."],
    ]) {
      (button === "Save merged" ? test : proof)(`show both versions, and save the choice: ${button}`, () =>
        conflict(async (page, { expectChips, expectStatus, closed }, { id }) => {
          await page.getByRole("button", { name: button }).click();
          await expectStatus(message);
          await expectChips(tags);
          assert.deepEqual(await tagsOf(caller(), id), tags);
          await page.keyboard.press("Escape");
          await closed();
        }),
      );
    }

    proof("are accessible, and show the newest version after a third edit", () =>
      conflict(async (page, { expectStatus }, { id }) => {
        await expectAccessibleEverywhere(page, "both versions", { others: [390] });
        await patch(id, ["third"]);
        await page.getByRole("button", { name: "Save merged" }).click();
        await page.getByRole("region", { name: "Theirs, saved" }).getByText("third").waitFor();
        await page.getByRole("button", { name: "Save merged" }).click();
        await expectStatus("Saved.");
        // My edit is now the previous merge, and their new edit removed every tag except `mine`.
        assert.deepEqual(await tagsOf(caller(), id), ["third", "mine"]);
      }),
    );

    proof("are merged silently when both made the same change", () =>
      edit(
        async (_page, { field, save, expectStatus }, { id }) => {
          await patch(id, ["one", "two", "same"]);
          await field.fill("same");
          await save.click();
          await expectStatus("Saved.");
          assert.deepEqual(await tagsOf(caller(), id), ["one", "two", "same"]);
        },
        { expects: [412] },
      ),
    );

    proof("report that the connection was deleted", () =>
      edit(
        async (page, { panel, field, save, closed }, { id }) => {
          await caller().remove(id);
          await field.fill("late");
          await save.click();
          await panel.getByText("This connection was deleted").waitFor();
          await panel.getByRole("button", { name: "Back to the list" }).click();
          await closed();
          await page.getByText("No connections match").waitFor();
        },
        { expects: [404] },
      ),
    );
  });

  describe("deleting", () => {
    const question = (page) => page.getByRole("alertdialog", { name: "Delete this connection?" });
    const ask = async (page, { panel }) => {
      await panel.getByRole("button", { name: "Delete this connection…" }).click();
      await question(page).waitFor();
    };

    test("names the connection, and waits for confirmation", async () => {
      const connection = await edit(async (page, parts, { key, identity, id }) => {
        await ask(page, parts);
        // The platform's name comes from the catalog, which is loaded last.
        await question(page).getByText("GitHub", { exact: true }).waitFor();
        for (const part of [identity, key]) assert.ok((await question(page).innerText()).includes(part), part);
        await expectAccessibleEverywhere(page, "the question");
        for (const leave of [
          () => page.keyboard.press("Escape"),
          () => question(page).getByRole("button", { name: "Keep it" }).click(),
        ]) {
          await leave();
          await question(page).waitFor({ state: "detached" });
          assert.equal((await caller().read(id)).status, 200);
          await ask(page, parts);
        }
        await question(page).getByRole("button", { name: "Delete connection" }).click();
        await parts.closed();
        await page
          .getByRole("status")
          .filter({ hasText: `The connection of ${identity} to GitHub was deleted.` })
          .waitFor();
        await page.getByText("No connections match").waitFor();
        assert.equal(addressParams(page).connection, undefined);
        await expectFocus(page.locator("h1"));
      });
      assert.equal((await caller().read(connection.id)).status, 404);
    });

    proof("a deleted connection succeeds", () =>
      edit(
        async (page, parts, { id }) => {
          await caller().remove(id);
          await ask(page, parts);
          await question(page).getByRole("button", { name: "Delete connection" }).click();
          await page.getByRole("status").filter({ hasText: "was already deleted" }).waitFor();
          await parts.closed();
        },
        { expects: [404] },
      ),
    );

    proof("reports a failure, and can be retried", () =>
      edit(
        async (page, parts, { id }) => {
          await ask(page, parts);
          await page.route("**/v1/vault/connections/*", (route) => route.abort());
          await question(page).getByRole("button", { name: "Delete connection" }).click();
          await question(page).getByRole("alert").filter({ hasText: "The service can't be reached." }).waitFor();
          await page.unroute("**/v1/vault/connections/*");
          await question(page).getByRole("button", { name: "Delete connection" }).click();
          await parts.closed();
          assert.equal((await caller().read(id)).status, 404);
        },
        { expects: ["ERR_FAILED"] },
      ),
    );

    proof("keeps the rest of the list", async () => {
      const rest = await newConnection(caller(), { name: "the rest" });
      const deleted = await newConnection(caller(), { name: "the rest" });
      await visit(`${PATH}?name=the%20rest`, async (page) => {
        await page.locator(`a[data-connection="${deleted.id}"]`).click();
        const parts = panelHelpers(page);
        await parts.opened();
        await ask(page, parts);
        await question(page).getByRole("button", { name: "Delete connection" }).click();
        await parts.closed();
        await page.getByText("1 connection", { exact: true }).waitFor();
        assert.deepEqual(await shownRows(page), [rest.id]);
      });
    });
  });
}
