// The way into the console, and its overview: the numbers are the service's, and the key stays where it belongs.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { Console, expectAccessible, expectFits, expectFocus, tabTo } from "../support/console.mjs";
import { key, secret } from "../support/keys.mjs";
import { nth } from "../support/seed.mjs";
import { expectConnections, seed } from "../support/vault.mjs";

const FIRST = 12;
const STATES = ["operational", "degraded", "failed", "unknown"];
const TYPES = { Users: "user", Teams: "team", Organizations: "organization", Projects: "project" };
/** More platforms than the summary names. */
const CONNECTIONS = Array.from({ length: 720 }, (_, n) =>
  n < 120 ? { ...nth(n), platform: "github", identity: `user-${n}@example.com` } : nth(n),
);
/** One platform more than the overview shows at first, and all of them active. */
const THIRTEEN = Array.from({ length: 13 }, (_, n) => ({ ...nth(n), platform: `p-${n}`, active: true }));
const AWAY = "ERR_CONNECTION_REFUSED";
const WIDTHS = [
  [320, 640],
  [390, 844],
  [1280, 900],
  [1920, 1080],
];

const number = (text) => Number(text.replaceAll(",", ""));
const sum = (numbers) => numbers.reduce((all, one) => all + one, 0);

describe("the console", () => {
  let world;
  const keys = {
    nobody: key({ account: "nobody" }),
    nobodyReads: key({ account: "nobody", scopes: "connections:read" }),
    live: key({ environment: "live" }),
    thirteen: key({ account: "thirteen" }),
    vaultOnly: key({ scopes: "connections:read" }),
  };
  before(async () => {
    world = await Console.start({ name: "console-overview", connections: CONNECTIONS, keys });
    await seed(world.database, "thirteen", THIRTEEN);
  });
  after(() => world?.stop());

  const summaryOf = async (of) => (await world.caller(of).summary()).json;
  const heading = (page, name = "Overview") => page.getByRole("heading", { level: 1, name, exact: true });
  const chart = (page, of) => page.getByRole("table", { name: `Connections by ${of}`, exact: true });
  const drawn = (page) => chart(page, "platform").waitFor();
  const field = (page) => page.getByLabel("API key", { exact: true });
  const away = (page, path = "**/v1/**") => page.route(path, (route) => route.abort("connectionrefused"));
  const signIn = async (page, text) => {
    await field(page).fill(text);
    await page.getByRole("button", { name: "Sign in", exact: true }).click();
  };

  /** The lines of a chart, as they are told: { [label]: count }. Asserts the shares on the way. */
  async function told(page, of, total) {
    const table = chart(page, of);
    const labels = await table.getByRole("rowheader").allInnerTexts();
    const cells = await table.getByRole("cell").allTextContents();
    assert.ok(labels.length > 0 && labels.length === cells.length);
    return Object.fromEntries(
      labels.map((label, at) => {
        const [, count, share] = /^([\d,]+) (.+)%$/.exec(cells[at]) ?? assert.fail(cells[at]);
        assert.ok(
          Math.abs(Number(share) - (100 * number(count)) / total) <= 0.0501,
          `${label}: ${count} of ${total} are ${share}%`,
        );
        return [label.trim().split("\n").at(-1), number(count)];
      }),
    );
  }

  describe("overview", () => {
    test("tells the summary's numbers", () =>
      world.visit("/", async (page) => {
        await drawn(page);
        const summary = await summaryOf();
        assert.ok(summary.active.false > 0 && summary.otherPlatforms > 0 && summary.platforms.length === 50);
        assert.equal(await page.title(), "Overview · connector-vault");
        const figures = await page.getByRole("list", { name: "All connections" }).getByRole("listitem").all();
        const shown = await Promise.all(
          figures.map(async (figure) => [
            await figure.locator(".label").innerText(),
            number(await figure.locator(".number").innerText()),
          ]),
        );
        assert.deepEqual(shown, [
          ["Connections", summary.total],
          ["Active", summary.active.true],
          ["Inactive", summary.active.false],
        ]);
        const { total } = summary;
        assert.deepEqual(
          await told(page, "state", total),
          Object.fromEntries(STATES.map((state) => [state, summary.state[state]])),
        );
        assert.deepEqual(
          await told(page, "identity type", total),
          Object.fromEntries(Object.entries(TYPES).map(([word, type]) => [word, summary.identityType[type]])),
        );
      }));

    test("names the largest platforms, and the others together", () =>
      world.visit("/", async (page) => {
        const { total, platforms, otherPlatforms } = await summaryOf();
        const of = (rows) => Object.fromEntries(rows.map((row) => [row.platform, row.total]));
        await chart(page, "platform").getByRole("link", { name: "GitHub v3 REST API" }).waitFor();
        const first = platforms.slice(0, FIRST);
        assert.deepEqual(await told(page, "platform", total), {
          ...of(first),
          "All other platforms": total - sum(first.map((row) => row.total)),
        });
        const more = page.getByRole("button", { name: "Show the first 50" });
        assert.equal(await more.getAttribute("aria-expanded"), "false");
        await more.click();
        const all = await told(page, "platform", total);
        assert.deepEqual(all, { ...of(platforms), "All other platforms": otherPlatforms });
        assert.equal(sum(Object.values(all)), total);
        const fewer = page.getByRole("button", { name: `Show the first ${FIRST} only` });
        assert.equal(await fewer.getAttribute("aria-expanded"), "true");
        await fewer.click();
        assert.equal(await chart(page, "platform").getByRole("rowheader").count(), FIRST + 1);
      }));

    test("draws bars as long as their numbers are large", () =>
      world.visit("/", async (page) => {
        await drawn(page);
        const { total, state, platforms } = await summaryOf();
        const widths = (of) =>
          chart(page, of)
            .locator("tbody td")
            .evaluateAll((cells) =>
              cells.map(
                (cell) => cell.getBoundingClientRect().width / cell.parentElement.getBoundingClientRect().width,
              ),
            );
        const close = (found, wanted, what) =>
          assert.ok(Math.abs(found - wanted) < 0.02, `${what} is ${found} of its line, and not ${wanted}`);
        (await widths("state")).forEach((width, at) => close(width, state[STATES[at]] / total, STATES[at]));
        (await widths("platform"))
          .slice(0, FIRST)
          .forEach((width, at) => close(width, platforms[at].total / platforms[0].total, platforms[at].platform));
      }));

    test("draws bars where a reader's own colours take all backgrounds away", () =>
      world.visit("/", async (page) => {
        await page.emulateMedia({ forcedColors: "active" });
        await drawn(page);
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

    test("leads to what was counted", () =>
      world.visit("/", async (page) => {
        await drawn(page);
        const count = (holds) => CONNECTIONS.filter(holds).length;
        const wanted = [
          [page.getByRole("link", { name: /^Active/ }), (row) => row.active],
          [page.getByRole("link", { name: "Inactive" }), (row) => !row.active],
          ...Object.entries(TYPES).map(([word, type]) => [
            chart(page, "identity type").getByRole("link", { name: word }),
            (row) => row.active && row.identityType === type,
          ]),
          ...STATES.map((state) => [
            chart(page, "state").getByRole("link", { name: state }),
            (row) => row.active && row.state === state,
          ]),
          [
            chart(page, "platform").getByRole("link", { name: "GitHub v3 REST API" }),
            (row) => row.active && row.platform === "github",
          ],
        ];
        await wanted.at(-1)[0].waitFor();
        for (const [link, holds] of wanted) {
          const { pathname, search } = new URL(await link.getAttribute("href"), world.baseUrl);
          assert.equal(pathname, "/connections");
          // The view asks the API for what its address says.
          assert.equal(expectConnections(await world.caller().list(search.slice(1))).total, count(holds), search);
        }
        await page.getByText("their links list only the active ones").waitFor();
        await chart(page, "identity type").getByRole("link", { name: "Teams" }).click();
        await page.waitForURL("**/connections?identityType=team");
        await heading(page, "Connections").waitFor();
      }));

    test("of few platforms, all of them active", () =>
      world.visit(
        "/",
        async (page) => {
          await drawn(page);
          assert.equal((await told(page, "platform", 13))["1 more platform"], 1);
          assert.equal(await page.getByText("their links list only the active ones").count(), 0);
          await page.getByRole("button", { name: "Show all 13" }).click();
          assert.deepEqual(Object.values(await told(page, "platform", 13)), Array(13).fill(1));
        },
        { as: keys.thirteen },
      ));

    test("asks for nothing but the session, the summary, and then the platforms", () =>
      world.visit("/", async (page) => {
        // All that the first visit asks has been asked.
        await chart(page, "platform").getByRole("link", { name: "GitHub v3 REST API" }).waitFor();
        const asked = [];
        page.on(
          "request",
          (request) =>
            new URL(request.url()).pathname.startsWith("/v1/") && asked.push(new URL(request.url()).pathname),
        );
        let release;
        const kept = new Promise((done) => (release = done));
        await page.route("**/v1/vault/summary", async (route) => {
          await kept;
          await route.continue();
        });
        const summary = page.waitForRequest("**/v1/vault/summary");
        await page.reload();
        await page.getByRole("status").getByText("Loading the numbers…").waitFor();
        await summary;
        assert.deepEqual(asked, ["/v1/whoami", "/v1/vault/summary"]);
        release();
        await chart(page, "platform").getByRole("link", { name: "GitHub v3 REST API" }).waitFor();
        assert.equal(await page.getByText("Loading the numbers…").count(), 0);
        assert.deepEqual(asked, ["/v1/whoami", "/v1/vault/summary", "/v1/available-connectors"]);
      }));

    test("with its code", () =>
      world.visit("/", async (page) => {
        await page.getByText("API request").click();
        const code = page.getByLabel("Code", { exact: true });
        assert.ok((await code.innerText()).includes(`curl '${world.baseUrl}/v1/vault/summary'`));
        await page.getByRole("button", { name: "JavaScript" }).click();
        assert.ok((await code.innerText()).includes("await vault.connections.summary()"));
      }));

    test("of an empty vault: what to do", async () => {
      const create = (page) => page.getByRole("link", { name: "Create the first one" });
      const seeds = (page) => page.getByText("npm run seed -- --account nobody");
      await world.visit(
        "/",
        async (page) => {
          await page.getByText("No connections yet").waitFor();
          await seeds(page).waitFor();
          await create(page).click();
          await page.waitForURL("**/connections?new=1");
          await page.getByRole("dialog", { name: "New connection" }).waitFor();
        },
        { as: keys.nobody },
      );
      await world.visit(
        "/",
        async (page) => {
          await page.getByText("connections:write", { exact: true }).waitFor();
          assert.equal(await create(page).count(), 0);
        },
        { as: keys.nobodyReads },
      );
      await world.visit(
        "/",
        async (page) => {
          await create(page).waitFor();
          assert.equal(await page.getByText("npm run seed").count(), 0, "nobody plays with real accounts");
        },
        { as: keys.live },
      );
    });

    test("for a key that may not count", () =>
      world.visit(
        "/",
        async (page) => {
          await page.getByText("Your key can't read connections").waitFor();
          await page.getByRole("link", { name: "the catalog of connectors" }).click();
          await page.waitForURL("**/connectors");
          // An answer that says no would be a fault here.
          await page.getByRole("list", { name: "Connectors" }).waitFor();
        },
        { as: world.keys.catalogOnly },
      ));

    test("for a key that may not see the catalog: identifiers for names", () =>
      world.visit(
        "/",
        async (page) => {
          await drawn(page);
          await chart(page, "platform").getByRole("link", { name: "github", exact: true }).waitFor();
        },
        { as: keys.vaultOnly },
      ));

    test("says what failed, and tries again", () =>
      world.visit(
        "/connectors",
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
          await page.unroute("**/v1/vault/summary");
          await alert.getByRole("button", { name: "Try again" }).click();
          await drawn(page);
          assert.equal(await alert.count(), 0);
        },
        { expects: [500] },
      ));

    test("keeps its numbers when they can't be asked for again", () =>
      world.visit(
        "/",
        async (page) => {
          await page.clock.install();
          await page.reload();
          await drawn(page);
          await page.getByRole("link", { name: "Connectors" }).click();
          await page.getByRole("list", { name: "Connectors" }).waitFor();
          await away(page);
          // Numbers of just now would not be asked for again.
          await page.clock.fastForward("01:00");
          await page.getByRole("link", { name: "Overview", exact: true }).click();
          const note = page.getByRole("alert").getByText("This may be out of date. The service can't be reached.");
          await note.waitFor();
          const { total, state } = await summaryOf();
          assert.equal((await told(page, "state", total)).operational, state.operational);
          await page.unroute("**/v1/**");
          await page.getByRole("alert").getByRole("button", { name: "Try again" }).click();
          await note.waitFor({ state: "detached" });
        },
        { expects: [AWAY] },
      ));

    test("says when the reader is offline, and when not any more", () =>
      world.visit("/", async (page) => {
        await drawn(page);
        const banner = page.getByRole("status").getByText("You are offline.");
        assert.equal(await banner.count(), 0);
        await page.context().setOffline(true);
        await banner.waitFor();
        assert.equal(await chart(page, "state").count(), 1);
        await page.context().setOffline(false);
        await banner.waitFor({ state: "detached" });
      }));

    test("by keyboard alone", () =>
      world.visit("/", async (page) => {
        await drawn(page);
        const skip = page.getByRole("link", { name: "Skip to content" });
        await tabTo(page, skip, 1);
        await page.keyboard.press("Enter");
        await tabTo(page, page.getByRole("link", { name: /^Active/ }), 1);
        await tabTo(page, page.getByRole("button", { name: "Show the first 50" }));
        await page.keyboard.press("Space");
        await page.getByRole("button", { name: `Show the first ${FIRST} only` }).waitFor();
        await page.keyboard.press("Shift+Tab");
        await page.keyboard.press("Enter");
        await page.waitForURL("**/connections?platform=*");
        await heading(page, "Connections").waitFor();
        await expectFocus(heading(page, "Connections"));
      }));
  });

  test("what gets the focus is not under the header", () =>
    world.visit(
      "/",
      async (page) => {
        await drawn(page);
        const first = chart(page, "state").getByRole("link").first();
        await page.getByRole("link", { name: /^Inactive/ }).focus();
        await first.evaluate((link) => scrollBy(0, link.getBoundingClientRect().top - 10));
        await tabTo(page, first, 1);
        const [header, focused] = await page.evaluate(() => [
          document.querySelector("header").getBoundingClientRect().bottom,
          document.activeElement.getBoundingClientRect().top,
        ]);
        assert.ok(focused >= header, `it is at ${focused}, and the header ends at ${header}`);
      },
      { width: 390, height: 640 },
    ));

  describe("sign-in", () => {
    const problem = (page, text) => page.getByRole("alert").getByText(text);

    test("of nothing, of a mistyped key, and of an unknown one", () =>
      world.visit(
        "/",
        async (page) => {
          const asked = [];
          page.on("request", (request) => request.url().includes("/v1/") && asked.push(request.url()));
          await heading(page, "Sign in").waitFor();
          await expectFocus(field(page));
          await page.keyboard.press("Enter");
          await problem(page, "Enter an API key.").waitFor();
          await expectFocus(field(page));
          assert.equal(await field(page).getAttribute("aria-invalid"), "true");
          const [last] = world.keys.full.secret.slice(-1);
          await signIn(page, world.keys.full.secret.slice(0, -1) + (last === "a" ? "b" : "a"));
          await problem(page, "This key is not valid").waitFor();
          assert.deepEqual(asked, [], "a mistyped key is sent nowhere");
          await Promise.all([page.waitForResponse((response) => response.status() === 401), signIn(page, secret())]);
          await problem(page, "This key is not valid").waitFor();
          assert.equal(asked.length, 1);
          assert.equal(await page.evaluate(() => sessionStorage.length), 0);
          // What comes with it from the clipboard does no harm.
          await signIn(page, ` ${world.keys.full.secret}\t`);
          await heading(page).waitFor();
        },
        { as: null, expects: [401] },
      ));

    test("while offline", () =>
      world.visit(
        "/",
        async (page) => {
          await heading(page, "Sign in").waitFor();
          await page.waitForLoadState("networkidle");
          await page.context().setOffline(true);
          await signIn(page, world.keys.full.secret);
          await problem(page, "The service can't be reached. You are offline.").waitFor();
          await page.context().setOffline(false);
          await page.getByRole("button", { name: "Sign in", exact: true }).click();
          await drawn(page);
        },
        { as: null, expects: ["ERR_INTERNET_DISCONNECTED"] },
      ));

    test("leads where one wanted to go, and lasts over a reload", () =>
      world.visit(
        "/connectors?q=github",
        async (page) => {
          await signIn(page, world.keys.full.secret);
          await page.getByRole("list", { name: "Connectors" }).waitFor();
          assert.match(page.url(), /\/connectors\?q=github$/);
          await page.reload();
          await page.getByRole("list", { name: "Connectors" }).waitFor();
          assert.equal(await field(page).count(), 0);
        },
        { as: null },
      ));

    test("is left behind by signing out: nothing is kept, and Back shows nothing", () =>
      world.visit(
        "/connectors",
        async (page) => {
          await signIn(page, world.keys.full.secret);
          await page.getByRole("link", { name: "Overview", exact: true }).click();
          await drawn(page);
          assert.equal(await page.evaluate(() => sessionStorage.length), 1);
          await page.getByRole("button", { name: "Sign out" }).click();
          await page.getByText("You are signed out in all tabs.").waitFor();
          await expectFocus(field(page));
          assert.deepEqual(await page.evaluate(() => [sessionStorage.length, localStorage.length]), [0, 0]);
          await page.goBack();
          await page.waitForURL("**/connectors");
          await heading(page, "Sign in").waitFor();
          await page.reload();
          await heading(page, "Sign in").waitFor();
          assert.equal(await page.getByRole("list", { name: "Connectors" }).count(), 0);
        },
        { as: null },
      ));

    test("keeps the key out of the page, its address, and what outlives the tab", () =>
      world.visit(
        "/",
        async (page) => {
          const text = world.keys.full.secret;
          const urls = [];
          page.on("request", (request) => urls.push(request.url()));
          const expectHidden = async (where) => {
            const places = await page.evaluate(() => [
              document.documentElement.outerHTML,
              document.body.innerText,
              location.href,
              document.cookie,
              JSON.stringify(localStorage),
              document.title,
            ]);
            for (const place of places) assert.ok(!place.includes(text.slice(8, 24)), where);
          };
          await field(page).fill(text);
          assert.equal(await field(page).getAttribute("type"), "password");
          await expectHidden("sign-in");
          await page.keyboard.press("Enter");
          await drawn(page);
          await page.getByText("API request").click();
          await expectHidden("overview");
          assert.ok(urls.length > 2);
          for (const url of urls) assert.ok(!url.includes(text.slice(8, 24)), url);
          assert.equal(await page.evaluate(() => Object.values(sessionStorage).join()), text);
          await page.close();
          const other = await page.context().newPage();
          await other.goto(world.baseUrl);
          await heading(other, "Sign in").waitFor();
        },
        { as: null },
      ));

    test("again, when the key has expired, and back to the same view", async () => {
      const short = await world.newKey({});
      await world.visit(
        "/connectors",
        async (page) => {
          await page.getByRole("list", { name: "Connectors" }).waitFor();
          await world.expire(short);
          await page.getByRole("link", { name: "Overview", exact: true }).click();
          await page.getByText("Your key has expired or was revoked.").waitFor();
          assert.equal(await page.evaluate(() => sessionStorage.getItem("connector-vault.secret")), null);
          await signIn(page, world.keys.full.secret);
          await drawn(page);
          assert.equal(new URL(page.url()).pathname, "/");
        },
        { as: short, expects: [401] },
      );
      await world.visit(
        "/",
        async (page) => {
          await page.getByText("Your key has expired or was revoked.").waitFor();
        },
        { as: short, expects: [401] },
      );
    });

    test("goes on with the key it has, once the service is there again", () =>
      world.visit(
        "/",
        async (page) => {
          await drawn(page);
          await away(page);
          await page.reload();
          await problem(page, "The service can't be reached.").waitFor();
          await page.unroute("**/v1/**");
          await page.getByRole("button", { name: "Try again with your key" }).click();
          await drawn(page);
        },
        { expects: [AWAY] },
      ));
  });

  test("the theme is chosen with a button, and kept", () =>
    world.visit("/", async (page) => {
      await drawn(page);
      const background = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
      const light = await background();
      await page.getByRole("button", { name: "Use the dark theme" }).click();
      const dark = await background();
      assert.notEqual(dark, light);
      await page.reload();
      await page.getByRole("button", { name: "Use the light theme" }).waitFor();
      assert.equal(await background(), dark);
      await page.getByRole("button", { name: "Use the light theme" }).click();
      assert.equal(await background(), light);
    }));

  for (const theme of ["light", "dark"]) {
    for (const [width, height] of WIDTHS) {
      test(`nothing is in anybody's way: ${theme}, ${width} px`, () =>
        world.visit(
          "/",
          async (page) => {
            const fits = async (what) => {
              // What is half under the header is not too small to be hit.
              await page.evaluate(() => scrollTo(0, 0));
              await expectAccessible(page, what);
              await expectFits(page, what);
            };
            await page.getByText("npm start").waitFor();
            await expectFocus(field(page));
            await page.keyboard.press("Enter");
            await page.getByRole("alert").getByText("Enter an API key.").waitFor();
            await fits("the sign-in");
            await signIn(page, world.keys.full.secret);
            await chart(page, "platform").getByRole("link", { name: "GitHub v3 REST API" }).waitFor();
            await page.getByRole("button", { name: "Show the first 50" }).click();
            await page.getByText("API request").click();
            await fits("the overview");
            await away(page, "**/v1/vault/summary");
            await page.reload();
            await page.getByRole("alert").getByText("The service can't be reached").waitFor();
            await fits("a failure");
            await page.unroute("**/v1/vault/summary");
            await page.getByRole("button", { name: "Sign out" }).click();
            await signIn(page, keys.nobody.secret);
            await page.getByText("No connections yet").waitFor();
            await fits("an empty vault");
            await page.getByRole("button", { name: "Sign out" }).click();
            await signIn(page, world.keys.catalogOnly.secret);
            await page.getByText("Your key can't read connections").waitFor();
            await fits("a key that may not count");
          },
          { as: null, theme, width, height, expects: [AWAY] },
        ));
    }
  }
});
