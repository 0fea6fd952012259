// The compared Workers as services of a workerd process: ours, the one in hono/, and a bare one.
import { copyFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../../scripts/lib/paths.mjs";
import { encode } from "./load.mjs";

/** The bindings of a Worker; `storage` is the name of a service with the protocols of KV and D1. */
const bindings = (storage, more = {}) => ({
  CATALOG: `kvNamespace = ${JSON.stringify(storage)}`,
  VAULT: `wrapped = (moduleName = "cloudflare-internal:d1-api", innerBindings = [(name = "fetcher", service = ${JSON.stringify(storage)})])`,
  ...more,
});

export const externalService = (name, port) => ({ name, external: `127.0.0.1:${port}` });

/** Our built Worker. Copies its files to the runtime's folder. */
export function ours(folder, { compatibilityDate, storage, sessionSecret = "the benchmarks' own session secret" }) {
  const modules = [
    { name: "index.js", kind: "esModule", file: "index.js" },
    { name: "index_bg.wasm", kind: "wasm", file: "index_bg.wasm" },
  ];
  for (const { file } of modules) copyFileSync(join(root, "build", file), join(folder, file));
  const secret = { SESSION_SECRET: `text = ${JSON.stringify(sessionSecret)}` };
  return { name: "ours", compatibilityDate, modules, bindings: bindings(storage, secret) };
}

/** The Worker in hono/, bundled as by `wrangler deploy --minify`. */
export async function hono(folder, { compatibilityDate, storage }) {
  // Imported here, because the set-up may have installed the package just now.
  const { build } = await import("esbuild");
  const entry = join(root, "lab", "bench", "hono", "index.ts");
  await build({
    entryPoints: [entry],
    outfile: join(folder, "hono.js"),
    bundle: true,
    format: "esm",
    minify: true,
    target: "esnext",
    logLevel: "error",
  });
  return {
    name: "hono",
    compatibilityDate,
    modules: [{ name: "hono.js", kind: "esModule", file: "hono.js" }],
    bindings: bindings(storage),
  };
}

// Headers that the runtime adds.
const TRANSPORT = new Set(["content-length", "connection", "date", "transfer-encoding"]);

/** A Worker that only runs `statements`: the minimum cost of a request to D1. */
export function bareD1(folder, name, statements, { compatibilityDate, storage }) {
  copyFileSync(join(root, "lab", "bench", "bare-d1.mjs"), join(folder, "bare-d1.mjs"));
  writeFileSync(join(folder, `${name}.json`), JSON.stringify(statements));
  const modules = [
    { name: "bare-d1.mjs", kind: "esModule", file: "bare-d1.mjs" },
    { name: "statements", kind: "json", file: `${name}.json` },
  ];
  return { name, compatibilityDate, modules, bindings: bindings(storage) };
}

/** A Worker that sends a constant copy of another response: the same status, headers and body. */
export function bare(folder, name, { head, status, body }, compatibilityDate) {
  const headers = head
    .split("\r\n")
    .slice(1)
    .map((line) => [line.slice(0, line.indexOf(":")).toLowerCase(), line.slice(line.indexOf(":") + 1).trim()])
    .filter(([header]) => !TRANSPORT.has(header));
  copyFileSync(join(root, "lab", "bench", "bare.mjs"), join(folder, "bare.mjs"));
  writeFileSync(join(folder, `${name}.body`), body);
  writeFileSync(join(folder, `${name}.json`), JSON.stringify({ status, headers: Object.fromEntries(headers) }));
  const modules = [
    { name: "bare.mjs", kind: "esModule", file: "bare.mjs" },
    { name: "body", kind: "data", file: `${name}.body` },
    { name: "answer", kind: "json", file: `${name}.json` },
  ];
  return { name, compatibilityDate, modules };
}

/** All rows of a list, in order. */
export async function walk(load, headers, path) {
  const rows = [];
  for (let page = 1, pages = 1; page <= pages; page += 1) {
    const { body } = await load.run(1, () => encode(`${path}?limit=500&page=${page}`, headers), 200);
    const response = JSON.parse(body);
    rows.push(...response.rows);
    pages = response.pages;
  }
  return rows;
}

/** The KV values of hono/'s catalog, from the lists of our Worker: all connectors, and the actions of `platforms`. */
export async function honoValues(load, headers, platforms) {
  const version = "1";
  const connectors = await walk(load, headers, "/v1/available-connectors");
  const values = {
    current: { version, authkit: await enabledPlatforms(load, headers) },
    [`connectors:${version}`]: connectors,
  };
  for (const platform of platforms ?? connectors.map((row) => row.platform)) {
    values[`actions:${version}:${platform}`] = await walk(load, headers, `/v1/available-actions/${platform}`);
  }
  return new Map(Object.entries(values).map(([key, value]) => [key, Buffer.from(JSON.stringify(value))]));
}

async function enabledPlatforms(load, headers) {
  const { body } = await load.run(1, () => encode("/v1/available-connectors?authkit=true&limit=500", headers), 200);
  return JSON.parse(body).rows.map((row) => row.platform);
}

/** All values of a KV namespace in wrangler's local storage. */
export async function localValues(state) {
  // Imported here, because the set-up may have installed the package just now.
  const { getPlatformProxy } = await import("wrangler");
  const { env, dispose } = await getPlatformProxy({
    configPath: join(root, "wrangler.toml"),
    persist: { path: join(state, "v3") },
  });
  try {
    const values = new Map();
    for (let cursor, done = false; !done; ) {
      const listed = await env.CATALOG.list({ cursor });
      for (const { name } of listed.keys) values.set(name, Buffer.from(await env.CATALOG.get(name, "arrayBuffer")));
      [cursor, done] = [listed.cursor, listed.list_complete];
    }
    return values;
  } finally {
    await dispose();
  }
}
