// Users who press twice, leave before the response arrives, or sign out: late responses do no harm.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { describe, test } from "node:test";
import { PATH, at, choosePlatform, newConnection, panelHelpers, tagsOf } from "../support/console-connections.mjs";
import { proof } from "../support/proof.mjs";

/**
 * Holds requests of a method until `release()` is called, to respond as late as possible. `sent` counts them; `arrived()`
 * waits for the first. `before` runs for each at once, `instead` when it is released.
 */
async function holdRequests(page, method, instead = (route) => route.continue(), before = () => {}) {
  let release;
  const released = new Promise((resolve) => (release = resolve));
  let first;
  const arrival = new Promise((resolve) => (first = resolve));
  const held = { sent: 0, release, arrived: () => arrival };
  await page.route("**/v1/vault/connections**", async (route) => {
    if (route.request().method() !== method) return route.fallback();
    held.sent += 1;
    await before(route);
    first();
    await released;
    await instead(route);
  });
  return held;
}

export function consoleLateResponses(fixture) {
  const visit = (...args) => fixture.console.visit(...args);
  const caller = () => fixture.console.caller();
  /** Releases a held request, and returns the response's status once the page has rendered it. */
  const releaseAndRender = async (page, method, go) => {
    const responded = page.waitForResponse((response) => response.request().method() === method);
    go();
    const response = await responded;
    await response.finished();
    await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve))));
    return response.status();
  };
  const confirmation = (page, name) => page.getByRole("alertdialog", { name });

  const form = (page) => page.getByRole("dialog", { name: "Add a record" });

  async function fillForm(page, identity) {
    await page.getByRole("button", { name: "Add a record" }).click();
    await choosePlatform(form(page), "github");
    await form(page).getByLabel("Identity", { exact: true }).fill(identity);
  }

  describe("impatient users", () => {
    proof("keep changes that they make during a save", async () => {
      const { id } = await newConnection(caller());
      await visit(at(id), async (page) => {
        const { panel, field, save, expectChips, expectStatus } = panelHelpers(page);
        const saving = await holdRequests(page, "PATCH");
        await field.fill("three,");
        await save.dblclick();
        await saving.arrived();
        // A running request can't be cancelled.
        await panel.getByRole("button", { name: "Discard changes", disabled: true }).waitFor();
        await field.fill("four,");
        await field.fill("fi");
        saving.release();
        await expectStatus("Saved.");
        assert.equal(saving.sent, 1);
        assert.deepEqual(await tagsOf(caller(), id), ["one", "two", "three"]);
        await expectChips(["one", "two", "three", "four"]);
        assert.equal(await field.inputValue(), "fi");
        await save.click();
        await panel.getByRole("button", { name: "Discard changes" }).waitFor({ state: "detached" });
        assert.deepEqual(await tagsOf(caller(), id), ["one", "two", "three", "four", "fi"]);
      });
    });

    proof("see the saved values, not an older response that arrives later", async () => {
      const { id } = await newConnection(caller());
      await visit(PATH, async (page) => {
        const { field, save, expectChips, expectStatus, opened } = panelHelpers(page);
        const row = page.locator(`a[data-connection="${id}"]`);
        await row.waitFor();
        // The responses from before the save, which are sent after it.
        const responses = new Map();
        const fulfillLate = (route) => route.fulfill({ response: responses.get(route) }).catch(() => {});
        const reading = await holdRequests(page, "GET", fulfillLate, async (route) =>
          responses.set(route, await route.fetch()),
        );
        // After a minute, the row in the list is stale, so the panel requests the connection again.
        await page.clock.install();
        await page.clock.fastForward(60_000);
        await row.click();
        await opened();
        await reading.arrived();
        await field.fill("three,");
        await save.click();
        await expectStatus("Saved.");
        reading.release();
        await page.evaluate(() => fetch("/health").then((response) => response.text()));
        await expectChips(["one", "two", "three"]);
        await field.fill("four,");
        await save.click();
        await page.getByRole("button", { name: "Discard changes" }).waitFor({ state: "detached" });
        assert.deepEqual(await tagsOf(caller(), id), ["one", "two", "three", "four"]);
      });
    });

    test("create once, and are not redirected after leaving", async () => {
      const identity = `hasty-${randomUUID()}`;
      await visit(PATH, async (page) => {
        await fillForm(page, identity);
        const creating = await holdRequests(page, "POST");
        await form(page).getByRole("button", { name: "Create connection" }).dblclick();
        await creating.arrived();
        // Closing would suggest that nothing is created.
        await page.keyboard.press("Escape");
        await form(page).getByRole("button", { name: "Creating…" }).waitFor();
        await page.goBack();
        await page.getByRole("link", { name: "Connectors", exact: true }).click();
        assert.equal(await releaseAndRender(page, "POST", creating.release), 201);
        await page.getByRole("list", { name: "Connectors" }).waitFor();
        assert.equal(new URL(page.url()).pathname, "/connectors");
        assert.equal(creating.sent, 1);
      });
      assert.equal((await caller().list({ identity })).json.total, 1);
    });

    proof("delete once, and keep another connection's panel open", async () => {
      const name = `hasty ${randomUUID()}`;
      const [first, second] = [await newConnection(caller(), { name }), await newConnection(caller(), { name })];
      await visit(`${PATH}?name=${encodeURIComponent(name)}`, async (page) => {
        const { panel, opened, closed } = panelHelpers(page);
        await page.locator(`a[data-connection="${first.id}"]`).click();
        await opened();
        await panel.getByRole("button", { name: "Delete this connection…" }).click();
        const deleting = await holdRequests(page, "DELETE");
        await confirmation(page, "Delete this connection?")
          .getByRole("button", { name: "Delete connection" })
          .dblclick();
        await deleting.arrived();
        await page.keyboard.press("Escape");
        await confirmation(page, "Delete this connection?").getByRole("button", { name: "Deleting…" }).waitFor();
        await page.goBack();
        await closed();
        await page.locator(`a[data-connection="${second.id}"]`).click();
        await opened();
        assert.equal(await releaseAndRender(page, "DELETE", deleting.release), 204);
        await page.locator(`a[data-connection="${first.id}"]`).waitFor({ state: "detached" });
        assert.equal(deleting.sent, 1);
        assert.ok(page.url().includes(second.id));
        await panel.getByText(second.identity).first().waitFor();
      });
    });

    proof("stay signed in when the previous key is rejected late", async () => {
      const { id } = await newConnection(caller());
      await visit(
        at(id),
        async (page) => {
          const { field, save, opened } = panelHelpers(page);
          const body = JSON.stringify({
            type: "about:blank",
            title: "Invalid key",
            status: 401,
            detail: "It is not valid.",
            code: "invalid_key",
            requestId: "r",
          });
          const saving = await holdRequests(page, "PATCH", (route) =>
            route.fulfill({ status: 401, contentType: "application/problem+json", body }),
          );
          await opened();
          await field.fill("three,");
          await save.click();
          await saving.arrived();
          // Clicks by script, because the open panel covers the button.
          await page
            .getByRole("button", { name: "Sign out", includeHidden: true })
            .evaluate((button) => button.click());
          await page.getByLabel("API key").fill(fixture.console.keys.full.secret);
          await page.getByRole("button", { name: "Sign in" }).click();
          await opened();
          assert.equal(await releaseAndRender(page, "PATCH", saving.release), 401);
          assert.equal(await page.getByLabel("API key").count(), 0);
          assert.equal(
            await page.evaluate(() => sessionStorage.getItem("connector-vault.secret")),
            fixture.console.keys.full.secret,
          );
        },
        { expects: [401] },
      );
    });

    test("leave no input behind when they sign out", async () => {
      const { id } = await newConnection(caller());
      await visit(at(id), async (page) => {
        const { field, expectChips, opened, panel } = panelHelpers(page);
        await opened();
        await field.fill("secret project,");
        await page.getByRole("button", { name: "Sign out", includeHidden: true }).evaluate((button) => button.click());
        await page.getByLabel("API key").fill(fixture.console.keys.full.secret);
        await page.getByRole("button", { name: "Sign in" }).click();
        await opened();
        await expectChips(["one", "two"]);
        assert.equal(await panel.getByRole("button", { name: "Discard changes" }).count(), 0);
      });
    });

    proof("remove one tag per press of Backspace, however long it is held", async () => {
      const { id } = await newConnection(caller());
      await visit(at(id), async (page) => {
        const { field, expectChips, opened } = panelHelpers(page);
        await opened();
        await field.fill("xy");
        for (let times = 0; times < 6; times += 1) await page.keyboard.down("Backspace");
        await page.keyboard.up("Backspace");
        assert.equal(await field.inputValue(), "");
        await expectChips(["one", "two"]);
        await page.keyboard.press("Backspace");
        await expectChips(["one"]);
      });
    });
  });
}
