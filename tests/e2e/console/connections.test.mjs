// The console's view of connections: what it shows is what the API answers, and what is done in it arrives there.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { Console } from "../support/console.mjs";
import { expectConnections } from "../support/vault.mjs";

describe("the console: connections", () => {
  let world;
  before(async () => {
    world = await Console.start({ name: "console-connections" });
  });
  after(() => world?.stop());

  test("is a view under its own address", () =>
    world.visit("/connections", async (page) => {
      await page.getByRole("heading", { level: 1, name: "Connections" }).waitFor();
      assert.equal(await page.title(), "Connections · connector-vault");
      assert.ok(expectConnections(await world.caller().list()).total > 0);
    }));
});
