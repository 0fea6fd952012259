// A link with a token opens the console for an end user, and never replaces a session without asking.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  expectAccessible,
  expectAccessibleEverywhere,
  expectFits,
  expectFocus,
  withEach,
} from "../support/console.mjs";
import { expectHidden, heading, storedSecret, linkFor, tokenFor } from "../support/console-session.mjs";
import { token } from "../support/keys.mjs";
import { SESSION_SECRET } from "../support/server.mjs";
import { proof } from "../support/proof.mjs";

const ANN = "ann@example.com";
const BOB = "bob@example.com";
const DAMAGED_TOKENS = [
  "st_test_abc",
  "",
  "sk_test_something",
  "st_test_abc.def",
  "%73t_test_abc",
  `st_test_a.${"b".repeat(42)}`,
  `st_test_a.${"b".repeat(43)}.`,
  `st_test_a.${"b".repeat(43)}%20x`,
];

/** @param {{ console: import("../support/console.mjs").Console }} fixture */
export function consoleLinks(fixture) {
  const visit = (...args) => fixture.console.visit(...args);
  const question = (page) => page.getByRole("alertdialog", { name: "Open this link?" });
  const keepButton = (page) => question(page).getByRole("button", { name: "Stay signed in" });

  describe("a link", () => {
    test("opens an end user's connections, and keeps its token in this tab only", async () => {
      const secret = await tokenFor(fixture.console, ANN);
      await visit(
        `/connections#token=${secret}`,
        async (page) => {
          await heading(page, "Your connections").waitFor();
          await page.getByRole("banner").getByText(ANN).waitFor();
          assert.equal(page.url(), `${fixture.console.baseUrl}/connections`);
          await expectHidden(page, secret);
          assert.equal(await storedSecret(page), secret);
          await page.reload();
          await heading(page, "Your connections").waitFor();
        },
        { as: null },
      );
    });

    proof("is removed from the address at once", async () => {
      const secret = await tokenFor(fixture.console, ANN);
      await visit(
        "/problems/",
        async (page) => {
          const hashes = [];
          await page.exposeFunction("seen", (hash) => hashes.push(hash));
          await page.addInitScript(() => {
            const { fetch } = window;
            window.fetch = (...args) => (window.seen(location.hash), fetch(...args));
          });
          await page.goto(`${fixture.console.baseUrl}/connections#token=${secret}`);
          await heading(page, "Your connections").waitFor();
          assert.ok(hashes.length > 0);
          assert.deepEqual([...new Set(hashes)], [""]);
          await page.goBack();
          await page.goForward();
          await heading(page, "Your connections").waitFor();
          assert.equal(new URL(page.url()).hash, "");
        },
        { as: null },
      );
    });

    test("asks a user who is signed in with a key; Enter and Escape keep the key", async () => {
      const {
        row: { account },
        secret,
      } = fixture.console.keys.full;
      await visit("/problems/", async (page) => {
        for (const leave of ["Enter", "Escape"]) {
          await page.goto(fixture.console.baseUrl + (await linkFor(fixture.console, ANN)));
          await question(page).waitFor();
          assert.equal(new URL(page.url()).hash, "");
          const text = await question(page).innerText();
          assert.match(text, new RegExp(`with a key of the account\\s+${account}\\s`));
          assert.ok(
            text.includes(ANN) && text.includes(`in the account ${fixture.console.keys.maker.row.account}`),
            text,
          );
          // The focus is on the button that keeps the current session.
          await expectFocus(keepButton(page));
          assert.equal(await storedSecret(page), secret);
          await page.keyboard.press(leave);
          await question(page).waitFor({ state: "detached" });
          await heading(page, "Connections").waitFor();
          assert.equal(await storedSecret(page), secret);
          await page.reload();
          await heading(page, "Connections").waitFor();
          assert.equal(await question(page).count(), 0);
          // The next link is read when the page loads.
          await page.goto(`${fixture.console.baseUrl}/problems/`);
        }
      });
    });

    proof("replaces the key if the user chooses so", async () => {
      const secret = await tokenFor(fixture.console, ANN);
      await visit(`/connections#token=${secret}`, async (page) => {
        await question(page).getByRole("button", { name: "Open the link" }).click();
        await heading(page, "Your connections").waitFor();
        assert.equal(await storedSecret(page), secret);
        assert.equal(await page.getByRole("link", { name: "Connectors" }).count(), 0);
      });
    });

    proof("asks a user who is signed in with another identity's link, but not with the same identity's", async () => {
      const path = await linkFor(fixture.console, ANN);
      await visit(
        path,
        async (page) => {
          await heading(page, "Your connections").waitFor();
          const first = await storedSecret(page);
          const renewedToken = await tokenFor(fixture.console, ANN, { ttlSeconds: 600 });
          await page.evaluate((hash) => (location.hash = hash), `token=${renewedToken}`);
          await page.waitForFunction((secret) => Object.values(sessionStorage).includes(secret), renewedToken);
          assert.notEqual(renewedToken, first);
          assert.equal(await question(page).count(), 0);
          await page.goto(fixture.console.baseUrl + (await linkFor(fixture.console, BOB)));
          await question(page).waitFor();
          const text = await question(page).innerText();
          assert.ok(text.includes(ANN) && text.includes(BOB), text);
          await keepButton(page).click();
          assert.equal(await storedSecret(page), renewedToken);
        },
        { as: null },
      );
    });

    proof("also asks in a new tab when another tab is signed in", async () => {
      const path = await linkFor(fixture.console, ANN);
      await visit("/connections", async (page) => {
        await heading(page, "Connections").waitFor();
        const other = await page.context().newPage();
        await other.addInitScript(() => sessionStorage.clear());
        await other.goto(fixture.console.baseUrl + path);
        await keepButton(other).click();
        await heading(other, "Connections").waitFor();
        assert.equal(await storedSecret(other), fixture.console.keys.full.secret);
      });
    });

    test("shows an explanation if it is damaged", () =>
      visit(
        "/problems/",
        (page) =>
          withEach(
            DAMAGED_TOKENS.map((damaged) => [`"${damaged}"`, damaged]),
            async (damaged) => {
              // The first link is read when the page loads, the next ones when the address changes.
              await page.goto(`${fixture.console.baseUrl}/connections#token=${damaged}`);
              await heading(page, "This link is damaged").waitFor();
              assert.equal(page.url(), `${fixture.console.baseUrl}/connections`);
              await page.getByText("Open it again where you got it").waitFor();
              assert.equal(await page.evaluate(() => sessionStorage.length), 0);
              assert.equal(await page.getByRole("button").count(), 0);
            },
          ),
        { as: null },
      ));

    proof("leaves the current session unchanged if it is damaged", () =>
      visit("/connections#token=st_live_x", async (page) => {
        await page.getByRole("status").getByText("This link is damaged.").waitFor();
        assert.equal(page.url(), `${fixture.console.baseUrl}/connections`);
        assert.equal(await storedSecret(page), fixture.console.keys.full.secret);
        await expectAccessible(page, "the notice");
        await page.getByRole("button", { name: "Close this message" }).click();
        await page.getByText("This link is damaged.").waitFor({ state: "detached" });
        await heading(page, "Connections").waitFor();
      }),
    );

    proof("shows an explanation if it has expired, and the next link restores the view", async () => {
      const expiredToken = token(SESSION_SECRET, fixture.console.keys.maker, { i: ANN, e: Date.now() - 1 });
      await visit(
        `/connections/x#token=${expiredToken}`,
        async (page) => {
          await heading(page, "This link no longer works").waitFor();
          assert.equal(await storedSecret(page), null);
          assert.ok(page.url().endsWith("/connections/x"));
          // In the same page: only the fragment differs.
          await page.evaluate((hash) => (location.hash = hash), `token=${await tokenFor(fixture.console, ANN)}`);
          await heading(page, "Your connections").waitFor();
          assert.ok(page.url().endsWith("/connections/x"));
        },
        { as: null, expects: [401] },
      );
    });

    proof("shows an explanation if it expires during the session", async () => {
      const short = await fixture.console.newKey({
        scopes: "catalog:read connections:read connections:write sessions:create",
      });
      const path = await linkFor(fixture.console, ANN, { as: short });
      await visit(
        path,
        async (page) => {
          await heading(page, "Your connections").waitFor();
          await page.getByText(/^(\d+ connections?|Nothing is connected yet)$/).waitFor();
          await fixture.console.expire(short, page);
          await page.reload();
          await heading(page, "Your link has expired").waitFor();
          await expectAccessible(page, "an expired link");
          await expectFits(page, "an expired link");
        },
        { as: null, expects: [401], width: 390, height: 844 },
      );
    });

    proof("can be retried if the service can't verify it now", async () => {
      const path = await linkFor(fixture.console, ANN);
      await visit(
        "/connectors",
        async (page) => {
          await heading(page, "Connectors").waitFor();
          await page.getByRole("list", { name: "Connectors" }).waitFor();
          await page.route("**/v1/whoami", (route) => route.abort("connectionrefused"));
          await page.evaluate((hash) => (location.hash = hash), path.split("#")[1]);
          await page.getByText("The link could not be opened.").waitFor();
          assert.equal(await storedSecret(page), fixture.console.keys.full.secret);
        },
        { expects: ["ERR_CONNECTION_REFUSED"] },
      );
    });

    test("asks in a dialog that fits and is accessible in both themes and on a phone", async () => {
      const path = await linkFor(fixture.console, ANN);
      await visit(path, async (page) => {
        await question(page).waitFor();
        await expectAccessibleEverywhere(page, "the question", { parts: [question(page)] });
      });
    });
  });
}
