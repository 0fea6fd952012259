// The catalog's connectors: pages, search and cards.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { CONNECTORS, catalogHelpers } from "../support/console-catalog.mjs";
import { expectAccessible, expectAccessibleEverywhere, expectFocus, tabTo } from "../support/console.mjs";
import { proof } from "../support/proof.mjs";

/** @param {{ console: import("../support/console.mjs").Console }} fixture */
export function consoleConnectors(fixture) {
  const visit = (...args) => fixture.console.visit(...args);
  const { connectors, counted, expectCards, expectKnown, expectActions } = catalogHelpers(fixture);

  describe("the connectors", () => {
    test("lists connected platforms first, then enabled ones and families, then all others", () =>
      visit("/connectors", async (page) => {
        await expectKnown(page);
        const requested = [];
        page.on(
          "request",
          (request) => request.url().includes("/v1/") && requested.push(new URL(request.url()).pathname),
        );
        await page.reload();
        await expectKnown(page);
        assert.equal(await page.title(), "Connectors · connector-vault");
        // Requests that the page sends in addition to the catalog's: session, connected platforms, enabled platforms.
        assert.deepEqual(requested.sort(), [
          ...["/v1/available-connectors", "/v1/available-connectors", "/v1/vault/summary", "/v1/whoami"],
        ]);
        const { total } = (await fixture.console.caller().send("GET", "/v1/vault/summary")).json.platforms.find(
          ({ platform }) => platform === "github",
        );
        const first = page.getByRole("list", { name: "Connected" }).getByRole("listitem").first();
        await first.getByText(`${total} connections`).waitFor();
        await page.getByRole("link", { name: "All enabled connectors" }).click();
        await page.waitForURL("**/connectors?authkit=true");
        await expectCards(page, { authkit: "true" });
        await page.goBack();
        await page.getByRole("link", { name: "All platforms with connections" }).click();
        await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
      }));

    proof("shows the rest with a key that can't read connections", () =>
      visit(
        "/connectors",
        async (page) => {
          await page.getByRole("list", { name: "Families" }).waitFor();
          await page
            .getByRole("list", { name: "Enabled for hosted authorization" })
            .getByText("GitHub", { exact: true })
            .waitFor();
          assert.equal(await page.getByRole("heading", { name: "Connected" }).count(), 0);
        },
        { as: fixture.console.keys.catalogOnly },
      ),
    );

    proof("shows the rest when connections can't be loaded", () =>
      visit(
        "/connectors",
        async (page) => {
          await page.route("**/v1/vault/summary", (route) => route.fulfill({ status: 400, json: {} }));
          await page.reload();
          await page
            .getByRole("list", { name: "Enabled for hosted authorization" })
            .getByText("GitHub", { exact: true })
            .waitFor();
          assert.equal(await page.getByRole("heading", { name: "Connected" }).count(), 0);
        },
        { expects: [400] },
      ),
    );

    proof("shows no further connectors when all of a small catalog is connected", () =>
      visit("/connectors", async (page) => {
        const { rows } = (await fixture.console.caller().send("GET", "/v1/available-connectors?limit=2")).json;
        await page.route("**/v1/available-connectors?*", (route) =>
          route.fulfill({ json: { rows, total: 2, pages: 1, page: 1 } }),
        );
        await page.route("**/v1/vault/summary", async (route) => {
          const summary = await (await route.fetch()).json();
          const platforms = rows.map(({ platform }) => ({ platform, total: 1 }));
          await route.fulfill({ json: { ...summary, platforms } });
        });
        await page.reload();
        await page.getByRole("list", { name: "Connected" }).getByRole("listitem").nth(1).waitFor();
        assert.deepEqual(await page.getByRole("heading", { level: 2 }).allInnerTexts(), ["Connected"]);
      }),
    );

    proof("shows a family on its own page, with pages and a search", () =>
      visit("/connectors", async (page) => {
        const { googles } = await expectKnown(page);
        await page
          .getByRole("list", { name: "Families" })
          .getByRole("link", { name: /^Google/ })
          .click();
        await page.waitForURL("**/connectors?family=google");
        const heading = page.getByRole("heading", { level: 1, name: "Google" });
        await expectFocus(heading);
        await counted(page, googles, "connector");
        const cards = page.getByRole("list", { name: "Connectors", exact: true }).getByRole("listitem");
        assert.equal(await cards.count(), CONNECTORS);
        await expectAccessible(page);
        await page.getByRole("link", { name: "Next" }).click();
        await page.waitForURL("**/connectors?family=google&page=2");
        await page.getByText(`Page 2 of ${Math.ceil(googles / CONNECTORS)}`).waitFor();
        await page.getByRole("searchbox", { name: "Search Google" }).fill("calendar");
        await page.waitForURL("**/connectors?family=google&q=calendar");
        await cards.getByText("googleapis-calendar", { exact: true }).waitFor();
        await page.getByRole("searchbox", { name: "Search Google" }).fill("nothing-of-this-kind");
        await page.getByText("No connectors match").waitFor();
        await page.getByRole("link", { name: "Show all of them" }).click();
        await counted(page, googles, "connector");
        await page.goto(`${fixture.console.baseUrl}/connectors?family=google&page=99`);
        await page.getByRole("link", { name: "Go to the first page" }).click();
        await counted(page, googles, "connector");
        await page.getByRole("navigation", { name: "Breadcrumb" }).getByRole("link", { name: "Connectors" }).click();
        await expectKnown(page);
        await page.goto(`${fixture.console.baseUrl}/connectors?family=nobody`);
        await page.getByText("The catalog has no such connector family").waitFor();
        await page.getByRole("link", { name: "Show all connectors" }).click();
        await expectKnown(page);
      }),
    );

    test("lists matches page by page, forwards and back", () =>
      visit("/connectors?q=google", async (page) => {
        const { total } = await expectCards(page, { q: "google" });
        assert.ok(total > 3 * CONNECTORS);
        await page.getByRole("link", { name: "Next" }).click();
        await page.waitForURL("**/connectors?q=google&page=2");
        await page.getByText(`Page 2 of ${Math.ceil(total / CONNECTORS)}`).waitFor();
        await expectCards(page, { q: "google", page: 2 });
        await page.reload();
        await expectCards(page, { q: "google", page: 2 });
        await page.getByRole("link", { name: "Next" }).click();
        await page.getByText("Page 3 of").waitFor();
        await expectCards(page, { q: "google", page: 3 });
        await page.goBack();
        await page.getByText("Page 2 of").waitFor();
        await page.getByRole("link", { name: "Previous" }).click();
        await page.waitForURL("**/connectors?q=google");
        await expectCards(page, { q: "google" });
      }));

    proof("links to the first page from beyond the end", () =>
      visit("/connectors?q=google&page=4711", async (page) => {
        await page.getByText("This page does not exist").waitFor();
        await page.getByRole("link", { name: "Go to the first page" }).click();
        await expectCards(page, { q: "google" });
        await page.goto(`${fixture.console.baseUrl}/connectors?page=4711`);
        await page.getByText("This page does not exist").waitFor();
        await page.getByRole("link", { name: "Go to the first page" }).click();
        await expectKnown(page);
      }),
    );

    test("searches after a pause in typing, and cancels superseded requests", () =>
      visit("/connectors", async (page) => {
        await expectKnown(page);
        const requested = [];
        const ended = [];
        const isSearch = (url) => url.includes("available-connectors") && url.includes("q=");
        page.on(
          "request",
          (request) => isSearch(request.url()) && requested.push(new URL(request.url()).searchParams.get("q")),
        );
        page.on(
          "requestfailed",
          (request) => isSearch(request.url()) && ended.push(new URL(request.url()).searchParams.get("q")),
        );
        // Hold the first response until the second one has been sent.
        let release;
        const released = new Promise((done) => (release = done));
        await page.route(
          (url) => url.searchParams.get("q") === "goog",
          async (route) => {
            await released;
            await route.continue().catch(() => {});
          },
        );
        const search = page.getByRole("searchbox", { name: "Search" });
        const nextSearch = page.waitForRequest((request) => request.url().includes("q=goog"));
        await search.pressSequentially("goog");
        await nextSearch;
        await search.pressSequentially("le cloud");
        await expectCards(page, { q: "google cloud" });
        release();
        assert.deepEqual(requested, ["goog", "google cloud"]);
        assert.deepEqual(ended, ["goog"]);
        assert.match(page.url(), /\?q=google\+cloud$/);
        // Typing must not add entries to the history.
        await search.fill("");
        await expectKnown(page);
        assert.ok(!page.url().includes("?"));
      }));

    proof("also finds actions of all platforms, with links to their pages", () =>
      visit("/connectors?q=create+github+issue", async (page) => {
        const actionsRegion = page.getByRole("region", { name: "Actions" });
        const first = actionsRegion.getByRole("listitem").first();
        await first.getByText("GitHub", { exact: true }).waitFor();
        await first.getByText("POST").waitFor();
        await expectAccessible(page);
        await first.getByRole("link", { name: "Create an issue" }).click();
        await page.waitForURL("**/connectors/github/actions/issuesCreate");
        await page.goBack();
        await actionsRegion.waitFor();
        // Filters for connectors do not apply to actions.
        await page.getByRole("checkbox", { name: "Hosted authorization only" }).check();
        await actionsRegion.waitFor({ state: "detached" });
      }),
    );

    test("filters by category, shows the number of connectors, and keeps it in the address", () =>
      visit("/connectors?q=google", async (page) => {
        await expectCards(page, { q: "google" });
        const select = page.getByRole("combobox", { name: "Category" });
        const option = select.locator("option", { hasText: /^Analytics \(\d+\)$/ });
        await option.waitFor({ state: "attached" });
        const [expected] = (await option.textContent()).match(/\d+/);
        assert.equal(Number(expected), (await connectors({ category: "Analytics" })).total);
        await select.selectOption("Analytics");
        await page.waitForURL("**/connectors?q=google&category=Analytics");
        await expectCards(page, { q: "google", category: "Analytics" });
        await page.goBack();
        await page.waitForURL("**/connectors?q=google");
        await expectCards(page, { q: "google" });
        assert.equal(await select.inputValue(), "");
        await page.goForward();
        await expectCards(page, { q: "google", category: "Analytics" });
        await page.reload();
        await expectCards(page, { q: "google", category: "Analytics" });
        assert.equal(await page.getByRole("searchbox", { name: "Search" }).inputValue(), "google");
        assert.equal(await select.inputValue(), "Analytics");
      }));

    proof("filters by hosted authorization, and reports no matches", () =>
      visit("/connectors", async (page) => {
        await expectKnown(page);
        const { total } = await connectors({ authkit: "true" });
        await page.getByRole("checkbox", { name: "Hosted authorization only" }).check();
        await page.waitForURL("**/connectors?authkit=true");
        await counted(page, total, "connector");
        await page.goto(`${fixture.console.baseUrl}/connectors?q=nothing-of-this-kind`);
        await page.getByText("No connectors match").waitFor();
        await page.getByRole("link", { name: "Show all connectors" }).click();
        await expectKnown(page);
      }),
    );

    proof("shows each connector's details on a card that links to its page", () =>
      visit("/connectors?q=github", async (page) => {
        const { rows } = await expectCards(page, { q: "github" });
        for (const [index, row] of rows.entries()) {
          const text = await page
            .getByRole("list", { name: "Connectors" })
            .getByRole("listitem")
            .nth(index)
            .innerText();
          for (const expected of [row.name, row.platform, row.category, `${row.tools.toLocaleString("en")} action`])
            assert.ok(text.includes(expected), `${expected} in ${text}`);
          assert.equal(text.includes("OAuth"), row.oauth);
          assert.equal(/Beta|Alpha|Not available/.test(text), row.status !== "generally_available");
        }
        await page.getByRole("link", { name: /^GitHub/ }).click();
        await page.waitForURL("**/connectors/github");
        await page.getByRole("heading", { level: 1, name: "GitHub" }).waitFor();
        // The heading gets the focus, so that screen readers announce the new page.
        await expectFocus(page.getByRole("heading", { level: 1, name: "GitHub" }));
      }),
    );

    proof("shows a monogram instead of loading a logo from another host", () =>
      visit("/connectors?q=google&page=2", async (page) => {
        await expectCards(page, { q: "google", page: 2 });
        const { rows } = (await fixture.console.caller().send("GET", "/v1/available-connectors?q=google&limit=30"))
          .json;
        assert.ok(rows.some(({ image }) => image && !image.startsWith(fixture.console.baseUrl)));
        await page.locator(".monogram").first().waitFor();
        for (const image of await page.locator("img.logo").all())
          assert.equal(new URL(await image.evaluate((shown) => shown.src)).origin, fixture.console.baseUrl);
      }),
    );

    proof("reports that the service is unreachable, and retries", () =>
      visit(
        "/connectors?q=google",
        async (page) => {
          await expectCards(page, { q: "google" });
          await page.route("**/v1/**", (route) => route.abort("connectionrefused"));
          await page.getByRole("link", { name: "Next" }).click();
          const alert = page.getByRole("alert");
          await alert.getByText("The service can't be reached").waitFor();
          await page.unroute("**/v1/**");
          await alert.getByRole("button", { name: "Try again" }).click();
          await expectCards(page, { q: "google", page: 2 });
        },
        { expects: ["ERR_CONNECTION_REFUSED"] },
      ),
    );

    test("can be used by keyboard alone: search, a connector, its actions", () =>
      visit("/connectors", async (page) => {
        await expectKnown(page);
        await tabTo(page, page.getByRole("searchbox", { name: "Search" }));
        await page.keyboard.type("github");
        await expectCards(page, { q: "github" });
        await tabTo(page, page.getByRole("link", { name: /^GitHub/ }).first());
        await page.keyboard.press("Enter");
        await page.getByRole("heading", { level: 1, name: "GitHub" }).waitFor();
        await tabTo(page, page.getByRole("searchbox", { name: "Search actions" }));
        await page.keyboard.type("gist");
        await expectActions(page, { q: "gist" });
      }));

    proof("truncates descriptions after a whole line, and breaks no label", () =>
      visit("/connectors", async (page) => {
        await expectKnown(page);
        for (const width of [390, 700, 1024, 1280]) {
          await page.setViewportSize({ width, height: 900 });
          const descriptions = page.locator(".connector-description");
          assert.ok((await descriptions.count()) > 0);
          const cut = await descriptions.evaluateAll(
            (all) => all.filter((one) => one.clientHeight > 2.5 * parseFloat(getComputedStyle(one).lineHeight)).length,
          );
          assert.equal(cut, 0, `${width}: no third line`);
          const lines = await page.getByText("Hosted authorization only").evaluate((label) => {
            const range = document.createRange();
            range.selectNodeContents(label.lastChild);
            return range.getClientRects().length;
          });
          assert.equal(lines, 1, `${width}`);
        }
      }),
    );

    test("fits and is accessible in both themes and at each width", () =>
      visit(
        "/connectors",
        async (page) => {
          // Includes the width of a window of 1280 px at 200 % zoom.
          const widths = [
            [390, 844],
            [640, 450],
          ];
          const fits = (what) => expectAccessibleEverywhere(page, what, { widths, others: [390] });
          await expectKnown(page);
          await fits("connectors");
          await page.goto(`${fixture.console.baseUrl}/connectors/github`);
          await expectActions(page, {});
          await page.getByText("API request").first().click();
          await page.getByRole("region", { name: "Connections" }).getByRole("listitem").first().waitFor();
          await fits("a connector");
          await page.goto(`${fixture.console.baseUrl}/connectors?q=nothing-of-this-kind`);
          await page.getByText("No connectors match").waitFor();
          await fits("nothing found");
          await page.route("**/v1/**", (route) => route.abort("connectionrefused"));
          await page.getByRole("searchbox", { name: "Search" }).fill("away");
          await page.getByRole("alert").getByText("The service can't be reached").waitFor();
          await fits("a failure");
        },
        { expects: ["ERR_CONNECTION_REFUSED"] },
      ));
  });
}
