// The npm package with a fake `fetch` and simulated time: shared code of package-transport.test.mjs.
import assert from "node:assert/strict";
import { Clock } from "./clock.mjs";
import { secret } from "./keys.mjs";
import { ConnectorVault, Recorder } from "./package.mjs";

export const BASE_URL = "https://vault.example";
export const ID = "aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa";
export const TICK_MS = 10;
/** The limit of simulated time. */
const MAX_SIMULATED_MS = 3_600_000;
export const CURSOR_DIGITS = 84;
export const OWN_SECRET = secret();

export const CONNECTION = {
  id: ID,
  platformVersion: "v1",
  name: null,
  type: "api",
  key: "test::github::default::ann",
  environment: "test",
  platform: "github",
  identity: "ann",
  identityType: "user",
  description: "",
  state: "unknown",
  tags: [],
  version: "1",
  active: true,
  createdAt: "2026-01-01T00:00:00.000Z",
};
export const INPUT = { platform: "github", identity: "ann", identityType: "user" };
export const WHOAMI = { account: "acme", environment: "test", scopes: [], expiresAt: null };
const SUMMARY = {
  total: 0,
  active: { true: 0, false: 0 },
  state: { operational: 0, degraded: 0, failed: 0, unknown: 0 },
  identityType: { user: 0, team: 0, organization: 0, project: 0 },
  platforms: [],
  otherPlatforms: 0,
};
const EMPTY = { rows: [], total: 0, pages: 0, page: 1 };

export const json = (value, status = 200, headers = {}) =>
  new Response(JSON.stringify(value), { status, headers: { "content-type": "application/json", ...headers } });
export const problem = (status, code, headers = {}) =>
  json(
    { type: `${BASE_URL}/problems/${code}`, title: "T", status, detail: "It is so.", code, requestId: "r" },
    status,
    {
      "content-type": "application/problem+json",
      "x-request-id": "r",
      ...headers,
    },
  );
export const overloaded = (headers) => problem(503, "unavailable", headers);
export const limited = (headers) => problem(429, "too_many_requests", headers);

/** The calls that the package retries, each with a response of the service. */
export const REPEATABLE = {
  whoami: [(vault, options) => vault.whoami(options), () => json(WHOAMI)],
  summary: [(vault, options) => vault.connections.summary(options), () => json(SUMMARY)],
  get: [(vault, options) => vault.connections.get(ID, options), () => json(CONNECTION)],
  connectors: [(vault, options) => vault.connectors.list({}, options), () => json(EMPTY)],
  actions: [(vault, options) => vault.actions.list("github", {}, options), () => json(EMPTY)],
  connections: [(vault, options) => vault.connections.list({}, options), () => json(EMPTY)],
  iterated: [(vault, options) => vault.connections.list({}, options).toArray(), () => json(EMPTY)],
  delete: [(vault, options) => vault.connections.delete(ID, options), () => new Response(null, { status: 204 })],
  "delete with ifMatch": [
    (vault, options) => vault.connections.delete(ID, { ...options, ifMatch: CONNECTION }),
    () => new Response(null, { status: 204 }),
  ],
  update: [(vault, options) => vault.connections.update(ID, { tags: ["x"] }, options), () => json(CONNECTION)],
  state: [(vault, options) => vault.connections.setState(ID, { state: "failed" }, options), () => json(CONNECTION)],
  name: [(vault, options) => vault.connections.setName(ID, null, options), () => json(CONNECTION)],
  session: [
    (vault, options) => vault.sessions.create({ identity: "ann" }, options),
    () => json({ token: "st_test_x", expiresAt: "2026-01-01T00:15:00.000Z" }, 201),
  ],
};
/** The calls that the package must not retry. */
export const NOT_REPEATABLE = {
  create: [(vault, options) => vault.connections.create(INPUT, options), () => json(CONNECTION, 201)],
  "update with ifMatch": [
    (vault, options) => vault.connections.update(ID, { tags: [] }, { ...options, ifMatch: CONNECTION }),
    () => json(CONNECTION),
  ],
  "setState with ifMatch": [
    (vault, options) => vault.connections.setState(ID, { state: "failed" }, { ...options, ifMatch: CONNECTION }),
    () => json(CONNECTION),
  ],
  "setName with ifMatch": [
    (vault, options) => vault.connections.setName(ID, "Ann", { ...options, ifMatch: CONNECTION }),
    () => json(CONNECTION),
  ],
  "update with an entity tag": [
    (vault, options) => vault.connections.update(ID, { tags: [] }, { ...options, ifMatch: '"x"' }),
    () => json(CONNECTION),
  ],
  "update with ifMatch *": [
    (vault, options) => vault.connections.update(ID, { tags: [] }, { ...options, ifMatch: "*" }),
    () => json(CONNECTION),
  ],
};
export const ALL = { ...REPEATABLE, ...NOT_REPEATABLE };
/** Temporary failures. */
export const TRANSIENT = {
  "a lost connection": [() => Promise.reject(new TypeError("fetch failed")), "ConnectionError"],
  429: [() => limited(), "RateLimitError"],
  503: [() => overloaded(), "ServerError"],
};
export const neverSettles = () => new Promise(() => {});
export const idle = async () => {
  for (let i = 0; i < 6; i += 1) await new Promise(setImmediate);
};

/** Runs a call on a simulated clock. Returns { value | error, requests, waits, took, timers }, times in milliseconds. */
export async function runTimed(send, call, options = {}, tick = TICK_MS) {
  const clock = new Clock(Date.UTC(2026, 0, 1));
  try {
    const began = Date.now();
    const recorder = new Recorder(send);
    const vault = new ConnectorVault({ baseUrl: BASE_URL, secret: OWN_SECRET, fetch: recorder.fetch, ...options });
    let outcome;
    Promise.resolve()
      .then(() => call(vault))
      .then(
        (value) => (outcome = { value }),
        (error) => (outcome = { error }),
      );
    for (await idle(); !outcome; await idle()) {
      assert.ok(clock.elapsedMs < MAX_SIMULATED_MS, "the call does not end");
      clock.advance(tick);
    }
    const times = recorder.requests.map(({ at }) => at - began);
    return {
      ...outcome,
      requests: recorder.requests,
      waits: times.slice(1).map((time, n) => time - times[n]),
      took: clock.elapsedMs,
      timers: clock.pendingTimers,
    };
  } finally {
    clock.restore();
  }
}

/** Waits within a call of `runTimed`. */
export const pause = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

/** A `fetch` that returns these responses in sequence, and repeats the last one. */
export const inSequence =
  (...responses) =>
  (request, n) =>
    responses[Math.min(n, responses.length) - 1](request, n);
export const expectCloseTo = (time, expected) =>
  assert.ok(time >= expected && time <= expected + 3 * TICK_MS, `${time} ms instead of ${expected} ms`);
