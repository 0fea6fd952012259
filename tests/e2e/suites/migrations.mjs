// Migrations of databases, and rejection of databases of earlier commits.
import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { root } from "../../../scripts/lib/paths.mjs";
import { key, store } from "../support/keys.mjs";
import { State, cli } from "../support/workspace.mjs";
import { proof } from "../support/proof.mjs";

const files = readdirSync(join(root, "schema")).sort();
// Compares only types and names, because wrangler removes comments from the stored statements.
const SCHEMA = "SELECT type, name FROM sqlite_schema WHERE name NOT GLOB '_cf_*' ORDER BY type, name";

async function applied(vault) {
  const { results } = await vault.prepare("SELECT name FROM d1_migrations ORDER BY id").all();
  return results.map(({ name }) => name);
}

export function migrations(fixture) {
  describe("migrations", () => {
    proof("wrangler's own command creates the same tables, and each file is applied once", async () => {
      assert.deepEqual(await applied(fixture.database), files);
      const state = new State("by-wrangler-only");
      await state.migrateByWrangler();
      assert.deepEqual(await state.migrate(), []);
      await state.use(async ({ vault }) => {
        assert.deepEqual(await applied(vault), files);
        const [own, other] = [fixture.database, vault].map((database) => database.prepare(SCHEMA).all());
        assert.deepEqual((await own).results, (await other).results);
      });
    });

    test("commands migrate the local database automatically", async () => {
      const state = new State("without-tables");
      assert.deepEqual(JSON.parse(await cli("keys", "list", "--json", "--local", "--persist-to", state.path)), []);
      await state.use(async ({ vault }) => assert.deepEqual(await applied(vault), files));
    });

    proof("a database of an earlier commit is rejected unchanged, with the command to reset it", async () => {
      const state = new State("earlier");
      await state.prepare();
      const owner = key({ account: "earlier" });
      const readSchemaAndRows = async (vault) => [
        (await vault.prepare("SELECT sql FROM sqlite_schema ORDER BY sql").all()).results,
        (await vault.prepare("SELECT * FROM api_keys").all()).results,
        await applied(vault),
      ];
      await state.use(({ vault }) => store(vault, [owner]));
      for (const [change, how, expected] of [
        // The database of a commit with another version of a migration.
        ["DROP INDEX api_keys_by_account", [], [`rm -rf '${state.path}'`]],
        // The database of a commit with other migration files.
        [
          "UPDATE d1_migrations SET name = '0001_api_keys.sql'",
          ["--by-wrangler"],
          ["npx wrangler d1 delete VAULT\n", 'database_id = "00000000-0000-0000-0000-000000000000"'],
        ],
      ]) {
        const before = await state.use(async ({ vault }) => {
          await vault.prepare(change).run();
          return readSchemaAndRows(vault);
        });
        await assert.rejects(state.migrate(...how), ({ output }) => {
          assert.match(output, /created by an earlier commit, and are not those of schema\/\. Nothing was changed\./);
          for (const part of expected) assert.ok(output.includes(part), output);
          return true;
        });
        assert.deepEqual(await state.use(({ vault }) => readSchemaAndRows(vault)), before);
      }
    });
  });
}
