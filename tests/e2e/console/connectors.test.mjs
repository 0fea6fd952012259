// The console's views of the catalog: what they show is what the API answers.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { promisify } from "node:util";
import {
  Console,
  MANY_DOCUMENTS,
  expectAccessible,
  expectFits,
  expectFocus,
  readCopied,
  tabTo,
} from "../support/console.mjs";
import { query } from "../support/vault.mjs";
import { root } from "../../../scripts/lib/paths.mjs";

const ROWS = 48;
const ACTIONS = 25;
const execute = promisify(execFile);

describe("the console: connectors", () => {
  let world;
  before(async () => {
    world = await Console.start({ name: "console-connectors", documents: MANY_DOCUMENTS });
  });
  after(() => world?.stop());

  /** What the API answers a filter of the connector list. */
  const connectors = async (filter = {}) =>
    (await world.caller().send("GET", `/v1/available-connectors?${query({ limit: ROWS, ...filter })}`)).json;
  const actions = async (filter = {}) =>
    (await world.caller().send("GET", `/v1/available-actions/github?${query({ limit: ACTIONS, ...filter })}`)).json;

  const cards = (page) => page.getByRole("list", { name: "Connectors" }).locator(".connector-name").allTextContents();
  const titles = (page) => page.getByRole("list", { name: "Actions" }).locator(".action-title").allTextContents();
  const count = (page, words) =>
    page
      .getByRole("status")
      .filter({ hasText: new RegExp(`^${words}$`) })
      .waitFor();

  /** Waits for a filter's answer, and asserts that it is what is shown. */
  async function expectCards(page, filter) {
    const { rows, total } = await connectors(filter);
    await count(page, `${total.toLocaleString("en")} connectors?`);
    await page.locator("[aria-busy=true]").waitFor({ state: "detached" });
    assert.deepEqual(
      await cards(page),
      rows.map(({ name }) => name),
    );
    return { rows, total };
  }

  async function expectActions(page, filter) {
    const { rows, total } = await actions(filter);
    await count(page, `${total.toLocaleString("en")} actions?`);
    await page.locator("[aria-busy=true]").waitFor({ state: "detached" });
    assert.deepEqual(
      await titles(page),
      rows.map(({ title }) => title),
    );
    return { rows, total };
  }

  test("all of them, page by page, there and back", () =>
    world.visit("/connectors", async (page) => {
      const { total } = await expectCards(page, {});
      assert.ok(total > 5 * ROWS);
      assert.equal(await page.title(), "Connectors · connector-vault");
      await page.getByRole("link", { name: "Next" }).click();
      await page.waitForURL("**/connectors?page=2");
      await page.getByText(`Page 2 of ${Math.ceil(total / ROWS)}`).waitFor();
      await expectCards(page, { page: 2 });
      await page.reload();
      await expectCards(page, { page: 2 });
      await page.getByRole("link", { name: "Next" }).click();
      await page.getByText("Page 3 of").waitFor();
      await expectCards(page, { page: 3 });
      await page.goBack();
      await page.getByText("Page 2 of").waitFor();
      await page.getByRole("link", { name: "Previous" }).click();
      await page.waitForURL("**/connectors");
      await expectCards(page, {});
    }));

  test("a page past the end leads back", () =>
    world.visit("/connectors?page=4711", async (page) => {
      await page.getByText("There is no such page").waitFor();
      await page.getByRole("link", { name: "Go to the first page" }).click();
      await expectCards(page, {});
    }));

  test("search as one types asks once one pauses, and ends what is superseded", () =>
    world.visit("/connectors", async (page) => {
      await expectCards(page, {});
      const asked = [];
      const ended = [];
      const isSearch = (url) => url.includes("available-connectors") && url.includes("q=");
      page.on(
        "request",
        (request) => isSearch(request.url()) && asked.push(new URL(request.url()).searchParams.get("q")),
      );
      page.on(
        "requestfailed",
        (request) => isSearch(request.url()) && ended.push(new URL(request.url()).searchParams.get("q")),
      );
      // The first answer is kept until the second one has been given.
      let release;
      const kept = new Promise((done) => (release = done));
      await page.route(
        (url) => url.searchParams.get("q") === "goog",
        async (route) => {
          await kept;
          await route.continue().catch(() => {});
        },
      );
      const search = page.getByRole("searchbox", { name: "Search" });
      const held = page.waitForRequest((request) => request.url().includes("q=goog"));
      await search.pressSequentially("goog");
      await held;
      await search.pressSequentially("le cloud");
      await expectCards(page, { q: "google cloud" });
      release();
      assert.deepEqual(asked, ["goog", "google cloud"]);
      assert.deepEqual(ended, ["goog"]);
      assert.match(page.url(), /\?q=google\+cloud$/);
      // Typing adds nothing to the history.
      await search.fill("");
      await expectCards(page, {});
      assert.ok(!page.url().includes("?"));
    }));

  test("a category, with the number of its connectors, in the address", () =>
    world.visit("/connectors?q=api", async (page) => {
      await expectCards(page, { q: "api" });
      const select = page.getByRole("combobox", { name: "Category" });
      const option = select.locator("option", { hasText: /^Analytics \(\d+\)$/ });
      await option.waitFor({ state: "attached" });
      const [told] = (await option.textContent()).match(/\d+/);
      assert.equal(Number(told), (await connectors({ category: "Analytics" })).total);
      await select.selectOption("Analytics");
      await page.waitForURL("**/connectors?q=api&category=Analytics");
      await expectCards(page, { q: "api", category: "Analytics" });
      await page.goBack();
      await page.waitForURL("**/connectors?q=api");
      await expectCards(page, { q: "api" });
      assert.equal(await select.inputValue(), "");
      await page.goForward();
      await expectCards(page, { q: "api", category: "Analytics" });
      await page.reload();
      await expectCards(page, { q: "api", category: "Analytics" });
      assert.equal(await page.getByRole("searchbox", { name: "Search" }).inputValue(), "api");
      assert.equal(await select.inputValue(), "Analytics");
    }));

  test("what is enabled for hosted authorization, and nothing found", () =>
    world.visit("/connectors", async (page) => {
      await expectCards(page, {});
      const { total } = await connectors({ authkit: "true" });
      await page.getByRole("checkbox", { name: "Hosted authorization only" }).check();
      await page.waitForURL("**/connectors?authkit=true");
      await count(page, `${total} connectors?`);
      await page.goto(`${world.baseUrl}/connectors?q=nothing-of-this-kind`);
      await page.getByText("No connector matches").waitFor();
      await page.getByRole("link", { name: "Show all connectors" }).click();
      await expectCards(page, {});
    }));

  test("a card tells what there is to know, and leads on", () =>
    world.visit("/connectors?q=github", async (page) => {
      const { rows } = await expectCards(page, { q: "github" });
      for (const [at, row] of rows.entries()) {
        const text = await page.getByRole("list", { name: "Connectors" }).getByRole("listitem").nth(at).innerText();
        for (const told of [row.name, row.platform, row.category, `${row.tools.toLocaleString("en")} action`])
          assert.ok(text.includes(told), `${told} in ${text}`);
        assert.equal(text.includes("OAuth"), row.oauth);
        assert.equal(/Beta|Alpha|Not available/.test(text), row.status !== "generally_available");
      }
      await page.getByRole("link", { name: /^GitHub v3 REST API/ }).click();
      await page.waitForURL("**/connectors/github");
      await page.getByRole("heading", { level: 1, name: "GitHub v3 REST API" }).waitFor();
      // Whoever listens hears where one has come to.
      await expectFocus(page.getByRole("heading", { level: 1, name: "GitHub v3 REST API" }));
    }));

  test("logos come lazily and tell nobody where from; a monogram stands for a broken one", () =>
    world.visit("/connectors?page=2", async (page) => {
      await expectCards(page, { page: 2 });
      const image = page.locator("img.logo[src^=https]").first();
      await image.waitFor();
      assert.deepEqual(await image.evaluate((element) => [element.loading, element.referrerPolicy, element.alt]), [
        "lazy",
        "no-referrer",
        "",
      ]);
      const referrers = [];
      await page.route(
        (url) => url.origin !== world.baseUrl,
        (route) => {
          referrers.push(route.request().headers().referer);
          return route.fulfill({ contentType: "image/png", body: "no picture at all" });
        },
      );
      await page.reload();
      await expectCards(page, { page: 2 });
      await page.locator(".monogram").first().waitFor();
      assert.ok(referrers.length > 0);
      assert.deepEqual([...new Set(referrers)], [undefined]);
    }));

  test("one connector: every field, and copies of what one needs elsewhere", () =>
    world.visit("/connectors/github", async (page) => {
      const [row] = (await connectors({ platform: "github" })).rows;
      const facts = page.getByRole("region", { name: /^GitHub v3 REST API v\d+$/ });
      await facts.waitFor();
      const text = await facts.innerText();
      for (const told of [
        row.platform,
        row.key,
        String(row.id),
        row.category,
        row.platformVersion,
        row.version,
        row.description,
        row.tools.toLocaleString("en"),
        "Generally available",
        ...row.tags,
      ]) {
        assert.ok(text.includes(told), `${told} in ${text}`);
      }
      await facts.getByRole("button", { name: "Copy the key" }).click();
      assert.equal(await readCopied(facts), row.key);
      await facts.getByRole("link", { name: row.category }).click();
      await expectCards(page, { category: row.category });
    }));

  test("its actions, by method and text, page by page", () =>
    world.visit("/connectors/github", async (page) => {
      const { rows } = await expectActions(page, {});
      const methods = await page.getByRole("list", { name: "Actions" }).locator(".method").allTextContents();
      assert.deepEqual(
        methods,
        rows.map(({ method }) => method),
      );
      await page.getByRole("combobox", { name: "Method" }).selectOption("DELETE");
      await page.waitForURL("**/connectors/github?method=DELETE");
      await expectActions(page, { method: "DELETE" });
      await page.getByRole("searchbox", { name: "Search actions" }).fill("repository");
      await expectActions(page, { method: "DELETE", q: "repository" });
      await page.getByRole("link", { name: "Next" }).click();
      await page.waitForURL("**page=2**");
      await page.getByText("Page 2 of").waitFor();
      await expectActions(page, { method: "DELETE", q: "repository", page: 2 });
      await page.reload();
      await expectActions(page, { method: "DELETE", q: "repository", page: 2 });
      const key = (await actions({ method: "DELETE", q: "repository", page: 2 })).rows[0].key;
      await page.getByRole("button", { name: `Copy the key ${key}` }).click();
      assert.equal(await readCopied(page.getByRole("list", { name: "Actions" })), key);
      await page.getByRole("searchbox", { name: "Search actions" }).fill("no such thing");
      await page.getByText("No action matches").waitFor();
    }));

  test("no more of its actions than the address asks for", () =>
    world.visit("/connectors/github?method=delete", async (page) => {
      const method = page.getByRole("combobox", { name: "Method" });
      await expectActions(page, { method: "DELETE" });
      assert.equal(await method.inputValue(), "DELETE");
      await page.goto(`${world.baseUrl}/connectors/github?method=BREW`);
      await page.getByText("No action matches").waitFor();
      assert.equal(await method.inputValue(), "BREW");
      await page.goto(`${world.baseUrl}/connectors/github?page=9999`);
      await page.getByText("There is no such page").waitFor();
      await page.getByRole("link", { name: "Go to the first page" }).click();
      await expectActions(page, {});
    }));

  test("the code for what is shown does what it says", () =>
    world.visit("/connectors/github?method=PUT&q=it's", async (page) => {
      const expected = await actions({ method: "PUT", q: "it's", page: 1 });
      const code = page.getByRole("region", { name: "Actions" });
      await code.getByText("API request").click();
      const env = { ...process.env, KEY: world.keys.full.secret };
      const shell = await code.locator("pre").innerText();
      const { stdout } = await execute("bash", ["-c", shell.replace("curl ", "curl -s ")], { env });
      assert.deepEqual(JSON.parse(stdout), expected);
      await code.getByRole("button", { name: "JavaScript" }).click();
      await code.getByRole("button", { name: "Copy the code" }).click();
      const copied = await readCopied(code);
      assert.equal(copied, await code.locator("pre").innerText());
      // The package is found from a folder that has it.
      const place = join(root, "target", "tmp", "snippet");
      mkdirSync(place, { recursive: true });
      writeFileSync(join(place, "main.mjs"), `${copied}\nconsole.log(JSON.stringify({ rows, total }));\n`);
      const printed = await execute(process.execPath, [join(place, "main.mjs")], { env });
      rmSync(place, { recursive: true });
      assert.deepEqual(JSON.parse(printed.stdout), { rows: expected.rows, total: expected.total });
    }));

  test("its newest connections, and the way to all of them", () =>
    world.visit("/connectors/github", async (page) => {
      const { rows, total } = (await world.caller().list({ platform: "github", limit: 5 })).json;
      const section = page.getByRole("region", { name: "Connections" });
      await section.getByText(`${total} active`).waitFor();
      const lines = await section.getByRole("listitem").allInnerTexts();
      assert.equal(lines.length, 5);
      rows.forEach(({ identity, state }, at) =>
        assert.ok(lines[at].includes(identity) && lines[at].includes(state), lines[at]),
      );
      await section.getByRole("link", { name: `All ${total} connections` }).click();
      await page.waitForURL("**/connections?platform=github");
    }));

  test("an unknown platform: what may have been meant", () =>
    world.visit(
      "/connectors/githb",
      async (page) => {
        await page.getByText("The catalog has no platform “githb”").waitFor();
        await page.getByRole("link", { name: "github", exact: true }).click();
        await page.getByRole("heading", { level: 1, name: "GitHub v3 REST API" }).waitFor();
      },
      { expects: [404] },
    ));

  test("a key that may not read the catalog is told so", async () => {
    const vaultOnly = await world.newKey({ scopes: "connections:read" });
    await world.visit(
      "/connectors",
      async (page) => {
        await page.getByText("Your key can't read the catalog").waitFor();
        await page.getByText("catalog:read").waitFor();
        assert.equal(await page.getByRole("list", { name: "Connectors" }).count(), 0);
      },
      { as: vaultOnly },
    );
  });

  test("when the service is away: said so, and tried again", () =>
    world.visit(
      "/connectors",
      async (page) => {
        await expectCards(page, {});
        await page.route("**/v1/**", (route) => route.abort("connectionrefused"));
        await page.getByRole("link", { name: "Next" }).click();
        const alert = page.getByRole("alert");
        await alert.getByText("The service can't be reached").waitFor();
        await page.unroute("**/v1/**");
        await alert.getByRole("button", { name: "Try again" }).click();
        await expectCards(page, { page: 2 });
      },
      { expects: ["ERR_CONNECTION_REFUSED"] },
    ));

  test("by keyboard alone: search, a connector, its actions", () =>
    world.visit("/connectors", async (page) => {
      await expectCards(page, {});
      await tabTo(page, page.getByRole("searchbox", { name: "Search" }));
      await page.keyboard.type("github v3");
      await expectCards(page, { q: "github v3" });
      await tabTo(page, page.getByRole("link", { name: /^GitHub v3 REST API/ }).first());
      await page.keyboard.press("Enter");
      await page.getByRole("heading", { level: 1, name: "GitHub v3 REST API" }).waitFor();
      await tabTo(page, page.getByRole("searchbox", { name: "Search actions" }));
      await page.keyboard.type("gist");
      await expectActions(page, { q: "gist" });
    }));

  test("descriptions are cut after a whole line, and no label is broken in two", async () => {
    for (const width of [390, 700, 1024, 1280]) {
      await world.visit(
        "/connectors",
        async (page) => {
          await expectCards(page, {});
          const cut = await page
            .locator(".connector-description")
            .evaluateAll(
              (all) =>
                all.filter((one) => one.clientHeight > 2.5 * parseFloat(getComputedStyle(one).lineHeight)).length,
            );
          assert.equal(cut, 0, `${width}: no third line`);
          const lines = await page.getByText("Hosted authorization only").evaluate((label) => {
            const range = document.createRange();
            range.selectNodeContents(label.lastChild);
            return range.getClientRects().length;
          });
          assert.equal(lines, 1, `${width}`);
        },
        { width },
      );
    }
  });

  test("its connections follow its facts, on a desk and a phone", async () => {
    for (const width of [390, 1280]) {
      await world.visit(
        "/connectors/github",
        async (page) => {
          await expectActions(page, {});
          const facts = await page.locator(".connector-facts").boundingBox();
          const heading = await page.getByRole("heading", { name: "Connections" }).boundingBox();
          const gap = heading.y - (facts.y + facts.height);
          assert.ok(gap >= 0 && gap < 48, `${width}: ${gap} px of nothing`);
        },
        { width },
      );
    }
  });

  for (const theme of ["light", "dark"]) {
    // 640 px are 1280 at 200 %.
    for (const [width, height] of [
      [390, 844],
      [640, 450],
      [1280, 900],
    ]) {
      test(`nothing is in anybody's way: ${theme}, ${width} px`, () =>
        world.visit(
          "/connectors",
          async (page) => {
            const fits = async (what) => {
              await expectAccessible(page, what);
              await expectFits(page, what);
            };
            await expectCards(page, {});
            await fits("connectors");
            await page.goto(`${world.baseUrl}/connectors/github`);
            await expectActions(page, {});
            await page.getByText("API request").first().click();
            await page.getByRole("region", { name: "Connections" }).getByRole("listitem").first().waitFor();
            await fits("a connector");
            await page.goto(`${world.baseUrl}/connectors?q=nothing-of-this-kind`);
            await page.getByText("No connector matches").waitFor();
            await fits("nothing found");
            await page.route("**/v1/**", (route) => route.abort("connectionrefused"));
            await page.getByRole("searchbox", { name: "Search" }).fill("away");
            await page.getByRole("alert").getByText("The service can't be reached").waitFor();
            await fits("a failure");
          },
          { theme, width, height, expects: ["ERR_CONNECTION_REFUSED"] },
        ));
    }
  }
});
