// Logos of well-known brands come from the service itself, so that no third party learns which ones are viewed.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { waitForRequests } from "../support/console.mjs";
import { proof } from "../support/proof.mjs";

/** @param {{ console: import("../support/console.mjs").Console }} fixture */
export function consoleLogos(fixture) {
  describe("logos of well-known brands", () => {
    const file = (slug) => `${fixture.console.baseUrl}/logos/${slug}.svg`;
    /** Opens a page, and asserts that it sends no request to another host, not even for images. */
    const visit = (path, use) =>
      fixture.console.visit(path, async (page) => {
        const foreignRequests = [];
        page.on("request", (request) => {
          const { protocol, origin } = new URL(request.url());
          if (protocol !== "data:" && origin !== fixture.console.baseUrl) foreignRequests.push(request.url());
        });
        await page.reload();
        await use(page);
        await waitForRequests(page);
        assert.deepEqual(foreignRequests, []);
      });
    const expectLogo = async (page, slug) => {
      const image = page.locator(`img.logo[src="${file(slug)}"]`).first();
      await image.scrollIntoViewIfNeeded();
      await image.evaluate((element) => element.decode());
      assert.ok((await image.evaluate((element) => element.naturalWidth)) > 0, slug);
    };

    test("are loaded from the console's own origin, in both themes", () =>
      visit("/connectors?q=amazon", async (page) => {
        const shownInBoth = async (slug) => {
          for (const colorScheme of ["light", "dark"]) {
            await page.emulateMedia({ colorScheme });
            await expectLogo(page, slug);
          }
        };
        for (const slug of ["amazons3", "amazondynamodb"]) await shownInBoth(slug);
        await page.goto(`${fixture.console.baseUrl}/connectors/slack`);
        await page.getByRole("heading", { level: 1, name: "Slack" }).waitFor();
        await shownInBoth("slack");
      }));

    proof("put their platforms first, like platforms that only the service describes", () =>
      fixture.console.visit("/connectors", async (page) => {
        const isKnown = new Map();
        await page.route("**/v1/available-connectors?*", async (route) => {
          const response = await route.fetch();
          const json = await response.json();
          for (const row of json.rows) {
            // The folder's name must not make the console treat another host's image as its own.
            if (row.image.startsWith("https:")) row.image = "https://elsewhere.example/logos/theirs.svg";
            isKnown.set(row.platform, row.image.startsWith(fixture.console.baseUrl) || row.tools === 0);
          }
          await route.fulfill({ response, json });
        });
        await page.reload();
        const cards = page.locator("ul.connectors").last().locator(".connector-platform");
        const next = page.getByRole("link", { name: "Next", exact: true });
        const images = [];
        for (let index = 1; ; index += 1) {
          await page.getByText(new RegExp(`Page ${index} of \\d+`)).waitFor();
          await cards.first().waitFor();
          images.push(...(await cards.allTextContents()));
          if ((await next.count()) === 0) break;
          await next.click();
        }
        const unknown = images.findIndex((platform) => !isKnown.get(platform));
        assert.ok(unknown > 200 && images.slice(unknown).every((platform) => !isKnown.get(platform)), `${unknown}`);
        assert.ok(images.slice(unknown).includes("acme-store"));
        assert.ok(images.slice(0, unknown).includes("linkedin"));
      }),
    );

    test("are short absolute URLs in responses", async () => {
      const sendRequest = async (path) => (await fixture.console.caller().send("GET", path)).json;
      const { rows } = await sendRequest("/v1/available-connectors?limit=500");
      const ownLogos = rows.filter(({ image }) => image.startsWith(`${fixture.console.baseUrl}/logos/`));
      assert.ok(ownLogos.length > 200, `${ownLogos.length}`);
      for (const { image } of rows)
        assert.match(image, /^(http:\/\/127\.0\.0\.1:\d+\/logos\/\w+\.svg|https:|data:image\/)/);
      assert.equal((await sendRequest("/v1/available-connectors/slack")).image, file("slack"));
      assert.ok(ownLogos.every(({ image }) => image.length < 100));
    });

    test("can be cached, and embedded by any origin", async () => {
      const response = await fetch(file("slack"));
      assert.equal(response.status, 200);
      assert.match(await response.text(), /^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg".*<\/svg>$/);
      const { headers } = response;
      assert.deepEqual(
        ["content-type", "cache-control", "cross-origin-resource-policy"].map((name) => headers.get(name)),
        ["image/svg+xml", "public, max-age=604800", "cross-origin"],
      );
      assert.equal((await fetch(file("no-such-brand"))).status, 404);
    });
  });
}
