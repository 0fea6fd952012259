// Measures requests to vaults of several sizes on local D1: rows read and written, calls, and time.
//
//   npm run lab -- bench-vault [--sizes 1000,100000,1000000] [--shards 10] [--rounds 15] [--only-life]
//
// Each size has its own storage folder below .wrangler/bench, seeded once and kept. The smallest is also measured in one of ten
// databases, each with an account: every request must cost the same there. Only a scheduled run visits all databases, which the
// column "at most" allows for. Rows and calls come from `server-timing`. Times are medians; only their growth with the size is
// meaningful. A rejected list is marked, with the cost of the rejection. "Beside" is how long another account waits for a list of
// one row while the first account requests that list continuously: the 99th percentile of a hundred. Scheduled runs and queue
// messages are measured in the same way; this process simulates platforms and webhooks. `--only-life` measures only these.
// Fails if a request reads or writes more rows than its limit, or if the other account waits too long.
import { parseArgs } from "node:util";
import { aligned, compatibilityDate, median } from "./bench/common.mjs";
import { measureLifecycle, platforms } from "./bench/vault-life.mjs";
import { storage } from "./bench/vault-storage.mjs";
import { buildWorker } from "../scripts/build-worker.mjs";
import { buildNativeCli } from "../scripts/lib/native-cli.mjs";
import { main, Problem } from "../scripts/lib/problem.mjs";
import { print, task } from "../scripts/lib/status.mjs";
import { setup } from "../scripts/setup.mjs";
import { importCatalog } from "../scripts/start/catalog.mjs";

const LIMIT = 20;
const SAMPLE_SIZE = 64;
/** The maximum number of rows that a list reads, even if it is rejected. */
const MAX_ROWS_READ = 100_000;
/** Rows written by the audit of a change: the actor before and after, the entry, and three index entries. */
const AUDIT_ROWS = 6;
/** The maximum time in milliseconds that another account may wait, at the 99th percentile. */
const MAX_OTHER_ACCOUNT_WAIT_MS = 50;
const CONCURRENT_REQUESTS = 100;
const LISTS = "/v1/vault/connections";

const number = (value) => value.toLocaleString("en");

function options() {
  const { values } = parseArgs({
    options: {
      sizes: { type: "string", default: "1000,100000,1000000" },
      shards: { type: "string", default: "10" },
      rounds: { type: "string", default: "15" },
      "only-life": { type: "boolean", default: false },
    },
  });
  const sizes = values.sizes.split(",").map(Number);
  const [rounds, shards] = [Number(values.rounds), Number(values.shards)];
  const isCount = (value) => Number.isInteger(value) && value >= 1 && value <= 10_000_000;
  if (!sizes.every(isCount) || !isCount(rounds)) {
    throw new Problem("--sizes takes whole numbers from 1 to 10000000, separated by commas, and --rounds one.");
  }
  if (!Number.isInteger(shards) || shards < 1 || shards > 100)
    throw new Problem("--shards takes a number from 1 to 100.");
  return { sizes: sizes.sort((a, b) => a - b), shards, rounds, onlyLife: values["only-life"] };
}

/** The list requests, and the maximum number of rows that each may read. */
async function lists(vault) {
  const get = async (query) => (await vault.send(`${LISTS}${query}`)).body;
  const { platforms } = (await vault.send("/v1/vault/summary")).body;
  const [platform] = platforms.map((row) => row.platform);
  const page = await get(`?platform=${platform}&limit=500`);
  const namedRow = page.rows.find((row) => row.name && row.tags.length > 1);
  const text = encodeURIComponent;
  const keys = page.rows.slice(0, 10).map((row) => row.key);
  const onePage = () => LIMIT + SAMPLE_SIZE;
  const limitRepeated = () => 2 * LIMIT + SAMPLE_SIZE;
  const matches = (total) => LIMIT + SAMPLE_SIZE + 3 * total;
  // The limit for lists that may be rejected: they read at most MAX_ROWS_READ rows, and then stop.
  const limitBounded = () => MAX_ROWS_READ + SAMPLE_SIZE;
  const [tag, otherTag] = namedRow.tags;
  const counts = {};
  for (const name of page.rows.flatMap((row) => row.tags)) counts[name] = (counts[name] ?? 0) + 1;
  const frequentTags = Object.keys(counts)
    .sort((a, b) => counts[b] - counts[a])
    .slice(0, 20);
  const common = (count) => `tags=${text(frequentTags.slice(0, count).join(","))}`;
  const busy = page.rows.filter((row) => row.name).map((row) => row.name.toLowerCase());
  // The shortest prefix of a name that is not rejected.
  let begin = "";
  for (const length of [1, 2, 3, 4, 5]) {
    begin = busy[0].slice(0, length);
    if ((await vault.send(`${LISTS}?q=${text(begin)}`)).status === 200) break;
  }
  return [
    { name: "no filter", query: "", most: onePage },
    { name: "no filter, last page, through Link", query: "", isLast: true, most: onePage },
    { name: "active=false", query: "?active=false", most: onePage },
    { name: "platform", query: `?platform=${platform}`, most: onePage },
    { name: "platform, last page, through Link", query: `?platform=${platform}`, isLast: true, most: onePage },
    {
      name: "platform, platformVersion",
      query: `?platform=${platform}&platformVersion=${namedRow.platformVersion}`,
      most: onePage,
    },
    { name: "platformVersion", query: `?platformVersion=${namedRow.platformVersion}`, most: onePage },
    { name: "identityType", query: "?identityType=team", most: onePage },
    {
      name: "platform, identityType",
      query: `?platform=${platform}&identityType=${namedRow.identityType}`,
      most: onePage,
    },
    { name: "one tag", query: `?tags=${text(tag)}`, most: () => 2 * LIMIT + SAMPLE_SIZE },
    {
      name: "one tag, last page, through Link",
      query: `?tags=${text(tag)}`,
      isLast: true,
      most: () => 2 * LIMIT + SAMPLE_SIZE,
    },
    { name: "identity", query: `?identity=${text(namedRow.identity)}`, most: matches },
    { name: "name", query: `?name=${text(namedRow.name)}`, most: matches },
    { name: "q, a whole identity", query: `?q=${text(namedRow.identity.slice(0, 100))}`, most: matches },
    { name: "q, one letter", query: "?q=a", most: limitBounded },
    { name: "q, the shortest that is allowed", query: `?q=${text(begin)}`, most: limitBounded },
    { name: "10 keys", query: `?key=${text(keys.join(","))}`, most: () => LIMIT + SAMPLE_SIZE + 2 * keys.length },
    { name: "state", query: "?state=operational", most: limitRepeated },
    { name: "state, last page, through Link", query: "?state=operational", isLast: true, most: limitRepeated },
    { name: "platform, state", query: `?platform=${platform}&state=failed`, most: limitRepeated },
    { name: "state, identityType", query: "?state=failed&identityType=user", most: onePage },
    {
      name: "platformVersion, identityType",
      query: `?platformVersion=${namedRow.platformVersion}&identityType=user`,
      most: limitRepeated,
    },
    {
      name: "all four columns",
      query: `?platform=${platform}&platformVersion=${namedRow.platformVersion}&identityType=user&state=operational`,
      most: onePage,
    },
    { name: "page=40, by its number", query: "?page=40", most: limitBounded },
    { name: "page=5000, by its number", query: "?page=5000", most: limitBounded },
    { name: "page=25000, by its number", query: "?page=25000", most: limitBounded },
    { name: "two tags", query: `?tags=${text(`${tag},${otherTag}`)}`, most: limitBounded },
    { name: "two common tags", query: `?${common(2)}`, most: limitBounded },
    { name: "any of two tags", query: `?tags=${text(`${tag},${otherTag}`)}&tagsMatch=any`, most: limitBounded },
    { name: "any of ten common tags", query: `?${common(10)}&tagsMatch=any`, most: limitBounded },
    { name: "one tag, platform", query: `?tags=${text(tag)}&platform=${platform}`, most: limitBounded },
    {
      name: "any of 20 tags, platform",
      query: `?${common(20)}&platform=${platform}&tagsMatch=any`,
      most: limitBounded,
    },
    { name: "an unused tag, and one", query: `?tags=nobody,${text(tag)}`, most: limitRepeated },
  ];
}

async function measureList(vault, { query, isLast, most }, rounds) {
  let target = `${LISTS}${query}`;
  if (isLast) {
    const { body } = await vault.send(target);
    const last = new URL(target, "http://vault");
    last.searchParams.set("page", String(Math.max(body.pages - 1, 1)));
    target = (await vault.send(`${last.pathname}${last.search}`)).next;
    if (!target) throw new Problem(`${query || "no filter"} has only one page.`);
  }
  return measure(rounds, () => vault.send(target), most);
}

const isTooBroad = ({ status, body }) => status === 400 && body.code === "query_too_broad";

async function measure(rounds, send, most) {
  const responses = [];
  for (let round = 0; round < rounds; round += 1) {
    const response = await send(round);
    if (response.status >= 400 && !isTooBroad(response))
      throw new Problem(`status ${response.status}: ${JSON.stringify(response.body)}`);
    responses.push(response);
  }
  const { body } = responses.at(-1);
  const highest = (name) => Math.max(...responses.map(({ cost }) => cost[name]));
  const cost = { calls: highest("calls"), rows_read: highest("rows_read"), rows_written: highest("rows_written") };
  return {
    cost,
    ms: median(responses.map(({ ms }) => ms)),
    most: most?.(body?.total ?? 0),
    isRefused: isTooBroad(responses.at(-1)),
  };
}

/** How long another account waits for a list of one row while this list is requested continuously: the 99th percentile. */
async function waitOfOtherAccount(vault, secret, { query }) {
  let isOver = false;
  const ask = async () => {
    while (!isOver) await vault.send(`${LISTS}${query}`);
  };
  const pendingRequest = ask();
  const waits = [];
  try {
    for (let index = 0; index < CONCURRENT_REQUESTS; index += 1) {
      const { ms, status } = await vault.send(`${LISTS}?limit=1`, { secret });
      if (status !== 200) throw new Problem(`status ${status} beside ${query}`);
      waits.push(ms);
    }
  } finally {
    isOver = true;
    await pendingRequest;
  }
  return waits.sort((a, b) => a - b)[Math.ceil(waits.length * 0.99) - 1];
}

/** Measures requests for one connection, and for the summary. */
async function measureSingleRequests(vault, rounds) {
  const { platforms } = (await vault.send("/v1/vault/summary")).body;
  const [{ platform }] = platforms;
  const timestamp = Date.now();
  const create = (round) => ({
    platform,
    identity: `bench-${timestamp}-${round}`,
    identityType: "user",
    name: "Bench",
    tags: ["one", "two", "three"],
  });
  const paths = [];
  const post = await measure(rounds, async (round) => {
    const response = await vault.send(LISTS, { method: "POST", body: create(round) });
    paths.push(`${LISTS}/${response.body.id}`);
    return response;
  });
  const patch = (tags) => (round) => vault.send(paths[round], { method: "PATCH", body: { tags } });
  return {
    summary: { ...(await measure(rounds, () => vault.send("/v1/vault/summary"))), most: 600 },
    "read one": { ...(await measure(rounds, (round) => vault.send(paths[round]))), most: SAMPLE_SIZE },
    "create, three tags": { ...post, maxRowsWritten: 31 + 2 * 3 + AUDIT_ROWS },
    "change two tags": {
      ...(await measure(rounds, patch(["one", "two", "four"]))),
      maxRowsWritten: 4 + 2 * 2 + AUDIT_ROWS,
    },
    "change nothing": { ...(await measure(rounds, patch(["one", "two", "four"]))), maxRowsWritten: 2 },
    delete: await measure(rounds, (round) => vault.send(paths[round], { method: "DELETE" })),
  };
}

async function measureSize(program, { size, shards }, { rounds, onlyLife }) {
  const vaultStorage = await storage(program, size, shards);
  const other = vaultStorage.beside;
  // Imported here, because the set-up may have installed Miniflare just now.
  const { Vault } = await import("./bench/vault-runtime.mjs");
  const vault = await Vault.open(vaultStorage, compatibilityDate(), platforms);
  try {
    await vault.send(LISTS);
    await vault.send(LISTS, { secret: other });
    const results = {};
    const inDatabases = shards === 1 ? "" : ` in one of ${shards} databases`;
    await task(`measured at ${number(size)} connections${inDatabases}`, async (detail) => {
      for (const list of onlyLife ? [] : await lists(vault)) {
        detail(list.name);
        results[list.name] = await measureList(vault, list, rounds);
        results[list.name].beside = await waitOfOtherAccount(vault, other, list);
      }
      if (!onlyLife) Object.assign(results, await measureSingleRequests(vault, rounds));
      detail("events, refreshes, deliveries");
      const measureOnce = (times, send, most) => measure(times, send, () => most);
      Object.assign(results, await measureLifecycle(vault, measureOnce, { rounds, size, shards }));
    });
    return results;
  } finally {
    await vault.close();
  }
}

const abbreviated = (size) => (size >= 1e6 ? `${size / 1e6}M` : size >= 1000 ? `${size / 1000}k` : `${size}`);

/** Prints the results for each size, and for the smallest in one of many databases. Returns how many exceed their limit. */
function table(sizes, results, shards, sharded) {
  const times = (value) => `${value.toFixed(2)}×`;
  const inMany = `${abbreviated(sizes[0])} in 1 of ${shards}`;
  const heads = [
    "",
    ...sizes.map((size) => `rows read ${abbreviated(size)}`),
    "growth",
    "at most",
    "written",
    "calls",
    ...sizes.map((size) => `ms ${abbreviated(size)}`),
    "growth",
    ...sizes.map((size) => `beside ${abbreviated(size)}`),
    ...(sharded ? [`rows read ${inMany}`, "at most", "calls", "ms", "beside, elsewhere"] : []),
  ];
  const lines = Object.keys(results[0]).map((name) => {
    const of = results.map((result) => result[name]);
    const [first, last] = [of[0], of.at(-1)];
    const inMany = sharded?.[name];
    const isOver = ({ cost, beside = 0, most = Infinity, maxRowsWritten = Infinity, maxCalls = 1 }) =>
      cost.rows_read > most ||
      cost.rows_written > maxRowsWritten ||
      cost.calls > maxCalls ||
      beside > MAX_OTHER_ACCOUNT_WAIT_MS;
    // A request must not make more calls in one of several databases, except scheduled runs, which visit all of them.
    const needsMoreCalls = inMany && !inMany.visitsAllDatabases && inMany.cost.calls > first.cost.calls;
    const exceeds = [...of, ...(inMany ? [inMany] : [])].some(isOver) || needsMoreCalls;
    return [
      exceeds ? `✗ ${name}` : name,
      ...of.map(({ cost, isRefused }) => `${isRefused ? "refused: " : ""}${number(cost.rows_read)}`),
      times(last.cost.rows_read / Math.max(first.cost.rows_read, 1)),
      last.most === undefined ? "" : number(last.most),
      last.cost.rows_written + (last.maxRowsWritten === undefined ? "" : ` of ${last.maxRowsWritten}`),
      String(last.cost.calls),
      ...of.map(({ ms }) => ms.toFixed(1)),
      times(last.ms / first.ms),
      ...of.map(({ beside }) => beside?.toFixed(1) ?? ""),
      ...(inMany
        ? [
            number(inMany.cost.rows_read),
            inMany.most === undefined ? "" : number(inMany.most),
            String(inMany.cost.calls),
            inMany.ms.toFixed(1),
            inMany.beside?.toFixed(1) ?? "",
          ]
        : []),
    ];
  });
  for (const line of aligned([heads, ...lines])) print(line);
  return lines.filter(([name]) => name.startsWith("✗")).length;
}

await main(async () => {
  const { sizes, shards, ...how } = options();
  const tools = await setup();
  const program = await buildNativeCli();
  await buildWorker(tools);
  await importCatalog(program);
  const results = [];
  for (const size of sizes) results.push(await measureSize(program, { size, shards: 1 }, how));
  const sharded = shards > 1 ? await measureSize(program, { size: sizes[0], shards }, how) : undefined;
  const exceeded = table(sizes, results, shards, sharded);
  if (exceeded > 0) throw new Problem(`${exceeded} requests exceed their limits.`);
  return 0;
});
