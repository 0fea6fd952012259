// Retries after failures: which calls, when, and which never.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { expectError } from "../support/package.mjs";
import {
  ALL,
  NOT_REPEATABLE,
  OWN_SECRET,
  TRANSIENT,
  REPEATABLE,
  TICK_MS,
  WHOAMI,
  inSequence,
  json,
  limited,
  expectCloseTo,
  overloaded,
  problem,
  runTimed,
} from "../support/transport.mjs";

export function retries() {
  describe("retries", () => {
    for (const [what, [fail, kind]] of Object.entries(TRANSIENT)) {
      for (const [name, [call, good]] of Object.entries(REPEATABLE)) {
        test(`${name} is retried after ${what}`, async () => {
          for (const [options, sent] of [
            [{}, 3],
            [{ maxRetries: 0 }, 1],
            [{ maxRetries: 1 }, 2],
            [{ maxRetries: 4 }, 5],
          ]) {
            const { error, requests } = await runTimed(fail, call, options);
            expectError(error, kind);
            assert.equal(requests.length, sent);
            for (const { method, url, body } of requests)
              assert.deepEqual([method, url, body], [requests[0].method, requests[0].url, requests[0].body]);
            assert.ok(requests.every((request) => request.headers.get("x-service-secret") === OWN_SECRET));
          }
          const { value, requests } = await runTimed(inSequence(fail, fail, good), call);
          assert.equal(requests.length, 3);
          assert.equal(name.startsWith("delete"), value === undefined);
        });
      }
      for (const [name, [call]] of Object.entries(NOT_REPEATABLE)) {
        test(`${name} is never retried after ${what}`, async () => {
          const { error, requests, took } = await runTimed(fail, call, { maxRetries: 5 });
          expectError(error, kind);
          assert.deepEqual([requests.length, took], [1, 0]);
        });
      }
    }

    test("permanent failures are not retried", async () => {
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
          const { error, requests, took } = await runTimed(() => problem(status, code, { "retry-after": "1" }), call);
          assert.deepEqual([error.status, error.code, requests.length, took], [status, code, 1, 0]);
        }
      }
      for (const response of [
        () => new Response("<html>"),
        () => new Response(null, { status: 302 }),
        () => new Response("{"),
        () => json([]),
      ]) {
        const { error, requests } = await runTimed(response, REPEATABLE.whoami[0]);
        expectError(error, "ServerError", { code: "unexpected_response" });
        assert.equal(requests.length, 1);
      }
    });

    test("delays start at 0.5 s, double up to 8 s, and have jitter", async () => {
      const firsts = new Set();
      for (const [fail] of Object.values(TRANSIENT)) {
        for (let i = 0; i < 6; i += 1) {
          const { waits } = await runTimed(fail, REPEATABLE.whoami[0], { maxRetries: 7, timeoutMs: 600_000 });
          assert.equal(waits.length, 7);
          waits.forEach((wait, n) => {
            const maxDelay = Math.min(500 * 2 ** n, 8000);
            assert.ok(wait >= maxDelay * 0.25 && wait <= maxDelay + 2 * TICK_MS, `wait ${n}: ${wait} ms`);
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
          const { value: response, waits } = await runTimed(
            inSequence(
              () => fail({ "retry-after": value() }),
              () => json(WHOAMI),
            ),
            REPEATABLE.whoami[0],
          );
          assert.equal(response.account, "acme");
          expectCloseTo(waits[0], wait);
        }
        for (const value of ["soon", "-1", "1.5.1", "", "1e3x"]) {
          const { waits } = await runTimed(
            inSequence(
              () => fail({ "retry-after": value }),
              () => json(WHOAMI),
            ),
            REPEATABLE.whoami[0],
          );
          assert.ok(waits[0] >= 0 && waits[0] <= 520, `"${value}": ${waits[0]} ms`);
        }
      }
    });

    test("a delay beyond the timeout is not started", async () => {
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
          const { error, requests, took } = await runTimed(() => fail({ "retry-after": value }), REPEATABLE.whoami[0]);
          expectError(error, kind, { retryAfter: seconds });
          assert.deepEqual([requests.length, took], [1, 0]);
        }
        const { error, requests, took } = await runTimed(() => fail({ "retry-after": "20" }), REPEATABLE.whoami[0]);
        expectError(error, kind, { retryAfter: 20 });
        assert.equal(requests.length, 2);
        expectCloseTo(took, 20_000);
        const date = await runTimed(
          () => fail({ "retry-after": new Date(Date.now() + 90_000).toUTCString() }),
          REPEATABLE.whoami[0],
        );
        assert.equal(Math.round(expectError(date.error, kind).retryAfter), 90);
        const none = await runTimed(() => fail(), REPEATABLE.whoami[0], { maxRetries: 0 });
        expectError(none.error, kind, { retryAfter: undefined });
      }
    });

    test("a retried deletion after a lost response succeeds if the resource is gone", async () => {
      const gone = () => problem(404, "connection_not_found");
      const [call] = REPEATABLE.delete;
      const lost = await runTimed(inSequence(TRANSIENT["a lost connection"][0], gone), call);
      assert.ok("value" in lost && lost.value === undefined);
      const twice = await runTimed(
        inSequence(TRANSIENT["a lost connection"][0], () => limited(), gone),
        call,
      );
      assert.ok("value" in twice && twice.value === undefined);
      expectError((await runTimed(gone, call)).error, "NotFoundError", { status: 404 });
      // A call rejected by the rate limit has deleted nothing.
      expectError(
        (
          await runTimed(
            inSequence(() => limited(), gone),
            call,
          )
        ).error,
        "NotFoundError",
        { status: 404 },
      );
      expectError(
        (
          await runTimed(
            inSequence(TRANSIENT["a lost connection"][0], () => new Response("<html>", { status: 404 })),
            call,
          )
        ).error,
        "NotFoundError",
        { code: "unexpected_response" },
      );
      expectError(
        (await runTimed(inSequence(TRANSIENT["a lost connection"][0], gone), REPEATABLE.get[0])).error,
        "NotFoundError",
      );
    });

    test("the last failure is reported, with its own response", async () => {
      const { error } = await runTimed(
        inSequence(
          TRANSIENT["a lost connection"][0],
          () => limited({ "x-request-id": "second" }),
          () => overloaded({ "x-request-id": "third", "retry-after": "9" }),
        ),
        REPEATABLE.get[0],
      );
      expectError(error, "ServerError", { status: 503, code: "unavailable", requestId: "third", retryAfter: 9 });
      const { error: other } = await runTimed(
        inSequence(overloaded, () => problem(404, "connection_not_found")),
        REPEATABLE.get[0],
      );
      expectError(other, "NotFoundError", { status: 404 });
    });

    test("a call with an incomplete response is retried", async () => {
      const broken = () =>
        new Response(new ReadableStream({ pull: (controller) => controller.error(new TypeError("terminated")) }));
      const { value, requests } = await runTimed(
        inSequence(broken, () => json(WHOAMI)),
        REPEATABLE.whoami[0],
      );
      assert.deepEqual([value, requests.length], [WHOAMI, 2]);
      const { error } = await runTimed(broken, NOT_REPEATABLE.create[0]);
      assert.equal(expectError(error, "ConnectionError", { code: "no_response" }).cause.message, "terminated");
    });
  });
}
