// The list of connections in the console: filters, pages and accessibility.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  PATH,
  PAGE_SIZE,
  fetchExpected,
  addressParams,
  choosePlatform,
  expectRows,
} from "../support/console-connections.mjs";
import { waitForRequests, expectAccessibleEverywhere, withEach } from "../support/console.mjs";
import { proof, sampled } from "../support/proof.mjs";

const fill = (label, text) => (page) => page.getByLabel(label, { exact: true }).fill(text);
const choose = (label, word) => (page) => page.getByLabel(label, { exact: true }).selectOption({ label: word });
const platform = (text) => (page) => choosePlatform(page.getByRole("search", { name: "Connections" }), text);
const openMoreFilters = (label, text) => async (page) => {
  if (!(await page.getByLabel(label, { exact: true }).isVisible())) await page.getByText("More filters").click();
  await fill(label, text)(page);
};
const KEYS = ["test::github::default::user-2@example.com", "test::github::default::user-4@example.com"];

/** Filters by name: the user's action, and the parameters of the address and the API request. */
const FILTERS = {
  "the beginning of a name": [fill("Search", "ñame 00001"), { q: "ñame 00001" }],
  "a platform, ignoring case": [platform("GitHub"), { platform: "github" }],
  "a state": [choose("State", "degraded"), { state: "degraded" }],
  "an identity type": [choose("Identity type", "team"), { identityType: "team" }],
  "a tag": [fill("Tags", "third"), { tags: "third" }],
  "several tags": [fill("Tags", "all , third,"), { tags: "all,third" }],
  "any of several tags": [
    async (page) => {
      await fill("Tags", "t-2, t-5")(page);
      await choose("Match", "Any tag")(page);
    },
    { tags: "t-2,t-5", tagsMatch: "any" },
  ],
  "inactive ones": [choose("Active", "Inactive"), { active: "false" }],
  "an identity": [openMoreFilters("Identity", "Group-00001"), { identity: "Group-00001" }],
  "a name, ignoring case": [openMoreFilters("Name", "GROUP-00002 ITSELF"), { name: "GROUP-00002 ITSELF" }],
  "a platform version": [openMoreFilters("Platform version", "v2"), { platformVersion: "v2" }],
  "several keys": [openMoreFilters("Keys", KEYS.join(", ")), { key: KEYS.join(",") }],
};

/** Invalid inputs: name, field, action, error, and a valid value for the field. */
const INVALID_INPUTS = [
  ["a long search", "Search", fill("Search", "x".repeat(101)), "Must have 1 to 100 characters.", "third"],
  ["no tag", "Tags", fill("Tags", "a,,b"), "Contains an empty item.", "third"],
  ["many tags", "Tags", fill("Tags", Array(21).fill("t").join()), "Can have at most 20 items.", "all"],
  ["no key", "Keys", openMoreFilters("Keys", "a,,b"), "Contains an empty item.", "third"],
];

export function consoleList(fixture) {
  const visit = (...args) => fixture.console.visit(...args);
  const list = (filter) => fetchExpected(fixture.console.caller(), filter);
  const waitForCount = (page, total) =>
    page.getByText(`${total} ${total === 1 ? "connection" : "connections"}`, { exact: true }).waitFor();

  describe("the list", () => {
    test("shows all fields in a table with headings and touch-sized rows", () =>
      visit(PATH, async (page) => {
        const { rows, ids, total } = await list();
        await expectRows(page, ids);
        await waitForCount(page, total);
        assert.equal(await page.title(), "Connections · connector-vault");
        assert.deepEqual(await page.getByRole("columnheader").allTextContents(), [
          "Identity",
          "Platform",
          "Name or account",
          "State",
          "Tags",
          "Created",
        ]);
        for (const row of rows) {
          const line = page.getByRole("row").filter({ has: page.locator(`a[data-connection="${row.id}"]`) });
          const text = await line.innerText();
          for (const part of [row.identity, row.identityType, row.platform, row.name ?? "", row.state, row.tags[0]])
            assert.ok(text.includes(part), `${part} in ${text}`);
          assert.equal(await line.locator("time").getAttribute("datetime"), row.createdAt);
          assert.equal(text.includes(row.tags[3] ?? "no fourth tag"), false, "a few tags only");
        }
        const heights = await page
          .locator("tbody tr")
          .evaluateAll((rows) => rows.map((row) => row.getBoundingClientRect().height));
        assert.deepEqual([...new Set(heights.map(Math.round))], [44]);
      }));

    test("filters by each field, and keeps the filters in the address", async () => {
      const all = await list();
      await visit(PATH, (page) =>
        withEach(sampled(Object.entries(FILTERS), 3), async ([act, query]) => {
          const expected = await list(query);
          assert.ok(expected.total > 0);
          assert.notDeepEqual(expected.ids, all.ids);
          await expectRows(page, all.ids);
          await act(page);
          await expectRows(page, expected.ids);
          await waitForCount(page, expected.total);
          assert.deepEqual(addressParams(page), query);
          await page.getByRole("link", { name: "Clear filters" }).click();
          await expectRows(page, all.ids);
          assert.deepEqual(addressParams(page), {});
          assert.equal(await page.getByRole("link", { name: "Clear filters" }).count(), 0);
          // Going back restores the previous filters.
          await page.goBack();
          await expectRows(page, expected.ids);
          assert.deepEqual(addressParams(page), query);
          await page.getByRole("link", { name: "Clear filters" }).click();
        }),
      );
    });

    for (const what of ["any of several tags", "several keys"])
      proof(`keeps its filter after a reload: ${what}`, async () => {
        const [act, query] = FILTERS[what];
        const expected = await list(query);
        await visit(PATH, async (page) => {
          await act(page);
          await expectRows(page, expected.ids);
          await page.reload();
          await expectRows(page, expected.ids);
          assert.deepEqual(addressParams(page), query);
        });
      });

    test("combines filters, and reports no matches", async () => {
      const query = { platform: "github", identityType: "user", q: "user-1" };
      const expected = await list(query);
      assert.ok(expected.total > 1);
      await visit(`${PATH}?${new URLSearchParams(query)}`, async (page) => {
        await expectRows(page, expected.ids);
        await fill("Tags", "no such tag")(page);
        await page.getByText("No connections match").waitFor();
        await waitForCount(page, 0);
        assert.equal(await page.getByRole("link", { name: /inactive connections? match/ }).count(), 0);
      });
    });

    test("an empty list of active connections links to the inactive ones that match", async () => {
      const { rows } = await list({ active: "false" });
      const queries = rows.map(({ identity, platform }) => ({ identity, platform }));
      const actives = await Promise.all(queries.map((query) => list(query)));
      const query = queries.find((_, index) => actives[index].total === 0);
      assert.ok(query, "an identity has only inactive connections to a platform");
      const inactive = await list({ ...query, active: "false" });
      await visit(`${PATH}?${new URLSearchParams(query)}`, async (page) => {
        await page.getByText("No connections match").waitFor();
        await page.getByRole("link", { name: /^\d+ inactive connections? match/ }).click();
        await expectRows(page, inactive.ids);
        assert.deepEqual(addressParams(page), { ...query, active: "false" });
      });
    });

    test("searches from two characters, or from one on Enter", async () => {
      const [all, { ids }] = [await list(), await list({ q: "g" })];
      await visit(PATH, async (page) => {
        await expectRows(page, all.ids);
        // Records only searches, because the unfiltered list may be refetched when it is stale.
        const requested = [];
        page.on("request", (request) => {
          const { pathname, searchParams } = new URL(request.url());
          if (pathname === "/v1/vault/connections" && searchParams.has("q")) requested.push(searchParams.get("q"));
        });
        const search = page.getByLabel("Search", { exact: true });
        await search.pressSequentially("g");
        await page.getByText("Type at least 2 characters").waitFor();
        await search.press("Enter");
        await expectRows(page, ids);
        await search.fill("gr");
        await page.getByText("Type at least 2 characters").waitFor({ state: "detached" });
        await page.waitForFunction(() => location.search === "?q=gr");
        await search.fill("u");
        await page.waitForFunction(() => location.search === "");
        await expectRows(page, all.ids);
        assert.deepEqual(requested, ["g", "gr"]);
      });
    });

    proof("begins near the top on a phone", () =>
      visit(
        PATH,
        async (page) => {
          await expectRows(page, (await list()).ids);
          const { y } = await page.locator("tbody tr").first().boundingBox();
          assert.ok(y < 300, `the first connection is at ${y}`);
          assert.equal(await page.getByLabel("State", { exact: true }).isVisible(), false);
          await page.getByRole("button", { name: "More filters" }).click();
          await choose("State", "operational")(page);
          await page.getByRole("button", { name: "Fewer filters" }).click();
          await page.getByRole("button", { name: "More filters 1 in use" }).waitFor();
        },
        { width: 390, height: 844 },
      ),
    );

    proof("marks inactive connections only", async () => {
      const { ids } = await list({ active: "false" });
      await visit(`${PATH}?active=false`, async (page) => {
        await expectRows(page, ids);
        assert.equal(await page.locator("tbody").getByText("Inactive", { exact: true }).count(), ids.length);
        const cut = await page
          .locator(".cell-state")
          .evaluateAll((cells) => cells.filter((cell) => cell.scrollWidth > cell.clientWidth).length);
        assert.equal(cut, 0, "no label is cut off");
        await choose("Active", "Active")(page);
        await expectRows(page, (await list()).ids);
        assert.equal(await page.locator("tbody").getByText("Inactive", { exact: true }).count(), 0);
      });
    });

    proof("filtered by state contains active connections, and links to inactive ones", async () => {
      const [active, inactive] = [await list({ state: "failed" }), await list({ state: "failed", active: "false" })];
      assert.ok(active.total > 0 && inactive.total > 0);
      await visit("/", async (page) => {
        await page.getByRole("rowheader", { name: "failed" }).getByRole("link").click();
        await expectRows(page, active.ids);
        assert.deepEqual(addressParams(page), { state: "failed", active: "all" });
        await page.getByText(`${active.total + inactive.total} connections`, { exact: true }).waitFor();
        await page.getByLabel("Active", { exact: true }).selectOption({ label: "Active" });
        await expectRows(page, active.ids);
        assert.deepEqual(addressParams(page), { state: "failed" });
        await page.getByRole("link", { name: /inactive connections? match/ }).click();
        await expectRows(page, inactive.ids);
        assert.deepEqual(addressParams(page), { state: "failed", active: "false" });
      });
    });

    proof("shows an invalid filter's error at once, and sends no request", async () => {
      const { ids } = await list();
      await visit(PATH, async (page) => {
        let requests = [];
        page.on("request", (request) => request.url().includes("/v1/vault") && requests.push(request.url()));
        await withEach(INVALID_INPUTS, async (label, act, fault, right) => {
          await expectRows(page, ids);
          await waitForRequests(page);
          requests = [];
          await act(page);
          await page.getByText(fault).waitFor();
          const field = page.getByLabel(label, { exact: true });
          assert.equal(await field.getAttribute("aria-invalid"), "true");
          const descriptionIds = (await field.getAttribute("aria-describedby")).split(" ");
          assert.equal(await page.locator(`[id="${descriptionIds[0]}"]`).textContent(), fault);
          await expectRows(page, ids);
          await page.locator('[aria-busy="true"]').waitFor();
          assert.deepEqual(requests, []);
          // A valid value sends a request again.
          await field.fill(right);
          await page.getByText(fault).waitFor({ state: "detached" });
          await page.waitForFunction(() => !document.querySelector('[aria-busy="true"]'));
          assert.equal(requests.length, 1);
          // There are two links, because an empty list also shows one.
          await page.getByRole("link", { name: "Clear filters" }).first().click();
        });
      });
    });

    test("shows errors of an invalid address, and sends no request", () =>
      visit(`${PATH}?identityType=robot&active=perhaps`, async (page) => {
        await page.getByText("Must be one of user, team, organization, project").waitFor();
        await page.getByText("Must be true or false.").waitFor();
        await page.getByText("Correct it to see connections.").waitFor();
        assert.equal(await page.locator("table").count(), 0);
        await choose("Identity type", "user")(page);
        await choose("Active", "Active")(page);
        await expectRows(page, (await list({ identityType: "user" })).ids);
      }));
  });

  describe("pages of the list", () => {
    const pagesOf = (page) => page.getByRole("navigation", { name: "Pages" });
    const waitForPage = (page, n, pages) => pagesOf(page).getByText(`Page ${n} of ${pages}`).waitFor();

    test("go forward and back by cursor, by button and by history", async () => {
      const [first, second, third] = [await list(), await list({ page: 2 }), await list({ page: 3 })];
      assert.ok(first.pages >= 4, "there are enough pages");
      await visit(PATH, async (page) => {
        const requests = [];
        page.on(
          "request",
          (request) => request.url().includes("/v1/vault") && requests.push(new URL(request.url()).searchParams),
        );
        const step = async (name, { ids }, number) => {
          await pagesOf(page).getByRole("link", { name }).click();
          await expectRows(page, ids);
          await waitForPage(page, number, first.pages);
        };
        await expectRows(page, first.ids);
        assert.equal(await pagesOf(page).getByRole("link", { name: "Previous" }).count(), 0);
        await step("Next", second, 2);
        const { after } = addressParams(page);
        await step("Next", third, 3);
        assert.ok(addressParams(page).after, "the cursor is in the address");
        assert.ok(
          requests.every((query) => !query.has("page") || query.get("page") === "1"),
          "no page is requested by its number",
        );
        await page.reload();
        await expectRows(page, third.ids);
        await page.goBack();
        await expectRows(page, second.ids);
        await step("Next", third, 3);
        await step("Previous", second, 2);
        assert.equal(addressParams(page).after, after, "Back returns to the previous page");
        await step("Previous", first, 1);
        assert.deepEqual(addressParams(page), {});
      });
    });

    proof("that are opened by number also link to their neighbours", async () => {
      const [second, third] = [await list({ page: 2 }), await list({ page: 3 })];
      await visit(`${PATH}?page=3`, async (page) => {
        await expectRows(page, third.ids);
        await pagesOf(page).getByRole("link", { name: "Previous" }).click();
        await expectRows(page, second.ids);
        assert.deepEqual(addressParams(page), { page: "2" });
      });
    });

    proof("return to the first one when the filter changes", async () => {
      const { ids } = await list({ platform: "github" });
      await visit(`${PATH}?page=2`, async (page) => {
        await platform("github")(page);
        await expectRows(page, ids);
        assert.deepEqual(addressParams(page), { platform: "github" });
      });
    });

    test("link to the first page beyond the end or with an invalid cursor", async () => {
      const { ids } = await list();
      await visit(
        `${PATH}?page=999`,
        async (page) => {
          await page.getByText("This page does not exist").waitFor();
          await page.getByRole("link", { name: "Go to the first page" }).click();
          await expectRows(page, ids);
          assert.deepEqual(addressParams(page), {});
          await page.goto(`${fixture.console.baseUrl}${PATH}?after=tampered`);
          await page.getByText("This page is no longer available").waitFor();
          await page.getByRole("link", { name: "Go to the first page" }).click();
          await expectRows(page, ids);
          assert.deepEqual(addressParams(page), {});
        },
        { expects: [400] },
      );
    });

    proof("are found by their number if their cursor belongs to another key", async () => {
      const other = await fixture.console.newKey({});
      const { next } = await list();
      const after = new URLSearchParams(next.split("?")[1]).get("after");
      const { ids } = await list({ page: 2 });
      await visit(`${PATH}?after=${after}&page=2`, (page) => expectRows(page, ids), { as: other, expects: [400] });
    });

    test("are accessible on any screen, in both themes", async () => {
      const { ids } = await list();
      await visit(PATH, async (page) => {
        await expectRows(page, ids);
        const expectTable = async () =>
          assert.equal(await page.getByRole("row").count(), PAGE_SIZE + 1, "cards have the role of rows");
        await expectTable();
        await expectAccessibleEverywhere(page, "the list", { widths: [390, 1920], others: [390, 1920] });
        await page.setViewportSize({ width: 390, height: 844 });
        await expectTable();
      });
    });
  });
}
