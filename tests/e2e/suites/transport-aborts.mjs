// Calls that a timeout or the caller's signal aborts.
import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { describe, test } from "node:test";
import { ConnectorVault, expectError, expectNoResponse, failure } from "../support/package.mjs";
import {
  ALL,
  BASE_URL,
  OWN_SECRET,
  TRANSIENT,
  REPEATABLE,
  TICK_MS,
  WHOAMI,
  neverSettles,
  idle,
  inSequence,
  json,
  expectCloseTo,
  overloaded,
  runTimed,
} from "../support/transport.mjs";

export function aborts() {
  describe("aborted calls", () => {
    for (const [name, [call]] of Object.entries(ALL)) {
      test(`${name}: a fetch that ignores its signal does not keep the call`, async () => {
        const { error, took, requests } = await runTimed(neverSettles, call);
        expectNoResponse(error, "TimeoutError", { status: undefined, code: "timeout", errors: [] });
        assert.equal(requests.length, 1);
        expectCloseTo(took, 30_000);
        assert.ok(requests[0].request.signal.aborted, "fetch is aborted");
        const body = await runTimed(() => new Response(new ReadableStream({ pull: neverSettles })), call, {
          timeoutMs: 1500,
        });
        expectError(body.error, "TimeoutError");
        expectCloseTo(body.took, 1500);
        const controller = new AbortController();
        const ended = await runTimed(
          () => (setTimeout(() => controller.abort("mine"), 40), neverSettles()),
          (vault) => call(vault, { signal: controller.signal }),
        );
        expectNoResponse(ended.error, "AbortError", { cause: "mine", status: undefined, code: "aborted", errors: [] });
        expectCloseTo(ended.took, 40);
        assert.ok(ended.requests[0].request.signal.aborted);
      });
    }

    test("the timeout includes retries", async () => {
      const slow = () => new Promise((_, fail) => setTimeout(() => fail(new TypeError("late")), 900));
      const { error, took, requests } = await runTimed(slow, REPEATABLE.whoami[0], { timeoutMs: 2000, maxRetries: 10 });
      assert.ok(["TimeoutError", "ConnectionError"].includes(error.name), error.name);
      assert.ok(took <= 2000 + 2 * TICK_MS && requests.length === 2, `${took} ms, ${requests.length} requests`);
      const hung = await runTimed(inSequence(TRANSIENT[503][0], neverSettles), REPEATABLE.whoami[0], {
        timeoutMs: 5000,
      });
      expectError(hung.error, "TimeoutError");
      expectCloseTo(hung.took, 5000);
    });

    test("each page of an iteration has its own timeout", async () => {
      const slow = (_request, n) =>
        new Promise((done) => setTimeout(() => done(json({ rows: [n], total: 5, pages: 5, page: n })), 700));
      const { value, took } = await runTimed(slow, (vault) => vault.connectors.list().toArray(), { timeoutMs: 1000 });
      assert.deepEqual(value, [1, 2, 3, 4, 5]);
      expectCloseTo(took, 3500);
    });

    test("an aborted signal sends nothing", async () => {
      for (const reason of [new Error("mine"), "text", undefined, 5, null]) {
        for (const [call] of Object.values(ALL)) {
          const signal = AbortSignal.abort(reason);
          const { error, requests } = await runTimed(neverSettles, (vault) => call(vault, { signal }));
          expectNoResponse(error, "AbortError", { code: "aborted", cause: signal.reason });
          assert.equal(requests.length, 0);
        }
      }
      const { error } = await runTimed(neverSettles, (vault) =>
        vault.connections.get("nothing", { signal: AbortSignal.abort() }),
      );
      assert.ok(["AbortError", "ValidationError"].includes(error.name));
    });

    test("a signal aborts the wait before a retry immediately", async () => {
      for (const [fail] of Object.values(TRANSIENT)) {
        const controller = new AbortController();
        const { error, took, requests } = await runTimed(
          (...args) => {
            setTimeout(() => controller.abort(new Error("mine")), 30);
            return fail(...args);
          },
          (vault) => vault.whoami({ signal: controller.signal }),
        );
        assert.equal(expectNoResponse(error, "AbortError", { status: undefined }).cause.message, "mine");
        expectCloseTo(took, 30);
        assert.equal(requests.length, 1);
      }
    });

    test("a fetch that rejects with the caller's own abort has the same result", async () => {
      const controller = new AbortController();
      const abortableFetch = (request) =>
        new Promise((_, fail) => request.signal.addEventListener("abort", () => fail(request.signal.reason)));
      const { error, requests } = await runTimed(
        (request) => (setTimeout(() => controller.abort("mine"), 20), abortableFetch(request)),
        (vault) => vault.whoami({ signal: controller.signal }),
      );
      expectError(error, "AbortError", { cause: "mine" });
      assert.equal(requests.length, 1);
      expectError(
        (await runTimed(abortableFetch, (vault) => vault.whoami(), { timeoutMs: 100 })).error,
        "TimeoutError",
      );
    });

    test("a late result is not an unhandled rejection", async () => {
      let reject;
      const { error } = await runTimed(
        () => new Promise((_, fail) => (reject = fail)),
        (vault) => vault.whoami(),
        { timeoutMs: 50 },
      );
      expectError(error, "TimeoutError");
      reject(new Error("late"));
      const lateResponse = new Response(
        new ReadableStream({ start: (controller) => (reject = (reason) => controller.error(reason)) }),
      );
      expectError(
        (
          await runTimed(
            () => lateResponse,
            (vault) => vault.whoami(),
            { timeoutMs: 50 },
          )
        ).error,
        "TimeoutError",
      );
      reject(new Error("later"));
      await idle();
    });

    test("a finished call leaves no timer and no listener", async () => {
      for (const [call, good] of Object.values(REPEATABLE)) {
        for (const send of [
          good,
          overloaded,
          neverSettles,
          inSequence(overloaded, good),
          inSequence(TRANSIENT["a lost connection"][0], good),
        ])
          assert.equal((await runTimed(send, call)).timers, 0);
      }
      const { signal } = new AbortController();
      const vault = new ConnectorVault({ baseUrl: BASE_URL, secret: OWN_SECRET, fetch: async () => json(WHOAMI) });
      for (let i = 0; i < 20; i += 1) await vault.whoami({ signal });
      assert.equal(getEventListeners(signal, "abort").length, 0);
      const failingClient = new ConnectorVault({
        baseUrl: BASE_URL,
        secret: OWN_SECRET,
        maxRetries: 0,
        fetch: async () => overloaded(),
      });
      for (let i = 0; i < 20; i += 1) await failure(failingClient.whoami({ signal }));
      assert.equal(getEventListeners(signal, "abort").length, 0);
    });
  });
}
