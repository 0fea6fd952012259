// Local KV and D1, opened with Miniflare in the same way as `wrangler dev` opens them, possibly at the same time.
//
// A request has `databases` and `namespace`, the ids in wrangler.toml, and one of these:
//
//   "database":"…","sql":["…"]     runs statements in one transaction      → {"results":[[{row}]],"size":bytes}
//   "kv":"list"                    all keys, in order                      → {"keys":[{"name","metadata"}]}
//   "kv":"get","keys":["…"]        values as text, null for missing ones   → {"values":{"key":"…"}}
//   "kv":"bytes","key":"…"         a value in base64, null for a missing one → {"value":"…"}
//   "kv":"put","pairs":[{"key","value","metadata"}]   values in base64     → {}
//   "kv":"delete","keys":["…"]                                             → {}
import diagnostics from "node:diagnostics_channel";
import { spawn } from "node:child_process";
import { existsSync, readdirSync, statSync } from "node:fs";
import { createRequire, enableCompileCache } from "node:module";
import { join } from "node:path";
import { waitUntilOpen, retryWhileBusy } from "./busy.mjs";

/** The number of values to read or write concurrently. */
const CONCURRENCY = 50;

// Writes many values inside workerd, which needs a third of the processor time of one Miniflare call per value. The body of the
// request is a line of JSON that lists the values, followed by their bytes.
const WRITER = `
  export default {
    async fetch(request, { NAMESPACE }) {
      const body = new Uint8Array(await request.arrayBuffer());
      let at = body.indexOf(10);
      const pairs = JSON.parse(new TextDecoder().decode(body.subarray(0, at++)));
      const rest = pairs.map(({ key, size, metadata }) => ({ key, value: body.slice(at, at += size), metadata }))[Symbol.iterator]();
      const write = async () => {
        for (const { key, value, metadata } of rest) await NAMESPACE.put(key, value, { metadata });
      };
      try {
        await Promise.all(Array.from({ length: ${CONCURRENCY} }, write));
        return new Response();
      } catch (error) {
        return new Response(error.message, { status: 500 });
      }
    },
  }`;

/** Loads the Miniflare that the installed wrangler uses, even if another version is installed beside it. */
function miniflare() {
  enableCompileCache();
  const requireHere = createRequire(import.meta.url);
  return createRequire(requireHere.resolve("wrangler/package.json"))("miniflare");
}

/** Starts a guard process that kills workerd if this process exits without stopping it. */
function killOnExit(workerd) {
  const guard = spawn("sh", ["-c", 'read -r _; kill -9 "$1"', "sh", String(workerd.pid)], {
    stdio: ["pipe", "ignore", "ignore"],
    detached: true,
  });
  guard.stdin.on("error", () => {});
  guard.unref();
  workerd.once("exit", () => guard.kill("SIGKILL"));
}

diagnostics.subscribe("child_process", ({ process: child }) => {
  child.once("spawn", () => {
    if (/workerd$/.test(child.spawnfile)) killOnExit(child);
  });
});

/** Runs `work` on each item, a limited number at a time. */
async function forEach(items, work) {
  const remaining = items[Symbol.iterator]();
  const worker = async () => {
    for (const item of remaining) await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(CONCURRENCY, items.length) }, worker));
}

async function keysOf(namespace) {
  const keys = [];
  for (let page = {}; !page.list_complete; ) {
    page = await namespace.list({ cursor: page.cursor });
    keys.push(...page.keys.map(({ name, metadata }) => ({ name, metadata })));
  }
  return keys;
}

async function put(opened, pairs) {
  const values = pairs.map(({ value }) => Buffer.from(value, "base64"));
  const list = pairs.map(({ key, metadata }, at) => ({ key, size: values[at].length, metadata }));
  const body = Buffer.concat([Buffer.from(`${JSON.stringify(list)}\n`), ...values]);
  const response = await opened.dispatchFetch("http://storage/", { method: "POST", body });
  const output = await response.text();
  if (!response.ok) throw new Error(output);
}

async function runKv(opened, request) {
  const namespace = await opened.getKVNamespace("NAMESPACE");
  switch (request.kv) {
    case "list":
      return { keys: await keysOf(namespace) };
    case "get": {
      const values = {};
      await forEach(request.keys, async (key) => {
        values[key] = await namespace.get(key);
      });
      return { values };
    }
    case "bytes": {
      const value = await namespace.get(request.key, "arrayBuffer");
      return { value: value && Buffer.from(value).toString("base64") };
    }
    case "put":
      await retryWhileBusy(() => put(opened, request.pairs));
      return {};
    case "delete":
      await forEach(request.keys, (key) => retryWhileBusy(() => namespace.delete(key)));
      return {};
    default:
      throw new Error(`unknown request: ${request.kv}`);
  }
}

export class Storage {
  #path;
  #opened;
  /** The databases that are open, by id. */
  #databases = new Map();
  /** The ids of the databases and the namespace that are open, as JSON, and the database files. */
  #ids = "";
  #files = [];

  constructor(folder) {
    this.#path = join(folder, "v3");
  }

  /** Loads Miniflare, which the first request needs. */
  prepare() {
    miniflare();
  }

  /** The database files below the folder, with their inode and creation time. */
  #databaseFiles() {
    return ["d1", "kv"].flatMap((kind) => {
      const folder = join(this.#path, kind);
      const names = existsSync(folder)
        ? readdirSync(folder, { recursive: true }).filter((name) => name.endsWith(".sqlite"))
        : [];
      return names.map((name) => {
        const { ino, birthtimeMs } = statSync(join(folder, name));
        return `${kind}/${name} ${ino} ${birthtimeMs}`;
      });
    });
  }

  async #open({ databases, namespace }) {
    const ids = JSON.stringify([databases, namespace]);
    const currentFiles = new Set(this.#databaseFiles());
    // If a database was deleted or replaced, everything is opened again.
    if (this.#ids === ids && this.#files.every((file) => currentFiles.has(file))) return this.#opened;
    await this.close();
    const { Miniflare, convertV4MiniflareOptions } = miniflare();
    this.#opened = new Miniflare(
      convertV4MiniflareOptions({
        modules: true,
        script: WRITER,
        resourcePersistencePath: this.#path,
        d1Databases: Object.fromEntries(databases.map((id) => [id, id])),
        kvNamespaces: { NAMESPACE: namespace },
      }),
    );
    await this.#opened.ready;
    this.#ids = ids;
    return this.#opened;
  }

  async #databaseOf(opened, id) {
    if (!this.#databases.has(id)) {
      const database = await opened.getD1Database(id);
      await waitUntilOpen(database);
      this.#databases.set(id, database);
    }
    return this.#databases.get(id);
  }

  /** Runs a request. Messages of D1 errors begin with `D1_`, those of KV errors with `KV`. */
  async run(request) {
    const opened = await this.#open(request);
    try {
      if (request.kv) return await runKv(opened, request);
      const database = await this.#databaseOf(opened, request.database);
      const results = await retryWhileBusy(() =>
        database.batch(request.sql.map((statement) => database.prepare(statement))),
      );
      return { results: results.map((result) => result.results), size: results.at(-1)?.meta.size_after ?? 0 };
    } finally {
      this.#files = this.#databaseFiles();
    }
  }

  async close() {
    const opened = this.#opened;
    this.#opened = undefined;
    this.#databases.clear();
    this.#ids = "";
    this.#files = [];
    await opened?.dispose();
  }
}
