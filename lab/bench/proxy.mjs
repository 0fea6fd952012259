// Measures a small proxied call: by our Worker, by Hono's, and by a Worker that only proxies. This process is the platform and the
// storage, so that only the processor time of workerd counts.
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildWorker } from "../../scripts/build-worker.mjs";
import { buildNativeCli } from "../../scripts/lib/native-cli.mjs";
import { root } from "../../scripts/lib/paths.mjs";
import { Problem } from "../../scripts/lib/problem.mjs";
import { run } from "../../scripts/lib/run.mjs";
import { task } from "../../scripts/lib/status.mjs";
import { setup } from "../../scripts/setup.mjs";
import { compatibilityDate, median } from "./common.mjs";
import { makeKey } from "./key.mjs";
import { quartiles } from "./report.mjs";
import { Runtime } from "./runtime.mjs";
import { serveStorage, vault } from "./store.mjs";
import { LoadedWorker, plan } from "./warm.mjs";
import { externalService, hono, localValues, ours } from "./workers.mjs";

const PLATFORM_RESPONSE = JSON.stringify({ id: 7, name: "a thing", tags: ["x", "y"] });
const NAMES = ["ours", "hono", "direct"];
const PLATFORM = "things";
/** The service through which Workers can call this machine. */
const INTERNET_SERVICE = { name: "internet", network: ["public", "private", "local"] };

async function platform() {
  const server = createServer((request, response) => {
    const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(PLATFORM_RESPONSE) };
    response.writeHead(request.headers.authorization === "Bearer good" ? 200 : 401, headers).end(PLATFORM_RESPONSE);
  });
  server.keepAliveTimeout = 60_000;
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return server;
}

/** The KV values of a catalog with one platform. */
async function catalog(program, folder, origin) {
  const document = {
    openapi: "3.0.3",
    info: { title: "Things", version: "1", "x-providerName": PLATFORM, license: { name: "MIT" } },
    servers: [{ url: origin }],
    paths: { "/thing": { get: { summary: "Get a thing", responses: { 200: { description: "The thing" } } } } },
    components: { securitySchemes: { token: { type: "http", scheme: "bearer" } } },
    security: [{ token: [] }],
  };
  const [source, catalogFolder, state] = ["things.json", "catalog", "state"].map((name) => join(folder, name));
  writeFileSync(source, JSON.stringify(document));
  await run(program, ["catalog", "import", source, "--no-providers", "--out", catalogFolder]);
  await run(program, ["catalog", "publish", "--local", "--persist-to", state, "--catalog", catalogFolder]);
  return localValues(state);
}

/** A Worker that only proxies requests. */
function direct(folder, address, date) {
  copyFileSync(join(root, "lab", "bench", "forward.mjs"), join(folder, "forward.mjs"));
  writeFileSync(join(folder, "address.json"), JSON.stringify(address));
  const modules = [
    { name: "forward.mjs", kind: "esModule", file: "forward.mjs" },
    { name: "address", kind: "json", file: "address.json" },
  ];
  return { name: "direct", compatibilityDate: date, modules };
}

/** Connects an account through our Worker. Returns the path of its proxy. */
async function connect(port, secret) {
  const send = async (method, path, body) => {
    const headers = { "x-service-secret": secret, "content-type": "application/json" };
    const response = await fetch(`http://127.0.0.1:${port}${path}`, { method, headers, body: JSON.stringify(body) });
    const output = await response.text();
    if (!response.ok) throw new Problem(`${method} ${path}: ${output}`);
    return output && JSON.parse(output);
  };
  const connection = { platform: PLATFORM, identity: "ann", identityType: "user" };
  const { id } = await send("POST", "/v1/vault/connections", connection);
  await send("PUT", `/v1/vault/connections/${id}/credentials`, { type: "bearer", token: "good" });
  return `/v1/vault/connections/${id}/proxy`;
}

/** Microseconds of processor time per call, by Worker, in each of `rounds` rounds. */
export async function benchProxy(rounds) {
  if (process.platform !== "linux") throw new Problem("The benchmark reads processor time from /proc: it needs Linux.");
  await buildWorker(await setup());
  const program = await buildNativeCli();
  const folder = mkdtempSync(join(tmpdir(), "connector-vault-bench-"));
  mkdirSync(folder, { recursive: true });
  const [stops, loads] = [[() => rmSync(folder, { recursive: true, force: true })], []];
  try {
    const server = await platform();
    stops.push(() => server.close(server.closeAllConnections()));
    const origin = `http://127.0.0.1:${server.address().port}`;
    const [date, key] = [compatibilityDate(), makeKey()];
    key.row.scopes += " connections:call credentials:write";
    const values = await catalog(program, folder, origin);
    const storage = await serveStorage((name) => values.get(name), vault(key.row, 0));
    const theirs = new Map([[`server:${PLATFORM}`, Buffer.from(JSON.stringify(origin))]]);
    const other = await serveStorage((name) => theirs.get(name), storage.database);
    stops.push(storage.close, other.close);
    const secrets = {
      VAULT_KEYS: `text = "bench:${randomBytes(32).toString("base64")}"`,
      LOCAL_TARGETS: 'text = "allow"',
    };
    const services = [
      { ...(await ours(folder, { compatibilityDate: date, storage: "ours-storage" })), port: storage.port },
      { ...(await hono(folder, { compatibilityDate: date, storage: "hono-storage" })), port: other.port },
      direct(folder, `${origin}/thing`, date),
    ];
    const workers = {};
    let path = "";
    for (const { port, ...service } of services) {
      const { name, bindings } = service;
      const services = bindings ? [{ ...service, bindings: { ...bindings, ...secrets } }] : [service];
      const storageServices = port ? [externalService(`${name}-storage`, port)] : [];
      const runtime = await Runtime.start(
        folder,
        `${name}-proxy`,
        [...services, ...storageServices, INTERNET_SERVICE],
        [name],
      );
      stops.push(() => runtime.stop());
      const worker = await LoadedWorker.start(runtime, name);
      loads.push(worker.load);
      if (name === "ours") path = await connect(runtime.ports.ours, key.secret);
      const secret = name === "direct" ? { authorization: "Bearer good" } : { "x-service-secret": key.secret };
      const benchCase = { targets: [name === "direct" ? "/" : `${path}/thing`], status: 200 };
      workers[name] = await plan(benchCase, worker, secret);
      const body = workers[name].response.body.toString();
      if (body !== PLATFORM_RESPONSE) throw new Problem(`${name} returned ${body}`);
    }
    return await task(`A call, ${rounds} rounds`, () => measured(workers, rounds));
  } finally {
    for (const load of loads) load.close();
    for (const stop of stops.reverse()) await stop();
  }
}

async function measured(workers, rounds) {
  const all = [];
  for (let round = 0; round < rounds; round += 1) {
    const times = {};
    for (let turn = 0; turn < NAMES.length; turn += 1) {
      const name = NAMES[(turn + round) % NAMES.length];
      const { loaded, request, count } = workers[name];
      times[name] = (await loaded.measure(count, request, 200)).cpu;
    }
    all.push(times);
  }
  return all;
}

/** The results as rows of cells, with headers. */
export function proxyTable(rounds) {
  const rounded = (value) => Math.round(value).toLocaleString("en");
  const of = (pick) => rounds.map(pick);
  const overhead = of(({ ours, direct }) => ours - direct);
  const theirs = of(({ hono, direct }) => hono - direct);
  const ratios = of(({ ours, hono }) => ours / hono);
  return [
    ["a small call, passed on", "ours", "Hono", "direct"],
    ["processor time, µs", ...NAMES.map((name) => rounded(median(of((times) => times[name]))))],
    ["more than direct, µs", rounded(median(overhead)), rounded(median(theirs)), "–"],
    [
      "ours / Hono, quartiles",
      median(ratios).toFixed(2),
      quartiles(ratios)
        .map((one) => one.toFixed(2))
        .join("–"),
      "",
    ],
  ];
}
