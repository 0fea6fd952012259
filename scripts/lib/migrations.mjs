// Applies the migrations of a database that lacks them, the same way on this machine and at Cloudflare: each as a file,
// together with the row that remembers it. `wrangler d1 migrations apply` knows those rows, too; it sends a migration to
// Cloudflare as a query, though, which takes triggers apart at their semicolons.
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { root, wrangler } from "./paths.mjs";
import { run } from "./run.mjs";

const FOLDER = join(root, "migrations");
// As wrangler makes it.
const TABLE = `CREATE TABLE IF NOT EXISTS d1_migrations(
  id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT UNIQUE, applied_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP NOT NULL)`;

/**
 * @param {string[]} place wrangler's options for the database's place, `--remote` or `--local` and more
 * @param {(text: string) => void} [detail] is told what is done
 * @returns {Promise<string[]>} the names of those that were applied now
 */
export async function migrate(place, detail = () => {}) {
  const execute = (...args) => run(wrangler, ["d1", "execute", "VAULT", ...place, "--yes", ...args]);
  const answers = JSON.parse(await execute("--json", "--command", `${TABLE}; SELECT name FROM d1_migrations`));
  const applied = new Set(answers.at(-1).results.map(({ name }) => name));
  const missing = readdirSync(FOLDER).filter((name) => name.endsWith(".sql") && !applied.has(name)).sort();
  const folder = mkdtempSync(join(tmpdir(), "connector-vault-migrations-"));
  try {
    for (const name of missing) {
      detail(name);
      const file = join(folder, name);
      writeFileSync(file, `${readFileSync(join(FOLDER, name), "utf8")}\nINSERT INTO d1_migrations (name) VALUES ('${name}');\n`);
      await execute("--file", file);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return missing;
}
