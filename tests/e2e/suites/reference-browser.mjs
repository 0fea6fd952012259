// The reference and the pages about error codes in a browser, in both themes.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { root } from "../../../scripts/lib/paths.mjs";
import { launch, open } from "../support/browser.mjs";
import { PROBLEM_CODES, EXAMPLES, keys } from "../support/reference.mjs";
import { proof, isProof, sampled } from "../support/proof.mjs";

const AXE = readFileSync(join(root, "node_modules", "axe-core", "axe.min.js"), "utf8");
const BACKGROUND_BY_THEME = { light: "rgb(255, 255, 255)", dark: "rgb(17, 19, 26)" };
const PHONE = { width: 390, height: 844 };
/** The number of operations or schemas that are open on one page: each click rerenders all of them. */
const OPEN_AT_ONCE = 4;
/**
 * Operations that together cover everything that the page can show, every eighth schema, and all schemas with variants.
 */
const REPRESENTATIVE = ["listConnections", "createConnection", "getAction", "runAction"];
const SCHEMA_STEP = 8;
/** Pages about error codes that together contain every element of such a page. */
const CHECKED_PROBLEMS = ["missing_key", "invalid_body", "internal"];
/** The axe rules whose result depends on the theme. */
const COLOUR_RULES = { runOnly: { type: "rule", values: ["color-contrast", "link-in-text-block"] } };
const DESKTOP = { width: 1280, height: 900 };

/** @param {{ reference: import("../support/reference.mjs").Reference }} fixture */
export function referenceInBrowser(fixture) {
  describe("in a browser", () => {
    let browser;
    before(async () => {
      browser = await launch();
    });
    after(() => browser?.close());

    /** Opens a page, uses it, and asserts that it caused no error and sent no request to another host. */
    async function visitPage(path, use, script) {
      const { page, faults, close } = await open(browser, `${fixture.reference.address}${path}`, script);
      try {
        await page.setViewportSize(DESKTOP);
        await use(page).catch(({ message }) => assert.fail([message, ...faults].join("\n")));
        const requested = await page.evaluate(() =>
          performance
            .getEntriesByType("resource")
            .map(({ name }) => new URL(name))
            .filter(({ protocol }) => protocol !== "data:")
            .map(({ origin }) => origin),
        );
        assert.deepEqual([...new Set(requested)], [fixture.reference.address]);
        assert.deepEqual(faults, []);
      } finally {
        await close();
      }
    }

    /** Asserts that the page, or only `parts` of it, is accessible in both themes and fits on a phone. */
    async function expectFit(page, what, parts) {
      for (const [colorScheme, background] of sampled(Object.entries(BACKGROUND_BY_THEME), 2)) {
        await page.emulateMedia({ colorScheme });
        assert.equal(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), background);
        await page.evaluate(AXE);
        const rules = colorScheme === "light" ? {} : COLOUR_RULES;
        const { violations, passes } = await page.evaluate(
          ([parts, rules]) => globalThis.axe.run(parts ?? document, { resultTypes: ["violations"], ...rules }),
          [parts, rules],
        );
        assert.ok(
          passes.some(({ id }) => id === "color-contrast"),
          `${what}, ${colorScheme}: no text's contrast was measured`,
        );
        const expected = violations.map(
          ({ id, nodes }) =>
            `${id}: ${nodes
              .slice(0, 5)
              .map(({ html, any }) => `${html.slice(0, 150)} ${any[0]?.message ?? ""}`)
              .join("\n  ")}`,
        );
        assert.deepEqual(expected, [], `${what}, ${colorScheme}`);
      }
      await page.setViewportSize(PHONE);
      assert.ok(
        (await page.evaluate(() => document.documentElement.scrollWidth)) <= PHONE.width,
        `${what} is wider than a phone`,
      );
      await page.setViewportSize(DESKTOP);
    }

    /** Logs violations of the page's policy as errors. Runs before the page's scripts. */
    const logViolations = () =>
      document.addEventListener("securitypolicyviolation", (event) =>
        console.error("policy", event.violatedDirective, event.blockedURI),
      );

    const block = (page, id) =>
      page.locator(`#operations-${fixture.reference.description.operations.get(id).tags[0]}-${id}`);
    const openOperation = async (page, id) => {
      await block(page, id).locator(".opblock-summary-control").click();
      await block(page, id).locator(".responses-table").waitFor();
    };

    /** Checks some of `all` on each page: Swagger UI rerenders everything that is open on each click. */
    async function checkEach(all, use) {
      for (let index = 0; index < all.length; index += OPEN_AT_ONCE)
        await visitPage("/docs", (page) => use(page, all.slice(index, index + OPEN_AT_ONCE), index), logViolations);
    }

    test("/docs lists every operation, accessibly in both themes", () =>
      visitPage(
        "/docs",
        async (page) => {
          await page.getByRole("heading", { name: "Schemas" }).waitFor();
          for (const [id, { path, method, summary }] of fixture.reference.description.operations) {
            const text = (await block(page, id).innerText()).replaceAll("\u200b", "");
            for (const part of [path, method, summary]) assert.ok(text.includes(part), `${id}: ${part}`);
          }
          await expectFit(page, "the list");
        },
        logViolations,
      ));

    proof("/docs shows an operation as the document describes it, accessibly in both themes", () => {
      const operations = REPRESENTATIVE.map((id) => [id, fixture.reference.description.operations.get(id)]);
      return checkEach(operations, async (page) => {
        for (const [
          id,
          { path, method, summary, parameters = [], responses, requestBody, "x-codeSamples": samples },
        ] of operations) {
          await openOperation(page, id);
          const text = await block(page, id).innerText();
          for (const part of [path, method, summary, ...samples.map(({ source }) => source.trim())])
            assert.ok(text.replaceAll("\u200b", "").includes(part), `${id}: ${part}`);
          const attributesOf = (selector, name) =>
            block(page, id)
              .locator(selector)
              .evaluateAll((elements, name) => elements.map((element) => element.dataset[name]), name);
          assert.deepEqual(
            (await attributesOf("[data-param-name]", "paramName")).sort(),
            parameters.map((parameter) => fixture.reference.description.resolve(parameter).name).sort(),
            id,
          );
          assert.deepEqual(await attributesOf("tr.response[data-code]", "code"), Object.keys(responses), id);
          const options = await block(page, id)
            .locator(".examples-select option")
            .evaluateAll((all) => all.map(({ value }) => value));
          const contents = [
            requestBody,
            ...Object.values(responses).map((response) => fixture.reference.description.resolve(response)),
          ].flatMap((thing) => Object.values(thing?.content ?? {}));
          assert.deepEqual(
            options,
            contents.flatMap(({ examples = {} }) => Object.keys(examples)),
            id,
          );
          // Each header once, with the statuses that have it.
          const statusesByHeader = new Map();
          for (const [status, response] of Object.entries(responses)) {
            for (const name of Object.keys(fixture.reference.description.resolve(response).headers))
              statusesByHeader.set(name, [...(statusesByHeader.get(name) ?? []), status]);
          }
          const shownHeaders = await block(page, id)
            .locator(".response-headers tbody tr")
            .evaluateAll((rows) => rows.map((row) => [row.cells[0].textContent, row.cells[2].textContent]));
          const statusesOf = (text) => {
            if (!text.startsWith("every response")) return text.split(", ");
            const others = text.replace(/every response( except )?/, "").split(", ");
            return Object.keys(responses).filter((status) => !others.includes(status));
          };
          assert.deepEqual(
            Object.fromEntries(shownHeaders.map(([name, text]) => [name, statusesOf(text)])),
            Object.fromEntries(statusesByHeader),
            id,
          );
          assert.equal(shownHeaders.length, statusesByHeader.size, id);
          assert.equal(await block(page, id).locator(".response .headers-wrapper, .response .headers").count(), 0, id);
        }
        for (const tab of await block(page, "createConnection").locator(".tablinks[data-name=model]").all())
          await tab.click();
        await expectFit(page, REPRESENTATIVE.join(", "));
      });
    });

    proof("/docs lists every schema, and shows its members accessibly in both themes", () => {
      const all = fixture.reference.description.document.components.schemas;
      // Enumerations, and schemas named after their parent, are shown where they are used.
      const has = (owner, name) => name !== owner && JSON.stringify(all[owner]).includes(`/schemas/${name}"`);
      const isPart = (name) => Object.keys(all).some((owner) => name.startsWith(owner) && has(owner, name));
      const describedSchemas = Object.entries(all).filter(([name, one]) => !one.enum && !isPart(name));
      const resolved = (schema) => (schema.$ref ? all[schema.$ref.split("/").at(-1)] : schema);
      const chosenSchemas = describedSchemas.filter(
        ([, one], index) => one.oneOf || (one.properties && index % SCHEMA_STEP === 0),
      );
      assert.ok(chosenSchemas.length > 8);
      return checkEach(chosenSchemas, async (page, few, first) => {
        await page.getByRole("heading", { name: "Schemas" }).waitFor();
        const schemas = page.locator("section.models article[data-json-schema-level='0']");
        await schemas.nth(describedSchemas.length - 1).waitFor();
        const names = await schemas.evaluateAll((shown) =>
          shown.map((each) => each.querySelector(".json-schema-2020-12__title").textContent),
        );
        assert.deepEqual(
          names,
          describedSchemas.map(([name]) => name),
        );
        for (const [name, schema] of few) {
          const schemaBlock = schemas.nth(names.indexOf(name));
          const members = [schema, ...(schema.oneOf ?? []).map(resolved)].flatMap(({ properties = {} }) =>
            Object.entries(properties),
          );
          assert.ok(members.length > 0, name);
          const expected = members.flatMap(([member, { description }]) =>
            description ? [member, description.replaceAll("`", "")] : [member],
          );
          // A referenced schema has its own button, which appears when its parent is rendered.
          const toggle = schemaBlock.getByRole("button", { name: /^(Expand|Collapse) all$/ }).first();
          await toggle.waitFor();
          const element = await schemaBlock.elementHandle();
          const missing = await page.waitForFunction(
            ({ seen, texts, since }) => {
              const missing = texts.filter((text) => !seen.innerText.includes(text));
              const expand = [...seen.querySelectorAll("button")].find((one) => one.textContent === "Expand all");
              if (missing.length > 0) expand?.click();
              return (missing.length === 0 || performance.now() - since > 20_000) && { missing };
            },
            { seen: element, texts: expected, since: await page.evaluate(() => performance.now()) },
          );
          assert.deepEqual((await missing.jsonValue()).missing, [], name);
        }
        if (first === 0) await expectFit(page, few.map(([name]) => name).join(", "), ["section.models"]);
      });
    });

    test("a key authorizes requests, and is stored nowhere", () =>
      visitPage(
        "/docs",
        async (page) => {
          await page.getByLabel("API key", { exact: true }).fill(keys.reader.secret);
          await page.getByRole("button", { name: "Use the key" }).click();
          await page.getByText("Requests use your key.").waitFor();
          const tryOperation = async (id) => {
            await openOperation(page, id);
            await block(page, id).getByRole("button", { name: "Try it out" }).click();
            await block(page, id).getByRole("button", { name: "Execute" }).click();
            await block(page, id).locator(".live-responses-table").waitFor();
            return block(page, id).locator(".live-responses-table").innerText();
          };
          assert.match(await tryOperation("whoami"), /"account": "reader"/);
          if (isProof) {
            assert.match(await tryOperation("createConnection"), /"key": "test::github::default::ann@example.com"/);
            assert.match(await tryOperation("listConnections"), /"total": 1/);
          }
          await expectFit(page, "a request that was tried out");
          const storedText = () =>
            page.evaluate(() =>
              [
                JSON.stringify(localStorage),
                JSON.stringify(sessionStorage),
                document.cookie,
                location.href,
                document.documentElement.outerHTML,
              ].join(),
            );
          assert.ok(!(await storedText()).includes(keys.reader.secret));
          await page.getByRole("button", { name: "Forget the key" }).click();
          await page.getByLabel("API key", { exact: true }).waitFor();
          assert.equal(await page.getByLabel("API key", { exact: true }).inputValue(), "");
        },
        logViolations,
      ));

    proof("/docs has the console's frame, and uses the session's key for requests", () =>
      visitPage(
        "/problems/",
        async (page) => {
          await page.evaluate((secret) => sessionStorage.setItem("connector-vault.secret", secret), keys.reader.secret);
          // Logos come from other hosts, which may be unreachable.
          await page.route(/^https:/, (route) =>
            route.fulfill({ contentType: "image/svg+xml", body: '<svg xmlns="http://www.w3.org/2000/svg"/>' }),
          );
          await page.goto(`${fixture.reference.address}/docs`);
          const frame = page.getByRole("banner");
          await frame.getByText("reader", { exact: true }).waitFor();
          assert.deepEqual(await frame.getByRole("navigation").getByRole("link").allTextContents(), [
            "Overview",
            "Connectors",
            "Connections",
            "Integrations",
            "API",
          ]);
          assert.equal(
            await frame.getByRole("link", { name: "API", exact: true }).getAttribute("aria-current"),
            "page",
          );
          await page.getByText("Requests use the key that you are signed in with.").waitFor();
          await openOperation(page, "whoami");
          await block(page, "whoami").getByRole("button", { name: "Try it out" }).click();
          await block(page, "whoami").getByRole("button", { name: "Execute" }).click();
          assert.match(await block(page, "whoami").locator(".live-responses-table").innerText(), /"account": "reader"/);
          assert.ok(
            !(
              await page.evaluate(() =>
                [
                  JSON.stringify(localStorage),
                  document.cookie,
                  location.href,
                  document.documentElement.outerHTML,
                ].join(),
              )
            ).includes(keys.reader.secret),
          );
          await expectFit(page, "the frame");
          await frame.getByRole("button", { name: "Use the dark theme" }).click();
          assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), "dark");
          await page.evaluate(() => localStorage.clear());
          await page.reload();
          await page.getByText("Requests use the key that you are signed in with.").waitFor();
          // Switches to another key, and back.
          await page.getByRole("button", { name: "Use another key" }).click();
          await page.getByLabel("API key", { exact: true }).waitFor();
          await page.getByRole("button", { name: "Use the key that you are signed in with" }).click();
          await page.getByText("Requests use the key that you are signed in with.").waitFor();
          // The console still shows the same view, with the same session.
          await frame.getByRole("link", { name: "Connectors" }).click();
          await page.getByRole("heading", { level: 1, name: "Connectors" }).waitFor();
          await page.getByRole("link", { name: "API", exact: true }).click();
          await page.getByText("Requests use the key that you are signed in with.").waitFor();
          await frame.getByRole("button", { name: "Sign out" }).click();
          await page.getByLabel("API key", { exact: true }).waitFor();
          await frame.getByRole("link", { name: "Sign in" }).waitFor();
          assert.equal(await page.evaluate(() => sessionStorage.length), 0);
          await expectFit(page, "the frame without a session");
        },
        logViolations,
      ),
    );

    test("an unknown path shows a page with a link back", async () => {
      const { page, faults, close } = await open(browser, `${fixture.reference.address}/nothere`, logViolations);
      try {
        await page.getByRole("heading", { level: 1, name: "This page does not exist" }).waitFor();
        await expectFit(page, "the page");
        await page.getByRole("link", { name: "your connections" }).click();
        await page.getByRole("heading", { level: 1, name: "Sign in" }).waitFor();
        assert.deepEqual(
          faults.filter((fault) => !/404/.test(fault)),
          [],
        );
        for (const path of [
          "/connectors/github/nothere",
          "/connections/some/nothere",
          "/problems/nothere",
          "/assets/nothere.js",
        ]) {
          const response = await fixture.reference.server.send(path, { headers: [["accept", "text/html"]] });
          assert.deepEqual([response.status, response.header("content-type")], [404, "text/html; charset=utf-8"], path);
        }
        const response = await fixture.reference.server.send("/nothere");
        assert.deepEqual(
          [response.status, response.header("content-type"), response.json.code],
          [404, "application/problem+json", "route_not_found"],
        );
      } finally {
        await close();
      }
    });

    proof("the keyboard opens an operation, and the address identifies it", () =>
      visitPage(
        "/docs",
        async (page) => {
          await block(page, "listActions").locator(".opblock-summary-control").focus();
          await page.keyboard.press("Enter");
          await block(page, "listActions").locator(".responses-table").waitFor();
          assert.equal(new URL(page.url()).hash, "#/Catalog/listActions");
          await page.reload();
          await block(page, "listActions").locator(".responses-table").waitFor();
        },
        logViolations,
      ),
    );

    for (const [choice, background] of Object.entries(BACKGROUND_BY_THEME)) {
      proof(`a user who chose ${choice} gets it, whatever the system's theme`, () =>
        visitPage(
          "/docs",
          async (page) => {
            // Requests still running would fail when the page closes.
            const operationsRendered = () => page.locator(".opblock").first().waitFor();
            await operationsRendered();
            await page.emulateMedia({ colorScheme: choice === "light" ? "dark" : "light" });
            await page.evaluate((theme) => localStorage.setItem("theme", theme), choice);
            await page.reload();
            await operationsRendered();
            await page.locator(`html[data-theme=${choice}]`).waitFor();
            assert.equal(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), background);
          },
          logViolations,
        ),
      );
    }

    test("/problems/ links to a page for every code, accessible in both themes", () =>
      visitPage(
        "/problems/",
        async (page) => {
          await expectFit(page, "the list of problems");
          const links = await page.locator("td a").evaluateAll((all) => all.map(({ pathname }) => pathname));
          assert.deepEqual(
            links,
            PROBLEM_CODES.map((code) => `/problems/${code}`),
          );
          for (const code of CHECKED_PROBLEMS) {
            await page.goto(`${fixture.reference.address}/problems/${code}`);
            await expectFit(page, code);
            assert.deepEqual(await page.locator("h2").allTextContents(), [
              "Meaning",
              "Cause",
              "Solution",
              ...(code in EXAMPLES ? ["Example"] : []),
            ]);
          }
          await page.evaluate(() => localStorage.setItem("theme", "dark"));
          await page.emulateMedia({ colorScheme: "light" });
          await page.reload();
          assert.equal(
            await page.evaluate(() => getComputedStyle(document.body).backgroundColor),
            BACKGROUND_BY_THEME.dark,
          );
        },
        logViolations,
      ));
  });
}
