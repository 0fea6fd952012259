// Running an action from its page in the console: form, confirmation and response.
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { Platform, documentAt } from "../support/called.mjs";
import { App, SCOPES, VAULT_KEY } from "../support/connecting.mjs";
import { Console, expectAccessible, expectAccessibleEverywhere } from "../support/console.mjs";
import { key } from "../support/keys.mjs";
import { SESSION_SECRET } from "../support/server.mjs";
import { folder } from "../support/workspace.mjs";
import { proof } from "../support/proof.mjs";

const CREATE = "/connectors/called/actions/createThing";
const GET = "/connectors/called/actions/getThing";

describe("the console: run an action", () => {
  const keys = {
    caller: key({ scopes: `${SCOPES} connections:call`, account: "trying" }),
    empty: key({ scopes: `${SCOPES} connections:call`, account: "nobody" }),
  };
  let platform;
  let fixture;

  before(async () => {
    platform = await Platform.start();
    const sources = join(folder, "try-documents");
    mkdirSync(sources, { recursive: true });
    writeFileSync(join(sources, "called.json"), JSON.stringify(documentAt(platform.origin)));
    const server = {
      name: "console-try",
      variables: { LOCAL_TARGETS: "allow" },
      secrets: { SESSION_SECRET, VAULT_KEYS: `tests:${VAULT_KEY}` },
    };
    fixture = await Console.start({ name: "console-try", documents: [sources], connections: [], keys, server });
    const app = new App(() => fixture.server, keys.caller);
    for (const identity of ["bob@example.com", "ann@example.com"]) {
      const connection = { platform: "called", identity, identityType: "user" };
      const { id } = await app.expect(201, "POST", "/v1/vault/connections", connection);
      await app.expect(204, "PUT", `/v1/vault/connections/${id}/credentials`, { type: "bearer", token: "good" });
    }
    const without = { platform: "called", identity: "without@example.com", identityType: "user" };
    await app.expect(201, "POST", "/v1/vault/connections", without);
  });

  after(async () => {
    await Promise.all([fixture?.stop(), platform?.stop()]);
  });

  const visit = (path, use, options) =>
    fixture.visit(
      path,
      async (page) => {
        await page.getByRole("heading", { name: "Try it" }).click();
        await use(page, page.getByRole("form", { name: /^Try / }));
      },
      { as: keys.caller, ...options },
    );
  const button = (within, name) => within.getByRole("button", { name, exact: true });
  const response = (page) => page.getByRole("region", { name: "Response" });

  test("runs a read-only action without confirmation", () =>
    visit(GET, async (page, form) => {
      await form.getByLabel("Connection").selectOption("bob@example.com");
      await form.getByLabel("id", { exact: true }).fill("7");
      await form.getByText("In the query").waitFor();
      await form.getByLabel("view (optional)").selectOption("long");
      await button(form, "Run").click();
      await response(page).getByRole("status").getByText("200").waitFor();
      const body = JSON.parse(await response(page).getByLabel("Response body").innerText());
      assert.deepEqual([body.method, body.url], ["GET", "/api/things/7?view=long"]);
      await response(page).getByText("Headers", { exact: true }).click();
      await response(page).getByText("content-type", { exact: true }).waitFor();
    }));

  proof("offers only connections with credentials", () =>
    visit(GET, async (_, form) => {
      await form.getByLabel("Connection").waitFor();
      const options = await form.getByLabel("Connection").locator("option").allInnerTexts();
      assert.deepEqual(options.sort(), ["ann@example.com", "bob@example.com"]);
    }),
  );

  test("asks for confirmation before a write", () =>
    visit(CREATE, async (page, form) => {
      await form.getByLabel("owner", { exact: true }).fill("a b");
      await form.getByLabel("tags (optional)").fill('["x", "y"]');
      await form.getByLabel("name", { exact: true }).fill("é");
      await form.getByText("1 optional").click();
      await form.getByLabel("size (optional)").fill("3");
      const command = page.getByRole("region", { name: "Run through the vault" }).locator("pre");
      // The page updates shortly after typing.
      await command.filter({ hasText: '"size":3' }).waitFor();
      const run = await command.innerText();
      const id = await form.getByLabel("Connection").inputValue();
      assert.ok(run.includes(`${fixture.baseUrl}/v1/vault/connections/${id}/actions/createThing'`), run);
      const input = { path: { owner: "a b" }, body: { name: "é", size: 3 }, query: { tags: ["x", "y"] } };
      assert.deepEqual(JSON.parse(run.match(/-d '(.*)'$/s)[1]), input);
      const before = platform.requests.length;
      await button(form, "Run").click();
      const question = page.getByRole("alertdialog", { name: "Run Create a thing?" });
      await question.getByText("POST").waitFor();
      await expectAccessible(page, "the question");
      await button(question, "Cancel").click();
      await question.waitFor({ state: "detached" });
      assert.equal(platform.requests.length, before);
      await button(form, "Run").click();
      await button(question, "Run it").click();
      await response(page).getByRole("status").getByText("200").waitFor();
      const { method, url, body } = platform.last;
      assert.deepEqual([method, url], ["POST", "/api/owners/a%20b/things?tags=x&tags=y"]);
      assert.deepEqual(JSON.parse(body), { name: "é", size: 3 });
    }));

  proof("shows errors next to the field", () =>
    visit(
      CREATE,
      async (page, form) => {
        const faultOf = async (label) => {
          const field = form.getByLabel(label, { exact: true });
          await field.and(form.locator("[aria-invalid=true]")).waitFor();
          const ids = (await field.getAttribute("aria-describedby")).split(" ");
          return page.locator(`[id="${ids[0]}"]`).innerText();
        };
        const before = platform.requests.length;
        await form.getByLabel("tags (optional)").fill("x, y");
        await button(form, "Run").click();
        assert.equal(await faultOf("tags (optional)"), "Must be JSON. Strings need quotation marks.");
        assert.equal(await faultOf("owner"), "This is required.");
        assert.equal(await faultOf("name"), "This is required.");
        assert.equal(await page.getByRole("alertdialog").count(), 0, "asks only about a valid input");
        await form.getByLabel("tags (optional)").fill('["X"]');
        await form.getByLabel("owner", { exact: true }).fill("ann");
        await form.getByLabel("name", { exact: true }).fill("n");
        await button(form, "Run").click();
        await button(page.getByRole("alertdialog"), "Run it").click();
        assert.match(await faultOf("tags (optional)"), /pattern/);
        await page.getByRole("alert").getByText("This request is not valid").waitFor();
        assert.equal(platform.requests.length, before);
      },
      { expects: [400] },
    ),
  );

  proof("explains a missing scope and missing connections", async () => {
    for (const [as, text] of [
      [fixture.keys.catalogOnly, "it lacks the scope connections:read"],
      [fixture.keys.reader, "it lacks the scope connections:call"],
      [keys.empty, "No account of this platform is connected."],
    ])
      await visit(
        GET,
        async (page, form) => {
          await page.getByText(text).waitFor();
          assert.equal(await form.count(), 0);
        },
        { as },
      );
  });

  test("fits and is accessible in both themes and at each width", () =>
    visit(CREATE, async (page, form) => {
      await form.getByLabel("owner", { exact: true }).fill("ann");
      await form.getByLabel("name", { exact: true }).fill("n");
      await form.getByText("1 optional").click();
      await button(form, "Run").click();
      await button(page.getByRole("alertdialog"), "Run it").click();
      await response(page).getByRole("status").getByText("200").waitFor();
      await response(page).getByText("Headers", { exact: true }).click();
      await expectAccessibleEverywhere(page, "an action that was tried", { others: [390] });
    }));
});
