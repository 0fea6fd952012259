// Direct access to a local D1 database, with the methods of D1 that tests use. It opens the SQLite file, because another workerd with
// wrangler around it takes a second of processor time.
import { createHash, createHmac } from "node:crypto";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

const DURABLE_OBJECT_CLASS = "miniflare-D1DatabaseObject";
// The maximum time to wait for the file's lock, which workerd holds only while it writes.
const TIMEOUT_MS = 30_000;

/** The name of a database's file, which Miniflare derives from the id of the database's Durable Object. */
function fileOf(id) {
  const key = createHash("sha256").update(DURABLE_OBJECT_CLASS).digest();
  const hmac = (data) => createHmac("sha256", key).update(data).digest().subarray(0, 16);
  const name = hmac(id);
  return `${Buffer.concat([name, hmac(name)]).toString("hex")}.sqlite`;
}

/** Converts a value for node:sqlite, which accepts no booleans. */
const toSqlite = (value) => (typeof value === "boolean" ? Number(value) : value);

class Statement {
  #database;
  #sql;
  #values;

  constructor(database, sql, values = []) {
    this.#database = database;
    this.#sql = sql;
    this.#values = values;
  }

  bind(...values) {
    return new Statement(this.#database, this.#sql, values.map(toSqlite));
  }

  rows() {
    const statement = this.#database.prepare(this.#sql);
    // Only named parameters can occur twice.
    const isNumbered = /\?\d/.test(this.#sql);
    const values = isNumbered
      ? [Object.fromEntries(this.#values.map((value, at) => [`?${at + 1}`, value]))]
      : this.#values;
    return statement.all(...values).map((row) => ({ ...row }));
  }

  async all() {
    const results = this.rows();
    const [{ size }] = this.#database
      .prepare("SELECT page_count * page_size AS size FROM pragma_page_count, pragma_page_size")
      .all();
    return { results, success: true, meta: { size_after: size } };
  }

  run() {
    return this.all();
  }

  async first(column) {
    const [row = null] = this.rows();
    return row && column ? row[column] : row;
  }

  async raw() {
    return this.rows().map((row) => Object.values(row));
  }
}

/** A database in the local storage of a folder. */
export class Database {
  #file;
  #opened;

  /** @param {string} folder of the storage @param {string} id as in wrangler.toml */
  constructor(folder, id = "00000000-0000-0000-0000-000000000000") {
    this.#file = join(folder, "v3", "d1", DURABLE_OBJECT_CLASS, fileOf(id));
  }

  /** Opens the file when it is first used, because a command may have to create it. */
  get #database() {
    this.#opened ??= new DatabaseSync(this.#file, { timeout: TIMEOUT_MS });
    return this.#opened;
  }

  prepare(sql) {
    return new Statement(this.#database, sql);
  }

  /** Runs statements in one transaction. */
  async batch(statements) {
    this.#database.exec("BEGIN IMMEDIATE");
    try {
      const results = [];
      for (const statement of statements) results.push(await statement.all());
      this.#database.exec("COMMIT");
      return results;
    } catch (error) {
      this.#database.exec("ROLLBACK");
      throw error;
    }
  }

  close() {
    this.#opened?.close();
  }
}
