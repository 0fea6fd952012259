// The database was made in two steps: by wrangler's own command as the release without a vault left it, with keys in it,
// and then by all migrations, as `npm start` and `npm run deploy` apply them.
import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { root } from "../../../scripts/lib/paths.mjs";
import { expectJson } from "../support/expect.mjs";
import { Caller, expectConnections } from "../support/vault.mjs";

/** The migrations that the first release had. */
export const FIRST = ["0001_api_keys.sql"];

export function migrations(world) {
  describe("migrations", () => {
    test("were applied in two steps, each once", async () => {
      const all = readdirSync(join(root, "migrations")).sort();
      assert.deepEqual(world.migrated.tables, ["api_keys"], "what the first release had");
      const { results } = await world.database.prepare("SELECT name FROM d1_migrations ORDER BY id").all();
      assert.deepEqual(results.map(({ name }) => name), all);
      assert.deepEqual(world.migrated.second, all.filter((name) => !FIRST.includes(name)));
      assert.deepEqual(world.migrated.again, []);
      assert.ok(world.migrated.byWrangler.includes("No migrations to apply"), world.migrated.byWrangler);
    });

    test("keys of before are as they were, and open the vault", async () => {
      for (const { row } of Object.values(world.keys).filter((made) => made.row)) {
        const found = await world.database.prepare("SELECT * FROM api_keys WHERE hash = ?").bind(row.hash).first();
        assert.deepEqual({ ...found }, row);
      }
      for (const name of ["full", "live"]) {
        const caller = new Caller(world, world.keys[name]);
        expectConnections(await caller.list(), { rows: [], total: 0, pages: 0, page: 1 });
        assert.equal(expectJson(await caller.summary(), 200).total, 0);
      }
    });
  });
}
