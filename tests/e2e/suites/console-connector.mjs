// One connector: details, actions and connections.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { promisify } from "node:util";
import { root } from "../../../scripts/lib/paths.mjs";
import { catalogHelpers } from "../support/console-catalog.mjs";
import { expectAccessible, readCopied } from "../support/console.mjs";
import { proof } from "../support/proof.mjs";

const execute = promisify(execFile);

/** @param {{ console: import("../support/console.mjs").Console }} fixture */
export function consoleConnector(fixture) {
  const visit = (...args) => fixture.console.visit(...args);
  const { connectors, actions, expectCards, expectActions } = catalogHelpers(fixture);

  describe("a connector", () => {
    test("shows and copies every field, and says when it has no auth method", () =>
      visit("/connectors/github", async (page) => {
        const [row] = (await connectors({ platform: "github" })).rows;
        const facts = page.getByRole("region", { name: /^GitHub v\d+$/ });
        await facts.waitFor();
        const text = await facts.innerText();
        for (const expected of [
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
          assert.ok(text.includes(expected), `${expected} in ${text}`);
        }
        await page.getByText("The catalog has no auth method for GitHub.").waitFor();
        await facts.getByRole("button", { name: "Copy the key" }).click();
        assert.equal(await readCopied(facts), row.key);
        await facts.getByRole("link", { name: row.category }).click();
        await expectCards(page, { category: row.category });
      }));

    test("shows auth methods and API servers", () =>
      visit("/connectors/acme-store", async (page) => {
        const section = page.getByRole("region", { name: "How users connect" });
        const oauth = section.getByRole("listitem").filter({ has: page.getByRole("heading", { name: "OAuth 2.0" }) });
        await oauth.getByText("https://acme.com/token", { exact: true }).waitFor();
        await oauth.getByText("1 scope").click();
        await oauth.getByText("Read orders").waitFor();
        await oauth.getByRole("button", { name: "Copy the token URL" }).click();
        assert.equal(await readCopied(oauth), "https://acme.com/token");
        const key = section.getByRole("listitem").filter({ has: page.getByRole("heading", { name: "API key" }) });
        await key.getByText("X-Acme-Key", { exact: true }).waitFor();
        await expectAccessible(page, "a connector with auth methods");
      }));

    test("lists its actions by method and search, page by page", () =>
      visit("/connectors/github", async (page) => {
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
        await page.getByText("No actions match").waitFor();
      }));

    proof("sends unknown filter values instead of ignoring them", () =>
      visit("/connectors/github?method=delete", async (page) => {
        const method = page.getByRole("combobox", { name: "Method" });
        await expectActions(page, { method: "DELETE" });
        assert.equal(await method.inputValue(), "DELETE");
        await page.goto(`${fixture.console.baseUrl}/connectors/github?method=BREW`);
        await page.getByText("No actions match").waitFor();
        assert.equal(await method.inputValue(), "BREW");
        await page.goto(`${fixture.console.baseUrl}/connectors/github?page=9999`);
        await page.getByText("This page does not exist").waitFor();
        await page.getByRole("link", { name: "Go to the first page" }).click();
        await expectActions(page, {});
      }),
    );

    proof("shows API requests that return the displayed rows", () =>
      visit("/connectors/github?method=PUT&q=it's", async (page) => {
        const expected = await actions({ method: "PUT", q: "it's", page: 1 });
        const code = page.getByRole("region", { name: "Actions" });
        await code.getByText("API request").click();
        const env = { ...process.env, KEY: fixture.console.keys.full.secret };
        const shell = await code.locator("pre").innerText();
        const { stdout } = await execute("bash", ["-c", shell.replace("curl ", "curl -s ")], { env });
        assert.deepEqual(JSON.parse(stdout), expected);
        await code.getByRole("button", { name: "JavaScript" }).click();
        await code.getByRole("button", { name: "Copy the code" }).click();
        const copied = await readCopied(code);
        assert.equal(copied, await code.locator("pre").innerText());
        // Runs the copied code where the package can be resolved.
        const place = join(root, "target", "tmp", "snippet");
        mkdirSync(place, { recursive: true });
        writeFileSync(join(place, "main.mjs"), `${copied}\nconsole.log(JSON.stringify({ rows, total }));\n`);
        const printed = await execute(process.execPath, [join(place, "main.mjs")], { env });
        rmSync(place, { recursive: true });
        assert.deepEqual(JSON.parse(printed.stdout), { rows: expected.rows, total: expected.total });
      }),
    );

    proof("lists its newest connections, and links to all of them", () =>
      visit("/connectors/github", async (page) => {
        const { rows, total } = (await fixture.console.caller().list({ platform: "github", limit: 5 })).json;
        const section = page.getByRole("region", { name: "Connections" });
        await section.getByText(`${total} active`).waitFor();
        const lines = await section.getByRole("listitem").allInnerTexts();
        assert.equal(lines.length, 5);
        rows.forEach(({ identity, state }, index) =>
          assert.ok(lines[index].includes(identity) && lines[index].includes(state), lines[index]),
        );
        await expectActions(page, {});
        for (const width of [390, 1280]) {
          await page.setViewportSize({ width, height: 900 });
          const before = await page.getByRole("region", { name: "How users connect" }).boundingBox();
          const heading = await page.getByRole("heading", { name: "Connections" }).boundingBox();
          const gap = heading.y - (before.y + before.height);
          assert.ok(gap >= 0 && gap < 48, `${width}: a gap of ${gap} px`);
        }
        await section.getByRole("link", { name: `All ${total} connections` }).click();
        await page.waitForURL("**/connections?platform=github");
      }),
    );

    proof("suggests similar names for an unknown platform", () =>
      visit(
        "/connectors/githb",
        async (page) => {
          await page.getByText("The catalog has no platform “githb”").waitFor();
          await page.getByRole("link", { name: "github", exact: true }).click();
          await page.getByRole("heading", { level: 1, name: "GitHub" }).waitFor();
        },
        { expects: [404] },
      ),
    );
  });
}
