// What the view of connections does when the key, the service or the network fails.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { PATH, answered, asked, at, expectRows, newConnection, panelOf, tagsOf } from "../support/console-connections.mjs";
import { expectAccessible } from "../support/console.mjs";

const VAULT = "**/v1/vault/**";

export function consoleFailures(world) {
  const visit = (...given) => world.console.visit(...given);
  const caller = () => world.console.caller();
  const signIn = async (page, { secret }) => {
    await page.getByLabel("API key").fill(secret);
    await page.getByRole("button", { name: "Sign in" }).click();
  };

  describe("when something fails", () => {
    test("an expired key brings one to the sign-in, and back to the panel with what was typed", async () => {
      const { keys } = world.console;
      const doomed = await world.console.newKey({});
      const connection = await newConnection(caller());
      await visit(`${PATH}?platform=github&connection=${connection.id}`, async (page) => {
        const { field, save, opened, chips, said } = panelOf(page);
        await opened();
        const address = page.url();
        await field.fill("typed,");
        await world.console.expire(doomed);
        await save.click();
        await page.getByText("Your key has expired or was revoked.").waitFor();
        assert.equal(page.url(), address);
        assert.equal(await page.evaluate(() => sessionStorage.getItem("connector-vault.secret")), null);
        await expectAccessible(page, "sign-in");
        await signIn(page, keys.full);
        await opened();
        assert.equal(page.url(), address);
        assert.deepEqual(await chips(), ["one", "two", "typed"]);
        await save.click();
        await said("Saved.");
        assert.deepEqual(await tagsOf(caller(), connection.id), ["one", "two", "typed"]);
      }, { as: doomed, expects: [401] });
    });

    test("an expired key does not take what was filled in; another account's does", async () => {
      const doomed = await world.console.newKey({});
      const other = await world.console.newKey({ account: "others" });
      await visit(`${PATH}?new=1`, async (page) => {
        const form = page.getByRole("dialog", { name: "New connection" });
        const identity = form.getByLabel("Identity", { exact: true });
        await form.getByLabel("Platform", { exact: true }).fill("github");
        await identity.fill("half done");
        await form.getByRole("button", { name: "Continue" }).click();
        await world.console.expire(doomed);
        await page.getByRole("button", { name: "Create connection" }).click();
        await signIn(page, world.console.keys.full);
        assert.equal(await identity.inputValue(), "half done");
        await page.keyboard.press("Escape");
        await page.getByRole("button", { name: "Sign out" }).click();
        await signIn(page, other);
        await page.getByRole("button", { name: "New connection" }).click();
        assert.equal(await identity.inputValue(), "");
      }, { as: doomed, expects: [401] });
    });

    test("an expired key brings one back to the page of the list", async () => {
      const doomed = await world.console.newKey({});
      const [first, second] = [await answered(caller()), await answered(caller(), { page: 2 })];
      await visit(PATH, async (page) => {
        await expectRows(page, first.ids);
        await world.console.expire(doomed);
        await page.getByRole("link", { name: "Next" }).click();
        await page.getByText("Your key has expired or was revoked.").waitFor();
        await signIn(page, world.console.keys.full);
        // The cursor was the other key's; the number of the page holds.
        await expectRows(page, second.ids);
        assert.equal(asked(page).page, "2");
      }, { as: doomed, expects: [401, 400] });
    });

    test("a list that can't be read says why, and can be asked for again", async () => {
      const { ids } = await answered(caller(), { platform: "github" });
      await visit(PATH, async (page) => {
        await page.locator("tbody tr").first().waitFor();
        await page.route(VAULT, (route) => route.abort());
        await page.getByLabel("Platform", { exact: true }).fill("github");
        await page.getByText("The service can't be reached").waitFor();
        assert.equal(await page.locator("tbody tr").count(), 0, "what is not known to be true is not shown");
        await expectAccessible(page, "a failure");
        await page.unroute(VAULT);
        await page.getByRole("button", { name: "Try again" }).click();
        await expectRows(page, ids);
      }, { expects: ["ERR_FAILED"] });
    });

    test("a panel that can't be read says why, and can be asked for again", async () => {
      const { id, identity } = await newConnection(caller(), { active: false });
      await visit(PATH, async (page) => {
        await page.locator("tbody tr").first().waitFor();
        await page.route(VAULT, (route) => route.abort());
        await page.evaluate((href) => history.pushState(null, "", href), at(id));
        const { panel, opened } = panelOf(page);
        await panel.getByText("The service can't be reached").waitFor();
        await page.unroute(VAULT);
        await panel.getByRole("button", { name: "Try again" }).click();
        await opened();
        await page.getByRole("dialog", { name: identity }).waitFor();
      }, { expects: ["ERR_FAILED"] });
    });

    test("a service that fails names the request", () =>
      visit(PATH, async (page) => {
        await page.locator("tbody tr").first().waitFor();
        const problem = { type: "about:blank", title: "Temporarily unavailable", status: 503, detail: "Storage can't be reached.", code: "unavailable", requestId: "0b9af7c6-0000-4000-8000-000000000000" };
        await page.route(VAULT, (route) => route.fulfill({ status: 503, contentType: "application/problem+json", headers: { "x-request-id": problem.requestId, "retry-after": "0" }, body: JSON.stringify(problem) }));
        await page.getByLabel("Identity type", { exact: true }).selectOption("team");
        await page.getByText("The service has a problem").waitFor();
        await page.getByText(problem.requestId).waitFor();
        await page.unroute(VAULT);
      }, { expects: [503] }));

    test("without a network it says so, keeps what is there, and goes on afterwards", async () => {
      const { ids } = await answered(caller(), { platform: "github" });
      const connection = await newConnection(caller());
      await visit(at(connection.id), async (page) => {
        const { panel, field, save, opened, closed, said } = panelOf(page);
        await opened();
        await page.context().setOffline(true);
        await page.getByText("You are offline.").first().waitFor();
        await field.fill("later");
        await save.click();
        await panel.getByRole("alert").filter({ hasText: "You are offline." }).waitFor();
        assert.equal(await field.inputValue(), "later");
        await page.context().setOffline(false);
        await save.click();
        await said("Saved.");
        assert.deepEqual(await tagsOf(caller(), connection.id), ["one", "two", "later"]);
        await page.keyboard.press("Escape");
        await closed();
        await page.getByText("You are offline.").waitFor({ state: "detached" });
        await page.getByLabel("Platform", { exact: true }).fill("github");
        await expectRows(page, [connection.id, ...ids].slice(0, 25));
      }, { expects: ["ERR_INTERNET_DISCONNECTED"] });
    });

    test("a key that may not read connections is told so", () =>
      visit(PATH, async (page) => {
        await page.getByText("This key is not allowed to see this").waitFor();
        await page.getByText("Your key may neither read nor change connections.").waitFor();
        assert.equal(await page.locator("table").count(), 0);
      }, { as: world.console.keys.catalogOnly, expects: [403] }));

    test("a vault without connections says that it is empty", async () => {
      const fresh = await world.console.newKey({ account: "nobody-yet" });
      await visit(PATH, async (page) => {
        await page.getByText("Nobody is connected yet").waitFor();
        await page.getByText("0 connections", { exact: true }).waitFor();
        await expectAccessible(page, "empty");
      }, { as: fresh });
    });

    test("what is waited for is said to be on its way", async () => {
      const { ids } = await answered(caller());
      await visit("/", async (page) => {
        await page.locator("h1").waitFor();
        const { promise, resolve } = Promise.withResolvers();
        await page.route(VAULT, async (route) => {
          await promise;
          await route.continue();
        });
        await page.getByRole("link", { name: "Connections", exact: true }).click();
        await page.getByText("Loading connections…").waitFor({ state: "attached" });
        await expectAccessible(page, "loading");
        resolve();
        await expectRows(page, ids);
      });
    });
  });
}
