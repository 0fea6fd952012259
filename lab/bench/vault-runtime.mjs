// Runs the built Worker on Miniflare with a folder of wrangler's local storage, without wrangler.
import { createRequire } from "node:module";
import { join } from "node:path";
import { root } from "../../scripts/lib/paths.mjs";

// Uses the version of Miniflare that wrangler uses.
const wrangler = createRequire(import.meta.url).resolve("wrangler");
const { convertV4MiniflareOptions, Miniflare, Response } = createRequire(wrangler)("miniflare");

// The id in wrangler.toml, which determines the path in the folder.
const NAMESPACE = "00000000000000000000000000000000";

/**
 * The Worker, with an additional endpoint that runs its schedule or a queue message, and returns the D1 usage and the messages
 * sent to the queue.
 */
const ENTRY = `
import worker from "./index.js";
const counting = (database, cost) => ({
  prepare: (sql) => database.prepare(sql),
  async batch(statements) {
    const results = await database.batch(statements);
    cost.calls += 1;
    for (const { meta } of results) {
      cost.rows_read += meta.rows_read;
      cost.rows_written += meta.rows_written;
    }
    return results;
  },
});
async function run(request, env) {
  const [cost, sent] = [{ calls: 0, rows_read: 0, rows_written: 0 }, []];
  const keep = async (messages) => sent.push(...messages.map(({ body }) => body));
  const isVault = (name) => /^VAULT(_\\d+)?$/.test(name);
  const counted = Object.entries(env).map(([name, value]) => [name, isVault(name) ? counting(value, cost) : value]);
  const own = { ...Object.fromEntries(counted), WORK: { sendBatch: keep } };
  const body = await request.text();
  const retry = () => { throw new Error("the message was not processed"); };
  if (body) await worker.queue({ messages: [{ body, ack() {}, retry }] }, own);
  else await worker.scheduled({}, own);
  return Response.json({ cost, sent });
}
export default {
  fetch: (request, env, ctx) =>
    request.url.endsWith("/bench/run") ? run(request, env) : worker.fetch(request, env, ctx),
};
`;

/** Parses a request's cost in D1 from `server-timing`. */
function costOf(headers) {
  const [, text] = /d1;desc="([^"]*)"/.exec(headers.get("server-timing")) ?? [];
  return Object.fromEntries(
    (text ?? "")
      .split(" ")
      .map((pair) => pair.split("="))
      .map(([name, value]) => [name, Number(value)]),
  );
}

export class Vault {
  #runtime;
  #address;
  #secret;
  #binding;

  /** `databases`: ids by binding; `binding`: that of the key's database; `platforms`: responds for all other services. */
  static async open({ state, databases, binding, secret }, compatibilityDate, platforms) {
    const vault = new Vault();
    const build = join(root, "build");
    vault.#runtime = new Miniflare(
      convertV4MiniflareOptions({
        modules: [
          { type: "ESModule", path: join(build, "bench.js"), contents: ENTRY },
          { type: "ESModule", path: join(build, "index.js") },
          { type: "CompiledWasm", path: join(build, "index_bg.wasm") },
        ],
        modulesRoot: build,
        compatibilityDate,
        d1Databases: databases,
        kvNamespaces: { CATALOG: NAMESPACE },
        bindings: { VAULT_KEYS: `bench:${Buffer.alloc(32, 1).toString("base64")}` },
        outboundService: (request) => platforms(request, Response),
        resourcePersistencePath: join(state, "v3"),
        unsafeDirectSockets: [{}],
      }),
    );
    vault.#secret = secret;
    vault.#binding = binding;
    vault.#address = await vault.#runtime.unsafeGetDirectURL();
    return vault;
  }

  close() {
    return this.#runtime.dispose();
  }

  /** Runs the schedule once, or a queue message. Returns its cost in D1, messages sent to the queue, and milliseconds. */
  async run(message) {
    const start = performance.now();
    const response = await fetch(new URL("/bench/run", this.#address), { method: "POST", body: message ?? "" });
    if (response.status !== 200) throw new Error(`the run failed: ${await response.text()}`);
    return { status: 200, ms: performance.now() - start, ...(await response.json()) };
  }

  /** Runs a statement on the key's database. Returns the number of changed rows. */
  async sql(sql, ...values) {
    const database = await this.#runtime.getD1Database(this.#binding);
    const { meta } = await database
      .prepare(sql)
      .bind(...values)
      .run();
    return meta.changes;
  }

  /** Sends a request. Returns status, body, link, cost in D1, and milliseconds. */
  async send(path, { method = "GET", body, secret = this.#secret } = {}) {
    const headers = { "x-service-secret": secret, ...(body && { "content-type": "application/json" }) };
    const start = performance.now();
    const response = await fetch(new URL(path, this.#address), { method, headers, body: body && JSON.stringify(body) });
    const text = await response.text();
    const ms = performance.now() - start;
    const [, next] = /^<(.*)>; rel="next"$/.exec(response.headers.get("link") ?? "") ?? [];
    return {
      status: response.status,
      body: text ? JSON.parse(text) : undefined,
      next,
      cost: costOf(response.headers),
      ms,
    };
  }
}
