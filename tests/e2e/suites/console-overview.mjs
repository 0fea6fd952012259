// The overview's numbers equal the service's.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { expectAccessible, expectFocus, tabTo } from "../support/console.mjs";
import { UNREACHABLE, actorRegion, makeUnreachable, chart, waitForOverview } from "../support/console-overview.mjs";
import { heading } from "../support/console-session.mjs";
import { connectionNumber } from "../support/seed.mjs";
import { expectConnections } from "../support/vault.mjs";
import { proof } from "../support/proof.mjs";

const SHOWN_PLATFORMS = 12;
const STATES = ["operational", "degraded", "failed", "unknown"];
const TYPES = { Users: "user", Teams: "team", Organizations: "organization", Projects: "project" };
/** Connections to more platforms than the summary lists. */
export const COUNTED_CONNECTIONS = Array.from({ length: 720 }, (_, n) =>
  n < 120 ? { ...connectionNumber(n), platform: "github", identity: `user-${n}@example.com` } : connectionNumber(n),
);

const number = (text) => Number(text.replaceAll(",", ""));
const sum = (numbers) => numbers.reduce((all, one) => all + one, 0);

/** @param {{ console: import("../support/console.mjs").Console }} fixture */
export function consoleOverview(fixture) {
  const visit = (...args) => fixture.console.visit(...args);
  const summaryOf = async (of) => (await fixture.console.caller(of).summary()).json;

  /** The rows of a chart as { [label]: count }. Also asserts the shares. */
  async function chartRows(page, of, total) {
    const table = chart(page, of);
    const labels = await table.getByRole("rowheader").allInnerTexts();
    const cells = await table.getByRole("cell").allTextContents();
    assert.ok(labels.length > 0 && labels.length === cells.length);
    return Object.fromEntries(
      labels.map((label, index) => {
        const [, count, share] = /^([\d,]+) (.+)%$/.exec(cells[index]) ?? assert.fail(cells[index]);
        assert.ok(
          Math.abs(Number(share) - (100 * number(count)) / total) <= 0.0501,
          `${label}: ${count} of ${total} are ${share}%`,
        );
        return [label.trim().split("\n").at(-1), number(count)];
      }),
    );
  }

  describe("overview", () => {
    test("shows the summary's numbers, with proportional bars", () =>
      visit("/", async (page) => {
        await waitForOverview(page);
        const summary = await summaryOf();
        assert.ok(summary.active.false > 0 && summary.otherPlatforms > 0 && summary.platforms.length === 50);
        assert.equal(await page.title(), "Overview · connector-vault");
        const figures = await page.getByRole("list", { name: "All connections" }).getByRole("listitem").all();
        const shownNumbers = await Promise.all(
          figures.map(async (figure) => [
            await figure.locator(".label").innerText(),
            number(await figure.locator(".number").innerText()),
          ]),
        );
        assert.deepEqual(shownNumbers, [
          ["Connections", summary.total],
          ["Active", summary.active.true],
          ["Inactive", summary.active.false],
        ]);
        const { total, state, platforms } = summary;
        assert.deepEqual(
          await chartRows(page, "state", total),
          Object.fromEntries(STATES.map((state) => [state, summary.state[state]])),
        );
        assert.deepEqual(
          await chartRows(page, "identity type", total),
          Object.fromEntries(Object.entries(TYPES).map(([word, type]) => [word, summary.identityType[type]])),
        );

        const widths = (of) =>
          chart(page, of)
            .locator("tbody td")
            .evaluateAll((cells) =>
              cells.map(
                (cell) => cell.getBoundingClientRect().width / cell.parentElement.getBoundingClientRect().width,
              ),
            );
        const close = (found, expected, what) =>
          assert.ok(Math.abs(found - expected) < 0.02, `${what}: the bar takes ${found} of its row, not ${expected}`);
        (await widths("state")).forEach((width, index) => close(width, state[STATES[index]] / total, STATES[index]));
        (await widths("platform"))
          .slice(0, SHOWN_PLATFORMS)
          .forEach((width, index) =>
            close(width, platforms[index].total / platforms[0].total, platforms[index].platform),
          );

        // Forced colours remove backgrounds.
        await page.emulateMedia({ forcedColors: "active" });
        const [bar, ground, text] = await chart(page, "state")
          .locator("tbody td")
          .first()
          .evaluate((cell) => {
            const { backgroundColor, color } = getComputedStyle(cell.querySelector(".data"));
            return [getComputedStyle(cell).backgroundColor, backgroundColor, color];
          });
        assert.equal(bar, text);
        assert.notEqual(bar, ground);
      }));

    proof("shows the largest platforms and the sum of the others, with the API request", () =>
      visit("/", async (page) => {
        const { total, platforms, otherPlatforms } = await summaryOf();
        const of = (rows) => Object.fromEntries(rows.map((row) => [row.platform, row.total]));
        await chart(page, "platform").getByRole("link", { name: "GitHub", exact: true }).waitFor();
        const first = platforms.slice(0, SHOWN_PLATFORMS);
        assert.deepEqual(await chartRows(page, "platform", total), {
          ...of(first),
          "All other platforms": total - sum(first.map((row) => row.total)),
        });
        const showMore = page.getByRole("button", { name: "Show the first 50" });
        assert.equal(await showMore.getAttribute("aria-expanded"), "false");
        await showMore.click();
        const all = await chartRows(page, "platform", total);
        assert.deepEqual(all, { ...of(platforms), "All other platforms": otherPlatforms });
        assert.equal(sum(Object.values(all)), total);
        const fewer = page.getByRole("button", { name: `Show the first ${SHOWN_PLATFORMS} only` });
        assert.equal(await fewer.getAttribute("aria-expanded"), "true");
        await fewer.click();
        assert.equal(await chart(page, "platform").getByRole("rowheader").count(), SHOWN_PLATFORMS + 1);

        await page.getByText("API request").click();
        const code = page.getByLabel("Code", { exact: true });
        assert.ok((await code.innerText()).includes(`curl '${fixture.console.baseUrl}/v1/vault/summary'`));
        await page.getByRole("button", { name: "JavaScript" }).click();
        assert.ok((await code.innerText()).includes("await vault.connections.summary()"));
      }),
    );

    test("shows who must act, and links to the connections counted", () =>
      visit("/", async (page) => {
        await waitForOverview(page);
        const count = (holds) => COUNTED_CONNECTIONS.filter(holds).length;
        const figures = page.getByRole("list", { name: "All connections" });
        const expected = [
          [figures.getByRole("link", { name: /^Active/ }), (row) => row.active],
          [figures.getByRole("link", { name: /^Inactive/ }), (row) => !row.active],
          [figures.getByRole("link", { name: /^Connections/ }), () => true],
          ...Object.entries(TYPES).map(([word, type]) => [
            chart(page, "identity type").getByRole("link", { name: word }),
            (row) => row.identityType === type,
          ]),
          ...STATES.map((state) => [
            chart(page, "state").getByRole("link", { name: state }),
            (row) => row.state === state,
          ]),
          [
            chart(page, "platform").getByRole("link", { name: "GitHub", exact: true }),
            (row) => row.platform === "github",
          ],
        ];
        await expected.at(-1)[0].waitFor();
        for (const [link, holds] of expected) {
          const { pathname, search } = new URL(await link.getAttribute("href"), fixture.console.baseUrl);
          assert.equal(pathname, "/connections");
          // The linked list sends the filters of its address to the API.
          const lists = search.includes("active=all")
            ? [true, false].map((active) => search.replace("active=all", `active=${active}`))
            : [search];
          const totals = await Promise.all(
            lists.map(async (one) => expectConnections(await fixture.console.caller().list(one.slice(1))).total),
          );
          assert.equal(sum(totals), count(holds), search);
        }
        const items = actorRegion(page).getByRole("listitem");
        await actorRegion(page).getByRole("link", { name: /^List/ }).nth(1).waitFor();
        const expectedConnections = COUNTED_CONNECTIONS;
        const ofState = (state) => expectedConnections.filter((row) => row.state === state).length;
        assert.deepEqual(
          (await items.allInnerTexts()).map((text) => text.replaceAll(/\s+/g, " ").replace(/ List them$/, "")),
          [
            `The users ${ofState("failed")} failed connections: their users must reconnect.`,
            `The service ${ofState("degraded")} degraded connections: the service retries automatically. Each connection shows the reason, and who else must act.`,
          ],
        );
        for (const [n, state] of ["failed", "degraded"].entries())
          assert.equal(
            await items.nth(n).getByRole("link", { name: "List them" }).getAttribute("href"),
            `/connections?state=${state}&active=all`,
          );
        await expectAccessible(page, "who must act");
        // A number and the list that it links to count the same connections, active or not.
        await chart(page, "identity type").getByRole("link", { name: "Teams" }).click();
        await page.waitForURL("**/connections?identityType=team&active=all");
        await heading(page, "Connections").waitFor();
        const teams = expectedConnections.filter((row) => row.identityType === "team");
        assert.ok(teams.some((row) => !row.active) && teams.some((row) => row.active));
        await page.getByText(`${teams.length} connections`, { exact: true }).waitFor();
        const pages = Math.ceil(teams.filter((row) => row.active).length / 25);
        await page.goto(`${fixture.console.baseUrl}/connections?identityType=team&active=all&page=${pages + 1}`);
        const table = page.getByRole("table").getByRole("row");
        await table.nth(1).waitFor();
        assert.equal(await table.filter({ hasText: "Inactive" }).count(), (await table.count()) - 1);
      }));

    proof("shows few platforms without a remainder", () =>
      visit(
        "/",
        async (page) => {
          await waitForOverview(page);
          assert.equal((await chartRows(page, "platform", 13))["1 more platform"], 1);
          await page.getByRole("button", { name: "Show all 13" }).click();
          assert.deepEqual(Object.values(await chartRows(page, "platform", 13)), Array(13).fill(1));
        },
        { as: fixture.console.keys.thirteen },
      ),
    );

    proof("names rejected OAuth clients and disabled webhooks", () =>
      visit(
        "/",
        async (page) => {
          const items = actorRegion(page).getByRole("listitem");
          await items.nth(3).waitFor();
          assert.deepEqual(
            (await items.allInnerTexts()).map((text) => text.replaceAll(/\s+/g, " ")),
            [
              "Your team GitHub rejected your OAuth client 3 hours ago: its connections can't be refreshed until you fix the client. Degraded connections to GitHub",
              "Your team 1 webhook was disabled after failing: fix and enable it, or delete it.",
              "The users 1 failed connection: its user must reconnect. List it",
              "The service 2 degraded connections: the service retries automatically. Each connection shows the reason, and who else must act. List them",
            ],
          );
          const hrefs = await items
            .getByRole("link")
            .evaluateAll((links) => links.map((link) => link.getAttribute("href")));
          assert.deepEqual(hrefs, [
            "/integrations?set=github",
            "/connections?platform=github&state=degraded&active=all",
            "/webhooks",
            "/connections?state=failed&active=all",
            "/connections?state=degraded&active=all",
          ]);
          await expectAccessible(page, "a rejected client");
          await items.first().getByRole("link", { name: "Degraded connections to GitHub" }).click();
          await page.getByRole("table").getByRole("row").nth(1).waitFor();
          await page.goto(`${fixture.console.baseUrl}/integrations`);
          await page.getByText("The platform rejected this client 3 hours ago.").waitFor();
        },
        { as: fixture.console.keys.acting },
      ),
    );

    proof("shows that no action is needed", () =>
      visit(
        "/",
        async (page) => {
          await actorRegion(page).getByText("No action needed: no connection is failed or degraded.").waitFor();
        },
        { as: fixture.console.keys.quiet },
      ),
    );

    proof("shows that the list is incomplete, and retries", () =>
      visit(
        "/connectors?q=github",
        async (page) => {
          await page.getByRole("list", { name: "Connectors" }).waitFor();
          await makeUnreachable(page, "**/v1/oauth-clients**");
          await page.getByRole("link", { name: "Overview", exact: true }).click();
          const alert = actorRegion(page).getByRole("alert");
          await alert.getByText("This list may be incomplete. The service can't be reached.").waitFor();
          await actorRegion(page).getByText("1 failed connection").waitFor();
          await page.unroute("**/v1/oauth-clients**");
          await alert.getByRole("button", { name: "Try again" }).click();
          await actorRegion(page).getByText("rejected your OAuth client").waitFor();
          assert.equal(await alert.count(), 0);
        },
        { as: fixture.console.keys.acting, expects: [UNREACHABLE] },
      ),
    );

    test("loads only the session, the summary, and what it shows", () =>
      visit("/", async (page) => {
        // Waits until all requests of the first visit have ended.
        await chart(page, "platform").getByRole("link", { name: "GitHub", exact: true }).waitFor();
        const requested = [];
        page.on(
          "request",
          (request) =>
            new URL(request.url()).pathname.startsWith("/v1/") && requested.push(new URL(request.url()).pathname),
        );
        let release;
        const released = new Promise((done) => (release = done));
        await page.route("**/v1/vault/summary", async (route) => {
          await released;
          await route.continue();
        });
        const summary = page.waitForRequest("**/v1/vault/summary");
        await page.reload();
        await page.getByRole("status").getByText("Loading the numbers…").waitFor();
        await summary;
        assert.deepEqual(requested, ["/v1/whoami", "/v1/vault/summary"]);
        release();
        await chart(page, "platform").getByRole("link", { name: "GitHub", exact: true }).waitFor();
        assert.equal(await page.getByText("Loading the numbers…").count(), 0);
        await actorRegion(page).getByRole("link", { name: /^List/ }).nth(1).waitFor();
        assert.deepEqual(requested, ["/v1/whoami", "/v1/vault/summary", "/v1/available-connectors"]);
      }));

    proof("shows the next steps for an empty vault", async () => {
      const create = (page) => page.getByRole("link", { name: "add a record" });
      const seeds = (page) => page.getByText("npm run seed -- --account nobody");
      await visit(
        "/",
        async (page) => {
          await page.getByText("No connections yet").waitFor();
          await seeds(page).waitFor();
          await create(page).click();
          await page.waitForURL("**/connections?new=1");
          await page.getByRole("dialog", { name: "Add a record" }).waitFor();
        },
        { as: fixture.console.keys.nobody },
      );
      await visit(
        "/",
        async (page) => {
          await page.getByText("connections:write", { exact: true }).waitFor();
          assert.equal(await create(page).count(), 0);
        },
        { as: fixture.console.keys.nobodyReads },
      );
      await visit(
        "/",
        async (page) => {
          await create(page).waitFor();
          assert.equal(await page.getByText("npm run seed").count(), 0, "no sample data for live accounts");
        },
        { as: fixture.console.keys.live },
      );
    });

    proof("explains a missing scope", () =>
      visit(
        "/",
        async (page) => {
          await page.getByText("Your key can't read connections").waitFor();
          await page.getByRole("link", { name: "the catalog of connectors" }).click();
          await page.waitForURL("**/connectors");
          // A forbidden request would fail the test.
          await page.getByRole("list", { name: "Connectors" }).waitFor();
        },
        { as: fixture.console.keys.catalogOnly },
      ),
    );

    proof("shows identifiers instead of names without access to the catalog", () =>
      visit(
        "/",
        async (page) => {
          await waitForOverview(page);
          await chart(page, "platform").getByRole("link", { name: "github", exact: true }).waitFor();
        },
        { as: fixture.console.keys.vaultOnly },
      ),
    );

    test("shows a failure, and retries", () =>
      visit(
        // A search does not request the overview's numbers.
        "/connectors?q=github",
        async (page) => {
          await page.getByRole("list", { name: "Connectors" }).waitFor();
          await page.route("**/v1/vault/summary", (route) =>
            route.fulfill({
              status: 500,
              contentType: "application/problem+json",
              body: JSON.stringify({
                type: "/problems/internal",
                title: "Internal error",
                status: 500,
                code: "internal",
                detail: "It failed.",
                requestId: "00000000-0000-4000-8000-000000000000",
              }),
            }),
          );
          await page.getByRole("link", { name: "Overview", exact: true }).click();
          const alert = page.getByRole("alert");
          await alert.getByText("The service has a problem").waitFor();
          await alert.getByText("00000000-0000-4000-8000-000000000000").waitFor();
          const help = alert.getByRole("link", { name: "What this means", exact: true });
          assert.equal(await help.getAttribute("href"), "/problems/internal");
          await page.unroute("**/v1/vault/summary");
          await alert.getByRole("button", { name: "Try again" }).click();
          await waitForOverview(page);
          assert.equal(await alert.count(), 0);
        },
        { expects: [500] },
      ));

    proof("keeps stale numbers when a refetch fails", () =>
      visit(
        "/",
        async (page) => {
          await page.clock.install();
          await page.reload();
          await waitForOverview(page);
          await page.getByRole("link", { name: "Connectors" }).click();
          await page.getByRole("list", { name: "Connectors" }).waitFor();
          await makeUnreachable(page);
          // Makes the numbers stale, because fresh ones would not be refetched.
          await page.clock.fastForward("01:00");
          await page.getByRole("link", { name: "Overview", exact: true }).click();
          const note = page.getByRole("alert").getByText("This may be out of date. The service can't be reached.");
          await note.waitFor();
          const { total, state } = await summaryOf();
          assert.equal((await chartRows(page, "state", total)).operational, state.operational);
          await page.unroute("**/v1/**");
          await page.getByRole("alert").getByRole("button", { name: "Try again" }).click();
          await note.waitFor({ state: "detached" });
        },
        { expects: [UNREACHABLE] },
      ),
    );

    proof("announces that the browser is offline, and online again", () =>
      visit(
        "/",
        async (page) => {
          await waitForOverview(page);
          const banner = page.getByRole("status").getByText("You are offline.");
          assert.equal(await banner.count(), 0);
          await page.context().setOffline(true);
          await banner.waitFor();
          assert.equal(await chart(page, "state").count(), 1);
          await page.context().setOffline(false);
          await banner.waitFor({ state: "detached" });
        },
        // The platforms' names may still be loading.
        { expects: ["ERR_INTERNET_DISCONNECTED"] },
      ),
    );

    proof("can be used by keyboard alone", () =>
      visit("/", async (page) => {
        await waitForOverview(page);
        const skip = page.getByRole("link", { name: "Skip to content" });
        await tabTo(page, skip, 1);
        await page.keyboard.press("Enter");
        await tabTo(page, page.getByRole("link", { name: /^Connections/ }).last(), 1);
        await tabTo(page, page.getByRole("button", { name: "Show the first 50" }));
        await page.keyboard.press("Space");
        await page.getByRole("button", { name: `Show the first ${SHOWN_PLATFORMS} only` }).waitFor();
        await page.keyboard.press("Shift+Tab");
        await page.keyboard.press("Enter");
        await page.waitForURL("**/connections?platform=*");
        await heading(page, "Connections").waitFor();
        await expectFocus(heading(page, "Connections"));
      }),
    );
  });
}
