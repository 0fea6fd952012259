// The frame around every view: header, theme, layout and accessibility.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { expectAccessibleEverywhere, expectFocus, tabTo } from "../support/console.mjs";
import { actorRegion, UNREACHABLE, makeUnreachable, chart, waitForOverview } from "../support/console-overview.mjs";
import { signIn } from "../support/console-session.mjs";
import { proof } from "../support/proof.mjs";

const WIDTHS = [
  [320, 640],
  [390, 844],
  [1920, 1080],
];

/** @param {{ console: import("../support/console.mjs").Console }} fixture */
export function consoleFrame(fixture) {
  const visit = (...args) => fixture.console.visit(...args);

  describe("the frame", () => {
    proof("focused elements are not under the header", () =>
      visit(
        "/",
        async (page) => {
          await waitForOverview(page);
          const first = chart(page, "state").getByRole("link").first();
          const above = actorRegion(page).getByRole("link", { name: /^List/ });
          await above.nth(1).focus();
          await first.evaluate((link) => scrollBy(0, link.getBoundingClientRect().top - 10));
          await tabTo(page, first, 1);
          const [header, focused] = await page.evaluate(() => [
            document.querySelector("header").getBoundingClientRect().bottom,
            document.activeElement.getBoundingClientRect().top,
          ]);
          assert.ok(focused >= header, `the element is at ${focused}, under the header, which ends at ${header}`);
        },
        { width: 390, height: 640 },
      ),
    );

    proof("the menu shows all entries on a phone", () =>
      visit(
        "/integrations",
        async (page) => {
          const links = page.getByRole("navigation", { name: "Main" }).getByRole("link");
          const current = links.and(page.locator("[aria-current]"));
          const expectSeen = async (link) => {
            const { left, right } = await link.evaluate((shown) => shown.getBoundingClientRect().toJSON());
            const { width } = page.viewportSize();
            assert.ok(left >= 0 && right <= width, `from ${left} to ${right} of ${width}`);
          };
          for (const width of [320, 390]) {
            await page.setViewportSize({ width, height: 640 });
            await current.waitFor();
            for (const link of await links.all()) await expectSeen(link);
          }
        },
        { width: 320, height: 640 },
      ),
    );

    test("the theme button changes the theme, and stores it", () =>
      visit("/", async (page) => {
        await waitForOverview(page);
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

    proof("a stored theme applies before the first paint", () =>
      visit(
        "/problems/",
        async (page) => {
          await page.evaluate(() => localStorage.setItem("theme", "dark"));
          await page.addInitScript(() => {
            const recordTheme = (_, observer) => {
              if (!document.body) return;
              window.themeAtFirst = document.documentElement.dataset.theme;
              observer.disconnect();
            };
            new MutationObserver(recordTheme).observe(document, { childList: true, subtree: true });
          });
          for (const path of ["/", "/docs", "/problems/", "/problems/internal", "/nothere"]) {
            await page.goto(fixture.console.baseUrl + path);
            assert.equal(await page.evaluate(() => window.themeAtFirst), "dark", path);
          }
        },
        { expects: [404] },
      ),
    );

    test("fits and is accessible in both themes and at each width", () =>
      visit(
        "/",
        async (page) => {
          const fits = (what) => expectAccessibleEverywhere(page, what, { widths: WIDTHS, others: [390] });
          await page.getByText("npm start").waitFor();
          await expectFocus(page.getByLabel("API key", { exact: true }));
          await page.keyboard.press("Enter");
          await page.getByRole("alert").getByText("Enter an API key.").waitFor();
          await fits("the sign-in");
          await signIn(page, fixture.console.keys.full);
          await chart(page, "platform").getByRole("link", { name: "GitHub", exact: true }).waitFor();
          await page.getByRole("button", { name: "Show the first 50" }).click();
          await page.getByText("API request").click();
          await fits("the overview");
          await makeUnreachable(page, "**/v1/vault/summary");
          await page.reload();
          await page.getByRole("alert").getByText("The service can't be reached").waitFor();
          await fits("a failure");
          await page.unroute("**/v1/vault/summary");
          await page.getByRole("button", { name: "Sign out" }).click();
          await signIn(page, fixture.console.keys.nobody);
          await page.getByText("No connections yet").waitFor();
          await fits("an empty vault");
          await page.getByRole("button", { name: "Sign out" }).click();
          await signIn(page, fixture.console.keys.catalogOnly);
          await page.getByText("Your key can't read connections").waitFor();
          await fits("a key that cannot read connections");
        },
        { as: null, expects: [UNREACHABLE] },
      ));
  });
}
