// The database was made in two steps: by wrangler's own command as the release without a vault left it, with keys in it,
// and then by all migrations, as `npm start` and `npm run deploy` apply them.
import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { root } from "../../../scripts/lib/paths.mjs";
import { expectJson } from "../support/expect.mjs";
import { key, store } from "../support/keys.mjs";
import { Caller, expectConnections } from "../support/vault.mjs";
import { State, cli } from "../support/workspace.mjs";

/** The migrations that the first release had. */
export const FIRST = ["0001_api_keys.sql"];

export function migrations(world) {
  describe("migrations", () => {
    test("were applied in two steps, each once", async () => {
      const all = readdirSync(join(root, "migrations")).sort();
      assert.deepEqual(world.migrated.tables, ["api_keys"], "what the first release had");
      const { results } = await world.database.prepare("SELECT name FROM d1_migrations ORDER BY id").all();
      assert.deepEqual(
        results.map(({ name }) => name),
        all,
      );
      assert.deepEqual(
        world.migrated.second,
        all.filter((name) => !FIRST.includes(name)),
      );
      assert.deepEqual(world.migrated.again, []);
      assert.ok(world.migrated.byWrangler.includes("No migrations to apply"), world.migrated.byWrangler);
    });

    test("keys of before are as they were, and open the vault", async () => {
      // Whether they were used before uses are written down, nobody knows.
      const today = Math.floor(Date.now() / 86_400_000);
      const care = { last_used_day: null, uses_known_from: today, replaced_by: null, created_by: null, name: null };
      for (const { row } of Object.values(world.keys).filter((made) => made.row)) {
        const found = await world.database.prepare("SELECT * FROM api_keys WHERE hash = ?").bind(row.hash).first();
        assert.deepEqual({ ...found }, { ...row, ...care });
      }
      for (const name of ["full", "live"]) {
        const caller = new Caller(world, world.keys[name]);
        expectConnections(await caller.list(), { rows: [], total: 0, pages: 0, page: 1 });
        assert.equal(expectJson(await caller.summary(), 200).total, 0);
      }
    });
    test("the command line brings this machine's database up to date by itself", async () => {
      const older = new State("older");
      await older.migrateByWrangler(FIRST);
      const before = key({ account: "older" });
      await older.use(({ vault }) => store(vault, [before]));
      const place = ["--local", "--persist-to", older.path];
      const [listed] = JSON.parse(await cli("keys", "list", "--json", ...place));
      assert.deepEqual(
        [listed.id, listed.lastUsedOn, listed.replacedBy, listed.warnings],
        [before.row.id, null, null, []],
      );
      assert.match(await cli("keys", "list", ...place), / unknown /);
      const { results } = await older.use(({ vault }) =>
        vault.prepare("SELECT name FROM d1_migrations ORDER BY id").all(),
      );
      assert.deepEqual(
        results.map(({ name }) => name),
        readdirSync(join(root, "migrations")).sort(),
      );
    });
  });
}
