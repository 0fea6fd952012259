// The npm package where no real server can be made to show it: failures in a row, waits, and a `fetch` of the caller's own
// that does what it likes. Time is the tests' own, and passes when nobody has anything to do: so these are alone in their
// process. What the service itself answers is in package.test.mjs.
import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { pathToFileURL } from "node:url";
import { inspect } from "node:util";
import { Clock } from "./support/clock.mjs";
import {
  ConnectorVault,
  Recorder,
  VaultError,
  dist,
  expectError,
  expectInvalid,
  expectNoSecret,
  expectNothingBeside,
  expectUnanswered,
  failure,
} from "./support/package.mjs";
import { secrets } from "./support/http.mjs";
import { secret } from "./support/keys.mjs";

const BASE = "https://vault.example";
const ID = "aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa";
const TICK_MS = 10;
/** No call of these may need longer. */
const END_MS = 3_600_000;
const CURSOR_DIGITS = 84;
const OWN = secret();

const CONNECTION = {
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
const WISH = { platform: "github", identity: "ann", identityType: "user" };
const WHOAMI = { account: "acme", environment: "test", scopes: [], expiresAt: null };
const SUMMARY = {
  total: 0,
  active: { true: 0, false: 0 },
  state: { operational: 0, degraded: 0, failed: 0, unknown: 0 },
  identityType: { user: 0, team: 0, organization: 0, project: 0 },
  platforms: [],
  otherPlatforms: 0,
};
const EMPTY = { rows: [], total: 0, pages: 0, page: 1 };

const json = (value, status = 200, headers = {}) =>
  new Response(JSON.stringify(value), { status, headers: { "content-type": "application/json", ...headers } });
const problem = (status, code, headers = {}) =>
  json({ type: `${BASE}/problems/${code}`, title: "T", status, detail: "It is so.", code, requestId: "r" }, status, {
    "content-type": "application/problem+json",
    "x-request-id": "r",
    ...headers,
  });
const overloaded = (headers) => problem(503, "unavailable", headers);
const limited = (headers) => problem(429, "too_many_requests", headers);

/** The calls that are safe to repeat, with what the service answers. */
const REPEATABLE = {
  whoami: [(vault, options) => vault.whoami(options), () => json(WHOAMI)],
  summary: [(vault, options) => vault.connections.summary(options), () => json(SUMMARY)],
  get: [(vault, options) => vault.connections.get(ID, options), () => json(CONNECTION)],
  connectors: [(vault, options) => vault.connectors.list({}, options), () => json(EMPTY)],
  actions: [(vault, options) => vault.actions.list("github", {}, options), () => json(EMPTY)],
  connections: [(vault, options) => vault.connections.list({}, options), () => json(EMPTY)],
  iterated: [(vault, options) => vault.connections.list({}, options).toArray(), () => json(EMPTY)],
  delete: [(vault, options) => vault.connections.delete(ID, options), () => new Response(null, { status: 204 })],
  "delete if it is as it was": [
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
/** Those that are not. */
const ONCE_ONLY = {
  create: [(vault, options) => vault.connections.create(WISH, options), () => json(CONNECTION, 201)],
  "update if it is as it was": [
    (vault, options) => vault.connections.update(ID, { tags: [] }, { ...options, ifMatch: CONNECTION }),
    () => json(CONNECTION),
  ],
  "state if it is as it was": [
    (vault, options) => vault.connections.setState(ID, { state: "failed" }, { ...options, ifMatch: CONNECTION }),
    () => json(CONNECTION),
  ],
  "name if it is as it was": [
    (vault, options) => vault.connections.setName(ID, "Ann", { ...options, ifMatch: CONNECTION }),
    () => json(CONNECTION),
  ],
  "update by tag": [
    (vault, options) => vault.connections.update(ID, { tags: [] }, { ...options, ifMatch: '"x"' }),
    () => json(CONNECTION),
  ],
  "update if it is there": [
    (vault, options) => vault.connections.update(ID, { tags: [] }, { ...options, ifMatch: "*" }),
    () => json(CONNECTION),
  ],
};
const ALL = { ...REPEATABLE, ...ONCE_ONLY };
/** Failures that may pass. */
const PASSING = {
  "a lost connection": [() => Promise.reject(new TypeError("fetch failed")), "ConnectionError"],
  429: [() => limited(), "RateLimitError"],
  503: [() => overloaded(), "ServerError"],
};
const forever = () => new Promise(() => {});
const idle = async () => {
  for (let i = 0; i < 6; i += 1) await new Promise(setImmediate);
};

/** Runs a call in a time of its own: { value | error, requests, waits, took, timers }, in milliseconds since it began. */
async function timed(send, call, options = {}, tick = TICK_MS) {
  const clock = new Clock(Date.UTC(2026, 0, 1));
  try {
    const began = Date.now();
    const recorder = new Recorder(send);
    const vault = new ConnectorVault({ baseUrl: BASE, secret: OWN, fetch: recorder.fetch, ...options });
    let outcome;
    Promise.resolve()
      .then(() => call(vault))
      .then(
        (value) => (outcome = { value }),
        (error) => (outcome = { error }),
      );
    for (await idle(); !outcome; await idle()) {
      assert.ok(clock.passed < END_MS, "the call does not end");
      clock.pass(tick);
    }
    const times = recorder.requests.map(({ at }) => at - began);
    return {
      ...outcome,
      requests: recorder.requests,
      waits: times.slice(1).map((time, n) => time - times[n]),
      took: clock.passed,
      timers: clock.waiting,
    };
  } finally {
    clock.restore();
  }
}

/** Time, within a call of `timed`. */
const pause = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

/** What gives tokens: one that is named by its number, when `give` does not say otherwise. */
class Supplier {
  /** Each time that it was asked: { at, given }. */
  asked = [];

  constructor(give = (text) => text) {
    const supplier = this;
    this.supply = function (...given) {
      supplier.asked.push({ at: Date.now(), given: [this, ...given] });
      return give(supplier.token(supplier.asked.length), supplier.asked.length);
    };
  }

  /** Its nth token. */
  token(n) {
    const text = `st_test_${String(n).padStart(4, "0")}.${"signed-by-the-tests".repeat(3)}`;
    secrets.add(text);
    return text;
  }
}
/** The number of the token that a request was sent with. */
const numberOf = (request) => Number(/^st_test_(\d+)\./.exec(request.headers.get("x-service-secret"))?.[1]);
const refused = () => problem(401, "invalid_key");
/** A `fetch` that refuses all tokens before the nth. */
const refusing =
  (n, good = () => json(WHOAMI)) =>
  (request) =>
    numberOf(request) < n ? refused() : good(request);

/** A `fetch` that gives these one after the other, the last one from then on. */
const inTurn =
  (...answers) =>
  (request, n) =>
    answers[Math.min(n, answers.length) - 1](request, n);
const near = (time, expected) =>
  assert.ok(time >= expected && time <= expected + 3 * TICK_MS, `${time} ms instead of ${expected} ms`);

describe("the npm package without a service", { timeout: 300_000 }, () => {
  describe("retries", () => {
    for (const [what, [fail, kind]] of Object.entries(PASSING)) {
      for (const [name, [call, good]] of Object.entries(REPEATABLE)) {
        test(`${name} is sent again after ${what}`, async () => {
          for (const [options, sent] of [
            [{}, 3],
            [{ maxRetries: 0 }, 1],
            [{ maxRetries: 1 }, 2],
            [{ maxRetries: 4 }, 5],
          ]) {
            const { error, requests } = await timed(fail, call, options);
            expectError(error, kind);
            assert.equal(requests.length, sent);
            for (const { method, url, body } of requests)
              assert.deepEqual([method, url, body], [requests[0].method, requests[0].url, requests[0].body]);
            assert.ok(requests.every((each) => each.headers.get("x-service-secret") === OWN));
          }
          const { value, requests } = await timed(inTurn(fail, fail, good), call);
          assert.equal(requests.length, 3);
          assert.equal(name.startsWith("delete"), value === undefined);
        });
      }
      for (const [name, [call]] of Object.entries(ONCE_ONLY)) {
        test(`${name} is never sent again after ${what}`, async () => {
          const { error, requests, took } = await timed(fail, call, { maxRetries: 5 });
          expectError(error, kind);
          assert.deepEqual([requests.length, took], [1, 0]);
        });
      }
    }

    test("what will not pass is not tried again", async () => {
      for (const [status, code] of [
        [400, "invalid_parameter"],
        [401, "invalid_key"],
        [403, "insufficient_scope"],
        [404, "connection_not_found"],
        [405, "method_not_allowed"],
        [409, "connection_exists"],
        [412, "precondition_failed"],
        [413, "body_too_large"],
        [415, "unsupported_media_type"],
        [500, "internal"],
        [501, "x"],
        [502, "x"],
        [504, "x"],
      ]) {
        for (const [call] of Object.values(ALL)) {
          const { error, requests, took } = await timed(() => problem(status, code, { "retry-after": "1" }), call);
          assert.deepEqual([error.status, error.code, requests.length, took], [status, code, 1, 0]);
        }
      }
      for (const strange of [
        () => new Response("<html>"),
        () => new Response(null, { status: 302 }),
        () => new Response("{"),
        () => json([]),
      ]) {
        const { error, requests } = await timed(strange, REPEATABLE.whoami[0]);
        expectError(error, "ServerError", { code: "unexpected_response" });
        assert.equal(requests.length, 1);
      }
    });

    test("waits begin at half a second, double, end at eight seconds, and are not all the same", async () => {
      const firsts = new Set();
      for (const [fail] of Object.values(PASSING)) {
        for (let i = 0; i < 6; i += 1) {
          const { waits } = await timed(fail, REPEATABLE.whoami[0], { maxRetries: 7, timeoutMs: 600_000 });
          assert.equal(waits.length, 7);
          waits.forEach((wait, n) => {
            const most = Math.min(500 * 2 ** n, 8000);
            assert.ok(wait >= most * 0.25 && wait <= most + 2 * TICK_MS, `wait ${n}: ${wait} ms`);
          });
          firsts.add(waits[0]);
        }
      }
      assert.ok(firsts.size > 4, [...firsts].join());
    });

    test("Retry-After is honoured: in seconds, and as a date", async () => {
      const at = (seconds) => new Date(Date.now() + seconds * 1000).toUTCString();
      for (const fail of [limited, overloaded]) {
        for (const [value, wait] of [
          [() => "3", 3000],
          [() => "0", 0],
          [() => "12", 12_000],
          [() => at(7), 7000],
          [() => at(-60), 0],
          [() => " 2 ", 2000],
        ]) {
          const { value: answer, waits } = await timed(
            inTurn(
              () => fail({ "retry-after": value() }),
              () => json(WHOAMI),
            ),
            REPEATABLE.whoami[0],
          );
          assert.equal(answer.account, "acme");
          near(waits[0], wait);
        }
        for (const value of ["soon", "-1", "1.5.1", "", "1e3x"]) {
          const { waits } = await timed(
            inTurn(
              () => fail({ "retry-after": value }),
              () => json(WHOAMI),
            ),
            REPEATABLE.whoami[0],
          );
          assert.ok(waits[0] >= 0 && waits[0] <= 520, `"${value}": ${waits[0]} ms`);
        }
      }
    });

    test("a wait that would outlast the call is not begun", async () => {
      for (const [fail, kind] of [
        [limited, "RateLimitError"],
        [overloaded, "ServerError"],
      ]) {
        for (const [value, seconds] of [
          ["60", 60],
          ["30", 30],
          ["4000000000", 4e9],
          ["86400", 86_400],
        ]) {
          const { error, requests, took } = await timed(() => fail({ "retry-after": value }), REPEATABLE.whoami[0]);
          expectError(error, kind, { retryAfter: seconds });
          assert.deepEqual([requests.length, took], [1, 0]);
        }
        const { error, requests, took } = await timed(() => fail({ "retry-after": "20" }), REPEATABLE.whoami[0]);
        expectError(error, kind, { retryAfter: 20 });
        assert.equal(requests.length, 2);
        near(took, 20_000);
        const date = await timed(
          () => fail({ "retry-after": new Date(Date.now() + 90_000).toUTCString() }),
          REPEATABLE.whoami[0],
        );
        assert.equal(Math.round(expectError(date.error, kind).retryAfter), 90);
        const none = await timed(() => fail(), REPEATABLE.whoami[0], { maxRetries: 0 });
        expectError(none.error, kind, { retryAfter: undefined });
      }
    });

    test("a deletion whose answer was lost is done when there is nothing left to delete", async () => {
      const gone = () => problem(404, "connection_not_found");
      const [call] = REPEATABLE.delete;
      const lost = await timed(inTurn(PASSING["a lost connection"][0], gone), call);
      assert.ok("value" in lost && lost.value === undefined);
      const twice = await timed(
        inTurn(PASSING["a lost connection"][0], () => limited(), gone),
        call,
      );
      assert.ok("value" in twice && twice.value === undefined);
      expectError((await timed(gone, call)).error, "NotFoundError", { status: 404 });
      // Who was refused for asking too often has deleted nothing.
      expectError(
        (
          await timed(
            inTurn(() => limited(), gone),
            call,
          )
        ).error,
        "NotFoundError",
        { status: 404 },
      );
      expectError(
        (
          await timed(
            inTurn(PASSING["a lost connection"][0], () => new Response("<html>", { status: 404 })),
            call,
          )
        ).error,
        "NotFoundError",
        { code: "unexpected_response" },
      );
      expectError(
        (await timed(inTurn(PASSING["a lost connection"][0], gone), REPEATABLE.get[0])).error,
        "NotFoundError",
      );
    });

    test("the last failure is told, with its own answer", async () => {
      const { error } = await timed(
        inTurn(
          PASSING["a lost connection"][0],
          () => limited({ "x-request-id": "second" }),
          () => overloaded({ "x-request-id": "third", "retry-after": "9" }),
        ),
        REPEATABLE.get[0],
      );
      expectError(error, "ServerError", { status: 503, code: "unavailable", requestId: "third", retryAfter: 9 });
      const { error: other } = await timed(
        inTurn(overloaded, () => problem(404, "connection_not_found")),
        REPEATABLE.get[0],
      );
      expectError(other, "NotFoundError", { status: 404 });
    });

    test("an answer that breaks off is sent for again", async () => {
      const broken = () =>
        new Response(new ReadableStream({ pull: (controller) => controller.error(new TypeError("terminated")) }));
      const { value, requests } = await timed(
        inTurn(broken, () => json(WHOAMI)),
        REPEATABLE.whoami[0],
      );
      assert.deepEqual([value, requests.length], [WHOAMI, 2]);
      const { error } = await timed(broken, ONCE_ONLY.create[0]);
      assert.equal(expectError(error, "ConnectionError", { code: "connection_failed" }).cause.message, "terminated");
    });
  });

  describe("the end of a call", () => {
    for (const [name, [call]] of Object.entries(ALL)) {
      test(`${name}: a fetch that ignores its signal does not keep the call`, async () => {
        const { error, took, requests } = await timed(forever, call);
        expectUnanswered(error, "TimeoutError", { status: undefined, code: "timeout", errors: [] });
        assert.equal(requests.length, 1);
        near(took, 30_000);
        assert.ok(requests[0].request.signal.aborted, "fetch is told");
        const body = await timed(() => new Response(new ReadableStream({ pull: forever })), call, { timeoutMs: 1500 });
        expectError(body.error, "TimeoutError");
        near(body.took, 1500);
        const controller = new AbortController();
        const ended = await timed(
          () => (setTimeout(() => controller.abort("mine"), 40), forever()),
          (vault) => call(vault, { signal: controller.signal }),
        );
        expectUnanswered(ended.error, "AbortError", { cause: "mine", status: undefined, code: "aborted", errors: [] });
        near(ended.took, 40);
        assert.ok(ended.requests[0].request.signal.aborted);
      });
    }

    test("the time is the call's, with its retries", async () => {
      const slow = () => new Promise((_, fail) => setTimeout(() => fail(new TypeError("late")), 900));
      const { error, took, requests } = await timed(slow, REPEATABLE.whoami[0], { timeoutMs: 2000, maxRetries: 10 });
      assert.ok(["TimeoutError", "ConnectionError"].includes(error.name), error.name);
      assert.ok(took <= 2000 + 2 * TICK_MS && requests.length === 2, `${took} ms, ${requests.length} requests`);
      const hung = await timed(inTurn(PASSING[503][0], forever), REPEATABLE.whoami[0], { timeoutMs: 5000 });
      expectError(hung.error, "TimeoutError");
      near(hung.took, 5000);
    });

    test("each page of a walk has its own time", async () => {
      const slow = (_request, n) =>
        new Promise((done) => setTimeout(() => done(json({ rows: [n], total: 5, pages: 5, page: n })), 700));
      const { value, took } = await timed(slow, (vault) => vault.connectors.list().toArray(), { timeoutMs: 1000 });
      assert.deepEqual(value, [1, 2, 3, 4, 5]);
      near(took, 3500);
    });

    test("a signal that has ended before sends nothing", async () => {
      for (const reason of [new Error("mine"), "text", undefined, 5, null]) {
        for (const [call] of Object.values(ALL)) {
          const signal = AbortSignal.abort(reason);
          const { error, requests } = await timed(forever, (vault) => call(vault, { signal }));
          expectUnanswered(error, "AbortError", { code: "aborted", cause: signal.reason });
          assert.equal(requests.length, 0);
        }
      }
      const { error } = await timed(forever, (vault) =>
        vault.connections.get("nothing", { signal: AbortSignal.abort() }),
      );
      assert.ok(["AbortError", "ValidationError"].includes(error.name));
    });

    test("a signal ends the wait between two tries at once", async () => {
      for (const [fail] of Object.values(PASSING)) {
        const controller = new AbortController();
        const { error, took, requests } = await timed(
          (...given) => {
            setTimeout(() => controller.abort(new Error("mine")), 30);
            return fail(...given);
          },
          (vault) => vault.whoami({ signal: controller.signal }),
        );
        assert.equal(expectUnanswered(error, "AbortError", { status: undefined }).cause.message, "mine");
        near(took, 30);
        assert.equal(requests.length, 1);
      }
    });

    test("a fetch that rejects with the caller's own abort tells the same", async () => {
      const controller = new AbortController();
      const obeying = (request) =>
        new Promise((_, fail) => request.signal.addEventListener("abort", () => fail(request.signal.reason)));
      const { error, requests } = await timed(
        (request) => (setTimeout(() => controller.abort("mine"), 20), obeying(request)),
        (vault) => vault.whoami({ signal: controller.signal }),
      );
      expectError(error, "AbortError", { cause: "mine" });
      assert.equal(requests.length, 1);
      expectError((await timed(obeying, (vault) => vault.whoami(), { timeoutMs: 100 })).error, "TimeoutError");
    });

    test("what comes late is nobody's unhandled rejection", async () => {
      let reject;
      const { error } = await timed(
        () => new Promise((_, fail) => (reject = fail)),
        (vault) => vault.whoami(),
        { timeoutMs: 50 },
      );
      expectError(error, "TimeoutError");
      reject(new Error("late"));
      const late = new Response(
        new ReadableStream({ start: (controller) => (reject = (reason) => controller.error(reason)) }),
      );
      expectError(
        (
          await timed(
            () => late,
            (vault) => vault.whoami(),
            { timeoutMs: 50 },
          )
        ).error,
        "TimeoutError",
      );
      reject(new Error("later"));
      await idle();
    });

    test("a call that is over leaves nothing behind: no timer, no listener", async () => {
      for (const [call, good] of Object.values(REPEATABLE)) {
        for (const send of [
          good,
          overloaded,
          forever,
          inTurn(overloaded, good),
          inTurn(PASSING["a lost connection"][0], good),
        ])
          assert.equal((await timed(send, call)).timers, 0);
      }
      const { signal } = new AbortController();
      const vault = new ConnectorVault({ baseUrl: BASE, secret: OWN, fetch: async () => json(WHOAMI) });
      for (let i = 0; i < 20; i += 1) await vault.whoami({ signal });
      assert.equal(getEventListeners(signal, "abort").length, 0);
      const failing = new ConnectorVault({
        baseUrl: BASE,
        secret: OWN,
        maxRetries: 0,
        fetch: async () => overloaded(),
      });
      for (let i = 0; i < 20; i += 1) await failure(failing.whoami({ signal }));
      assert.equal(getEventListeners(signal, "abort").length, 0);
    });
  });

  describe("a secret that a function supplies", () => {
    /** A call with a supplier of its own: what `timed` gives, and how often the supplier was asked. */
    async function supplied(supplier, send, call, options, tick) {
      const outcome = await timed(send, call, { secret: supplier.supply, ...options }, tick);
      return { ...outcome, supplies: supplier.asked.length, tokens: outcome.requests.map(numberOf) };
    }
    const whoami = (vault, options) => vault.whoami(options);
    const expiring = (seconds) => (text) => ({
      token: text,
      expiresAt: new Date(Date.now() + seconds * 1000).toISOString(),
    });

    test("is asked for with the first call, and once for many at a time", async () => {
      for (const give of [
        (text) => text,
        async (text) => text,
        (text) => pause(700).then(() => text),
        (text) => ({ then: (done) => done(text) }),
        (text) => ({ token: text }),
        async (text) => ({ token: text, expiresAt: null }),
        (text) => ({
          ...expiring(900)(text),
          environment: "test",
          identity: "ann",
          identityType: null,
          scopes: [],
          platforms: null,
          origins: null,
        }),
        async (text) => Object.create(null, { token: { value: text } }),
      ]) {
        const supplier = new Supplier(give);
        const { value, supplies, requests, tokens } = await supplied(
          supplier,
          () => json(WHOAMI),
          async (vault) => {
            assert.equal(supplier.asked.length, 0, "a client alone needs no token");
            await failure(() => vault.connections.list({ limit: 0 }));
            assert.deepEqual([vault.connections.validateUpdate({ tags: [] }), supplier.asked.length], [[], 0]);
            const many = await Promise.all(Array.from({ length: 50 }, () => vault.whoami()));
            for (let i = 0; i < 5; i += 1) many.push(await vault.whoami());
            return many;
          },
        );
        assert.deepEqual(value, Array(55).fill(WHOAMI));
        assert.deepEqual([supplies, requests.length, new Set(tokens).size], [1, 55, 1]);
        assert.deepEqual(supplier.asked[0].given, [undefined], "called as a function, without arguments");
      }
    });

    test("the clients of one function ask each for themselves", async () => {
      const supplier = new Supplier();
      const fetching = async () => json(WHOAMI);
      for (let i = 0; i < 3; i += 1)
        await new ConnectorVault({ baseUrl: BASE, secret: supplier.supply, fetch: fetching }).whoami();
      assert.equal(supplier.asked.length, 3);
    });

    test("is renewed before it expires, when somebody calls", async () => {
      for (const [life, until] of [
        [900, 870],
        [1200, 1170],
        [300, 270],
        [200, 180],
        [60, 54],
        [30, 27],
      ]) {
        const { tokens, supplies, timers } = await supplied(
          new Supplier(expiring(life)),
          () => json(WHOAMI),
          async (vault) => {
            await vault.whoami();
            await pause((until - 2) * 1000);
            await vault.whoami();
            await pause(3000);
            await Promise.all(Array.from({ length: 50 }, () => vault.whoami()));
            await pause((until - 2) * 1000);
            await vault.whoami();
          },
          {},
          1000,
        );
        assert.deepEqual(
          [tokens.slice(0, 3), new Set(tokens.slice(2)).size, tokens.length, supplies],
          [[1, 1, 2], 1, 53, 2],
          `${life} s`,
        );
        assert.equal(timers, 0, "nothing waits meanwhile");
      }
    });

    test("without an expiry that can be read, it is kept until it is refused", async () => {
      for (const expiresAt of [undefined, null, "", "soon", Number.NaN, {}, "9999999-01-01"]) {
        const supplier = new Supplier((token) => ({ token, expiresAt }));
        const { supplies, tokens } = await supplied(
          supplier,
          (request, n) => (n > 3 ? refusing(2)(request) : json(WHOAMI)),
          async (vault) => {
            for (let i = 0; i < 5; i += 1, await pause(600_000)) await vault.whoami();
          },
          {},
          10_000,
        );
        assert.deepEqual([supplies, tokens], [2, [1, 1, 1, 1, 2, 2]], String(expiresAt));
      }
    });

    test("a clock that is wrong costs a few renewals, and no call", async () => {
      const WALK_MS = 3_000_000;
      for (const life of [60_000, 900_000, 3_600_000]) {
        for (const skew of [
          0,
          1000,
          -1000,
          20_000,
          -20_000,
          life - 31_000,
          life - 29_000,
          life - 1,
          life,
          3_600_000,
          -3_600_000,
          1e11,
          -1e11,
        ]) {
          // The service's clock; the page's is ahead by the skew.
          const now = () => Date.now() - skew;
          const ends = new Map();
          const supplier = new Supplier((token) => {
            ends.set(token, now() + life);
            return { token, expiresAt: new Date(now() + life).toISOString() };
          });
          let calls = 0;
          const { error, supplies, requests } = await supplied(
            supplier,
            (request) => (now() < ends.get(request.headers.get("x-service-secret")) ? json(WHOAMI) : refused()),
            async (vault) => {
              for (const began = Date.now(); Date.now() - began < WALK_MS; await pause(5000)) {
                calls += 1;
                await vault.whoami();
              }
            },
            {},
            5000,
          );
          const what = `${life} ms, ${skew} ms ahead: ${supplies} renewals, ${requests.length} requests`;
          assert.equal(error, undefined, `${what}: ${error}`);
          // A clock that is ahead by almost a whole life makes it seem to be of half a minute.
          assert.ok(supplies <= WALK_MS / 25_000 + 1, what);
          assert.ok(requests.length <= calls + supplies, what);
          if (Math.abs(skew) <= 1000)
            assert.ok(supplies <= WALK_MS / (life - Math.min(life * 0.1, 30_000) - 6000) + 1, what);
          if (skew === 0) assert.equal(requests.length, calls, `${what}: nothing was refused`);
        }
      }
    });

    for (const [name, [call, good]] of Object.entries(ALL)) {
      test(`${name}: refused, it is renewed and sent again, once`, async () => {
        for (const options of [{}, { maxRetries: 0 }]) {
          const { error, requests, tokens, supplies, took } = await supplied(
            new Supplier(),
            refusing(2, good),
            call,
            options,
          );
          assert.equal(error, undefined, String(error));
          assert.deepEqual([tokens, supplies, took], [[1, 2], 2, 0]);
          const [first, second] = requests.map(({ method, url, body, headers }) => ({
            method,
            url,
            body,
            match: headers.get("if-match"),
            type: headers.get("content-type"),
          }));
          assert.deepEqual(second, first);
          const again = await supplied(new Supplier(), refused, call, options);
          expectError(again.error, "AuthenticationError", { status: 401, code: "invalid_key", requestId: "r" });
          assert.deepEqual([again.tokens, again.supplies, again.took], [[1, 2], 2, 0]);
        }
      });
    }

    test("after a second refusal, the next call asks for another one", async () => {
      const { value, tokens } = await supplied(new Supplier(), refusing(4), async (vault) => {
        expectError(await failure(vault.whoami()), "AuthenticationError");
        return [await vault.whoami(), await vault.whoami()];
      });
      assert.deepEqual(
        [value, tokens],
        [
          [WHOAMI, WHOAMI],
          [1, 2, 3, 4, 4],
        ],
      );
    });

    test("many that are refused renew it once, also those that hear of it late", async () => {
      const supplier = new Supplier((text, n) => (n === 1 ? text : pause(500).then(() => text)));
      const { value, supplies, tokens } = await supplied(
        supplier,
        async (request, n) => {
          // Some while it is being renewed, some long after.
          if (n <= 50) await pause(n * 40);
          return refusing(2)(request);
        },
        (vault) => Promise.all(Array.from({ length: 50 }, () => vault.whoami())),
      );
      assert.deepEqual(value, Array(50).fill(WHOAMI));
      assert.deepEqual([supplies, tokens], [2, [...Array(50).fill(1), ...Array(50).fill(2)]]);
    });

    test("a renewal takes nothing from the retries, nor they from it", async () => {
      const { value, tokens } = await supplied(
        new Supplier(),
        inTurn(
          () => overloaded(),
          refused,
          () => overloaded(),
          () => json(WHOAMI),
        ),
        whoami,
      );
      assert.deepEqual([value, tokens], [WHOAMI, [1, 1, 2, 2]]);
      const { error, requests } = await supplied(
        new Supplier(),
        inTurn(refused, () => overloaded()),
        whoami,
      );
      expectError(error, "ServerError", { status: 503 });
      assert.equal(requests.length, 4);
    });

    test("only a refused secret is renewed", async () => {
      for (const [status, code] of [
        [400, "invalid_parameter"],
        [403, "insufficient_scope"],
        [404, "connection_not_found"],
        [429, "too_many_requests"],
        [500, "internal"],
        [503, "unavailable"],
      ]) {
        const { error, supplies } = await supplied(new Supplier(), () => problem(status, code), whoami);
        assert.deepEqual([error.status, supplies], [status, 1]);
      }
    });

    test("a token as a plain text stays what it is", async () => {
      const text = new Supplier().token(1);
      const { error, tokens } = await timed(
        refused,
        async (vault) => {
          const outcomes = await Promise.allSettled([vault.whoami(), vault.connections.create(WISH)]);
          throw outcomes[1].reason;
        },
        { secret: text },
      ).then((outcome) => ({ ...outcome, tokens: outcome.requests.map(numberOf) }));
      expectError(error, "AuthenticationError", { status: 401, code: "invalid_key" });
      assert.deepEqual(tokens, [1, 1]);
    });

    test("a function that fails is told with what it failed with, and asked again by the next call", async () => {
      for (const reason of [new TypeError("mine"), "a text", undefined, null, 5, { a: 1 }, Symbol("x")]) {
        for (const fails of [
          () => {
            throw reason;
          },
          () => Promise.reject(reason),
          () =>
            pause(200).then(() => {
              throw reason;
            }),
          () => ({ then: (_, reject) => reject(reason) }),
          () => ({
            get token() {
              throw reason;
            },
          }),
        ]) {
          const supplier = new Supplier((text, n) => (n === 1 ? fails() : text));
          const { value, requests, supplies } = await supplied(
            supplier,
            () => json(WHOAMI),
            async (vault) => {
              const outcomes = await Promise.allSettled([
                vault.whoami(),
                vault.connections.list(),
                vault.connections.create(WISH),
              ]);
              for (const { reason: error } of outcomes)
                assert.equal(
                  expectUnanswered(error, "VaultError", { status: undefined, code: "secret_unavailable", errors: [] })
                    .cause,
                  reason,
                );
              assert.equal(supplier.asked.length, 1);
              return vault.whoami();
            },
          );
          assert.deepEqual([value, requests.length, supplies], [WHOAMI, 1, 2]);
        }
      }
    });

    test("a function that fails when it is to renew is told as well", async () => {
      const supplier = new Supplier((text, n) => {
        if (n === 2) throw new Error("signed out");
        return expiring(60)(text);
      });
      for (const [wait, sent] of [
        [0, [1, 3]],
        [55_000, [3]],
      ]) {
        supplier.asked = [];
        const { tokens } = await supplied(
          supplier,
          refusing(wait === 0 ? 2 : 1),
          async (vault) => {
            if (wait > 0) assert.deepEqual(await vault.whoami(), WHOAMI);
            await pause(wait);
            assert.equal(
              expectUnanswered(await failure(vault.whoami()), "VaultError", { code: "secret_unavailable" }).cause
                .message,
              "signed out",
            );
            assert.deepEqual(await vault.whoami(), WHOAMI);
          },
          {},
          1000,
        );
        assert.deepEqual(tokens.slice(-sent.length), sent);
      }
    });

    test("what is no secret is refused, and nothing sent", async () => {
      for (const junk of [
        undefined,
        null,
        5,
        true,
        {},
        [],
        { secret: "st_test_x" },
        { token: 5 },
        { token: undefined },
        { error: "signed out" },
        new Response("st_test_x"),
        () => "st_test_x",
      ]) {
        const { error, requests } = await supplied(new Supplier(() => junk), () => json(WHOAMI), whoami);
        expectUnanswered(error, "VaultError", { status: undefined, code: "secret_unavailable", cause: undefined });
        assert.equal(requests.length, 0);
      }
      // As the constructor does.
      for (const text of [
        "",
        "x",
        "sk_test_",
        `${OWN}0`,
        OWN.replace("sk_test_", "sk_live_"),
        "st_test_a b",
        "st_test_a\nb",
        `st_live_${"x".repeat(5000)}`,
        `Bearer ${OWN}`,
      ]) {
        const expected = await failure(() => new ConnectorVault({ baseUrl: BASE, secret: text }));
        for (const given of [text, { token: text }]) {
          const { error, requests } = await supplied(new Supplier(() => given), () => json(WHOAMI), whoami);
          expectUnanswered(error, "ValidationError", { status: 401, code: expected.code, message: expected.message });
          assert.equal(requests.length, 0);
        }
      }
      const { value, requests } = await supplied(new Supplier(() => OWN), () => json(WHOAMI), whoami);
      assert.deepEqual(
        [value, requests[0].headers.get("x-service-secret")],
        [WHOAMI, OWN],
        "on a server a key may be supplied as well",
      );
    });

    test("whoever stops waiting for it, it comes for the others", async () => {
      const controller = new AbortController();
      const supplier = new Supplier((text) => pause(1000).then(() => text));
      const { value, supplies, requests, took, timers } = await supplied(
        supplier,
        () => json(WHOAMI),
        async (vault) => {
          const calls = [
            vault.whoami({ signal: controller.signal }),
            vault.whoami(),
            vault.connections.delete(ID, { signal: controller.signal }),
          ];
          setTimeout(() => controller.abort("mine"), 300);
          const began = Date.now();
          const ended = await failure(calls[0]);
          near(Date.now() - began, 300);
          for (const error of [ended, await failure(calls[2])])
            expectUnanswered(error, "AbortError", { code: "aborted", cause: "mine" });
          return calls[1];
        },
      );
      assert.deepEqual([value, supplies, requests.length, timers], [WHOAMI, 1, 1, 0]);
      near(took, 1000);
      const { error, supplies: none } = await supplied(
        new Supplier(),
        () => json(WHOAMI),
        (vault) => vault.whoami({ signal: AbortSignal.abort() }),
      );
      expectUnanswered(error, "AbortError");
      assert.equal(none, 0, "a call that has ended before needs no token");
    });

    test("the time of a call is over, that of the renewal is not", async () => {
      const supplier = new Supplier((text) => pause(1500).then(() => text));
      const { value, supplies, requests } = await supplied(
        supplier,
        () => json(WHOAMI),
        async (vault) => {
          const began = Date.now();
          const slow = failure(vault.whoami());
          await pause(800);
          const later = vault.whoami();
          expectUnanswered(await slow, "TimeoutError", { code: "timeout" });
          near(Date.now() - began, 1000);
          return later;
        },
        { timeoutMs: 1000 },
      );
      assert.deepEqual([value, supplies, requests.length], [WHOAMI, 1, 1]);
    });

    test("a function that never answers is asked again, and what it then says counts", async () => {
      let late;
      const supplier = new Supplier((text, n) => (n === 1 ? new Promise((done) => (late = () => done(text))) : text));
      const { value, tokens, supplies } = await supplied(
        supplier,
        () => json(WHOAMI),
        async (vault) => {
          expectUnanswered(await failure(vault.whoami()), "TimeoutError", { code: "timeout" });
          const first = await vault.whoami();
          late();
          await idle();
          return [first, await vault.whoami()];
        },
        { timeoutMs: 1000 },
      );
      assert.deepEqual([value, tokens, supplies], [[WHOAMI, WHOAMI], [2, 2], 2]);
    });

    test("a walk goes on over renewals, from the same cursor", async () => {
      const PAGES = 9;
      const cursor = (n) => n.toString(16).padStart(CURSOR_DIGITS, "0");
      const answer = (request) => {
        const at = parseInt(new URL(request.url).searchParams.get("after") ?? "0", 16);
        const link =
          at + 1 < PAGES
            ? { link: `<${BASE}/v1/vault/connections?limit=100&after=${cursor(at + 1)}>; rel="next"` }
            : {};
        return json(
          { rows: [{ id: `${at}a` }, { id: `${at}b` }], total: 2 * PAGES, pages: PAGES, page: at + 1 },
          200,
          link,
        );
      };
      // By the clock, and by the service, which takes each token for two pages only.
      for (const [give, send] of [
        [expiring(60), answer],
        [
          (text) => text,
          (() => {
            const used = new Map();
            return (request) => {
              const times = (used.get(numberOf(request)) ?? 0) + 1;
              used.set(numberOf(request), times);
              return times > 2 ? refused() : answer(request);
            };
          })(),
        ],
      ]) {
        const { value, tokens, requests } = await supplied(
          new Supplier(give),
          send,
          async (vault) => {
            const ids = [];
            for await (const { id } of vault.connections.list()) {
              ids.push(id);
              await pause(15_000);
            }
            return ids;
          },
          {},
          1000,
        );
        assert.deepEqual(value, Array.from({ length: PAGES }, (_, n) => [`${n}a`, `${n}b`]).flat());
        assert.ok(new Set(tokens).size >= 4, tokens.join());
        const refusals = requests.filter(({ query }, n) => n > 0 && query.after === requests[n - 1].query.after).length;
        assert.equal(requests.length, PAGES + refusals);
        assert.equal(refusals, give.length === 1 && send !== answer ? 4 : 0);
      }
    });

    test("is nowhere to be seen", async () => {
      const supplier = new Supplier((text) => ({ token: text, expiresAt: null, note: "of the backend" }));
      const { error, value } = await supplied(
        supplier,
        (request) => {
          const text = request.headers.get("x-service-secret");
          return json(
            {
              type: "x",
              title: "T",
              status: 400,
              detail: `What is ${text}?`,
              code: "invalid_body",
              requestId: text,
              errors: [{ pointer: "", detail: text }],
            },
            400,
          );
        },
        async (vault) => {
          expectError(await failure(vault.connections.create(WISH)), "ValidationError", { message: "What is …?" });
          return vault;
        },
      );
      assert.equal(error, undefined, String(error));
      for (const shown of [
        JSON.stringify(value),
        inspect(value, { depth: 20, showHidden: true, getters: true }),
        ...Object.keys(value),
      ]) {
        for (const text of secrets) assert.ok(!shown.includes(text), shown);
      }
      const broken = new Supplier((text) => ({ token: `${text} ` }));
      expectUnanswered((await supplied(broken, () => json(WHOAMI), whoami)).error, "ValidationError", {
        code: "invalid_key",
      });
    });
  });

  describe("servers that misreport", () => {
    const rows = (n, count = 100) => Array.from({ length: count }, (_, i) => ({ id: n * 1000 + i }));
    /** A cursor as far as its shape goes. */
    const cursor = (name) => Buffer.from(name).toString("hex").padStart(CURSOR_DIGITS, "0");
    const link = (name, origin = BASE) => ({
      link: `<${origin}/v1/vault/connections?limit=100&after=${cursor(name)}>; rel="next"`,
    });
    const MOST = 50;

    /** Walks a list of the stub's to its end: the number of rows, and the requests. */
    async function walk(answer, list, options) {
      const { value, error, requests } = await timed(
        (request, n) => {
          if (n > MOST) throw new Error("it asks for ever");
          return answer(n, new URL(request.url).searchParams);
        },
        (vault) => list(vault).toArray(options),
        { maxRetries: 0 },
      );
      assert.ok(requests.length < MOST, "it asks for ever");
      // Who tells that the server misreports ends as well.
      if (error) expectError(error, "ServerError", { code: "unexpected_response" });
      return { value, error, requests };
    }
    const connectors = (vault) => vault.connectors.list();
    const connections = (vault) => vault.connections.list();

    for (const [what, list, linked] of [
      ["connectors", connectors, () => ({})],
      ["actions", (vault) => vault.actions.list("github"), () => ({})],
      ["connections", connections, link],
    ]) {
      test(`${what}: pages without rows end the walk, whatever is promised`, async () => {
        for (const promised of [
          { total: 1e9, pages: 1e7 },
          { total: 0, pages: 5 },
          { total: 7, pages: Number.MAX_SAFE_INTEGER },
        ]) {
          const { value, requests } = await walk(
            (n) => json({ rows: n === 1 ? rows(1) : [], page: n, ...promised }, 200, linked(`a${n}`)),
            list,
          );
          assert.equal(value.length, 100);
          assert.ok(requests.length <= 2);
          const empty = await walk((n) => json({ rows: [], page: n, ...promised }, 200, linked(`a${n}`)), list);
          assert.deepEqual([empty.value, empty.requests.length], [[], 1]);
        }
      });

      test(`${what}: the same page for ever ends the walk`, async () => {
        const { value, error } = await walk(
          () => json({ rows: rows(1), total: 1e9, pages: 1e7, page: 1 }, 200, linked("same")),
          list,
        );
        assert.ok(error || value.length <= 200, `${value?.length} rows`);
      });
    }

    test("connections: the cursor counts, not the total", async () => {
      for (const lie of [
        { total: 0, pages: 0, page: 1 },
        { total: 1, pages: 1, page: 1 },
        { total: 1e9, pages: 1e7, page: 9 },
      ]) {
        const { value, requests } = await walk(
          (n) => json({ rows: rows(n), ...lie }, 200, n < 4 ? link(`c${n}`) : {}),
          connections,
        );
        assert.deepEqual(
          requests.map(({ query }) => query.after),
          [undefined, ...["c1", "c2", "c3"].map(cursor)],
        );
        assert.deepEqual([value.length, requests.length, new Set(value.map(({ id }) => id)).size], [400, 4, 400]);
      }
    });

    test("connectors: a total that shrinks or grows on the way", async () => {
      const shrinking = await walk(
        (n) => json({ rows: rows(n), total: 500 - 100 * n, pages: 5 - n, page: n }),
        connectors,
      );
      assert.ok(shrinking.value.length >= 100 && shrinking.requests.length <= 5);
      const growing = await walk(
        (n) => json({ rows: n <= 3 ? rows(n) : [], total: 100 * (n + 1), pages: n + 1, page: n }),
        connectors,
      );
      assert.equal(growing.value.length, 300);
    });

    test("cursors that go round in circles end the walk", async () => {
      for (const circle of [["a"], ["a", "b"], ["a", "b", "c"]]) {
        const { requests } = await walk(
          (n) => json({ rows: rows(n), total: 1e6, pages: 1e4, page: n }, 200, link(circle[n % circle.length])),
          connections,
        );
        assert.ok(requests.length >= circle.length);
      }
    });

    test("a page has a cursor only where next() would follow it", async () => {
      const last = { total: 1e9, pages: 1e7 };
      for (const [answer, expected] of [
        [
          (n) => json({ rows: rows(n), ...last, page: n }, 200, n < 3 ? link(`c${n}`) : {}),
          [cursor("c1"), cursor("c2"), undefined],
        ],
        [
          (n) => json({ rows: n < 3 ? rows(n) : [], ...last, page: n }, 200, link(`c${n}`)),
          [cursor("c1"), cursor("c2"), undefined],
        ],
        [(n) => json({ rows: rows(n), ...last, page: n }, 200, link("same")), [cursor("same"), undefined]],
        [(n) => json({ rows: rows(n), total: 300, pages: 3, page: n }), [undefined, undefined, undefined]],
      ]) {
        const { value } = await timed(
          (_request, n) => answer(n),
          async (vault) => {
            const cursors = [];
            for (let page = await vault.connections.list(); page && cursors.length < MOST; page = await page.next())
              cursors.push(page.after);
            return cursors;
          },
        );
        assert.deepEqual(value, expected);
      }
    });

    test("next() of a page ends as well", async () => {
      const answers = await timed(
        (_request, n) => json({ rows: rows(n), total: 1e9, pages: 1e7, page: 1 }, 200, link("same")),
        async (vault) => {
          let pages = 0;
          for (let page = await vault.connections.list(); page && pages < MOST; page = await page.next()) pages += 1;
          return pages;
        },
      );
      assert.ok(answers.error || answers.value < MOST, `${answers.value} pages`);
    });

    test("`max` holds when a server sends more than it was asked for", async () => {
      const { value, requests } = await walk(
        (n) => json({ rows: rows(n, 5000), total: 5000, pages: 50, page: n }),
        connectors,
        { max: 3 },
      );
      assert.deepEqual([value.length, requests.length], [3, 1]);
    });

    test("a Link to elsewhere is not followed there", async () => {
      const { value, requests } = await walk(
        (n) =>
          json(
            { rows: rows(n, 1), total: 2, pages: 2, page: n },
            200,
            n === 1 ? link("c", "https://evil.example") : {},
          ),
        connections,
      );
      assert.equal(value.length, 2);
      for (const { url } of requests) assert.equal(new URL(url).origin, BASE);
    });

    test("a Link that can't be understood ends the walk", async () => {
      for (const value of [
        "x",
        "<>",
        '<http://[>; rel="next"',
        '<?after=%zz>; rel="next"',
        '<?limit=1>; rel="next"',
        '<?after=>; rel="next"',
        '<?after=1>; rel="prev"',
        ";;;",
        "<".repeat(1000),
      ]) {
        const {
          value: walked,
          error,
          requests,
        } = await timed(
          (_request, n) => json({ rows: rows(n, 1), total: 1, pages: 1, page: 1 }, 200, { link: value }),
          (vault) => connections(vault).toArray(),
        );
        assert.ok(error instanceof VaultError || walked.length === 1, value.slice(0, 40));
        assert.equal(requests.length, 1);
      }
    });
  });

  describe("a fetch of the caller's own", () => {
    const vault = (fetch, options) =>
      new ConnectorVault({ baseUrl: BASE, secret: OWN, maxRetries: 0, fetch, ...options });

    test("gets one argument, a Request that says it all", async () => {
      const recorder = new Recorder((request) => (request.method === "GET" ? json(WHOAMI) : json(CONNECTION)));
      const client = vault(recorder.fetch, { headers: { "x-trace": "t1" } });
      await client.whoami();
      await client.connections.update(ID.toUpperCase(), { tags: ["é,".slice(0, 1)] }, { ifMatch: CONNECTION });
      const [get, patch] = recorder.requests;
      assert.deepEqual([get.method, get.url, get.body], ["GET", `${BASE}/v1/whoami`, ""]);
      assert.deepEqual(Object.fromEntries(get.headers), {
        accept: "application/json",
        "x-service-secret": OWN,
        "x-trace": "t1",
      });
      assert.equal(get.request.redirect, "manual");
      assert.equal(patch.method, "PATCH");
      assert.equal(patch.url.toLowerCase(), `${BASE}/v1/vault/connections/${ID}`);
      assert.deepEqual(
        [patch.body, patch.headers.get("content-type"), patch.headers.get("if-match"), patch.headers.get("x-trace")],
        ['{"tags":["é"]}', "application/json", `"${ID}-1"`, "t1"],
      );
    });

    test("may throw at once, or reject with anything: ConnectionError with that as its cause", async () => {
      for (const reason of [new TypeError("mine"), "a text", undefined, null, 5, { a: 1 }, Symbol("x")]) {
        for (const fails of [
          () => {
            throw reason;
          },
          () => Promise.reject(reason),
          async () => {
            throw reason;
          },
          () => ({ then: (_, reject) => reject(reason) }),
        ]) {
          for (const [call] of Object.values(ALL)) {
            const error = expectUnanswered(await failure(call(vault(fails))), "ConnectionError", {
              status: undefined,
              code: "connection_failed",
              errors: [],
            });
            assert.equal(error.cause, reason);
          }
        }
      }
    });

    test("may give anything: what is no response is told", async () => {
      for (const junk of [
        undefined,
        null,
        {},
        "text",
        5,
        [],
        true,
        () => {},
        { status: 200 },
        { status: "200", headers: new Headers() },
        { status: 200, headers: new Headers() },
        { status: 200, headers: new Headers(), json: () => "no promise" },
        {
          status: 200,
          headers: new Headers(),
          json: () => {
            throw new Error("mine");
          },
        },
        {
          get status() {
            throw new Error("mine");
          },
        },
        new Proxy(
          {},
          {
            get: () => {
              throw new Error("mine");
            },
          },
        ),
      ]) {
        for (const gives of [
          () => junk,
          async () => (junk && typeof junk === "object" && "then" in junk ? undefined : junk),
        ]) {
          const error = await failure(() => vault(gives).whoami());
          assert.ok(error instanceof VaultError, `${typeof junk}: ${error?.stack}`);
          assert.ok(["unexpected_response", "connection_failed"].includes(error.code), error.code);
          expectNoSecret(error);
        }
      }
    });

    test("may give a response of another realm or library", async () => {
      const headers = { get: (name) => ({ "x-request-id": "other" })[name.toLowerCase()] ?? null };
      assert.deepEqual(
        await vault(async () => ({
          status: 200,
          ok: true,
          headers,
          json: async () => WHOAMI,
          text: async () => JSON.stringify(WHOAMI),
        })).whoami(),
        WHOAMI,
      );
    });

    test("may give what is no promise", async () => {
      assert.deepEqual(await vault(() => json(WHOAMI)).whoami(), WHOAMI);
    });

    test("is the global one, as it is at the time, unless told", async () => {
      const client = new ConnectorVault({ baseUrl: BASE, secret: OWN, maxRetries: 0 });
      const recorder = new Recorder(() => json(WHOAMI));
      const before = globalThis.fetch;
      try {
        globalThis.fetch = recorder.fetch;
        assert.deepEqual(await client.whoami(), WHOAMI);
      } finally {
        globalThis.fetch = before;
      }
      assert.equal(recorder.calls, 1);
    });
  });

  describe("options", () => {
    const made = (options) => () => new ConnectorVault({ baseUrl: BASE, secret: OWN, ...options });
    const urlOf = async (baseUrl, call = (client) => client.whoami()) => {
      const recorder = new Recorder(() => json(WHOAMI));
      await call(new ConnectorVault({ baseUrl, secret: OWN, fetch: recorder.fetch })).catch(() => {});
      return recorder.requests[0].url;
    };

    test("baseUrl: an address, with a slash at its end or not, and with a path", async () => {
      for (const [baseUrl, url] of [
        [BASE, `${BASE}/v1/whoami`],
        [`${BASE}/`, `${BASE}/v1/whoami`],
        [`${BASE}//`, `${BASE}/v1/whoami`],
        ["http://127.0.0.1:8787", "http://127.0.0.1:8787/v1/whoami"],
        [`${BASE}/a/b`, `${BASE}/a/b/v1/whoami`],
        [`${BASE}/a/b/`, `${BASE}/a/b/v1/whoami`],
        [new URL(`${BASE}/a`), `${BASE}/a/v1/whoami`],
        [new URL(BASE), `${BASE}/v1/whoami`],
        ["HTTPS://Vault.Example:443", `${BASE}/v1/whoami`],
        ["https://[::1]:8443/", "https://[::1]:8443/v1/whoami"],
        ["https://bücher.example", "https://xn--bcher-kva.example/v1/whoami"],
      ])
        assert.equal(await urlOf(baseUrl), url, String(baseUrl));
      assert.equal(
        await urlOf(`${BASE}/a/`, async (client) => client.connections.list({ tags: ["a b", "c&d"], limit: 2 })),
        `${BASE}/a/v1/vault/connections?tags=a%20b%2Cc%26d&limit=2`,
      );
    });

    test("baseUrl: what is no address is refused", async () => {
      for (const baseUrl of [
        "",
        " ",
        "/",
        "/api",
        "vault.example",
        "//vault.example",
        "ftp://vault.example",
        "file:///etc",
        "javascript:alert(1)",
        "data:,x",
        `${BASE}?a=1`,
        `${BASE}/#x`,
        `${BASE}/v?x`,
        "https://user:pass@vault.example",
        "https://user@vault.example",
        "https://",
        "http://a b",
        undefined,
        null,
        5,
        {},
        [],
        true,
      ]) {
        const error = expectInvalid(await failure(made({ baseUrl })), "baseUrl");
        assert.deepEqual(
          error.errors.map(({ parameter }) => parameter),
          ["baseUrl"],
          String(baseUrl),
        );
      }
    });

    test("what is no option is refused, with what may have been meant", async () => {
      for (const [options, name, meant] of [
        [{ timeout: 5 }, "timeout", "timeoutMs"],
        [{ baseURL: BASE }, "baseURL", "baseUrl"],
        [{ retries: 1 }, "retries", "maxRetries"],
        [{ header: {} }, "header", "headers"],
        [{ apiKey: "x" }, "apiKey"],
        [{ allowSecretInBrowsers: true }, "allowSecretInBrowsers", "allowSecretInBrowser"],
        [{ Fetch: fetch }, "Fetch", "fetch"],
      ])
        expectInvalid(await failure(made(options)), name, meant);
      assert.ok(
        made({
          fetch: undefined,
          timeoutMs: undefined,
          maxRetries: undefined,
          headers: undefined,
          allowSecretInBrowser: undefined,
        })(),
      );
      assert.ok(made({ timeout: undefined })(), "undefined is as good as left out");
    });

    test("options of another type or out of range are refused, all at once", async () => {
      for (const [name, values] of Object.entries({
        timeoutMs: [0, -1, 1.5, "5", Number.NaN, Number.POSITIVE_INFINITY, null, {}, 2 ** 31, 10n],
        maxRetries: [-1, 1.5, "2", Number.NaN, Number.POSITIVE_INFINITY, null],
        fetch: [5, "fetch", {}, null],
        headers: [5, "x", null, { "a b": "c" }, { "": "x" }, { a: "b\nc" }, { a: "é😀" }],
        allowSecretInBrowser: ["yes", 1, null, {}],
      })) {
        for (const value of values) expectInvalid(await failure(made({ [name]: value })), name);
      }
      const { errors } = await failure(made({ baseUrl: "x", timeoutMs: 0, maxRetries: -1, fetch: 1, wrong: 1 }));
      assert.deepEqual(errors.map(({ parameter }) => parameter).sort(), [
        "baseUrl",
        "fetch",
        "maxRetries",
        "timeoutMs",
        "wrong",
      ]);
      for (const options of [undefined, null, 5, "x", []]) {
        const error = expectError(await failure(() => new ConnectorVault(options)), "ValidationError", {
          status: undefined,
          code: "invalid_argument",
        });
        assert.ok(error.errors.length > 0);
      }
    });

    test("headers go with every request, and can't be the secret's", async () => {
      for (const headers of [
        { "X-Trace": "1", "x-more": "a, b" },
        new Headers([
          ["x-trace", "1"],
          ["x-more", "a"],
          ["x-more", "b"],
        ]),
      ]) {
        const recorder = new Recorder(() => json(WHOAMI));
        const client = new ConnectorVault({ baseUrl: BASE, secret: OWN, fetch: recorder.fetch, headers });
        await client.whoami();
        await failure(client.connections.create(WISH));
        // What becomes of them afterwards is the caller's own.
        if (headers instanceof Headers) headers.set("x-trace", "2");
        else headers["X-Trace"] = "2";
        await client.whoami();
        for (const { headers: sent } of recorder.requests)
          assert.deepEqual([sent.get("x-trace"), sent.get("x-more"), sent.get("x-service-secret")], ["1", "a, b", OWN]);
      }
      for (const headers of [
        { "x-service-secret": "x" },
        { "X-Service-Secret": OWN },
        new Headers({ "x-service-secret": "x" }),
      ])
        expectInvalid(await failure(made({ headers })), "headers");
      const recorder = new Recorder(() => json(CONNECTION, 201));
      await new ConnectorVault({
        baseUrl: BASE,
        secret: OWN,
        fetch: recorder.fetch,
        headers: { "content-type": "text/plain", "if-match": "*" },
      }).connections.create(WISH);
      assert.equal(recorder.requests[0].headers.get("content-type"), "application/json");
    });

    test("a client is made with `new`", async () => {
      assert.throws(() => ConnectorVault({ baseUrl: BASE, secret: OWN }), TypeError);
    });
  });

  describe("odd things", () => {
    const client = (answer) => {
      const recorder = new Recorder(answer);
      return {
        recorder,
        vault: new ConnectorVault({ baseUrl: BASE, secret: OWN, maxRetries: 0, fetch: recorder.fetch }),
      };
    };
    const page = { rows: [{ id: "1" }], total: 1, pages: 1, page: 1 };

    test("what is no plain object is refused, not taken for an empty one", async () => {
      class Filters {
        get platform() {
          return "github";
        }
      }
      const { recorder, vault } = client(() => json(page));
      for (const filters of [
        new Map([["platform", "github"]]),
        new URLSearchParams({ platform: "github" }),
        new Filters(),
        new Date(),
        /x/,
        Promise.resolve({ platform: "github" }),
      ]) {
        for (const list of [() => vault.connectors.list(filters), () => vault.connections.list(filters).toArray()])
          expectInvalid(await failure(list()), "filters");
      }
      for (const body of [new Map([["tags", ["a"]]]), new Set(["a"]), new Filters()]) {
        expectInvalid(await failure(vault.connections.update(ID, body)), "changes");
        expectInvalid(await failure(vault.connections.create(body)), "connection");
      }
      assert.equal(recorder.requests.length, 0);
      class Wish {
        platform = "github";
        get() {
          return this.platform;
        }
      }
      for (const good of [Object.assign(Object.create(null), { platform: "github" }), new Wish()]) {
        assert.equal((await vault.connectors.list(good)).total, 1);
        assert.equal(new URL(recorder.requests.at(-1).url).search, "?platform=github");
      }
    });

    test("filters that can't be read are refused, by those who await the list", async () => {
      const { recorder, vault } = client(() => json(page));
      const throwing = {
        get platform() {
          throw new Error("boo");
        },
      };
      const list = vault.connections.list(throwing);
      assert.equal(expectInvalid(await failure(list), "filters").cause.message, "boo");
      expectInvalid(await failure(list.toArray()), "filters");
      assert.equal(recorder.requests.length, 0);
    });

    test("a validation gives faults, at once, and sends nothing", async () => {
      const { recorder, vault } = client(() => json(page));
      const throwing = {
        get platform() {
          throw new Error("boo");
        },
      };
      for (const [faults, places] of [
        [vault.connections.validateUpdate({ tags: ["eu"] }), []],
        [vault.connections.validateUpdate({ tags: ["eu", ",", ""], name: "Ann" }), ["/name", "/tags/1", "/tags/2"]],
        [vault.connections.validateUpdate(throwing), ["changes"]],
        [vault.connections.validateUpdate({ tags: ["x".repeat(70_000)] }), [undefined]],
        [vault.connections.validateCreate(WISH), []],
        [vault.connections.validateCreate({}), ["/platform", "/identity", "/identityType"]],
        [vault.connections.validateCreate(), ["connection"]],
        [vault.sessions.validateCreate({ identity: "ann", ttlSeconds: 60 }), []],
        [
          vault.sessions.validateCreate({ ttlSeconds: 59, scopes: ["sessions:create"], ttl: 60 }),
          ["/identity", "/ttlSeconds", "/scopes/0", "/ttl"],
        ],
        [vault.sessions.validateCreate(), ["session"]],
        [vault.connections.validateList(), []],
        [vault.connections.validateList({ limit: 0, tagz: "eu", key: [5] }), ["key"]],
        [vault.connections.validateList(throwing), ["filters"]],
        [vault.connectors.validateList({ q: "git" }), []],
        [vault.connectors.validateList({ q: "", limit: 501, tags: "eu" }), ["tags", "q", "limit"]],
        [vault.actions.validateList("github"), []],
        [vault.actions.validateList("github", { method: "", page: 0 }), ["method", "page"]],
        [vault.actions.validateList(), ["platform"]],
        [vault.actions.validateList(".."), [undefined]],
      ]) {
        assert.deepEqual(faults.map(({ pointer, parameter }) => pointer ?? parameter).sort(), places.sort());
        for (const { detail } of faults) assert.ok(detail.length > 10, detail);
      }
      await idle();
      assert.equal(recorder.calls, 0);
    });

    test("a validation keeps nothing", async () => {
      // A module of its own, whose memory is seen where it starts.
      const { Instance } = WebAssembly;
      let memory;
      // biome-ignore lint/complexity/useArrowFunction: it is called with `new`
      WebAssembly.Instance = function (...given) {
        const instance = new Instance(...given);
        ({ memory } = instance.exports);
        return instance;
      };
      const slim = await import(`${pathToFileURL(join(dist, "slim.mjs"))}?memory`);
      try {
        slim.initSync(readFileSync(join(dist, "connector-vault.wasm")));
      } finally {
        WebAssembly.Instance = Instance;
      }
      const vault = new slim.ConnectorVault({ baseUrl: BASE, secret: OWN });
      const tags = Array(50).fill("😀".repeat(128));
      const validate = () => [
        vault.connections.validateUpdate({ tags }),
        vault.connections.validateCreate({ ...WISH, tags }),
        vault.connections.validateList({ tags: tags.slice(0, 20) }),
        vault.connections.validateUpdate({ tags: [...tags, ","] }),
      ];
      assert.deepEqual(
        validate().map(({ length }) => length > 0),
        [false, false, false, true],
      );
      const before = memory.buffer.byteLength;
      // Without a pause: nothing is freed by itself meanwhile.
      for (let i = 0; i < 500; i += 1) validate();
      assert.ok(memory.buffer.byteLength < before + 2 ** 20, `${before} → ${memory.buffer.byteLength} bytes`);
    });

    test("what becomes of filters and their arrays later changes nothing", async () => {
      const { recorder, vault } = client((_, n) => json({ ...page, total: 2, pages: 2, page: n }));
      const filters = { tags: ["a"], limit: 1 };
      const first = await vault.connections.list(filters);
      filters.tags.push("b");
      filters.limit = 9;
      await first.next();
      assert.deepEqual(
        recorder.requests.map(({ url }) => new URL(url).search),
        ["?tags=a&limit=1", "?tags=a&limit=1&page=2"],
      );
    });

    test("options are the caller's own, not what all objects have", async () => {
      const { recorder, vault } = client(() => json(CONNECTION));
      Object.assign(Object.prototype, { ifMatch: "*", signal: AbortSignal.abort() });
      try {
        await vault.connections.update(ID, { tags: [] }, {});
      } finally {
        delete Object.prototype.ifMatch;
        delete Object.prototype.signal;
      }
      assert.equal(recorder.requests[0].headers.get("if-match"), null);
    });

    test("a Link header of whatever length is read at once", async () => {
      for (const link of ["<".repeat(2_000_000), `${"<>;".repeat(500_000)} rel="next"`, `<${" ".repeat(1_000_000)}>`]) {
        const { vault } = client(() => ({
          status: 200,
          ok: true,
          headers: { get: (name) => (name === "link" ? link : null) },
          json: async () => page,
        }));
        assert.equal((await vault.connections.list().toArray()).length, 1);
      }
    });

    test("a page that can't be one is no answer", async () => {
      for (const wrong of [{ page: 0 }, { page: -1 }, { page: 1.5 }, { total: "1" }, { pages: null }, { rows: {} }]) {
        const { vault } = client(() => json({ ...page, ...wrong }));
        for (const list of [() => vault.connectors.list(), () => vault.connectors.list().toArray()]) {
          expectError(await failure(list()), "ServerError", { status: 200, code: "unexpected_response" });
        }
      }
    });

    test("a secret that comes back is in no error", async () => {
      const echo = {
        type: "x",
        title: "T",
        status: 400,
        detail: `What is ${OWN}?`,
        code: "invalid_body",
        requestId: OWN,
        errors: [{ pointer: "", detail: OWN }],
      };
      const { vault } = client(() => json(echo, 400));
      const error = await failure(vault.connections.create(WISH));
      expectNoSecret(error);
      assert.equal(error.message, "What is …?");
    });

    test("/slim starts its own module only, and a wrong one is not for ever", async () => {
      const slim = await import(pathToFileURL(join(dist, "slim.mjs")).href);
      const refused = async (call) => {
        const error = await failure(call);
        assert.ok(error instanceof slim.VaultError, String(error));
        assert.equal(error.code, "no_webassembly");
      };
      await refused(() => slim.parseConnectorKey("api::github::v1"));
      const empty = Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0);
      for (const wrong of [
        empty,
        new WebAssembly.Module(empty),
        new Uint8Array(9),
        undefined,
        "not a URL",
        new Response("", { status: 404 }),
      ])
        await refused(slim.init(wrong));
      await refused(slim.init(Promise.reject(new Error("no"))));
      for (const wrong of [undefined, empty, new Uint8Array(9)]) await refused(() => slim.initSync(wrong));
      await slim.init(readFileSync(join(dist, "connector-vault.wasm")));
      assert.deepEqual(slim.parseConnectorKey("api::github::v1"), { platform: "github", platformVersion: "v1" });
    });

    test("many calls at once listen to one signal once", async () => {
      const warnings = [];
      const note = (warning) => warnings.push(warning);
      process.on("warning", note);
      const { signal } = new AbortController();
      const { vault } = client(() => json(WHOAMI));
      const calls = Array.from({ length: 50 }, () => vault.whoami({ signal }));
      assert.equal(getEventListeners(signal, "abort").length, 1);
      await Promise.all(calls);
      assert.equal(getEventListeners(signal, "abort").length, 0);
      process.off("warning", note);
      assert.deepEqual(warnings, []);
    });
  });

  test("no promise was left to fail on its own, and `fetch` was always called as it should be", expectNothingBeside);
});
