// Measures the size of the console, its load time on a phone, and the rows that its overview of a million connections reads.
//
//   npm run lab -- bench-console [--rounds 5] [--connections 1000000]
//
// The real Worker and its assets on `wrangler dev`, behind a proxy that compresses as Cloudflare's network does, opened
// in a headless Chromium with nothing cached. The phone is Lighthouse's: 1.6 Mbps, 150 ms a request, a processor a quarter
// as fast. Logos are on other hosts, and are not loaded. Fails if the console exceeds its size limit, or if the overview reads a
// thousand rows. Times are medians, without a limit.
import { cpus, loadavg } from "node:os";
import { parseArgs } from "node:util";
import { aligned, median } from "./bench/common.mjs";
import { PHONE, openPage, waitForPaint, typeAndPaint } from "./bench/console-page.mjs";
import { edge } from "./bench/edge.mjs";
import { storage } from "./bench/vault-storage.mjs";
import { LIMIT_BYTES, buildSite, filesOf, totalSize } from "../scripts/build-site.mjs";
import { buildWorker } from "../scripts/build-worker.mjs";
import { buildNativeCli } from "../scripts/lib/native-cli.mjs";
import { main, Problem } from "../scripts/lib/problem.mjs";
import { print, task } from "../scripts/lib/status.mjs";
import { setup } from "../scripts/setup.mjs";
import { importCatalog } from "../scripts/start/catalog.mjs";

const TARGET_MS = 2_000;
const MAX_ROWS = 1_000;
const KEY_FIELD = 'input[name="secret"]';
const CHARTS = "table.chart";
const CARDS = "ul.connectors > li";
const FILE_TYPES = ["html", "js", "css", "wasm", "svg"];

const number = (value) => value.toLocaleString("en");
const kb = (bytes) => `${(bytes / 1000).toFixed(1)} KB`;

function options() {
  const { values } = parseArgs({
    options: { rounds: { type: "string", default: "5" }, connections: { type: "string", default: "1000000" } },
  });
  const [rounds, connections] = [Number(values.rounds), Number(values.connections)];
  const isCount = (value) => Number.isInteger(value) && value >= 1 && value <= 10_000_000;
  if (!isCount(rounds) || !isCount(connections))
    throw new Problem("--rounds and --connections take whole numbers from 1 to 10000000.");
  return { rounds, connections };
}

/** The views to measure, each with its readiness check. */
const views = (secret) => ({
  "sign-in: typed text is there": { path: "/", ready: (page) => typeAndPaint(page, KEY_FIELD, "sk_test_") },
  "overview: numbers drawn": { path: "/", secret, ready: (page) => waitForPaint(page, CHARTS) },
  "connectors: first cards drawn": { path: "/connectors", secret, ready: (page) => waitForPaint(page, CARDS) },
});

/** Prints the size of the files that each page loads, by type, and of the built files. Returns the size of the largest page. */
async function weighPages(browser, origin, secret) {
  const [signIn, overview] = Object.values(views(secret));
  const pages = { "sign-in page": signIn, "signed-in overview": overview };
  const files = filesOf("index.html");
  const columns = {
    "files, gzip -9": Object.fromEntries(
      FILE_TYPES.map((kind) => [kind, totalSize(files.filter((file) => file.endsWith(`.${kind}`)))]),
    ),
  };
  for (const [name, view] of Object.entries(pages)) {
    const { loaded } = await openPage(browser, { origin, ...view, settle: true });
    columns[name] = Object.fromEntries(
      [...FILE_TYPES, "API"].map((kind) => [
        kind,
        loaded.filter((file) => file.kind === kind).reduce((sum, { bytes }) => sum + bytes, 0),
      ]),
    );
    const unknownKind = loaded.find(({ kind }) => !(kind in columns[name]));
    if (unknownKind) throw new Problem(`${name}: ${unknownKind.path} is ${unknownKind.kind}.`);
  }
  const all = Object.values(columns).map((weights) => FILE_TYPES.reduce((sum, kind) => sum + weights[kind], 0));
  const line = (name, of) => [name, ...Object.values(columns).map(of)];
  print("\nSizes, gzipped; loaded sizes include response headers");
  const lines = [
    ["", ...Object.keys(columns)],
    ...FILE_TYPES.map((kind) => line(kind, (weights) => kb(weights[kind]))),
    ["console in all", ...all.map(kb)],
    line("API", (weights) => (weights.API === undefined ? "" : kb(weights.API))),
  ];
  for (const text of aligned(lines)) print(text);
  print(`Limit of the console: ${kb(LIMIT_BYTES)}.`);
  return Math.max(...all);
}

/** Prints the requests of the overview. Returns the total number of rows that they read. */
async function readOverview(browser, origin, secret, connections) {
  const { ms, loaded } = await openPage(browser, { origin, ...views(secret)["overview: numbers drawn"], settle: true });
  const requested = loaded.filter(({ kind }) => kind === "API");
  const rows = requested.reduce((sum, request) => sum + request.rows, 0);
  print(`\nOverview of ${number(connections)} connections, no throttling: numbers drawn after ${Math.round(ms)} ms`);
  for (const text of aligned([
    ["", "rows read"],
    ...requested.map((request) => [request.path, number(request.rows)]),
    ["in all", `${number(rows)} of less than ${number(MAX_ROWS)}`],
  ]))
    print(text);
  return rows;
}

async function timeOnPhone(browser, origin, secret, rounds) {
  const times = {};
  await task(`timed on a throttled phone, ${rounds} rounds`, async (detail) => {
    // Views alternate within a round, so that other load on the machine affects all of them equally.
    for (let round = 0; round < rounds; round += 1) {
      for (const [name, view] of Object.entries(views(secret))) {
        detail(`${name}, round ${round + 1}`);
        const { ms } = await openPage(browser, { origin, ...view, phone: true });
        (times[name] ??= []).push(ms);
      }
    }
  });
  const { width, height } = PHONE.viewport;
  print(
    `\nOn a phone of ${width} × ${height}: 1.6 Mbps down, 750 kbps up, ${PHONE.network.latency} ms a request, processor ${PHONE.cpu} × slower, nothing cached`,
  );
  const seconds = (value) => `${(value / 1000).toFixed(2)} s`;
  const heads = ["from the navigation to", "median", "fastest", "slowest", "target"];
  const lines = Object.entries(times).map(([name, all]) => [
    median(all) > TARGET_MS ? `! ${name}` : name,
    seconds(median(all)),
    seconds(Math.min(...all)),
    seconds(Math.max(...all)),
    seconds(TARGET_MS),
  ]);
  for (const text of aligned([heads, ...lines])) print(text);
  const [load] = loadavg();
  if (load > cpus().length)
    print(
      `The machine was busy (load ${load.toFixed(1)} on ${cpus().length} processors), so these times are too long.`,
    );
}

await main(async () => {
  const { rounds, connections } = options();
  const tools = await setup({ withBrowser: true });
  const program = await buildNativeCli();
  await buildWorker(tools);
  await buildSite(tools);
  await importCatalog(program);
  const { state, secret } = await storage(program, connections);
  // Imported here, because the set-up may have installed the packages just now.
  const { launch } = await import("../tests/e2e/support/browser.mjs");
  const { Server } = await import("../tests/e2e/support/server.mjs");
  const worker = await task("wrangler dev", () => Server.start({ path: state }, { name: "bench-console" }));
  const front = await edge(worker.port);
  const browser = await launch(["--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1"], { frugal: false });
  try {
    // Warms up the Worker, whose first requests are slower.
    for (const view of Object.values(views(secret))) await openPage(browser, { origin: front.origin, ...view });
    const weight = await weighPages(browser, front.origin, secret);
    const rows = await readOverview(browser, front.origin, secret, connections);
    await timeOnPhone(browser, front.origin, secret, rounds);
    if (weight > LIMIT_BYTES) throw new Problem(`The console has ${kb(weight)}, over its limit of ${kb(LIMIT_BYTES)}.`);
    if (rows >= MAX_ROWS)
      throw new Problem(`The overview reads ${number(rows)} rows; the limit is ${number(MAX_ROWS)}.`);
  } finally {
    await browser.close();
    await front.close();
    await worker.stop();
  }
  return 0;
});
