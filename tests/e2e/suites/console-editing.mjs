// Editing a connection's state and name in its panel, including concurrent edits.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { PATH, at, newConnection, panelHelpers } from "../support/console-connections.mjs";
import { expectAccessible, expectAccessibleEverywhere } from "../support/console.mjs";
import { proof } from "../support/proof.mjs";

export function consoleEditing(fixture) {
  const visit = (...args) => fixture.console.visit(...args);
  const caller = () => fixture.console.caller();
  const readConnection = async (id) => (await caller().read(id)).json;
  /** Opens the panel of a new connection, and the form for one property. */
  async function change(what, use, { connection: more = {}, ...options } = {}) {
    const connection = await newConnection(caller(), {
      name: `edited ${Math.random()}`,
      state: "operational",
      ...more,
    });
    await visit(
      `${PATH}?name=${encodeURIComponent(connection.name)}`,
      async (page) => {
        await page.locator(`a[data-connection="${connection.id}"]`).click();
        const { panel, ...parts } = panelHelpers(page);
        await parts.opened();
        const button = panel.getByRole("button", { name: `Change the ${what}` });
        await button.click();
        const form = panel.getByRole("form", { name: `Change the ${what}` });
        const save = form.getByRole("button", { name: `Save ${what}` });
        await use(
          page,
          { ...parts, panel, form, save, button, field: (name) => form.getByLabel(name, { exact: true }) },
          connection,
        );
      },
      options,
    );
  }

  describe("the name and the state", () => {
    test("are shown with a button to change them, also by keyboard", () =>
      change("name", async (page, { field, save, expectStatus, button, panel }, { id }) => {
        await page.waitForFunction(() => document.activeElement?.tagName === "INPUT");
        assert.equal(await save.getAttribute("aria-disabled"), "true", "nothing is changed yet");
        await page.keyboard.press("End");
        await page.keyboard.type(" and more");
        await page.keyboard.press("Enter");
        await expectStatus("Saved.");
        const { name } = await readConnection(id);
        assert.match(name, /^edited .* and more$/);
        await panel.getByText(name, { exact: true }).waitFor();
        await page.waitForFunction(() => document.activeElement?.textContent === "Change the name");
        await button.click();
        await field("Name").fill("");
        await save.click();
        await button.waitFor();
        await panel.getByText("none", { exact: true }).waitFor();
        assert.equal((await readConnection(id)).name, null, "an empty name is stored as null");
      }));

    proof("are validated while typing", () =>
      change("name", async (_page, { form, field, save }, { id, name }) => {
        await field("Name").fill("n".repeat(129));
        await form.locator(".field-error").waitFor();
        assert.equal(await save.getAttribute("aria-disabled"), "true");
        await save.dispatchEvent("click");
        await form.getByRole("button", { name: "Cancel" }).click();
        assert.equal((await readConnection(id)).name, name);
      }),
    );

    test("make a failed connection inactive, and active again once it works", () =>
      change("state", async (page, { panel, form, field, save, expectStatus, button }, { id }) => {
        await field("State").selectOption("failed");
        assert.equal(await field("Active").isChecked(), false);
        await expectAccessibleEverywhere(page, "a state that is changed", { parts: [panel], others: [390] });
        await field("Reason (optional)").fill("Revoked by the user");
        const sent = page.waitForRequest((request) => request.method() === "PUT");
        await save.click();
        assert.deepEqual((await sent).postDataJSON(), {
          state: "failed",
          active: false,
          reason: "Revoked by the user",
        });
        assert.ok((await sent).headers()["if-match"], "the request names the version that the user saw");
        await expectStatus("Saved.");
        await panel.getByText("Inactive", { exact: true }).waitFor();
        assert.deepEqual([(await readConnection(id)).state, (await readConnection(id)).active], ["failed", false]);
        await button.click();
        await field("State").selectOption("operational");
        assert.equal(await field("Active").isChecked(), true);
        await save.click();
        // The form also shows the meaning of the selected state, so wait until the form is closed.
        await form.waitFor({ state: "detached" });
        await panel.getByText("Healthy and working").waitFor();
        assert.deepEqual([(await readConnection(id)).state, (await readConnection(id)).active], ["operational", true]);
      }));

    proof("are discarded only after confirmation", () =>
      change("name", async (page, { form, field, closed, panel }) => {
        await field("Name").fill("half done");
        await page.keyboard.press("Escape");
        await page
          .getByRole("alertdialog", { name: "Discard your changes?" })
          .getByRole("button", { name: "Keep editing" })
          .click();
        assert.equal(await field("Name").inputValue(), "half done");
        await panel.getByRole("link").first().click();
        await page.waitForURL("**/connectors/github");
        await page.goBack();
        assert.equal(await field("Name").inputValue(), "half done");
        await form.getByRole("button", { name: "Cancel" }).click();
        await page.keyboard.press("Escape");
        await closed();
      }),
    );

    proof("are kept when saving fails", () =>
      change(
        "name",
        async (page, { form, field, save, expectStatus }, { id }) => {
          await field("Name").fill("kept");
          await page.route("**/v1/vault/connections/*/name", (route) => route.abort());
          await save.click();
          await form.getByRole("alert").filter({ hasText: "still here, but not saved yet" }).waitFor();
          await page.unroute("**/v1/vault/connections/*/name");
          await save.click();
          await expectStatus("Saved.");
          assert.equal((await readConnection(id)).name, "kept");
        },
        { expects: ["ERR_FAILED"] },
      ),
    );
  });

  describe("concurrent edits of a connection", () => {
    test("are merged silently when they changed different properties", () =>
      change(
        "name",
        async (_page, { field, save, expectStatus }, { id }) => {
          await caller().setState(id, { state: "degraded" });
          await caller().patch(id, { tags: ["theirs"] });
          await field("Name").fill("mine");
          await save.click();
          await expectStatus("Saved.");
          const { name, state, tags } = await readConnection(id);
          assert.deepEqual({ name, state, tags }, { name: "mine", state: "degraded", tags: ["theirs"] });
        },
        { expects: [412] },
      ));

    proof("are merged silently when they changed different fields of the state", () =>
      change(
        "state",
        async (_page, { field, save, expectStatus }, { id }) => {
          await caller().setState(id, { state: "operational", active: false });
          await field("State").selectOption("degraded");
          await save.click();
          await expectStatus("Saved.");
          const { state, active } = await readConnection(id);
          assert.deepEqual({ state, active }, { state: "degraded", active: false });
        },
        { expects: [412] },
      ),
    );

    proof("are merged silently when one changed tags and the other the name", async () => {
      const { id } = await newConnection(caller());
      await visit(
        at(id),
        async (page) => {
          const { field, save, expectStatus } = panelHelpers(page);
          await field.fill("three");
          await caller().setName(id, { name: "theirs" });
          await save.click();
          await expectStatus("Saved.");
          const { name, tags } = await readConnection(id);
          assert.deepEqual({ name, tags }, { name: "theirs", tags: ["one", "two", "three"] });
        },
        { expects: [412] },
      );
    });

    for (const [button, name] of [
      ["Keep theirs", "theirs"],
      ["Save mine", "mine"],
    ]) {
      (button === "Save mine" ? test : proof)(`ask the user when both changed the same value: ${button}`, () =>
        change(
          "name",
          async (page, { panel, field, save, expectStatus, closed }, { id, name: before }) => {
            await caller().setName(id, { name: "theirs" });
            await field("Name").fill("mine");
            await save.click();
            const question = panel.getByRole("alert").filter({ hasText: "Someone else has changed the name." });
            await question.waitFor();
            for (const text of [before, "theirs", "mine"]) await question.getByText(text, { exact: true }).waitFor();
            await expectAccessible(page, "the question");
            assert.equal((await readConnection(id)).name, "theirs");
            await question.getByRole("button", { name: button }).click();
            await expectStatus(name === "mine" ? "Saved." : "Your change is discarded.");
            assert.equal((await readConnection(id)).name, name);
            await page.keyboard.press("Escape");
            await closed();
          },
          { expects: [412] },
        ),
      );
    }

    proof("are shown before the connection is deleted", async () => {
      const { id, identity } = await newConnection(caller());
      await visit(
        at(id),
        async (page) => {
          const { panel, opened, closed } = panelHelpers(page);
          await opened();
          await panel.getByRole("button", { name: "Delete this connection…" }).click();
          const question = page.getByRole("alertdialog", { name: "Delete this connection?" });
          await question.waitFor();
          await caller().setName(id, { name: "wanted after all" });
          await question.getByRole("button", { name: "Delete connection" }).click();
          await question
            .getByText("It was not deleted, because someone else has changed it. Its name is now: wanted after all.")
            .waitFor();
          await expectAccessible(page, "changed in the meantime");
          assert.equal((await caller().read(id)).status, 200);
          await question.getByRole("button", { name: "Delete connection" }).click();
          await closed();
          await page.getByText(`The connection of ${identity}`).waitFor();
          assert.equal((await caller().read(id)).status, 404);
        },
        { expects: [412, 404] },
      );
    });
  });
}
