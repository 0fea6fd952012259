// Signing in to the console. The key stays in the tab.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { waitForRequests, expectFocus } from "../support/console.mjs";
import { UNREACHABLE, makeUnreachable, waitForOverview } from "../support/console-overview.mjs";
import { heading, signIn } from "../support/console-session.mjs";
import { secret } from "../support/keys.mjs";
import { proof } from "../support/proof.mjs";

/** @param {{ console: import("../support/console.mjs").Console }} fixture */
export function consoleSignIn(fixture) {
  const visit = (...args) => fixture.console.visit(...args);
  const field = (page) => page.getByLabel("API key", { exact: true });

  describe("sign-in", () => {
    const problem = (page, text) => page.getByRole("alert").getByText(text);

    test("rejects an empty, a malformed and an unknown key", () =>
      visit(
        "/",
        async (page) => {
          const requested = [];
          page.on("request", (request) => request.url().includes("/v1/") && requested.push(request.url()));
          await heading(page, "Sign in").waitFor();
          await expectFocus(field(page));
          await page.keyboard.press("Enter");
          await problem(page, "Enter an API key.").waitFor();
          await expectFocus(field(page));
          assert.equal(await field(page).getAttribute("aria-invalid"), "true");
          const [last] = fixture.console.keys.full.secret.slice(-1);
          await signIn(page, { secret: fixture.console.keys.full.secret.slice(0, -1) + (last === "a" ? "b" : "a") });
          await problem(page, "This key is not valid").waitFor();
          assert.deepEqual(requested, [], "a malformed key is not sent");
          await Promise.all([
            page.waitForResponse((response) => response.status() === 401),
            signIn(page, { secret: secret() }),
          ]);
          await problem(page, "This key is not valid").waitFor();
          assert.equal(requested.length, 1);
          assert.equal(await page.evaluate(() => sessionStorage.length), 0);
          // Whitespace from the clipboard is ignored.
          await signIn(page, { secret: ` ${fixture.console.keys.full.secret}\t` });
          await heading(page, "Overview").waitFor();
        },
        { as: null, expects: [401] },
      ));

    proof("reports that the browser is offline", () =>
      visit(
        "/",
        async (page) => {
          await heading(page, "Sign in").waitFor();
          await waitForRequests(page);
          await page.context().setOffline(true);
          await signIn(page, fixture.console.keys.full);
          await problem(page, "The service can't be reached. You are offline.").waitFor();
          await page.context().setOffline(false);
          await page.getByRole("button", { name: "Sign in", exact: true }).click();
          await waitForOverview(page);
        },
        { as: null, expects: ["ERR_INTERNET_DISCONNECTED"] },
      ),
    );

    proof("leads to the requested address, and survives a reload", () =>
      visit(
        "/connectors?q=github",
        async (page) => {
          await signIn(page, fixture.console.keys.full);
          await page.getByRole("list", { name: "Connectors" }).waitFor();
          assert.match(page.url(), /\/connectors\?q=github$/);
          await page.reload();
          await page.getByRole("list", { name: "Connectors" }).waitFor();
          assert.equal(await field(page).count(), 0);
        },
        { as: null },
      ),
    );

    test("ends with signing out: nothing is stored, and Back shows nothing", () =>
      visit(
        "/connectors",
        async (page) => {
          await signIn(page, fixture.console.keys.full);
          await page.getByRole("link", { name: "Overview", exact: true }).click();
          await waitForOverview(page);
          assert.equal(await page.evaluate(() => sessionStorage.length), 1);
          await page.getByRole("button", { name: "Sign out" }).click();
          await page.getByText("You are signed out in all tabs.").waitFor();
          await expectFocus(field(page));
          assert.deepEqual(await page.evaluate(() => [sessionStorage.length, localStorage.length]), [0, 0]);
          await page.goBack();
          await page.waitForURL("**/connectors");
          await heading(page, "Sign in").waitFor();
          await page.reload();
          await heading(page, "Sign in").waitFor();
          assert.equal(await page.getByRole("list", { name: "Connectors" }).count(), 0);
        },
        { as: null },
      ));

    test("keeps the key out of the page, its address, and storage that outlives the tab", () =>
      visit(
        "/",
        async (page) => {
          const text = fixture.console.keys.full.secret;
          const urls = [];
          page.on("request", (request) => urls.push(request.url()));
          const expectHidden = async (where) => {
            const places = await page.evaluate(() => [
              document.documentElement.outerHTML,
              document.body.innerText,
              location.href,
              document.cookie,
              JSON.stringify(localStorage),
              document.title,
            ]);
            for (const place of places) assert.ok(!place.includes(text.slice(8, 24)), where);
          };
          await field(page).fill(text);
          assert.equal(await field(page).getAttribute("type"), "password");
          await expectHidden("sign-in");
          await page.keyboard.press("Enter");
          await waitForOverview(page);
          await page.getByText("API request").click();
          await expectHidden("overview");
          assert.ok(urls.length > 2);
          for (const url of urls) assert.ok(!url.includes(text.slice(8, 24)), url);
          assert.equal(await page.evaluate(() => Object.values(sessionStorage).join()), text);
          await page.close();
          const other = await page.context().newPage();
          await other.goto(fixture.console.baseUrl);
          await heading(other, "Sign in").waitFor();
        },
        { as: null },
      ));

    test("appears when the key has expired, and then leads back to the same view", async () => {
      const short = await fixture.console.newKey({});
      await visit(
        // A search does not request the overview's numbers.
        "/connectors?q=github",
        async (page) => {
          await page.getByRole("list", { name: "Connectors" }).waitFor();
          await fixture.console.expire(short, page);
          await page.getByRole("link", { name: "Overview", exact: true }).click();
          await page.getByText("Your key has expired or was revoked.").waitFor();
          assert.equal(await page.evaluate(() => sessionStorage.getItem("connector-vault.secret")), null);
          await signIn(page, fixture.console.keys.full);
          await waitForOverview(page);
          assert.equal(new URL(page.url()).pathname, "/");
        },
        { as: short, expects: [401] },
      );
      await visit(
        "/",
        async (page) => {
          await page.getByText("Your key has expired or was revoked.").waitFor();
        },
        { as: short, expects: [401] },
      );
    });

    proof("continues with the stored key once the service is reachable", () =>
      visit(
        "/",
        async (page) => {
          await waitForOverview(page);
          await makeUnreachable(page);
          await page.reload();
          await problem(page, "The service can't be reached.").waitFor();
          await page.unroute("**/v1/**");
          await page.getByRole("button", { name: "Try again with your key" }).click();
          await waitForOverview(page);
        },
        { expects: [UNREACHABLE] },
      ),
    );
  });
}
