// Connecting with consent at the platform, with the window on a page, in a popup and in a frame.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  openFrame,
  consent,
  button,
  confirm,
  heading,
  openWindow,
  linkConfirmation,
  declineAtProvider,
} from "../support/connect.mjs";
import { expectAccessible } from "../support/console.mjs";
import { proof } from "../support/proof.mjs";

/** @param {{ connect: import("../support/connect.mjs").ConnectConsole }} fixture */
export function connectPagePopupFrame(fixture) {
  const visit = (path, use, options) => fixture.connect.visit(path, use, { as: null, ...options });
  const platforms = async (identity) => (await fixture.connect.connectionsOf(identity)).map(({ platform }) => platform);
  /** Shows the window in a frame of the app's page. */
  async function framedFor(page, identity, more = {}) {
    const origin = fixture.connect.app.origin;
    const src =
      fixture.connect.baseUrl + (await fixture.connect.link(identity, { platform: "login", origin, ...more }));
    return openFrame(page, src);
  }
  /** The distinct messages to a page: a window repeats its first message until it gets a reply. */
  const messages = async (page) => [
    ...new Set(await page.evaluate(() => window.messages.map(({ origin, status }) => `${origin} ${status}`))),
  ];

  describe("consent at the platform", () => {
    test("a full page goes to the platform and returns", async () => {
      await visit(await fixture.connect.path("page@example.com", { platform: "login" }), async (page) => {
        await button(page, "Continue to Login").click();
        await consent(page);
        await page.waitForURL((url) => url.pathname === "/connect/callback");
      });
      assert.deepEqual(await platforms("page@example.com"), ["login"]);
    });

    proof("a full page returns to the app if the token is for its pages", async () => {
      const returnUrl = `${fixture.connect.app.origin}/?back=1`;
      const path = await fixture.connect.path("back@example.com", { platform: "login", returnUrl });
      await visit(path, async (page) => {
        await button(page, "Continue to Login").click();
        await consent(page);
        await page.waitForURL((url) => url.origin === fixture.connect.app.origin);
        const { searchParams } = new URL(page.url());
        assert.equal(searchParams.get("back"), "1");
        assert.match(searchParams.get("connect"), /^[0-9a-f-]{36}$/);
      });
      const elsewhere = await fixture.connect.path("back@example.com", { returnUrl: "https://evil.example/" });
      await visit(elsewhere, async (page) => {
        await heading(page, "What do you want to connect?").waitFor();
        assert.equal(await page.getByRole("link", { name: "Cancel" }).count(), 0);
      });
    });

    test("a frame of another site shows the platform in a popup, notifies the app, and waits accessibly", async () => {
      await visit(await fixture.connect.appUrl("frame@example.com"), async (page) => {
        const frame = await framedFor(page, "frame@example.com");
        const popup = await openWindow(page, () => button(frame, "Continue to Login").click());
        await frame.getByRole("status").getByText("Waiting for Login…").waitFor();
        await expectAccessible(page.frames()[1], "waiting");
        // If the browser blocks cookies in a cross-site frame, the page of the link asks for confirmation again.
        await Promise.race([popup.getByLabel("Account").waitFor(), linkConfirmation(popup, "Login").click()]);
        await consent(popup);
        await heading(frame, "Login is connected").waitFor();
        if (!popup.isClosed()) await popup.waitForEvent("close");
        await button(frame, "Done").click();
        await page.waitForFunction(() => window.messages.some(({ status }) => status === "closed"));
        const [origin] = [fixture.connect.baseUrl];
        assert.deepEqual(
          await messages(page),
          ["waiting", "ready", "pending", "succeeded", "closed"].map((status) => `${origin} ${status}`),
        );
      });
      assert.deepEqual(await platforms("frame@example.com"), ["login"]);
    });

    proof("a frame offers a link when the popup is blocked", async () => {
      await visit(
        await fixture.connect.appUrl("blocked@example.com"),
        async (page) => {
          await page.context().addInitScript(() => (window.open = () => null));
          const frame = await framedFor(page, "blocked@example.com");
          await button(frame, "Continue to Login").click();
          await heading(frame, "Go to Login").waitFor();
          const link = frame.getByRole("link", { name: "Open the sign-in page" });
          const popup = await openWindow(page, () => link.click());
          await Promise.race([popup.getByLabel("Account").waitFor(), linkConfirmation(popup, "Login").click()]);
          await consent(popup);
          await heading(frame, "Login is connected").waitFor();
        },
        { isolated: true },
      );
      assert.deepEqual(await platforms("blocked@example.com"), ["login"]);
    });

    proof("a popup that is closed early lets the user start again", async () => {
      await visit(await fixture.connect.appUrl("early@example.com"), async (page) => {
        const frame = await framedFor(page, "early@example.com");
        const first = await openWindow(page, () => button(frame, "Continue to Login").click());
        await frame.getByText("Waiting for Login…").waitFor();
        await first.close();
        await frame.getByText("If you closed the Login page, start again.").waitFor();
        const second = await openWindow(page, () => button(frame, "Start again").click());
        await Promise.race([second.getByLabel("Account").waitFor(), linkConfirmation(second, "Login").click()]);
        await consent(second);
        await heading(frame, "Login is connected").waitFor();
      });
      assert.deepEqual(await platforms("early@example.com"), ["login"]);
    });

    test("a user who declines gets an explanation, and can try again", async () => {
      await visit(await fixture.connect.appUrl("no@example.com"), async (page) => {
        const frame = await framedFor(page, "no@example.com");
        const popup = await openWindow(page, () => button(frame, "Continue to Login").click());
        await Promise.race([popup.getByLabel("Account").waitFor(), linkConfirmation(popup, "Login").click()]);
        await declineAtProvider(popup);
        await heading(frame, "You did not allow access").waitFor();
        assert.deepEqual((await messages(page)).at(-1), `${fixture.connect.baseUrl} failed`);
        const secondPopup = await openWindow(page, () => button(frame, "Try again").click());
        await Promise.race([
          secondPopup.getByLabel("Account").waitFor(),
          linkConfirmation(secondPopup, "Login").click(),
        ]);
        await consent(secondPopup);
        await heading(frame, "Login is connected").waitFor();
      });
      assert.deepEqual(await platforms("no@example.com"), ["login"]);
    });

    proof("a page that the token is not for receives no message", async () => {
      const token = await fixture.connect.token("stranger@example.com", { origins: [fixture.connect.baseUrl] });
      await visit(await fixture.connect.appUrl("stranger@example.com"), async (page) => {
        const popup = await openWindow(page, () =>
          page.evaluate(
            (address) => void window.open(address),
            `${fixture.connect.baseUrl}/connect#${new URLSearchParams({ token, platform: "keyed", origin: fixture.connect.app.origin })}`,
          ),
        );
        await confirm(popup);
        await popup.getByLabel("API key", { exact: true }).fill("k");
        await button(popup, "Connect").click();
        await heading(popup, "Keyed is connected").waitFor();
        assert.deepEqual(
          await messages(page),
          [`${fixture.connect.baseUrl} waiting`],
          "it only learns that a window waits",
        );
      });
    });

    test("an origin that is not allowed can't frame the window", async () => {
      const response = await fixture.connect.server.send("/connect");
      assert.equal(response.status, 200);
      const policy = response.header("content-security-policy");
      assert.ok(policy.endsWith(`frame-ancestors 'self' ${fixture.connect.app.origin}`), policy);
      assert.ok(!policy.includes("unsafe-inline"), policy);
    });
  });
}
