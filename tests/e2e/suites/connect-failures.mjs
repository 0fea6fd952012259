// How the connect window reports failures.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { button, confirm, heading } from "../support/connect.mjs";
import { expectAccessible, expectFocus } from "../support/console.mjs";
import { token } from "../support/keys.mjs";
import { SESSION_SECRET } from "../support/server.mjs";
import { proof } from "../support/proof.mjs";

/** @param {{ connect: import("../support/connect.mjs").ConnectConsole }} fixture */
export function connectFailures(fixture) {
  const visit = (path, use, options) => fixture.connect.visit(path, use, { as: null, ...options });
  const problem = (status, code, more = {}) => ({
    status,
    contentType: "application/problem+json",
    body: JSON.stringify({ status, code, detail: `The detail of ${code}.`, title: code, requestId: "x", ...more }),
  });

  describe("when something fails", () => {
    test("a window without a token says what to do", async () => {
      await visit(await fixture.connect.path("reload@example.com"), async (page) => {
        await heading(page, "What do you want to connect?").waitFor();
        await page.evaluate(() => sessionStorage.removeItem("connect-launch"));
        await page.reload();
        await heading(page, "Open this window again").waitFor();
        await page
          .getByText("Go back to Acme Planner and open it there, or ask the person who sent you the link.")
          .waitFor();
        await expectAccessible(page, "a window without a token");
      });
    });

    test("a window link continues after a reload and after going back from the platform, until the account is connected", async () => {
      const identity = "reloads@example.com";
      const body = { platform: "both", authMethod: "token", identity, identityType: "user", link: true };
      const { json } = await fixture.connect.caller().sendJson("POST", "/v1/vault/connect", body);
      const path = json.authorizationUrl.replace(fixture.connect.baseUrl, "");
      await visit(
        path,
        async (page) => {
          const confirmButton = button(page, `Continue as ${identity}`);
          await confirmButton.waitFor();
          await page.reload();
          await confirmButton.click();
          await heading(page, "Connect Both").waitFor();
          // The link selects its method, although another one is the first.
          assert.ok(await page.getByRole("radio", { name: "Access token" }).isChecked());
          await page.reload();
          await heading(page, "Connect Both").waitFor();
          await page.getByRole("radio", { name: "Sign in with Both" }).check();
          await button(page, "Continue to Both").click();
          await page.getByLabel("Account").waitFor();
          await page.goBack();
          await heading(page, "Connect Both").waitFor();
          await page.goto(json.authorizationUrl);
          await heading(page, "Connect Both").waitFor();
          await page.getByLabel("Access token", { exact: true }).and(page.locator("[type=password]")).fill("t-1");
          await button(page, "Connect").click();
          await heading(page, "Both is connected").waitFor();
          await page.reload();
          await heading(page, "You can close this window").waitFor();
        },
        { asks: false },
      );
      assert.equal((await fixture.connect.connectionsOf(identity)).length, 1);
    });

    proof("a damaged link says what to do", () =>
      visit(
        "/connect#token=st_test_x",
        async (page) => {
          await heading(page, "This link is damaged").waitFor();
          assert.equal(page.url(), `${fixture.connect.baseUrl}/connect`);
        },
        { asks: false },
      ),
    );

    test("an expired token says what to do, and a new link works in the same page", async () => {
      const expired = token(SESSION_SECRET, fixture.connect.keys.full, {
        i: "x@example.com",
        e: Date.now() - 1,
        s: 23,
      });
      await visit(
        `/connect#token=${expired}`,
        async (page) => {
          await heading(page, "This window has expired").waitFor();
          const next = await fixture.connect.path("x@example.com");
          await page.evaluate((hash) => (location.hash = hash), next.split("#")[1]);
          await confirm(page);
          await heading(page, "What do you want to connect?").waitFor();
          assert.equal(new URL(page.url()).hash, "");
        },
        { expects: [401], asks: false },
      );
    });

    proof("a token that can't connect says what to do", async () => {
      const path = await fixture.connect.path("may@example.com", {}, { scopes: ["catalog:read", "connections:read"] });
      await visit(path, (page) => heading(page, "This link can't connect accounts").waitFor());
    });

    proof("an unknown platform is explained", async () => {
      await visit(
        await fixture.connect.path("y@example.com", { platform: "nowhere" }),
        async (page) => {
          await heading(page, "Nowhere can't be connected here").waitFor();
          await page.getByText("Acme Planner does not offer it.").waitFor();
          await page.getByText("Contact the people behind Acme Planner").waitFor();
        },
        { expects: [404] },
      );
    });

    proof("an app that is not registered at the platform is explained", async () => {
      await fixture.connect.caller().send("DELETE", "/v1/oauth-clients/login");
      try {
        await visit(
          await fixture.connect.path("z@example.com", { platform: "login" }),
          async (page) => {
            await button(page, "Continue to Login").click();
            await expectFocus(heading(page, "Signing in with Login is not set up"));
            await expectAccessible(page, "a failure");
            await page.getByText("Details", { exact: true }).click();
            await page.getByText("oauth_client_missing").waitFor();
          },
          { expects: [409] },
        );
      } finally {
        await fixture.connect.setClient("login");
      }
    });

    test("credentials that the platform rejects are explained", async () => {
      await visit(
        await fixture.connect.path("w@example.com", { platform: "keyed" }),
        async (page) => {
          await page.route("**/v1/vault/connect", (route) => route.fulfill(problem(422, "credentials_rejected")));
          await page.getByLabel("API key", { exact: true }).fill("wrong");
          await button(page, "Connect").click();
          await page.getByRole("alert").getByText("Keyed does not accept this.").waitFor();
          await expectFocus(page.getByRole("alert"));
          assert.equal(await page.getByLabel("API key", { exact: true }).inputValue(), "wrong");
          await expectAccessible(page, "credentials that were rejected");
          await page.unroute("**/v1/vault/connect");
          await button(page, "Connect").click();
          await heading(page, "Keyed is connected").waitFor();
        },
        { expects: [422] },
      );
    });

    test("credentials of another account are explained, and name the expected account", async () => {
      const detail =
        "These credentials belong to a different account at Keyed than before. The connection keeps the previous one, “Ada Example”.";
      await visit(
        await fixture.connect.path("other-account@example.com", { platform: "keyed" }),
        async (page) => {
          await page.route("**/v1/vault/connect", (route) =>
            route.fulfill(problem(422, "account_mismatch", { detail })),
          );
          const field = page.getByLabel("API key", { exact: true });
          await field.fill("key-of-ben");
          await button(page, "Connect").click();
          await page.getByRole("alert").getByText("This is a different account.").waitFor();
          await page.getByRole("alert").getByText(detail).waitFor();
          await expectFocus(page.getByRole("alert"));
          assert.equal(await field.inputValue(), "key-of-ben");
          await expectAccessible(page, "credentials of another account");
        },
        { expects: [422] },
      );
    });

    proof("errors of the service appear next to the field", async () => {
      await visit(
        await fixture.connect.path("v@example.com", { platform: "keyed" }),
        async (page) => {
          const errors = [{ pointer: "/fields/apiKey", detail: "`fields.apiKey` must have no control character" }];
          await page.route("**/v1/vault/connect", (route) => route.fulfill(problem(400, "invalid_body", { errors })));
          const field = page.getByLabel("API key", { exact: true });
          await field.fill("wrong");
          await button(page, "Connect").click();
          await page.getByText("Must have no control character.").waitFor();
          await expectFocus(field);
          assert.equal(await field.getAttribute("aria-invalid"), "true");
        },
        { expects: [400] },
      );
    });

    proof("failed reads are retried, also after an error page of a proxy", async () => {
      await visit(
        await fixture.connect.path("t@example.com"),
        async (page) => {
          const connector = "**/v1/available-connectors/keyed";
          let reads = 0;
          await page.route(connector, (route) => {
            reads += 1;
            return reads === 1 ? route.fulfill(problem(503, "unavailable")) : route.continue();
          });
          await page.getByRole("button", { name: /^Keyed/ }).click();
          await page.getByLabel("API key", { exact: true }).fill("k");
          assert.equal(reads, 2);
          let sent = 0;
          await page.route("**/v1/vault/connect", (route) => {
            sent += 1;
            return route.fulfill({ status: 502, contentType: "text/html", body: "<h1>Bad gateway</h1>" });
          });
          await button(page, "Connect").click();
          await heading(page, "The service has a problem").waitFor();
          await page.getByText("Details", { exact: true }).click();
          await page.getByText("unexpected_response").waitFor();
          assert.equal(sent, 1);
        },
        { expects: [503, 502] },
      );
    });

    proof("an unreachable service is explained, and retried", async () => {
      await visit(
        await fixture.connect.path("u@example.com", { platform: "keyed" }),
        async (page) => {
          await page.route("**/v1/vault/connect", (route) => route.abort("connectionrefused"));
          await page.getByLabel("API key", { exact: true }).fill("k");
          await button(page, "Connect").click();
          await heading(page, "The service can't be reached").waitFor();
          await page.unroute("**/v1/vault/connect");
          await button(page, "Try again").click();
          await page.getByLabel("API key", { exact: true }).fill("k");
          await button(page, "Connect").click();
          await heading(page, "Keyed is connected").waitFor();
        },
        { expects: ["ERR_CONNECTION_REFUSED"] },
      );
    });
  });
}
