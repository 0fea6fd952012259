// Backup and restore with the commands of docs/operating.md.
import assert from "node:assert/strict";
import { copyFileSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { before, describe, test } from "node:test";
import { root, wrangler } from "../../../scripts/lib/paths.mjs";
import { run } from "../../../scripts/lib/run.mjs";
import { page } from "../support/docs.mjs";
import { key, store } from "../support/keys.mjs";
import { insertConnections } from "../support/seed.mjs";
import { Server } from "../support/server.mjs";
import { Shell } from "../support/shell.mjs";
import { expectCorrectCounts, seed, stored } from "../support/vault.mjs";
import { folder, State, wranglerEnvironment } from "../support/workspace.mjs";
import { isProof } from "../support/proof.mjs";

const TIMEOUT_MS = 300_000;
const SEALED_TABLES = [
  "oauth_clients",
  "credentials",
  "revocations",
  "webhooks",
  "branding",
  "agent_endpoints",
  "agent_grants",
  "console_sign_ins",
];
const MOVE_TABLES = ["account_moves", "forwards"];

/** @param {{ migrated: State }} fixture with a migrated storage, which is copied */
export function backupAndRestore(fixture) {
  describe("backup and restore", { skip: !isProof }, () => {
    const [copy, fresh] = ["docs-backup", "docs-restored"].map((name) => join(folder, name));
    const [old, restored] = [copy, fresh].map(
      (path) => new State(join(path, ".wrangler", "state").slice(folder.length + 1)),
    );
    const caller = key({ account: "many" });
    const revoked = key({ account: "many", revoked_at: 1 });
    /** The commands of a block, adapted to local storage. */
    const local = (kind) =>
      page("docs/operating.md")
        .marked(kind)
        .map(({ code }) => code.replaceAll("--remote", "--local"))
        .join("");
    // The tests use the restored key, which changes only the day of its last use.
    const withoutLastUse = ({ last_used_day: _, ...row }) => row;
    const tables = (database) =>
      Promise.all([
        stored(database, "many"),
        database
          .prepare("SELECT * FROM api_keys ORDER BY hash")
          .all()
          .then(({ results }) => JSON.stringify(results.map(withoutLastUse))),
        ...[...SEALED_TABLES, ...MOVE_TABLES].map((table) =>
          database
            .prepare(`SELECT * FROM ${table}`)
            .all()
            .then(({ results }) => (assert.ok(results.length > 0, table), JSON.stringify(results))),
        ),
      ]);

    /** Reads the content of a database, and runs integrity checks. */
    async function contentOf(from) {
      return from.use(async ({ vault }) => {
        await expectCorrectCounts(vault);
        return tables(vault);
      });
    }

    /** Exports the old database with wrangler. */
    const exportDatabase = async (file, ...how) => {
      const args = ["d1", "export", "VAULT", "--local", ...how, "--output", file];
      await run(wrangler, args, { cwd: copy, env: wranglerEnvironment, timeout: TIMEOUT_MS });
      return readFileSync(join(copy, file), "utf8");
    };

    /** The error of SQLite for statements, in a database in which others were run before. */
    function sqliteError(sql, ...before) {
      const database = new DatabaseSync(":memory:");
      try {
        for (const statement of before) database.exec(statement);
        database.exec(sql);
      } catch (error) {
        return error.message;
      } finally {
        database.close();
      }
      return assert.fail("the statements should have failed");
    }

    before(async () => {
      for (const state of [old, restored]) {
        fixture.migrated.copy(state.path.slice(folder.length + 1));
        copyFileSync(join(root, "wrangler.toml"), join(state.path, "..", "..", "wrangler.toml"));
      }
      await old.use(async ({ vault }) => {
        await store(vault, [caller, revoked]);
        await insertConnections(vault, "many", 300);
        // The old copy of an account that has moved to another database.
        await insertConnections(vault, "moved", 10);
        // Values that an SQL file must escape.
        const specialValues = {
          platform: "github",
          platformVersion: "v1",
          identityType: "user",
          state: "unknown",
          active: true,
          createdAt: Date.UTC(2026, 5, 1),
        };
        const names = [
          "O'Brien; DROP TABLE connections;--",
          'say "hi"',
          "two\nlines\r\n",
          "\\n is not a line",
          "größer 🌍 \u0001",
          "%s ? ?1 :a @b $c",
          "x".repeat(128),
        ];
        await seed(
          vault,
          "many",
          names.map((name, n) => ({
            ...specialValues,
            id: crypto.randomUUID(),
            identity: `hard ${n} ${name}`,
            name,
            tags: [name, "hard"],
            description: name,
          })),
        );
        const sealed = 'first.it\'s sealed; "so" to say';
        await vault.batch([
          vault
            .prepare(
              `INSERT INTO credentials (account, environment, connection_id, auth_method, type, sealed, version, refreshable,
                 revocable, scopes, missing_scopes, written_by)
               SELECT account, environment, id, 'oauth2', 'oauth2', ?1, 3, 1, 1, '["a"]', '[]', 'a test' FROM connections`,
            )
            .bind(sealed),
          vault
            .prepare(
              `INSERT INTO oauth_clients (account, environment, platform, client_id, sealed, scopes, authorization_parameters,
                 variables, created_at, updated_at) VALUES ('many', 'test', 'github', 'app', ?1, '[]', '{}', '{}', 1, 2)`,
            )
            .bind(sealed),
          vault
            .prepare(
              `INSERT INTO revocations (account, environment, connection_id, platform, auth_method, sealed, created_at)
               VALUES ('many', 'test', 'gone', 'github', 'oauth2', ?1, 3)`,
            )
            .bind(sealed),
          vault
            .prepare(
              `INSERT INTO webhooks (account, environment, id, url, types, active, sealed, created_at, updated_at, written_by)
               VALUES ('many', 'test', 'wh_a', 'https://app.example/', '[]', 1, ?1, 4, 5, 'a test')`,
            )
            .bind(sealed),
          vault
            .prepare(
              `INSERT INTO branding (account, environment, name, color, updated_at) VALUES ('many', 'test', ?1, '#1a2b3c', 6)`,
            )
            .bind(sealed),
          vault
            .prepare(
              `INSERT INTO agent_endpoints (id, account, environment, type, key_id, issuer, client_id, sealed, created_at, updated_at)
               VALUES ('an address', 'many', 'test', 'oidc', 'a key', 'https://id.example', 'app', ?1, 7, 8)`,
            )
            .bind(sealed),
          vault
            .prepare(
              `INSERT INTO agent_grants (id, account, environment, endpoint, key_id, state, identity, access, requested, client_hash,
                 client_name, redirect_uri, challenge, browser_hash, secret_hash, created_at, expires_at)
               VALUES ('a grant', 'many', 'test', 'an address', 'a key', 'active', 'ann', 'read', 'write', 'c', ?1, 'r', 'h', 'b', 's', 9, 10)`,
            )
            .bind(sealed),
          vault
            .prepare(
              `INSERT INTO console_sign_ins (id, account, environment, type, key_id, issuer, client_id, sealed, claim, roles, created_at,
                 updated_at) VALUES ('a sign-in', 'many', 'test', 'oidc', 'a key', 'https://id.example', 'app', ?1, 'roles', '{}', 11, 12)`,
            )
            .bind(sealed),
          vault.prepare(
            "INSERT INTO account_moves (account, step, other, began_at, left_at) VALUES ('moved', 'left', 1, 13, 14)",
          ),
          vault.prepare("INSERT INTO forwards (name, account, shard, is_key) VALUES ('a hash', 'moved', 1, 1)"),
        ]);
      });
    });

    test("a restored copy has the same connections, tags, counters and keys", async () => {
      const before = await contentOf(old);
      await new Shell(copy).run(local("sh backup"));
      const files = local("sh backup").match(/\S+\.sql/g);
      assert.deepEqual(
        local("sh restore").match(/\S+\.sql/g),
        files,
        "the exported files are restored, in the same order",
      );

      for (const file of files) copyFileSync(join(copy, file), join(fresh, file));
      // The service runs during the restore, and docs/operating.md promises that no client sees a partial vault.
      const running = await Server.start(restored);
      try {
        const sendRequest = (path) => running.send(path, { secret: caller.secret });
        assert.equal((await sendRequest("/v1/vault/summary")).json.code, "invalid_key");
        const [moves, allowCopies, connections, sealed, keys, endCopies, count] = local("sh restore")
          .trim()
          .split("\n");
        const shell = new Shell(fresh);
        await shell.run(moves);
        await shell.run(allowCopies);
        await shell.run(connections);
        await shell.run(sealed);
        assert.equal((await sendRequest("/v1/vault/summary")).json.code, "invalid_key");
        await shell.run(keys);
        assert.equal((await sendRequest("/v1/vault/summary")).json.total, 307);
        assert.equal((await sendRequest("/v1/vault/connections?tags=hard&q=hard")).json.total, 7);
        assert.equal((await running.send("/v1/vault/summary", { secret: revoked.secret })).status, 401);
        await shell.run(endCopies);
        const { printed } = await shell.run(count);
        const [
          {
            results: [counts],
          },
        ] = JSON.parse(printed.slice(printed.indexOf("[")));
        assert.deepEqual(counts, { connections: 317, counted: 317 });
      } finally {
        await running.stop();
      }
      assert.deepEqual(await contentOf(restored), before);
    });

    test("counters of the restored vault keep working", async () => {
      await restored.use(({ vault }) =>
        vault.batch([
          vault.prepare("DELETE FROM connections WHERE account = 'many' AND seq % 3 = 0"),
          vault.prepare(
            "UPDATE connections SET tags = '[\"other\"]', version = version + 1 WHERE account = 'many' AND seq % 3 = 1",
          ),
        ]),
      );
      await contentOf(restored);
    });

    test("a full dump, or the rows of all tables, cannot be restored", async () => {
      const migrations = readdirSync(join(root, "schema"))
        .sort()
        .map((name) => readFileSync(join(root, "schema", name), "utf8"));
      assert.match(sqliteError(await exportDatabase("whole.sql")), /no such table: main\.connection_counted/);
      const all = ["connections", "connection_tags", "connection_counts"].flatMap((name) => ["--table", name]);
      const rows = await exportDatabase("rows.sql", "--no-schema", ...all);
      assert.match(sqliteError(rows, ...migrations), /UNIQUE constraint failed: connection_tags/);
      // The documented export can be restored.
      const steps = [...local("sh restore").matchAll(/--file (\S+)|--command "(.*)"/g)];
      const restore = steps.map(([, file, sql]) => (file ? readFileSync(join(copy, file), "utf8") : sql));
      assert.throws(() => sqliteError("", ...migrations, ...restore), /the statements should have failed/);
    });
  });
}
