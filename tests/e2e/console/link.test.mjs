// The console as a page for an end user, opened by a link with a token: their own connections, and nobody else's.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { Console, expectAccessible } from "../support/console.mjs";
import { token } from "../support/keys.mjs";
import { SESSION_SECRET } from "../support/server.mjs";

const IDENTITY = "user-2@example.com";
const SECRET = "connector-vault.secret";

describe("the console: opened by a link", () => {
  let world;
  before(async () => {
    world = await Console.start({ name: "console-link" });
  });
  after(() => world?.stop());

  /** A link with a token as the service makes them, confined to the identity. */
  async function link(path = "/connections", wish = {}) {
    const made = await world.caller(world.keys.maker).sendJson("POST", "/v1/sessions", { identity: IDENTITY, scopes: ["catalog:read", "connections:read", "connections:write"], ...wish });
    assert.equal(made.status, 201, made.text);
    return `${path}#token=${made.json.token}`;
  }
  const rows = (page) => page.locator("tbody tr");

  test("shows whose connections it opens, these only, and leaves no token in the address", async () => {
    const mine = (await world.caller().list({ identity: IDENTITY })).json;
    assert.ok(mine.total > 0 && mine.total < (await world.caller().list()).json.total);
    const path = await link();
    await world.visit(path, async (page) => {
      await rows(page).first().waitFor();
      assert.equal(await rows(page).count(), mine.total);
      for (const text of await rows(page).allInnerTexts()) assert.ok(text.includes(IDENTITY), text);
      await page.getByRole("banner").getByText(IDENTITY).waitFor();
      assert.equal(new URL(page.url()).hash, "");
      const places = await page.evaluate(() => [location.href, JSON.stringify(history.state), JSON.stringify(localStorage), document.cookie, document.documentElement.outerHTML].join());
      assert.ok(!places.includes("st_test_"));
      await page.reload();
      await rows(page).first().waitFor();
      await page.goto(`${world.baseUrl}/`);
      await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
      const summary = (await page.evaluate(async (place) => (await fetch("/v1/vault/summary", { headers: { "x-service-secret": sessionStorage.getItem(place) } })).json(), SECRET));
      await page.getByText("active and inactive").waitFor();
      assert.ok((await page.locator("main").innerText()).includes(String(summary.total)));
      await expectAccessible(page, "the overview of an end user");
    }, { as: null });
  });

  test("creates for this identity only", async () => {
    const path = await link("/connections", { identityType: "user" });
    await world.visit(path, async (page) => {
      await page.getByRole("button", { name: "New connection" }).first().click();
      const dialog = page.getByRole("dialog", { name: "New connection" });
      const identity = dialog.getByRole("textbox", { name: "Identity", exact: true });
      assert.equal(await identity.inputValue(), IDENTITY);
      assert.equal(await identity.getAttribute("readonly"), "");
      assert.deepEqual(await dialog.getByRole("combobox", { name: "Identity type" }).locator("option").allTextContents(), ["user"]);
      await expectAccessible(page, "the form of an end user");
      await dialog.getByLabel("Platform", { exact: true }).fill("github");
      await dialog.getByLabel("Label (optional)").fill("by-link");
      await dialog.getByRole("button", { name: "Continue" }).click();
      await page.getByRole("button", { name: "Create connection" }).click();
      await page.getByRole("dialog", { name: IDENTITY }).waitFor();
      const { json } = await world.caller().list({ key: `test::github::by-link::${IDENTITY}` });
      assert.equal(json.total, 1);
    }, { as: null });
  });

  test("another's connection is one that there is not", async () => {
    const other = (await world.caller().list({ identity: "user-4@example.com" })).json.rows[0];
    assert.notEqual(other, undefined);
    const path = await link(`/connections?connection=${other.id}`);
    await world.visit(path, async (page) => {
      await page.getByText("There is no such connection").waitFor();
      assert.ok(!(await page.locator("body").innerText()).includes("user-4@example.com"));
    }, { as: null, expects: [404] });
  });

  test("a link that has expired says so, and the next one leads where one was", async () => {
    const expired = token(SESSION_SECRET, world.keys.maker, { i: IDENTITY, e: Date.now() - 1 });
    await world.visit(`/connections?q=user#token=${expired}`, async (page) => {
      await page.getByText("Your link has expired").waitFor();
      assert.equal(await page.evaluate((place) => sessionStorage.getItem(place), SECRET), null);
      assert.ok(page.url().endsWith("/connections?q=user"));
      // In the very page: only what is behind `#` differs.
      const path = await link("/connections?q=user");
      await page.goto(world.baseUrl + path);
      await rows(page).first().waitFor();
      assert.ok(page.url().endsWith("/connections?q=user"));
    }, { as: null, expects: [401] });
  });

  test("what is no token is left alone", () =>
    world.visit("/connections#token=sk_test_something", async (page) => {
      await page.getByRole("heading", { level: 1, name: "Sign in" }).waitFor();
      assert.equal(await page.evaluate(() => sessionStorage.length), 0);
    }, { as: null }));
});
