// How the list of connections handles failures of the key, the service and the network.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  PATH,
  fetchExpected,
  addressParams,
  at,
  choosePlatform,
  expectRows,
  newConnection,
  panelHelpers,
  tagsOf,
} from "../support/console-connections.mjs";
import { expectAccessible, readCopied } from "../support/console.mjs";
import { signIn } from "../support/console-session.mjs";
import { proof } from "../support/proof.mjs";

const VAULT = "**/v1/vault/**";

export function consoleFailures(fixture) {
  const visit = (...args) => fixture.console.visit(...args);
  const caller = () => fixture.console.caller();

  describe("failures", () => {
    test("an expired key leads to sign-in, and then back to the panel with the unsaved input", async () => {
      const { keys } = fixture.console;
      const expiringKey = await fixture.console.newKey({});
      const connection = await newConnection(caller());
      await visit(
        `${PATH}/${connection.id}?platform=github`,
        async (page) => {
          const { field, save, opened, expectChips, expectStatus } = panelHelpers(page);
          await opened();
          const address = page.url();
          await field.fill("typed,");
          await fixture.console.expire(expiringKey, page);
          await save.click();
          await page.getByText("Your key has expired or was revoked.").waitFor();
          assert.equal(page.url(), address);
          assert.equal(await page.evaluate(() => sessionStorage.getItem("connector-vault.secret")), null);
          await expectAccessible(page, "sign-in");
          await signIn(page, keys.full);
          await opened();
          assert.equal(page.url(), address);
          await expectChips(["one", "two", "typed"]);
          await save.click();
          await expectStatus("Saved.");
          assert.deepEqual(await tagsOf(caller(), connection.id), ["one", "two", "typed"]);
        },
        { as: expiringKey, expects: [401] },
      );
    });

    proof("an expired key keeps a form's input, unless another account signs in", async () => {
      const expiringKey = await fixture.console.newKey({});
      const other = await fixture.console.newKey({ account: "others" });
      await visit(
        `${PATH}?new=1`,
        async (page) => {
          const form = page.getByRole("dialog", { name: "Add a record" });
          const identity = form.getByLabel("Identity", { exact: true });
          await choosePlatform(form, "github");
          await identity.fill("half done");
          await fixture.console.expire(expiringKey, page);
          await form.getByRole("button", { name: "Create connection" }).click();
          await signIn(page, fixture.console.keys.full);
          assert.equal(await identity.inputValue(), "half done");
          await page.keyboard.press("Escape");
          await page.getByRole("button", { name: "Sign out" }).click();
          await signIn(page, other);
          await page.getByRole("button", { name: "Add a record" }).click();
          assert.equal(await identity.inputValue(), "");
        },
        { as: expiringKey, expects: [401] },
      );
    });

    proof("an expired key leads to sign-in, and then back to the page of the list", async () => {
      const expiringKey = await fixture.console.newKey({});
      const [first, second] = [await fetchExpected(caller()), await fetchExpected(caller(), { page: 2 })];
      await visit(
        PATH,
        async (page) => {
          await expectRows(page, first.ids);
          await fixture.console.expire(expiringKey, page);
          await page.getByRole("link", { name: "Next" }).click();
          await page.getByText("Your key has expired or was revoked.").waitFor();
          await signIn(page, fixture.console.keys.full);
          // The cursor belonged to the other key, but the page number still works.
          await expectRows(page, second.ids);
          assert.equal(addressParams(page).page, "2");
        },
        { as: expiringKey, expects: [401, 400] },
      );
    });

    test("a list that can't be loaded shows why, and can be retried", async () => {
      const { ids } = await fetchExpected(caller(), { platform: "github" });
      await visit(
        PATH,
        async (page) => {
          await page.locator("tbody tr").first().waitFor();
          await page.route(VAULT, (route) => route.abort());
          await choosePlatform(page, "github");
          await page.getByText("The service can't be reached").waitFor();
          assert.equal(await page.locator("tbody tr").count(), 0, "no stale rows are shown");
          await expectAccessible(page, "a failure");
          await page.unroute(VAULT);
          await page.getByRole("button", { name: "Try again" }).click();
          await expectRows(page, ids);
        },
        { expects: ["ERR_FAILED"] },
      );
    });

    proof("a panel that can't be loaded shows why, and can be retried", async () => {
      const { id, identity } = await newConnection(caller(), { active: false });
      await visit(
        PATH,
        async (page) => {
          await page.locator("tbody tr").first().waitFor();
          await page.route(VAULT, (route) => route.abort());
          await page.evaluate((href) => history.pushState(null, "", href), at(id));
          const { panel, opened } = panelHelpers(page);
          await panel.getByText("The service can't be reached").waitFor();
          await page.unroute(VAULT);
          await panel.getByRole("button", { name: "Try again" }).click();
          await opened();
          await page.getByRole("dialog", { name: identity }).waitFor();
        },
        { expects: ["ERR_FAILED"] },
      );
    });

    proof("a failure of the service shows the request ID", () =>
      visit(
        PATH,
        async (page) => {
          await page.locator("tbody tr").first().waitFor();
          const problem = {
            type: "about:blank",
            title: "Temporarily unavailable",
            status: 503,
            detail: "Storage can't be reached.",
            code: "unavailable",
            requestId: "0b9af7c6-0000-4000-8000-000000000000",
          };
          await page.route(VAULT, (route) =>
            route.fulfill({
              status: 503,
              contentType: "application/problem+json",
              headers: { "x-request-id": problem.requestId, "retry-after": "0" },
              body: JSON.stringify(problem),
            }),
          );
          await page.getByLabel("Identity type", { exact: true }).selectOption("team");
          await page.getByText("The service has a problem").waitFor();
          await page.getByText(problem.requestId).waitFor();
          await page.unroute(VAULT);
        },
        { expects: [503] },
      ),
    );

    proof("a view that can't be rendered shows what to do, inside the frame", async () => {
      const {
        rows: [row],
      } = await fetchExpected(caller());
      await visit("/connectors", async (page) => {
        await page.getByRole("list", { name: "Connectors" }).waitFor();
        await page.route(VAULT, (route) =>
          route.fulfill({ json: { rows: [{ ...row, tags: null }], total: 1, pages: 1, page: 1 } }),
        );
        await page.getByRole("link", { name: "Connections", exact: true }).click();
        const failure = page.getByRole("alert").filter({ hasText: "This page can't be shown" });
        await failure.getByText("Reload the page. If it fails again, copy the details").waitFor();
        await expectAccessible(page, "a view that failed");
        await failure.getByRole("button", { name: "Copy the details" }).click();
        const details = await readCopied(failure);
        for (const part of ["Place: /connections", "TypeError", "Browser: "])
          assert.ok(details.includes(part), `${part} in ${details}`);
        assert.ok(!details.includes(fixture.console.keys.full.secret));
        // The failure must not affect other pages.
        await page.getByRole("link", { name: "Connectors", exact: true }).click();
        await page.getByRole("list", { name: "Connectors" }).waitFor();
        await page.goBack();
        await failure.waitFor();
        await page.unroute(VAULT);
        await failure.getByRole("button", { name: "Reload the page" }).click();
        await page.locator("tbody tr").first().waitFor();
      });
    });

    proof("a view that can't be rendered allows signing out", () =>
      visit("/connectors", async (page) => {
        await page.getByRole("list", { name: "Connectors" }).waitFor();
        await page.route(VAULT, (route) => route.fulfill({ json: { rows: [null], total: 1, pages: 1, page: 1 } }));
        await page.getByRole("link", { name: "Connections", exact: true }).click();
        await page.getByRole("alert").getByRole("button", { name: "Sign out" }).click();
        await page.getByLabel("API key").waitFor();
      }),
    );

    proof("a search that is too broad is explained, also next to its fields", async () => {
      const { ids } = await fetchExpected(caller());
      await visit(
        PATH,
        async (page) => {
          await expectRows(page, ids);
          const errors = [
            { parameter: "q", detail: "`q` matches about 377,808 connections; a longer text matches fewer" },
          ];
          const problem = {
            type: "about:blank",
            title: "Query too broad",
            status: 400,
            detail: "This list would read 377,808 rows; at most 100,000 are read.",
            code: "query_too_broad",
            requestId: "r",
            errors,
          };
          await page.route(VAULT, (route) =>
            route.fulfill({
              status: 400,
              contentType: "application/problem+json",
              headers: { "x-request-id": "r" },
              body: JSON.stringify(problem),
            }),
          );
          await page.getByLabel("Search", { exact: true }).fill("an");
          const alert = page.getByRole("alert");
          await alert.getByText("This search is too broad").waitFor();
          await alert.getByText("This list would read 377,808 rows; at most 100,000 are read.").waitFor();
          await alert.getByText("a longer text matches fewer").waitFor();
          assert.equal(await page.getByLabel("Search", { exact: true }).getAttribute("aria-invalid"), "true");
          assert.equal(await page.getByRole("button", { name: "Try again" }).count(), 0, "a retry would not help");
          await expectAccessible(page, "too broad");
          await page.unroute(VAULT);
          await page.getByRole("link", { name: "Clear filters" }).click();
          await expectRows(page, ids);
        },
        { expects: [400] },
      );
    });

    proof("a page number that is too far links to the first page", async () => {
      const { ids } = await fetchExpected(caller());
      await visit(
        `${PATH}?page=4000`,
        async (page) => {
          const problem = {
            type: "about:blank",
            title: "Query too broad",
            status: 400,
            detail: "This list would read about 100,000 rows.",
            code: "query_too_broad",
            requestId: "r",
            errors: [{ parameter: "page", detail: "`page` skips 100000 connections" }],
          };
          await page.route(VAULT, (route) =>
            route.request().url().includes("page=4000")
              ? route.fulfill({ status: 400, contentType: "application/problem+json", body: JSON.stringify(problem) })
              : route.continue(),
          );
          await page.reload();
          await page.getByText("This page is too far from the start").waitFor();
          await page.getByRole("link", { name: "Go to the first page" }).click();
          await expectRows(page, ids);
        },
        { expects: [400] },
      );
    });

    test("offline mode is announced, keeps the data, and recovers", async () => {
      const { ids } = await fetchExpected(caller(), { platform: "github" });
      const connection = await newConnection(caller());
      await visit(
        at(connection.id),
        async (page) => {
          const { panel, field, save, opened, closed, expectStatus } = panelHelpers(page);
          await opened();
          await page.context().setOffline(true);
          await page.getByText("You are offline.").first().waitFor();
          await field.fill("later");
          await save.click();
          await panel.getByRole("alert").filter({ hasText: "You are offline." }).waitFor();
          assert.equal(await field.inputValue(), "later");
          await page.context().setOffline(false);
          await save.click();
          await expectStatus("Saved.");
          assert.deepEqual(await tagsOf(caller(), connection.id), ["one", "two", "later"]);
          await page.keyboard.press("Escape");
          await closed();
          await page.getByText("You are offline.").waitFor({ state: "detached" });
          await choosePlatform(page, "github");
          await expectRows(page, [connection.id, ...ids].slice(0, 25));
        },
        { expects: ["ERR_INTERNET_DISCONNECTED"] },
      );
    });

    proof("a key that can't read connections gets an explanation", () =>
      visit(
        PATH,
        async (page) => {
          await page.getByText("Your key can't read connections").waitFor();
          await page.getByText("This page needs a key with the scope connections:read.").waitFor();
          // The explanation is shown once, without advice that would not help.
          assert.equal(await page.getByText("key").count(), 3);
          assert.equal(await page.locator("main :is(button, input, table, [role=alert])").count(), 0);
          await page.getByRole("link", { name: "the catalog of connectors" }).click();
          await page.getByRole("list", { name: "Connectors" }).waitFor();
        },
        { as: fixture.console.keys.catalogOnly },
      ),
    );

    proof("a key that can't read the catalog gets an explanation", async () => {
      const vaultOnly = await fixture.console.newKey({ scopes: "connections:read" });
      await visit(
        "/connectors",
        async (page) => {
          await page.getByText("Your key can't read the catalog").waitFor();
          await page.getByText("catalog:read").waitFor();
          assert.equal(await page.getByRole("list", { name: "Connectors" }).count(), 0);
          assert.equal(await page.locator("main :is(button, input, [role=alert])").count(), 0);
          await page.getByRole("link", { name: "the connections" }).click();
          await page.getByRole("heading", { level: 1, name: "Connections" }).waitFor();
        },
        { as: vaultOnly },
      );
    });

    proof("a vault without connections shows that it is empty", async () => {
      const fresh = await fixture.console.newKey({ account: "nobody-yet" });
      await visit(
        PATH,
        async (page) => {
          await page.getByText("No connections yet").waitFor();
          await page.getByText("0 connections", { exact: true }).waitFor();
          await expectAccessible(page, "empty");
        },
        { as: fresh },
      );
    });

    proof("loading is announced", async () => {
      const { ids } = await fetchExpected(caller());
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
