// Migrations of databases, and rejection of databases of earlier commits.
import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { root } from "../../../scripts/lib/paths.mjs";
import { key, store } from "../support/keys.mjs";
import { State, cli } from "../support/workspace.mjs";

const files = readdirSync(join(root, "schema")).sort();

async function applied(vault) {
  const { results } = await vault.prepare("SELECT name FROM d1_migrations ORDER BY id").all();
  return results.map(({ name }) => name);
}

export function migrations(world) {
  describe("migrations", () => {
    test("each file of schema/ is applied once, also by wrangler's own command", async () => {
      assert.deepEqual(world.migrated.first, files);
      assert.deepEqual(world.migrated.again, []);
      assert.match(world.migrated.byWrangler, /No migrations to apply/);
      assert.deepEqual(await applied(world.database), files);
    });

    test("wrangler's own command creates the same tables", async () => {
      const state = new State("by-wrangler-only");
      await state.migrateByWrangler();
      assert.deepEqual(await state.migrate(), []);
      await state.use(async ({ vault }) => assert.deepEqual(await applied(vault), files));
    });

    test("commands migrate the local database automatically", async () => {
      const state = new State("without-tables");
      assert.deepEqual(JSON.parse(await cli("keys", "list", "--json", "--local", "--persist-to", state.path)), []);
      await state.use(async ({ vault }) => assert.deepEqual(await applied(vault), files));
    });

    for (const [what, change] of [
      ["files that are no more", "UPDATE d1_migrations SET name = '0001_api_keys.sql'"],
      ["another version of the file", "DROP INDEX api_keys_by_account"],
    ])
      test(`a database of ${what} is rejected unchanged, with the command to reset it`, async () => {
        const state = new State(`earlier-${change.length}`);
        await state.migrate();
        const owner = key({ account: "earlier" });
        const dump = async (vault) => [
          (await vault.prepare("SELECT sql FROM sqlite_schema ORDER BY sql").all()).results,
          (await vault.prepare("SELECT * FROM api_keys").all()).results,
          await applied(vault),
        ];
        const before = await state.use(async ({ vault }) => {
          await store(vault, [owner]);
          await vault.prepare(change).run();
          return dump(vault);
        });
        await assert.rejects(state.migrate(), ({ output }) => {
          assert.match(output, /created by an earlier commit, and are not those of schema\/\. Nothing was changed\./);
          assert.ok(output.includes(`rm -rf '${state.path}'`), output);
          return true;
        });
        await assert.rejects(state.migrate("--by-wrangler"), ({ output }) => {
          assert.match(output, /npx wrangler d1 delete VAULT\n/);
          assert.match(output, /database_id = "00000000-0000-0000-0000-000000000000"/);
          return true;
        });
        assert.deepEqual(await state.use(({ vault }) => dump(vault)), before);
      });
  });
}
