// A connection's history in its panel, for keys that can read events.
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { at, newConnection, panelHelpers } from "../support/console-connections.mjs";
import { expectAccessibleEverywhere } from "../support/console.mjs";
import { proof } from "../support/proof.mjs";

const REASON = { code: "platform_unavailable", detail: null, httpStatus: 503 };
const CALL = {
  method: "POST",
  action: "issues.create",
  status: 201,
  error: null,
  durationMs: 1234,
  keyId: "a-key",
  identity: null,
};

export function consoleHistory(fixture) {
  const visit = (...args) => fixture.console.visit(...args);
  const caller = () => fixture.console.caller();
  const historyOf = (page) => panelHelpers(page).panel.getByRole("region", { name: "History" });
  const entries = (page) => historyOf(page).getByRole("listitem");
  let watcher;

  /** Writes to storage an event that no request of this test could cause. */
  const event = ({ id }, type, { reason = null, call = null }) =>
    fixture.console.database
      .prepare(
        `INSERT INTO events (account, environment, type, occurred_at, connection_id, connection, reason, call)
         SELECT account, environment, ?, ?, connection_id, connection, ?, ? FROM connection_events WHERE connection_id = ?`,
      )
      .bind(type, Date.now() - 120_000, reason && JSON.stringify(reason), call && JSON.stringify(call), id);
  const writeEvent = (...of) => event(...of).run();

  describe("the history of a connection", () => {
    before(async () => {
      watcher = await fixture.console.newKey({
        scopes: "catalog:read connections:read connections:write events:read",
      });
    });

    test("shows what happened, when and why, latest first", async () => {
      const connection = await newConnection(caller(), { name: "history" });
      await writeEvent(connection, "connection.degraded", { reason: REASON });
      await writeEvent(connection, "connection.called", { call: CALL });
      const { action: _, ...callFields } = { ...CALL, method: "OPTIONS", path: "/a/path", status: null };
      await writeEvent(connection, "connection.called", { call: { ...callFields, error: "platform_timeout" } });
      await visit(
        at(connection.id),
        async (page) => {
          await entries(page).first().waitFor();
          const texts = (await entries(page).allInnerTexts()).map((text) => text.replaceAll(/\s+/g, " "));
          assert.equal(texts.length, 4);
          assert.match(
            texts[0],
            /^Platform called 2 minutes ago OPTIONS \/a\/path no response: platform_timeout after 1,234 ms$/,
          );
          assert.match(texts[1], /^Platform called 2 minutes ago POST issues\.create HTTP status 201 after 1,234 ms$/);
          assert.match(
            texts[2],
            /^Connection degraded 2 minutes ago The platform can't be reached\. platform_unavailable HTTP status 503$/,
          );
          assert.match(texts[3], /^Connection created (now|\d+ seconds? ago|\d+ minutes? ago)$/);
          await historyOf(page).scrollIntoViewIfNeeded();
          await expectAccessibleEverywhere(page, "the history", { parts: [panelHelpers(page).panel], others: [390] });
        },
        { as: watcher },
      );
    });

    proof("includes a change made in the panel at once, and loads older events on demand", async () => {
      const connection = await newConnection(caller(), { name: "long history" });
      const callEvents = Array.from({ length: 50 }, () => event(connection, "connection.called", { call: CALL }));
      await fixture.console.database.batch(callEvents);
      await visit(
        at(connection.id),
        async (page) => {
          const { field, save, opened } = panelHelpers(page);
          await opened();
          await entries(page).nth(49).waitFor();
          assert.equal(await entries(page).count(), 50);
          await field.fill("three");
          await field.press("Enter");
          await save.click();
          await entries(page).first().filter({ hasText: "Connection changed" }).waitFor();
          await historyOf(page).getByRole("button", { name: "Show older" }).click();
          await entries(page).nth(51).waitFor();
          assert.match(await entries(page).last().innerText(), /^Connection created/);
          assert.equal(await historyOf(page).getByRole("button").count(), 0);
        },
        { as: watcher },
      );
    });

    proof("is hidden from a key that can't read events", async () => {
      const connection = await newConnection(caller());
      await visit(at(connection.id), async (page) => {
        await historyOf(page)
          .getByText("You can't see its history: your key does not have the scope events:read.")
          .waitFor();
        assert.equal(await entries(page).count(), 0);
      });
    });
  });
}
