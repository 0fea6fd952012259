// The connect window in the language of the session or of the browser, up to the page that shows the result.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { button, heading, declineAtProvider } from "../support/connect.mjs";
import { expectAccessible, expectAccessibleEverywhere, expectFits } from "../support/console.mjs";
import { proof } from "../support/proof.mjs";

const language = (page) => page.evaluate(() => document.documentElement.lang);
/** The language files that the page has loaded. */
const loaded = (page) =>
  page.evaluate(() =>
    performance
      .getEntriesByType("resource")
      .map(({ name }) => /\/assets\/(de|fr|es|ja)-/.exec(name)?.[1])
      .filter(Boolean),
  );

/** @param {{ connect: import("../support/connect.mjs").ConnectConsole }} fixture */
export function connectLanguages(fixture) {
  const visit = (path, use, options) => fixture.connect.visit(path, use, { as: null, asks: false, ...options });

  describe("languages", () => {
    test("a session in German shows German from the question to the end page", async () => {
      const path = await fixture.connect.link("deutsch@example.com", { platform: "both" }, { lang: "de-AT" });
      await visit(path, async (page) => {
        await heading(page, "Sind Sie deutsch@example.com?").waitFor();
        assert.deepEqual([await language(page), await loaded(page)], ["de", ["de"]]);
        await expectAccessible(page, "the question in German");
        await button(page, "Als deutsch@example.com fortfahren").click();
        await heading(page, "Both verbinden").waitFor();
        await page.getByRole("radio", { name: "Mit Both anmelden" }).waitFor();
        await expectAccessibleEverywhere(page, "the form in German");
        await button(page, "Weiter zu Both").click();
        await declineAtProvider(page);
        // The service renders this page, also in the language of the session.
        await heading(page, "Both wurde nicht verbunden").waitFor();
        assert.equal(await language(page), "de");
        await page.setViewportSize({ width: 390, height: 800 });
        await expectFits(page, "the end page in German");
        // The user has confirmed the identity in this tab.
        await page.getByRole("link", { name: "Erneut versuchen" }).click();
        await heading(page, "Both verbinden").waitFor();
      });
    });

    proof("a language that does not load in time is replaced by English", async () => {
      const path = await fixture.connect.link("slow@example.com", {}, { lang: "de" });
      await visit("/connect", async (page) => {
        await page.route(/\/assets\/de-/, () => {});
        await page.goto(new URL(path, fixture.connect.baseUrl).href);
        await heading(page, "Are you slow@example.com?").waitFor();
        assert.equal(await language(page), "en");
      });
    });

    test("a browser in Japanese shows Japanese, and one in another language English", async () => {
      for (const { locale, code, question, search } of [
        { locale: "ja-JP", code: "ja", question: "browser@example.comさんご本人ですか？", search: "検索" },
        { locale: "pt-BR", code: "en", question: "Are you browser@example.com?", search: "Search" },
      ]) {
        const path = await fixture.connect.link("browser@example.com");
        const use = async (page) => {
          await heading(page, question).waitFor();
          await page.getByRole("button", { name: /browser@example.com/ }).click();
          await page.getByLabel(search, { exact: true }).waitFor();
          assert.equal(await language(page), code);
          assert.deepEqual(await loaded(page), code === "en" ? [] : [code]);
          await page.setViewportSize({ width: 390, height: 800 });
          await expectFits(page, code);
        };
        await visit(path, use, { locale });
      }
    });
  });
}
