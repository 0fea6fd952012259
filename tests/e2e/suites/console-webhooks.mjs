// Webhooks in the console: creating, changing, testing, deliveries and replays.
import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { root } from "../../../scripts/lib/paths.mjs";
import { button, heading } from "../support/connect.mjs";
import { expectAccessible, expectAccessibleEverywhere, expectFocus, readCopied } from "../support/console.mjs";
import { proof } from "../support/proof.mjs";

const PATH = "/webhooks";
const DOCUMENT = JSON.parse(readFileSync(join(root, "www", "public", "v1", "openapi.json"), "utf8"));
const EVENT_TYPES = DOCUMENT.components.schemas.EventType.enum;
const READ_SCOPES = "catalog:read connections:read webhooks:read";

/** @param {{ connect: import("../support/connect.mjs").ConnectConsole }} fixture */
export function consoleWebhooks(fixture) {
  let [receiver, url, full, reader, status] = [];
  const visit = (path, use, options) => fixture.connect.visit(path, use, { as: full, ...options });
  const caller = () => fixture.connect.caller(full);
  const send = async (method, path, value = {}) => (await caller().sendJson(method, path, value)).json;
  const listWebhooks = async () => (await caller().send("GET", "/v1/webhooks")).json.rows;
  const card = (page) => page.getByRole("list", { name: "Webhooks" }).getByRole("listitem");
  const causeEvent = (identity) => caller().create({ platform: "login", identity, identityType: "user" });

  describe("webhooks", () => {
    before(async () => {
      status = 204;
      receiver = createServer((request, response) => {
        request.resume();
        response.writeHead(status).end();
      });
      receiver.listen(0, "127.0.0.1");
      await once(receiver, "listening");
      url = `http://127.0.0.1:${receiver.address().port}/hooks`;
      const account = "console-webhooks";
      full = await fixture.connect.newKey({
        account,
        scopes: `${READ_SCOPES} connections:write events:read webhooks:write`,
      });
      reader = await fixture.connect.newKey({ account, scopes: READ_SCOPES });
    });
    after(() => {
      receiver?.closeAllConnections();
      receiver?.close();
    });

    test("are created by keyboard, and show their secret once", () =>
      visit("/", async (page) => {
        await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Webhooks" }).click();
        await expectFocus(heading(page, "Webhooks"));
        await page.getByText("No webhooks yet").waitFor();
        await button(page, "New webhook").click();
        const dialog = page.getByRole("dialog", { name: "New webhook" });
        await expectFocus(dialog.getByLabel("URL"));
        await page.keyboard.press("Enter");
        await dialog.getByText("Must be a URL of 1 to 2048 visible ASCII characters.").waitFor();
        await expectFocus(dialog.getByLabel("URL"));
        await page.keyboard.type(url);
        assert.equal(await dialog.getByRole("checkbox", { checked: false }).count(), 0, "all by default");
        await dialog.getByLabel("Platform called").uncheck();
        await dialog.getByLabel("Description (optional)").fill("For the tests");
        await expectAccessible(page, "the form");
        await page.keyboard.press("Enter");
        const secretDialog = page.getByRole("alertdialog", { name: "The webhook's secret" });
        await secretDialog.getByText("it is shown only once").waitFor();
        await expectAccessible(page, "the secret");
        await button(secretDialog, "Copy the secret").click();
        assert.match(await readCopied(secretDialog), /^whsec_/);
        await button(secretDialog, "I have stored it").click();
        await card(page).getByText("active", { exact: true }).waitFor();
        await page.getByText("The webhook was created.").waitFor();
        assert.equal(await page.getByText("whsec_").count(), 0);
        const [{ types, ...webhook }] = await listWebhooks();
        assert.equal(types.length, EVENT_TYPES.length - 1);
        assert.ok(!types.includes("connection.called"));
        assert.partialDeepStrictEqual(webhook, { url, description: "For the tests", active: true });
      }));

    test("are edited, paused, enabled, tested, and get a new secret", () =>
      visit(PATH, async (page) => {
        await button(page, `Edit ${url}`).click();
        const dialog = page.getByRole("dialog", { name: "Edit the webhook" });
        await dialog.getByLabel("Platform called").check();
        await dialog.getByLabel("Description (optional)").fill("");
        await button(dialog, "Save webhook").click();
        await page.getByText("The webhook was saved.").waitFor();
        await card(page).getByText("All events").waitFor();
        assert.partialDeepStrictEqual((await listWebhooks())[0], { types: [], description: null });

        await button(page, `Pause ${url}`).click();
        await card(page).getByText("paused", { exact: true }).waitFor();
        assert.equal((await listWebhooks())[0].active, false);
        await button(page, `Enable ${url}`).click();
        await card(page).getByText("active", { exact: true }).waitFor();

        await button(page, `Send a test to ${url}`).click();
        await card(page)
          .getByText(/^The test was accepted: the receiver responded with the HTTP status 204 after /)
          .waitFor();
        status = 500;
        await button(page, `Send a test to ${url}`).click();
        await card(page)
          .getByText(/^The test was not accepted: the receiver responded with the HTTP status 500 after /)
          .waitFor();
        status = 204;

        await button(page, `Rotate secret of ${url}`).click();
        await button(page.getByRole("alertdialog", { name: "Rotate the secret?" }), "Rotate secret").click();
        const secretDialog = page.getByRole("alertdialog", { name: "The webhook's secret" });
        await secretDialog.getByText("whsec_").waitFor();
        await button(secretDialog, "I have stored it").click();
        await expectAccessible(page, "the list");
      }));

    test("list deliveries, and resend one or all from one onwards", async () => {
      for (const identity of ["ann", "bob"]) await causeEvent(identity);
      const [{ id }] = await listWebhooks();
      await visit(PATH, async (page) => {
        await page.getByRole("link", { name: `Deliveries to ${url}` }).click();
        await expectFocus(heading(page, "Deliveries"));
        const rows = page.getByRole("list", { name: "Deliveries" }).getByRole("listitem");
        // Deliveries are sent right after the response that made them due.
        const until = Date.now() + 30_000;
        while ((await rows.getByText("delivered", { exact: true }).count()) < 2) {
          assert.ok(Date.now() < until, "the deliveries did not arrive in time");
          const reply = page.waitForResponse((response) => response.url().includes("/deliveries"));
          await button(page, "Refresh").click();
          await reply;
        }
        const { rows: known } = (await caller().send("GET", `/v1/webhooks/${id}/deliveries`)).json;
        assert.equal(await rows.count(), 2);
        await rows.first().getByText("1 attempt, HTTP status 204").waitFor();
        await expectAccessible(page, "the deliveries");
        const [latest, first] = known.map(({ event }) => event);
        const secondRequest = once(receiver, "request");
        await button(page, `Send again ${latest}`).click();
        await page.getByText("1 event will be sent again.").waitFor();
        const [request] = await secondRequest;
        assert.equal(request.headers["webhook-id"], latest);
        await button(page, `Replay from here, ${first}`).click();
        await page.getByText("2 events will be sent again.").waitFor();
      });
    });

    proof("show validation errors", async () => {
      const [{ id }] = await listWebhooks();
      const set = (values) =>
        fixture.connect.database
          .prepare(`UPDATE webhooks SET ${Object.keys(values).map((name) => `${name} = ?`)} WHERE id = ?`)
          .bind(...Object.values(values), id)
          .run();
      await set({ failing_since: Date.now() - 7_200_000 });
      await visit(PATH, async (page) => {
        await card(page).getByText("failing", { exact: true }).waitFor();
        await card(page).getByText("Deliveries have been failing for 2 hours.").waitFor();
      });
      await send("PATCH", `/v1/webhooks/${id}`, { active: true });
      await set({ failing_since: null });
    });

    proof("show why the service disabled them, and resend failed deliveries", async () => {
      const [{ id }] = await listWebhooks();
      status = 410;
      await causeEvent("gone");
      const until = Date.now() + 30_000;
      while ((await listWebhooks())[0].active)
        assert.ok(Date.now() < until, "the 410 did not disable the webhook in time");
      status = 204;
      await visit(PATH, async (page) => {
        await card(page).getByText("disabled", { exact: true }).waitFor();
        const why = "The service has disabled it, because the URL returned 410 Gone.";
        await card(page).getByText(`${why} The last response had the HTTP status 410.`).waitFor();
        await expectAccessible(page, "a disabled webhook");
        await button(page, `Enable ${url}`).click();
        await card(page).getByText("active", { exact: true }).waitFor();
        assert.equal(await card(page).getByText(why).count(), 0);
        await page.getByRole("link", { name: `Deliveries to ${url}` }).click();
        await page.getByLabel("State", { exact: true }).selectOption("failed");
        const rows = page.getByRole("list", { name: "Deliveries" }).getByRole("listitem");
        await rows.getByText("1 attempt, HTTP status 410").waitFor();
        assert.deepEqual([await rows.count(), new URL(page.url()).search], [1, "?state=failed"]);
        await expectAccessible(page, "failed deliveries");
        const secondRequest = once(receiver, "request");
        await rows.getByRole("button", { name: /^Send again / }).click();
        await page.getByText("1 event will be sent again.").waitFor();
        await secondRequest;
        await page.getByText("No failed deliveries").waitFor();
        await expectAccessible(page, "no failed deliveries");
        await page.goBack();
        await rows.nth(2).waitFor();
      });
      await visit(
        `${PATH}/${id}?state=lost`,
        async (page) => {
          await page.getByText("`state` must be one of pending, delivered, failed").waitFor();
          await expectAccessible(page, "an unknown state");
        },
        { expects: [400] },
      );
    });

    proof("are read-only or hidden, depending on the key's scopes", async () => {
      await visit(
        PATH,
        async (page) => {
          await page.getByText("Your key can read webhooks, but not change them.").waitFor();
          await page.getByRole("link", { name: `Deliveries to ${url}` }).waitFor();
          assert.equal(
            await page
              .getByRole("main")
              .getByRole("button", { name: /New|Edit|Pause|Rotate|Delete|test/ })
              .count(),
            0,
          );
          await expectAccessible(page, "read only");
          await page.getByRole("link", { name: `Deliveries to ${url}` }).click();
          await page.getByText("your key does not have the scope webhooks:write").waitFor();
          assert.equal(await page.getByRole("button", { name: /Send again|Replay/ }).count(), 0);
        },
        { as: reader },
      );
      await visit(
        PATH,
        async (page) => {
          await page.getByText("Your key can't read webhooks").waitFor();
          const links = page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Webhooks" });
          assert.equal(await links.count(), 0);
        },
        { as: fixture.connect.keys.full },
      );
    });

    test("fit and are accessible in both themes and at each width", () =>
      visit(PATH, async (page) => {
        const widths = [320, 390];
        await card(page).waitFor();
        await expectAccessibleEverywhere(page, "the list", { widths, others: [390] });
        await button(page, "New webhook").click();
        const dialog = page.getByRole("dialog", { name: "New webhook" });
        await dialog.waitFor();
        await expectAccessibleEverywhere(page, "the form", { widths, parts: [dialog], others: [390] });
        await page.keyboard.press("Escape");
        await page.getByRole("link", { name: `Deliveries to ${url}` }).click();
        await page.getByRole("list", { name: "Deliveries" }).waitFor();
        await expectAccessibleEverywhere(page, "the deliveries", { widths, others: [390] });
      }));

    proof("are deleted after confirmation", () =>
      visit(PATH, async (page) => {
        await button(page, `Delete ${url}`).click();
        const question = page.getByRole("alertdialog", { name: "Delete this webhook?" });
        await expectAccessible(page, "the question");
        await button(question, "Keep it").click();
        await expectFocus(button(page, `Delete ${url}`));
        await button(page, `Delete ${url}`).click();
        await button(question, "Delete webhook").click();
        await page.getByText("The webhook was deleted.").waitFor();
        await page.getByText("No webhooks yet").waitFor();
        assert.deepEqual(await listWebhooks(), []);
      }),
    );
  });
}
