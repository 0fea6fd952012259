// Shows what requests to the vault cost at several sizes, on the real local D1: rows read and written, calls, and time.
//
//   npm run bench:vault [-- --sizes 1000,100000,1000000] [-- --rounds 15]
//
// Each size is a storage folder of its own below .wrangler/bench, seeded once and kept. Rows and calls are what the
// service itself tells in `server-timing`; times are medians, and only their growth from size to size says something.
// Fails when a request reads or writes more than it may.
import { parseArgs } from "node:util";
import { aligned, compatibilityDate, median } from "../bench/common.mjs";
import { storage } from "../bench/vault-storage.mjs";
import { buildWorker } from "./build-worker.mjs";
import { nativeCli } from "./lib/native-cli.mjs";
import { main, Problem } from "./lib/problem.mjs";
import { say, task } from "./lib/status.mjs";
import { setup } from "./setup.mjs";
import { importCatalog } from "./start/catalog.mjs";

const LIMIT = 20;
const SOME = 64;
const LISTS = "/v1/vault/connections";

const number = (value) => value.toLocaleString("en");

function options() {
  const { values } = parseArgs({
    options: { sizes: { type: "string", default: "1000,100000,1000000" }, rounds: { type: "string", default: "15" } },
  });
  const sizes = values.sizes.split(",").map(Number);
  const rounds = Number(values.rounds);
  const isCount = (value) => Number.isInteger(value) && value >= 1 && value <= 10_000_000;
  if (!sizes.every(isCount) || !isCount(rounds)) {
    throw new Problem("--sizes takes whole numbers from 1 to 10000000, separated by commas, and --rounds one.");
  }
  return { sizes: sizes.sort((a, b) => a - b), rounds };
}

/** What is asked, with the most rows that it may read; `total` is the list's. */
async function lists(vault) {
  const get = async (query) => (await vault.send(`${LISTS}${query}`)).body;
  const { platforms } = (await vault.send("/v1/vault/summary")).body;
  const [platform] = platforms.map((row) => row.platform);
  const page = await get(`?platform=${platform}&limit=500`);
  const named = page.rows.find((row) => row.name && row.tags.length > 1);
  const text = encodeURIComponent;
  const keys = page.rows.slice(0, 10).map((row) => row.key);
  const onePage = () => LIMIT + SOME;
  const matches = (total) => LIMIT + SOME + 2 * total;
  const [tag, otherTag] = named.tags;
  const many = [...new Set(page.rows.flatMap((row) => row.tags))].slice(0, 20);
  return [
    { name: "no filter", query: "", most: onePage },
    { name: "no filter, last page, through Link", query: "", isLast: true, most: onePage },
    { name: "active=false", query: "?active=false", most: onePage },
    { name: "platform", query: `?platform=${platform}`, most: onePage },
    { name: "platform, last page, through Link", query: `?platform=${platform}`, isLast: true, most: onePage },
    { name: "platform, platformVersion", query: `?platform=${platform}&platformVersion=${named.platformVersion}`, most: onePage },
    { name: "platformVersion", query: `?platformVersion=${named.platformVersion}`, most: onePage },
    { name: "identityType", query: "?identityType=team", most: onePage },
    { name: "platform, identityType", query: `?platform=${platform}&identityType=${named.identityType}`, most: onePage },
    { name: "one tag", query: `?tags=${text(tag)}`, most: () => 2 * LIMIT + SOME },
    { name: "one tag, last page, through Link", query: `?tags=${text(tag)}`, isLast: true, most: () => 2 * LIMIT + SOME },
    { name: "identity", query: `?identity=${text(named.identity)}`, most: matches },
    { name: "name", query: `?name=${text(named.name)}`, most: matches },
    { name: "q, a whole identity", query: `?q=${text(named.identity.slice(0, 100))}`, most: matches },
    { name: "q, one letter", query: "?q=a", most: matches },
    { name: "10 keys", query: `?key=${text(keys.join(","))}`, most: () => LIMIT + SOME + 2 * keys.length },
    { name: "page=40, by its number", query: "?page=40" },
    { name: "two tags", query: `?tags=${text(`${tag},${otherTag}`)}` },
    { name: "any of two tags", query: `?tags=${text(`${tag},${otherTag}`)}&tagsMatch=any` },
    { name: "one tag, platform", query: `?tags=${text(tag)}&platform=${platform}` },
    { name: "20 tags, platform", query: `?tags=${text(many.join(","))}&platform=${platform}&tagsMatch=any` },
    { name: "a tag that nobody has, and one", query: `?tags=nobody,${text(tag)}` },
    { name: "platformVersion, identityType", query: `?platformVersion=${named.platformVersion}&identityType=team` },
  ];
}

async function measureList(vault, { query, isLast, most }, rounds) {
  let target = `${LISTS}${query}`;
  if (isLast) {
    const { body } = await vault.send(target);
    const last = new URL(target, "http://vault");
    last.searchParams.set("page", String(Math.max(body.pages - 1, 1)));
    target = (await vault.send(`${last.pathname}${last.search}`)).next;
    if (!target) throw new Problem(`${query || "no filter"} has one page only: nothing to follow.`);
  }
  return measure(rounds, () => vault.send(target), most);
}

async function measure(rounds, send, most) {
  const answers = [];
  for (let round = 0; round < rounds; round += 1) {
    const answer = await send(round);
    if (answer.status >= 400) throw new Problem(`status ${answer.status}: ${JSON.stringify(answer.body)}`);
    answers.push(answer);
  }
  const { body } = answers.at(-1);
  const highest = (name) => Math.max(...answers.map(({ cost }) => cost[name]));
  const cost = { calls: highest("calls"), rows_read: highest("rows_read"), rows_written: highest("rows_written") };
  return { cost, ms: median(answers.map(({ ms }) => ms)), most: most?.(body?.total ?? 0) };
}

/** What reads and changes single connections, and the summary. */
async function singles(vault, rounds) {
  const { platforms } = (await vault.send("/v1/vault/summary")).body;
  const [{ platform }] = platforms;
  const stamped = Date.now();
  const create = (round) => ({
    platform, identity: `bench-${stamped}-${round}`, identityType: "user", name: "Bench", tags: ["one", "two", "three"],
  });
  const made = [];
  const post = await measure(rounds, async (round) => {
    const answer = await vault.send(LISTS, { method: "POST", body: create(round) });
    made.push(`${LISTS}/${answer.body.id}`);
    return answer;
  });
  const patch = (tags) => (round) => vault.send(made[round], { method: "PATCH", body: { tags } });
  return {
    summary: { ...(await measure(rounds, () => vault.send("/v1/vault/summary"))), most: 600 },
    "read one": { ...(await measure(rounds, (round) => vault.send(made[round]))), most: SOME },
    "create, three tags": { ...post, mostWritten: 20 + 4 * 3 },
    "change two tags": { ...(await measure(rounds, patch(["one", "two", "four"]))), mostWritten: 4 + 2 * 2 },
    "change nothing": { ...(await measure(rounds, patch(["one", "two", "four"]))), mostWritten: 0 },
    delete: await measure(rounds, (round) => vault.send(made[round], { method: "DELETE" })),
  };
}

async function measureSize(program, size, rounds) {
  const { state, secret } = await storage(program, size);
  // Imported here: before the set-up there may be no Miniflare.
  const { Vault } = await import("../bench/vault-runtime.mjs");
  const vault = await Vault.open(state, compatibilityDate(), secret);
  try {
    await vault.send(LISTS);
    const results = {};
    await task(`measured at ${number(size)} connections`, async (detail) => {
      for (const list of await lists(vault)) {
        detail(list.name);
        results[list.name] = await measureList(vault, list, rounds);
      }
      Object.assign(results, await singles(vault, rounds));
    });
    return results;
  } finally {
    await vault.close();
  }
}

function table(sizes, results) {
  const times = (value) => `${value.toFixed(2)}×`;
  const short = (size) => (size >= 1e6 ? `${size / 1e6}M` : size >= 1000 ? `${size / 1000}k` : `${size}`);
  const heads = ["", ...sizes.map((size) => `rows read ${short(size)}`), "growth", "at most", "written", "calls", ...sizes.map((size) => `ms ${short(size)}`), "growth"];
  const lines = Object.keys(results[0]).map((name) => {
    const of = results.map((result) => result[name]);
    const [first, last] = [of[0], of.at(-1)];
    const over = of.some(({ cost, most = Infinity, mostWritten = Infinity }) => cost.rows_read > most || cost.rows_written > mostWritten || cost.calls !== 1);
    return [
      over ? `✗ ${name}` : name,
      ...of.map(({ cost }) => number(cost.rows_read)),
      times(last.cost.rows_read / Math.max(first.cost.rows_read, 1)),
      last.most === undefined ? "" : number(last.most),
      last.cost.rows_written + (last.mostWritten === undefined ? "" : ` of ${last.mostWritten}`),
      String(last.cost.calls),
      ...of.map(({ ms }) => ms.toFixed(1)),
      times(last.ms / first.ms),
    ];
  });
  for (const line of aligned([heads, ...lines])) say(line);
  return lines.filter(([name]) => name.startsWith("✗")).length;
}

await main(async () => {
  const { sizes, rounds } = options();
  const tools = await setup();
  const program = await nativeCli();
  await buildWorker(tools);
  await importCatalog(program);
  const results = [];
  for (const size of sizes) results.push(await measureSize(program, size, rounds));
  const over = table(sizes, results);
  if (over > 0) throw new Problem(`${over} requests cost more than they may.`);
  return 0;
});
