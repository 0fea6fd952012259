// Measures the processor time of a warm request: our Worker, Hono's, a bare Worker that sends exactly our response, and, for
// requests to D1, a Worker that only runs our statements. Each runs in its own workerd process, over keep-alive connections. They
// alternate, and ratios are taken within a round, to reduce noise.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../../scripts/lib/paths.mjs";
import { task } from "../../scripts/lib/status.mjs";
import { HttpLoad, encode } from "./load.mjs";
import { median, quartiles } from "./report.mjs";
import { Problem } from "../../scripts/lib/problem.mjs";
import { Runtime } from "./runtime.mjs";
import { serveResults } from "./store.mjs";
import { bare, bareD1, externalService } from "./workers.mjs";
import { LARGE_PLATFORM } from "./fixture.mjs";

const CONNECTIONS = 8;
export const ROUNDS = 21;
const ROUND_MS = 120;
const WARM_UP_MS = 1_500;
const MIN_REQUESTS = 16;

const MAX_PAGE_RATIO = 1.15;
const MAX_FILTER_RATIO = 1.2;
const MAX_SEARCH_RATIO = 2;
// Limits for requests to D1: our processor time relative to the Hono Worker's and to bare D1's.
const MAX_VAULT_RATIOS = { hono: 0.9, d1: 1.25 };
const CONNECTION_PATH = "/v1/vault/connections/00000000-0000-4000-8000-000000000007";
// The limit of a search over all actions, in microseconds.
const MAX_SEARCH_US = 5_000;

/** Unique strings in a deterministic order: parts of titles, as `make` extracts them. */
function texts(actions, make) {
  const found = new Set();
  for (let n = 0; found.size < 30_000 && n < 20 * actions.length; n += 1) {
    const text = make(actions[(n * 7919) % actions.length].title.toLowerCase(), n);
    // The service rejects queries of more than 100 characters.
    if (text && text.length <= 100) found.add(text);
  }
  return [...found];
}

const piece = (title, n) => {
  const start = (n * 31) % Math.max(1, title.length - 4);
  const text = title.slice(start, start + 4 + (n % 9)).trim();
  return text.length >= 4 ? text : undefined;
};
const threeWords = (title, n) => {
  const words = title.split(/\s+/).filter((word) => word.length > 2);
  return words.length < 3 ? undefined : [0, 1, 2].map((at) => words[(n + at * 2) % words.length]).join(" ");
};

/** Strings of three to five letters that occur in at least 1 % of the titles. */
function frequent(actions) {
  const counts = new Map();
  for (const { title } of actions) {
    const letters = title.toLowerCase();
    const substrings = new Set();
    for (const length of [3, 4, 5])
      for (let at = 0; at + length <= letters.length; at += 1) substrings.add(letters.slice(at, at + length));
    for (const text of substrings) if (!/\s/.test(text)) counts.set(text, (counts.get(text) ?? 0) + 1);
  }
  return [...counts].filter(([, count]) => count * 100 >= actions.length).map(([text]) => text);
}

/** Typical searches over all actions, with the words in many orders: each is a different query to the Worker. */
function questions() {
  const file = readFileSync(join(root, "tests", "fixtures", "questions.toml"), "utf8");
  const requested = [...file.matchAll(/^question = "(.*)"$/gm)].map(([, text]) => text.split(" "));
  const rotated = (words, by) => [...words.slice(by), ...words.slice(0, by)];
  const orders = (words) =>
    words.flatMap((_, by) =>
      words
        .map((_, further) => [...rotated(words.slice(1), further), words[0]])
        .map((one) => rotated(one, by).join(" ")),
    );
  return [...new Set(requested.flatMap((words) => [words.join(" "), ...orders(words)]))];
}

/**
 * The requests. `targets`: every request has a new target; `limit`: the target ratio to the bare Worker; `vault`: those to the Hono
 * Worker and to bare D1; `most`: a target in microseconds; `isOursOnly`: the Hono Worker does not have this feature.
 */
function cases({ actions }) {
  const path = `/v1/available-actions/${LARGE_PLATFORM}`;
  const example = actions[Math.floor(actions.length / 3)];
  const filter = (name, value) => `${path}?${name}=${encodeURIComponent(value)}`;
  const ways = ["", ...["GET", "POST", "PATCH", "DELETE"].map((method) => `&method=${method}`)];
  const common = ways.flatMap((way) => frequent(actions).map((text) => filter("q", text) + way));
  return [
    { name: "connectors, first page", target: "/v1/available-connectors", limit: MAX_PAGE_RATIO },
    { name: "actions, first page", target: path, limit: MAX_PAGE_RATIO },
    { name: "actions, page 1,000", target: `${path}?page=1000`, limit: MAX_PAGE_RATIO },
    { name: "actions, not modified (304)", target: path, status: 304, limit: MAX_PAGE_RATIO },
    { name: "actions, exact key", target: filter("key", example.key), limit: MAX_FILTER_RATIO },
    { name: "actions, exact title", target: filter("title", example.title), limit: MAX_FILTER_RATIO },
    { name: "actions, method", target: filter("method", "patch"), limit: MAX_FILTER_RATIO },
    { name: "actions, `q` cached", target: filter("q", "calendar"), limit: MAX_FILTER_RATIO },
    {
      name: "actions, `q` uncached: part of a title",
      targets: texts(actions, piece).map((text) => filter("q", text)),
      limit: MAX_SEARCH_RATIO,
    },
    {
      name: "actions, `q` uncached: three words",
      targets: texts(actions, threeWords).map((text) => filter("q", text)),
      limit: MAX_SEARCH_RATIO,
    },
    { name: "actions, `q` uncached: frequent letters", targets: common, limit: MAX_SEARCH_RATIO },
    {
      name: "actions, `q` uncached: no match",
      targets: Array.from({ length: 30_000 }, (_, n) => filter("q", `zq${n.toString(36)}x`)),
      limit: MAX_SEARCH_RATIO,
    },
    {
      name: "all actions, an uncached question",
      targets: questions().map((text) => `/v1/available-actions?q=${encodeURIComponent(text)}`),
      most: MAX_SEARCH_US,
      isOursOnly: true,
    },
    { name: "connections, first page", target: "/v1/vault/connections", vault: MAX_VAULT_RATIOS },
    { name: "one connection", target: CONNECTION_PATH, vault: MAX_VAULT_RATIOS },
    {
      name: "the tags of a connection, changed",
      target: CONNECTION_PATH,
      method: "PATCH",
      bodies: ['{"tags":["red","bench"]}', '{"tags":["blue","bench"]}'],
      vault: MAX_VAULT_RATIOS,
    },
  ].map((one) => ({ status: 200, targets: [one.target], bodies: [undefined], ...one }));
}

/** The process of a Worker, with keep-alive connections to it. */
export class LoadedWorker {
  static async start(runtime, service) {
    const loaded = new LoadedWorker();
    loaded.runtime = runtime;
    loaded.load = await HttpLoad.to(runtime.ports[service], CONNECTIONS);
    return loaded;
  }

  /** CPU and wall time of `count` requests, in microseconds per request. */
  async measure(count, request, status) {
    await this.load.ready();
    const [cpu, start] = [this.runtime.cpu(), performance.now()];
    this.last = await this.load.run(count, request, status);
    return { cpu: (this.runtime.cpu() - cpu) / count, wall: ((performance.now() - start) * 1000) / count };
  }
}

/** The requests of a case to one Worker, and their number per round. */
export async function plan(benchCase, loaded, headers) {
  let sent = headers;
  if (benchCase.status === 304 && !benchCase.isBare) {
    const { head } = await loaded.load.run(1, () => encode(benchCase.targets[0], headers), 200);
    sent = { ...headers, "if-none-match": /\r\netag: *(\S+)/i.exec(head)[1] };
  }
  const { targets, bodies, method } = benchCase;
  const requests = targets.flatMap((target) => bodies.map((body) => encode(target, sent, { method, body })));
  let next = 0;
  const request = () => requests[next++ % requests.length];
  const response = await loaded.load.run(1, request, benchCase.status);
  const until = performance.now() + WARM_UP_MS;
  let wall;
  while (performance.now() < until) ({ wall } = await loaded.measure(MIN_REQUESTS * 4, request, benchCase.status));
  return { loaded, request, response, count: Math.max(MIN_REQUESTS, Math.round((ROUND_MS * 1000) / wall)) };
}

/**
 * Measures the cases with `matching` in their names, alternating between the Workers. Returns each case with its `rounds`: CPU and
 * wall of `ours`, `hono`, `bare`, `d1`.
 */
export async function benchWarm(fixture, { matching = "" } = {}) {
  const runtimes = [await fixture.start("ours"), await fixture.start("hono")];
  const [loads, storages] = [[], []];
  try {
    const ours = await LoadedWorker.start(runtimes[0], "ours");
    const hono = await LoadedWorker.start(runtimes[1], "hono");
    const measured = cases(fixture)
      .filter(({ name }) => name.includes(matching))
      .map((benchCase) => ({ ...benchCase, workers: {}, rounds: [] }));
    await task("Warm: preparation", async (detail) => {
      for (const measurement of measured) {
        detail(measurement.name);
        measurement.workers.ours = await plan(measurement, ours, fixture.headers);
        if (!measurement.isOursOnly) measurement.workers.hono = await plan(measurement, hono, fixture.headers);
      }
      const services = measured.map((one, at) =>
        bare(fixture.folder, `bare${at}`, one.workers.ours.response, fixture.date),
      );
      runtimes.push(
        await Runtime.start(
          fixture.folder,
          "bare",
          services,
          services.map(({ name }) => name),
        ),
      );
      for (const [at, one] of measured.entries()) {
        const loaded = await LoadedWorker.start(runtimes[2], `bare${at}`);
        loads.push(loaded.load);
        one.workers.bare = await plan({ ...one, isBare: true }, loaded, fixture.headers);
        if (!loaded.last.body.equals(one.workers.ours.response.body))
          throw new Problem(`${one.name}: the bare Worker sends a different response.`);
      }
      const { folder, date: compatibilityDate } = fixture;
      for (const [at, one] of measured.filter(({ vault }) => vault).entries()) {
        await ours.load.run(1, one.workers.ours.request, one.status);
        const { statements, results } = fixture.storages.ours.last;
        const floor = await serveResults(results);
        storages.push(floor);
        const [name, storage] = [`d1-${at}`, `d1-${at}-storage`];
        const service = bareD1(folder, name, statements, { compatibilityDate, storage });
        const runtime = await Runtime.start(folder, name, [service, externalService(storage, floor.port)], [name]);
        runtimes.push(runtime);
        const loaded = await LoadedWorker.start(runtime, name);
        loads.push(loaded.load);
        one.workers.d1 = await plan({ ...one, isBare: true }, loaded, fixture.headers);
      }
    });
    loads.push(ours.load, hono.load);
    await task(`Warm: ${measured.length} requests to 3 or 4 Workers, ${ROUNDS} rounds`, async (detail) => {
      for (let round = 0; round < ROUNDS; round += 1) {
        detail(`round ${round + 1}`);
        for (const measurement of measured) {
          const turns = Object.entries(measurement.workers);
          const times = {};
          for (let turn = 0; turn < turns.length; turn += 1) {
            const [name, { loaded, request, count }] = turns[(turn + round) % turns.length];
            times[name] = await loaded.measure(count, request, measurement.status);
          }
          measurement.rounds.push(times);
        }
      }
    });
    return measured;
  } finally {
    for (const load of loads) load.close();
    for (const runtime of runtimes) await runtime.stop();
    for (const storage of storages) storage.close();
  }
}

/** Medians of a case: microseconds of each Worker, and ratios of ours to the others, with quartiles. */
export function summary({ rounds, limit, most, vault }) {
  const of = (name) => median(rounds.map((times) => times[name]?.cpu ?? Number.NaN));
  const ratios = (name) => rounds.map((times) => times.ours.cpu / (times[name]?.cpu ?? Number.NaN));
  const [ours, ratio] = [of("ours"), median(ratios("bare"))];
  const verdict = (is, most) => (is ? `met (≤ ${most})` : `missed (≤ ${most})`);
  const target =
    most !== undefined
      ? verdict(ours <= most, `${most / 1000} ms`)
      : vault
        ? verdict(
            median(ratios("hono")) <= vault.hono && median(ratios("d1")) <= vault.d1,
            `${vault.hono} × Hono, ${vault.d1} × D1`,
          )
        : verdict(ratio <= limit, limit);
  return {
    ours,
    hono: of("hono"),
    bare: of("bare"),
    ratio,
    spread: quartiles(ratios("bare")),
    honoRatio: median(ratios("hono")),
    d1: of("d1"),
    d1Ratio: median(ratios("d1")),
    target,
  };
}

/** The results as rows of cells, with headers. */
export function warmTable(measured) {
  const heads = [
    "warm request",
    "ours, µs",
    "Hono, µs",
    "bare, µs",
    "ours / bare",
    "quartiles",
    "ours / Hono",
    "bare D1, µs",
    "ours / bare D1",
    "target",
  ];
  const lines = measured.map((measurement) => {
    const { ours, hono, bare: constant, ratio, spread, honoRatio, d1, d1Ratio, target } = summary(measurement);
    const formatted = (value, write) => (Number.isFinite(value) ? write(value) : "–");
    const rounded = (value) => formatted(value, () => Math.round(value).toLocaleString("en"));
    return [
      measurement.name,
      rounded(ours),
      rounded(hono),
      rounded(constant),
      ratio.toFixed(2),
      spread.map((value) => value.toFixed(2)).join("–"),
      formatted(honoRatio, () => honoRatio.toFixed(2)),
      rounded(d1),
      formatted(d1Ratio, () => d1Ratio.toFixed(2)),
      target,
    ];
  });
  return [heads, ...lines];
}
