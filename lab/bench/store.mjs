// Serves KV and D1 to the benchmarked Workers, with the protocols of the bindings. Runs in this process, so that the processor time
// of workerd does not include storage.
import { once } from "node:events";
import { readFileSync, readdirSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { root } from "../../scripts/lib/paths.mjs";

/** A database with the service's schema, one key, and connections of its account. */
export function vault(keyRow, connections) {
  const database = new DatabaseSync(":memory:");
  const folder = join(root, "schema");
  for (const file of readdirSync(folder).sort()) database.exec(readFileSync(join(folder, file), "utf8"));
  const names = Object.keys(keyRow);
  database.prepare(`INSERT INTO api_keys (${names}) VALUES (${names.map(() => "?")})`).run(...Object.values(keyRow));
  const insert = database.prepare(
    `INSERT INTO connections (id, account, environment, active, platform, platform_version, label, identity, identity_folded,
       identity_type, description, state, tags, version, created_at, written_by)
     VALUES (?1, ?2, ?3, 1, ?4, 'v1', 'default', ?5, ?5, 'user', ?6, 'operational', ?7, 1, ?8, ?1)`,
  );
  for (let n = 0; n < connections; n += 1) {
    const id = `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`;
    const platform = ["github", "stripe", "slack"][n % 3];
    const tags = JSON.stringify([`tag-${n % 10}`, "bench"]);
    insert.run(
      id,
      keyRow.account,
      keyRow.environment,
      platform,
      `user-${n}@example.com`,
      "A platform. ".repeat(15).trim(),
      tags,
      1_700_000_000_000 + n,
    );
  }
  return database;
}

/** Runs a batch in one transaction, as D1 does. */
function runBatch(database, statements) {
  database.exec("BEGIN");
  try {
    const responses = statements.map(({ sql, params = [] }) => {
      const results = database.prepare(sql).all(...params);
      return { success: true, results, meta: { duration: 0, changes: 0, rows_read: results.length, rows_written: 0 } };
    });
    database.exec("COMMIT");
    return responses;
  } catch (error) {
    database.exec("ROLLBACK");
    return [{ success: false, error: error.message }];
  }
}

async function read(request) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  return JSON.parse(Buffer.concat(chunks).toString("utf8"));
}

/**
 * Serves KV values and a database on a loopback port.
 * @param {(key: string) => Buffer | undefined} valueOf the value of a KV key
 * @param {DatabaseSync} database
 * @returns {Promise<{ port: number, database: DatabaseSync, last?: { statements: object[], results: string }, close: () => void }>}
 *   `last`: the last request to D1, and its response
 */
export async function serveStorage(valueOf, database) {
  const storage = { database, last: undefined };
  const serving = await serve(async (request, response) => {
    if (request.method === "POST") {
      const statements = [await read(request)].flat();
      storage.last = { statements, results: JSON.stringify(runBatch(database, statements)) };
      response.setHeader("content-type", "application/json");
      return response.end(storage.last.results);
    }
    const value = valueOf(decodeURIComponent(new URL(request.url, "http://kv").pathname.slice(1)));
    response.statusCode = value ? 200 : 404;
    return response.end(value);
  });
  return Object.assign(storage, serving);
}

/** Serves constant results of a database on a loopback port. */
export const serveResults = (results) =>
  serve((request, response) => {
    request.resume().on("end", () => response.setHeader("content-type", "application/json").end(results));
  });

/** Serves requests on a loopback port. */
async function serve(handle) {
  const server = createServer(handle);
  server.keepAliveTimeout = 60_000;
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: server.address().port,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
