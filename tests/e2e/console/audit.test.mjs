// The audit log in the console, and its filters, which the address contains.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { App, SCOPES, VAULT_KEY } from "../support/connecting.mjs";
import { Console, expectAccessibleEverywhere } from "../support/console.mjs";
import { key } from "../support/keys.mjs";
import { SESSION_SECRET } from "../support/server.mjs";
import { proof } from "../support/proof.mjs";

const SIGN_IN_SETTINGS = `${SCOPES} keys:write audit:read`;

describe("the console: audit log", () => {
  const keys = {
    reader: key({ scopes: "catalog:read connections:read", account: "audited" }),
    auditor: key({ scopes: SIGN_IN_SETTINGS, account: "audited" }),
  };
  let fixture;
  let connection;

  before(async () => {
    const server = {
      name: "console-audit",
      secrets: { SESSION_SECRET, VAULT_KEYS: `tests:${VAULT_KEY}` },
    };
    fixture = await Console.start({ name: "console-audit", connections: [], keys, server });
    const app = new App(() => fixture.server, keys.auditor);
    const sent = { platform: "github", identity: "ann@example.com", identityType: "user" };
    connection = (await app.expect(201, "POST", "/v1/vault/connections", sent)).id;
    await app.expect(200, "PATCH", `/v1/vault/connections/${connection}`, { tags: ["x"] });
    for (let n = 0; n < 55; n += 1) {
      const tags = [`tag-${n}`];
      await app.expect(200, "PATCH", `/v1/vault/connections/${connection}`, { tags });
    }
    await app.expect(201, "POST", "/v1/keys", { scopes: ["catalog:read"] });
  });
  after(() => fixture?.stop());

  const visit = (path, use, options) => fixture.visit(path, use, { as: keys.auditor, ...options });
  const rows = (page) => page.getByRole("list", { name: "Entries" }).getByRole("listitem");

  test("lists entries newest first with action and actor, and loads older ones on demand", () =>
    visit("/", async (page) => {
      await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Audit" }).click();
      await rows(page).first().getByText("API key created").waitFor();
      await rows(page).first().getByText(keys.auditor.row.id).waitFor();
      assert.equal(await rows(page).count(), 50);
      await page.getByRole("button", { name: "Show older" }).click();
      await rows(page).nth(57).getByText("Connection created").waitFor();
      assert.equal(await page.getByRole("button", { name: "Show older" }).count(), 0);
      const link = rows(page).nth(57).getByRole("link", { name: connection });
      assert.equal(await link.getAttribute("href"), `/connections/${connection}`);
    }));

  test("keeps filters in the address and combines them", () =>
    visit("/audit?action=connection.created", async (page) => {
      await rows(page).getByText("Connection created").waitFor();
      assert.equal(await rows(page).count(), 1);
      await page.getByLabel("Action").selectOption("key.created");
      await rows(page).first().getByText("API key created").waitFor();
      assert.match(page.url(), /\?action=key\.created$/);
      await page.getByLabel("Action").selectOption("");
      await page.getByLabel("Target").fill(connection);
      await page.getByLabel("Actor").fill("nobody");
      await page.getByText("No entries").waitFor();
      await page.getByLabel("Actor").fill("");
      await rows(page).nth(49).waitFor();
      await page.getByLabel("From").fill("2020-01-01");
      await page.getByLabel("To", { exact: true }).fill("2020-01-02");
      await page.getByText("No entries").waitFor();
    }));

  proof("names the missing scope", () =>
    visit(
      "/audit",
      async (page) => {
        await page.getByText("Your key can't read the audit").waitFor();
        assert.equal(await page.getByRole("link", { name: "Audit" }).count(), 0);
      },
      { as: keys.reader },
    ),
  );

  test("is accessible in both themes and at each width", () =>
    visit("/audit", async (page) => {
      await rows(page).first().waitFor();
      await expectAccessibleEverywhere(page, "the audit log", { widths: [320, 390], others: [390] });
    }));
});
