// The built Worker on Miniflare with a folder of wrangler's local storage: the real local D1, without wrangler between.
import { createRequire } from "node:module";
import { join } from "node:path";
import { root } from "../scripts/lib/paths.mjs";

// wrangler's own.
const wrangler = createRequire(import.meta.url).resolve("wrangler");
const { convertV4MiniflareOptions, Miniflare } = createRequire(wrangler)("miniflare");

// What wrangler.toml names: it decides where in the folder a database lies.
const DATABASE = "00000000-0000-0000-0000-000000000000";
const NAMESPACE = "00000000000000000000000000000000";

/** What `server-timing` tells of a request's cost in D1. */
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

  static async open(state, compatibilityDate, secret) {
    const vault = new Vault();
    const build = join(root, "build");
    vault.#runtime = new Miniflare(
      convertV4MiniflareOptions({
        modules: [
          { type: "ESModule", path: join(build, "index.js") },
          { type: "CompiledWasm", path: join(build, "index_bg.wasm") },
        ],
        modulesRoot: build,
        compatibilityDate,
        d1Databases: { VAULT: DATABASE },
        kvNamespaces: { CATALOG: NAMESPACE },
        resourcePersistencePath: join(state, "v3"),
        unsafeDirectSockets: [{}],
      }),
    );
    vault.#secret = secret;
    vault.#address = await vault.#runtime.unsafeGetDirectURL();
    return vault;
  }

  close() {
    return this.#runtime.dispose();
  }

  /** Sends a request: its status, body, link, cost in D1, and milliseconds. */
  async send(path, { method = "GET", body, secret = this.#secret } = {}) {
    const headers = { "x-service-secret": secret, ...(body && { "content-type": "application/json" }) };
    const start = performance.now();
    const answer = await fetch(new URL(path, this.#address), { method, headers, body: body && JSON.stringify(body) });
    const text = await answer.text();
    const ms = performance.now() - start;
    const [, next] = /^<(.*)>; rel="next"$/.exec(answer.headers.get("link") ?? "") ?? [];
    return { status: answer.status, body: text ? JSON.parse(text) : undefined, next, cost: costOf(answer.headers), ms };
  }
}
