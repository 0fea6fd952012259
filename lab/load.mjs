// `npm run lab -- load [--minutes 10] [--connections 100000] [--callers 8] [--rate N] [--packaged]`: sends requests from several
// callers to the built Worker on the local runtime, or to what `connector-vault-server start` serves, and compares every response
// with a model of the vault. `--rate`: at most this many requests a second in total, so that the machine can do other work.
//
// Of the requests, 70 % are lists, 10 % single connections, 10 % the catalog, 5 % writes and 5 % credentials. Prints the requests
// per second, the median and 99th percentile of their times, and the memory of the isolate after the first and the last minute.
// Fails at the first wrong response. The callers run on the same machine, which affects the times.
import { cpSync } from "node:fs";
import { randomInt } from "node:crypto";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { ACCOUNT, storage } from "./bench/vault-storage.mjs";
import { buildSite } from "../scripts/build-site.mjs";
import { buildWorker } from "../scripts/build-worker.mjs";
import { buildNativeCli } from "../scripts/lib/native-cli.mjs";
import { root } from "../scripts/lib/paths.mjs";
import { main, Problem } from "../scripts/lib/problem.mjs";
import { print, task } from "../scripts/lib/status.mjs";
import { CONNECTIONS, Model, expectSame, pickRandom } from "./load/model.mjs";
import { setup } from "../scripts/setup.mjs";
import { importCatalog } from "../scripts/start/catalog.mjs";

/** The kinds of requests, in percent. */
const SHARES = { list: 70, read: 10, catalog: 10, write: 5, credentials: 5 };
const WITH_CREDENTIALS = 50;

function options() {
  const defaults = { minutes: "10", connections: "100000", callers: "8", rate: "Infinity" };
  const { values: given } = parseArgs({
    options: {
      ...Object.fromEntries(
        Object.entries(defaults).map(([name, value]) => [name, { type: "string", default: value }]),
      ),
      packaged: { type: "boolean", default: false },
    },
  });
  const { packaged, ...values } = given;
  const numbers = Object.fromEntries(Object.entries(values).map(([name, value]) => [name, Number(value)]));
  for (const [name, value] of Object.entries(numbers))
    if (!(value > 0)) throw new Problem(`--${name} takes a number above 0.`, { code: 2 });
  return { ...numbers, packaged };
}

function kind() {
  let at = randomInt(100);
  return Object.keys(SHARES).find((name) => (at -= SHARES[name]) < 0);
}

/** Returns a function that waits so that it returns at most `rate` times a second. */
function rateLimiter(rate) {
  let next = 0;
  return async () => {
    const now = performance.now();
    const at = Math.max(next, now);
    next = at + 1000 / rate;
    if (at > now) await sleep(at - now);
  };
}

const percentile = (values, share) => values[Math.min(values.length - 1, Math.floor((values.length * share) / 100))];

/** The first connector with an API key and no other fields, whose keys are stored without verification. */
async function connectorWithKey(sendRequest) {
  for (const { platform } of (await sendRequest("/v1/available-connectors?limit=500")).body.rows) {
    const { authMethods, verify } = (await sendRequest(`/v1/available-connectors/${platform}`)).body;
    const method = authMethods.length === 1 && authMethods[0];
    if (method?.type === "api_key" && !verify && method.fields.length === 1) return platform;
  }
  throw new Problem("The catalog has no connector with only an API key.");
}

/** Installs the npm package, with the catalog of the storage, and starts it. */
async function startPackaged(state) {
  await buildSite(await setup());
  const [{ PackagedServer }, { installServer }] = await Promise.all([
    import("./packaged.mjs"),
    import("../tests/e2e/support/server-package.mjs"),
  ]);
  return PackagedServer.start(await installServer(join(root, ".catalog")), state);
}

await main(async () => {
  const { minutes, connections, callers, rate, packaged } = options();
  await buildWorker(await setup());
  const program = await buildNativeCli();
  await importCatalog(program);
  const { state: seeded } = await storage(program, connections);
  // The test support. Imported here, because it creates a temporary folder.
  const [{ Server, SESSION_SECRET, VAULT_KEYS }, { State }, { isolateBytes }, { ALL, key, store }] = await Promise.all(
    ["server", "workspace", "memory", "keys"].map((name) => import(`../tests/e2e/support/${name}.mjs`)),
  );
  const state = new State("load");
  cpSync(seeded, state.path, { recursive: true });
  const { secret, row } = key({ account: ACCOUNT, scopes: ALL });
  await state.use(({ vault }) => store(vault, [{ row }]));
  const server = packaged
    ? await startPackaged(state)
    : await Server.start(state, { name: "load", secrets: { SESSION_SECRET, VAULT_KEYS } });

  const took = [];
  /** Sends a request and records its duration. Fails unless the response has `status`. */
  async function sendRequest(path, { method = "GET", body, status = 200 } = {}) {
    const start = performance.now();
    const headers = { "x-service-secret": secret, ...(body && { "content-type": "application/json" }) };
    const response = await fetch(new URL(path, `http://127.0.0.1:${server.port}`), {
      method,
      headers,
      body: JSON.stringify(body),
    });
    const text = await response.text();
    took.push(performance.now() - start);
    if (response.status !== status) throw new Problem(`${method} ${path}: ${response.status}`, { output: text });
    const [, next] = /^<(.*)>; rel="next"$/.exec(response.headers.get("link") ?? "") ?? [];
    return { body: text ? JSON.parse(text) : undefined, next };
  }

  try {
    const platform = await connectorWithKey(sendRequest);
    const model = await task("read all connections", () => Model.read(sendRequest, platform));
    const catalog = new Map();
    const holders = [];
    for (let n = 0; n < WITH_CREDENTIALS; n += 1) {
      const body = { platform, identity: `load-holder-${n}`, identityType: "user" };
      const { id } = (await sendRequest(CONNECTIONS, { method: "POST", body, status: 201 })).body;
      const apiKey = `load-key-${n}`;
      await sendRequest(`${CONNECTIONS}/${id}/credentials`, {
        method: "PUT",
        body: { type: "api_key", apiKey },
        status: 204,
      });
      holders.push({ id, apiKey });
    }

    const work = {
      list: () => model.list(sendRequest),
      read: () => model.read(sendRequest),
      catalog: async () => {
        const platform = pickRandom(model.platforms);
        const path = pickRandom([
          `/v1/available-connectors/${platform}`,
          `/v1/available-actions/${platform}?limit=5`,
          `/v1/available-connectors?platform=${platform}`,
        ]);
        const { body } = await sendRequest(path);
        if (!catalog.has(path)) catalog.set(path, body);
        expectSame(path, body, catalog.get(path));
      },
      write: (caller) => caller.write(sendRequest),
      credentials: async () => {
        const { id, apiKey } = pickRandom(holders);
        expectSame(id, (await sendRequest(`${CONNECTIONS}/${id}/credentials`)).body.apiKey, apiKey);
      },
    };
    took.length = 0;
    const keepRate = rateLimiter(rate);
    const start = Date.now();
    const end = start + minutes * 60_000;
    const part = (end - start) / Math.max(2, minutes);
    const memory = [];
    const count = Object.fromEntries(Object.keys(SHARES).map((name) => [name, 0]));
    await task(`load for ${minutes} minutes`, (detail) =>
      Promise.all(
        Array.from({ length: callers }, async (_, at) => {
          const caller = model.caller(at);
          while (Date.now() < end) {
            await keepRate();
            const what = kind();
            await work[what](caller);
            count[what] += 1;
            if (at !== 0) continue;
            detail(`${took.length} requests`);
            if (Date.now() >= start + (memory.length + 1) * part) memory.push(await isolateBytes(server));
          }
          await caller.expectAll(sendRequest);
        }),
      ),
    );
    memory.push(await isolateBytes(server));
    const seconds = (Date.now() - start) / 1000;
    const times = [...took].sort((a, b) => a - b);
    const number = (value) => Math.round(value).toLocaleString("en");
    print(
      `${number(times.length)} requests, 0 wrong responses (${Object.entries(count)
        .map(([name, n]) => `${name} ${number(n)}`)
        .join(", ")})`,
    );
    print(
      `${number(times.length / seconds)} requests a second; p50 ${percentile(times, 50).toFixed(1)} ms, p99 ${percentile(times, 99).toFixed(1)} ms`,
    );
    const message = ({ wasm, heap, buffers }) =>
      [wasm, heap, buffers].map((bytes) => (bytes / 2 ** 20).toFixed(1)).join(" + ");
    print(`memory in MiB (WebAssembly + heap + buffers) after each part: ${memory.map(message).join(", ")}`);
    if (/panicked|RuntimeError|unreachable/.test(server.output))
      throw new Problem("The Worker trapped.", { output: server.output });
  } finally {
    await server.stop();
  }
});
