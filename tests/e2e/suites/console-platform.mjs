// The platform field: a combobox that finds platforms by words of their names, and rejects unknown ones.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { PATH, fetchExpected, addressParams, expectRows } from "../support/console-connections.mjs";
import { expectAccessible, expectAccessibleEverywhere } from "../support/console.mjs";
import { proof } from "../support/proof.mjs";

/** Inputs with the first suggestion that each must show. */
const FIRST_SUGGESTIONS = [
  ["Gmail", "googleapis-gmail"],
  ["gmail google", "googleapis-gmail"],
  ["google calendar", "googleapis-calendar"],
  ["calendar google", "googleapis-calendar"],
  ["GOOGLEAPIS-DRIVE", "googleapis-drive"],
  ["git", "github"],
  ["GitHub", "github"],
];

export function consolePlatform(fixture) {
  const visit = (...args) => fixture.console.visit(...args);
  const partsOf = (page) => ({
    field: page.getByRole("combobox", { name: "Platform", exact: true }),
    options: page.getByRole("listbox", { name: "Platforms" }).getByRole("option"),
    active: () =>
      page.evaluate(
        () => document.getElementById(document.activeElement.getAttribute("aria-activedescendant"))?.textContent,
      ),
  });
  const waitForPlatforms = async (page) => {
    await page.locator("tbody tr").first().waitFor();
    await page.getByText("GitHub", { exact: true }).first().waitFor();
  };

  describe("the platform field", () => {
    proof("finds platforms by words of their name or identifier, and shows logo, name and identifier", () =>
      visit(PATH, async (page) => {
        const { field, options } = partsOf(page);
        await waitForPlatforms(page);
        for (const [text, platform] of FIRST_SUGGESTIONS) {
          await field.fill(text);
          const first = options.first();
          await first.locator(".mono").getByText(platform, { exact: true }).waitFor();
          assert.equal(await first.locator(".logo").count(), 1, text);
        }
      }),
    );

    test("follows the ARIA combobox pattern, and can be used by mouse and cleared", async () => {
      const [all, { ids }] = [
        await fetchExpected(fixture.console.caller()),
        await fetchExpected(fixture.console.caller(), { platform: "github" }),
      ];
      await visit(PATH, async (page) => {
        const { field, options, active } = partsOf(page);
        await waitForPlatforms(page);
        await field.focus();
        assert.equal(await field.getAttribute("aria-expanded"), "false");
        await page.keyboard.press("ArrowDown");
        assert.equal(await field.getAttribute("aria-expanded"), "true");
        const first = await active();
        await page.keyboard.press("ArrowUp");
        assert.notEqual(await active(), first, "the selection wraps around");
        await page.keyboard.press("ArrowDown");
        assert.equal(await active(), first);
        await page.keyboard.press("Escape");
        assert.equal(await field.getAttribute("aria-expanded"), "false");
        await page.keyboard.type("git");
        await options.first().waitFor();
        assert.match(await active(), /github/);
        assert.equal(await options.first().getAttribute("aria-selected"), "true");
        await page.keyboard.press("Enter");
        await expectRows(page, ids);
        assert.deepEqual(addressParams(page), { platform: "github" });
        assert.equal(await field.inputValue(), "github");
        assert.equal(await field.getAttribute("aria-expanded"), "false");
        await page.goBack();
        await expectRows(page, all.ids);
        assert.equal(await field.inputValue(), "");

        await field.fill("github");
        await options.first().click();
        await expectRows(page, ids);
        assert.ok(await field.evaluate((input) => input === document.activeElement), "the field keeps the focus");
        await page.getByRole("button", { name: "Clear Platform" }).click();
        await expectRows(page, all.ids);
        assert.deepEqual(addressParams(page), {});
      });
    });

    proof("rejects an unknown platform while typing, and sends no request", async () => {
      const { ids } = await fetchExpected(fixture.console.caller());
      await visit(PATH, async (page) => {
        const { field, options } = partsOf(page);
        await waitForPlatforms(page);
        const requests = [];
        page.on("request", (request) => request.url().includes("/v1/vault") && requests.push(request.url()));
        await field.pressSequentially("githubbb");
        await page.getByText("The catalog has no platform “githubbb”.").waitFor();
        assert.equal(await field.getAttribute("aria-invalid"), "true");
        assert.equal(await options.count(), 0);
        await expectAccessible(page, "refused");
        await field.press("Enter");
        await field.fill("git");
        await page.getByText("The catalog has no platform").waitFor({ state: "detached" });
        assert.equal(await field.getAttribute("aria-invalid"), "false");
        await page.locator("h1").click();
        await page.getByText("Choose a platform from the list.").waitFor();
        assert.deepEqual(requests, []);
        assert.deepEqual(addressParams(page), {});
        await expectRows(page, ids);
      });
    });

    proof("is accessible while its list is open, in both themes and at each width", async () => {
      await visit(PATH, async (page) => {
        const { field, options } = partsOf(page);
        const expectHigh = async (where) => {
          const heights = await options.evaluateAll((all) =>
            all.map((option) => option.getBoundingClientRect().height),
          );
          assert.ok(Math.min(...heights) >= 44, `${where}: high enough for touch`);
        };
        await waitForPlatforms(page);
        await field.fill("google");
        await options.nth(3).waitFor();
        await expectHigh("a desk");
        await expectAccessibleEverywhere(page, "the list of platforms", { widths: [] });
        await field.fill("");
        await page.setViewportSize({ width: 390, height: 844 });
        await page.getByRole("button", { name: "More filters" }).click();
        await field.fill("google");
        await options.nth(3).waitFor();
        await expectHigh("a phone");
        await expectAccessibleEverywhere(page, "the list of platforms on a phone", { widths: [] });
      });
    });
  });
}
