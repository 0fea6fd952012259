// Measures processor and wall time of the first request of a new isolate in a new workerd process.
import { task } from "../../scripts/lib/status.mjs";
import { HttpLoad, encode } from "./load.mjs";
import { median, quartiles } from "./report.mjs";
import { Runtime } from "./runtime.mjs";
import { bare } from "./workers.mjs";
import { LARGE_PLATFORM, MEDIUM_PLATFORM } from "./fixture.mjs";

export const SAMPLES = 15;
// The processor time in milliseconds that Cloudflare's free plan allows per request.
const FREE_PLAN_MS = 10;

const ACTIONS = "/v1/available-actions";

/** The first requests. `limit`: the target, in milliseconds of processor time. */
const cases = ({ actions }) => [
  { name: "/health", path: "/health", limit: 7 },
  { name: "/v1/whoami", path: "/v1/whoami", limit: FREE_PLAN_MS },
  { name: "connectors, first page", path: "/v1/available-connectors", limit: FREE_PLAN_MS, slower: 0 },
  {
    name: `${MEDIUM_PLATFORM}'s actions, first page`,
    path: `${ACTIONS}/${MEDIUM_PLATFORM}`,
    limit: FREE_PLAN_MS,
    slower: 3,
  },
  { name: "largest list, first page", path: `${ACTIONS}/${LARGE_PLATFORM}`, limit: FREE_PLAN_MS, slower: 0 },
  {
    name: "largest list, exact key",
    path: `${ACTIONS}/${LARGE_PLATFORM}?key=${actions[Math.floor(actions.length / 3)].key}`,
    limit: FREE_PLAN_MS,
    slower: 0,
  },
  {
    name: "one action of the largest list",
    path: `${ACTIONS}/${LARGE_PLATFORM}/${actions[Math.floor(actions.length / 3)].key}`,
    limit: FREE_PLAN_MS,
    // The Hono Worker does not have this feature.
    isOursOnly: true,
  },
  { name: "largest list, `q` of two words", path: `${ACTIONS}/${LARGE_PLATFORM}?q=list+calendars` },
  ...["send an email", "refund a payment in stripe"].map((question) => ({
    name: `all actions, “${question}”`,
    path: `${ACTIONS}?q=${question.replaceAll(" ", "+")}`,
    limit: FREE_PLAN_MS,
    isOursOnly: true,
  })),
  { name: "connections, first page", path: "/v1/vault/connections", limit: FREE_PLAN_MS, slower: 0 },
  { name: "one connection", path: "/v1/vault/connections/00000000-0000-4000-8000-000000000007", limit: FREE_PLAN_MS },
];

/**
 * Starts a process, sends one request to it, and stops it.
 * @param {string} folder of the Worker's files
 * @param {object} service the Worker, as `Runtime` takes it
 * @param {object[]} others other services that it is bound to
 * @param {Buffer} request
 * @returns {Promise<{ start: number, cpu: number, after: number, wall: number, response: object }>} milliseconds of
 *   processor time of all threads: until the process listens, then until the response, then until the process is idle; and wall
 *   time from the first byte of the request to the last one of the response
 */
async function firstRequest(folder, service, others, request) {
  const runtime = await Runtime.start(folder, `cold-${service.name}`, [service, ...others], [service.name]);
  try {
    const load = await HttpLoad.to(runtime.ports[service.name], 1);
    const start = await runtime.settledCpu();
    const began = performance.now();
    const response = await load.run(1, () => request, 200);
    const wall = performance.now() - began;
    const cpuAtResponse = runtime.cpu();
    const cpuWhenIdle = await runtime.settledCpu();
    load.close();
    const ms = (from, to) => (to - from) / 1000;
    return {
      start: ms(0, start),
      cpu: ms(start, cpuAtResponse),
      after: ms(cpuAtResponse, cpuWhenIdle),
      wall,
      response,
    };
  } finally {
    await runtime.stop();
  }
}

/** Measures all cases, alternating between the Workers: `samples` of each. Returns each case with `ours`, `hono` and `bare`. */
export async function benchCold(fixture, samples = SAMPLES) {
  const measured = cases(fixture).map((benchCase) => ({ ...benchCase, ours: [], hono: [], bare: [] }));
  await task(`Cold: ${measured.length} requests to 3 Workers, ${samples} new processes each`, async (detail) => {
    const sendRequest = ({ path }, { service, others }) =>
      firstRequest(fixture.folder, service, others, encode(path, fixture.headers));
    for (const [at, one] of measured.entries()) {
      const { response } = await sendRequest(one, fixture.workers.ours);
      one.worker = { service: bare(fixture.folder, `bare-cold-${at}`, response, fixture.date), others: [] };
    }
    for (let sample = 0; sample < samples; sample += 1) {
      for (const measurement of measured) {
        detail(`sample ${sample + 1}, ${measurement.name}`);
        const workers = [
          ["ours", fixture.workers.ours],
          ["hono", fixture.workers.hono],
          ["bare", measurement.worker],
        ].filter(([name]) => !(measurement.isOursOnly && name === "hono"));
        // Rotates the order, so that each Worker comes first equally often.
        for (let turn = 0; turn < workers.length; turn += 1) {
          const [name, worker] = workers[(turn + sample) % workers.length];
          const { response, ...times } = await sendRequest(measurement, worker);
          measurement[name].push(times);
        }
      }
    }
  });
  return measured;
}

const oneDecimal = (value) => value.toFixed(1);

/** Median and interquartile range of one Worker in one case. */
function spreadOf(times, part) {
  if (times.length === 0) return "–";
  const values = times.map((time) => time[part]);
  return `${oneDecimal(median(values))} (${quartiles(values).map(oneDecimal).join("–")})`;
}

/** Describes whether a case meets its targets. */
export function verdict({ ours, hono, limit, slower }) {
  const [own, other] = [ours, hono].map((times) => (times.length > 0 ? median(times.map(({ cpu }) => cpu)) : 0));
  const missedTargets = [
    limit !== undefined && own > limit && `${oneDecimal(own - limit)} over ${limit}`,
    slower !== undefined &&
      own > other + slower &&
      `${oneDecimal(own - other)} slower than Hono${slower ? `, ${slower} allowed` : ""}`,
  ].filter(Boolean);
  if (limit === undefined && slower === undefined) return own > other ? "slower than Hono" : "faster than Hono";
  return missedTargets.length > 0 ? missedTargets.join("; ") : "met";
}

/** Two tables as rows of cells, with headers: processor time with targets, and wall time with the time of the start. */
export function coldTables(measured) {
  const who = ["ours", "hono", "bare"];
  const cpu = measured.map((measurement) => [
    measurement.name,
    ...who.map((name) => spreadOf(measurement[name], "cpu")),
    verdict(measurement),
  ]);
  const start = (times) => (times.length > 0 ? oneDecimal(median(times.map((time) => time.start))) : "–");
  const wall = measured.map((measurement) => [
    measurement.name,
    ...who.map((name) => spreadOf(measurement[name], "wall")),
    ...who.map((name) => start(measurement[name])),
  ]);
  return [
    [["first request", "ours", "Hono", "bare", "target"], ...cpu],
    [["from request to response", "ours", "Hono", "bare", "start: ours", "Hono", "bare"], ...wall],
  ];
}
