// Functions that supply a secret, but fail or are slow, and callers that abort.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { inspect } from "node:util";
import { secrets } from "../support/http.mjs";
import { ConnectorVault, expectError, expectNoResponse, failure } from "../support/package.mjs";
import {
  Supplier,
  expiring,
  numberOf,
  rejectToken,
  rejectingFetch,
  runWithSupplier,
  whoami,
} from "../support/supplier.mjs";
import {
  BASE_URL,
  CURSOR_DIGITS,
  ID,
  OWN_SECRET,
  WHOAMI,
  INPUT,
  idle,
  json,
  expectCloseTo,
  pause,
} from "../support/transport.mjs";

export function supplierFailures() {
  describe("failures of a function that supplies secrets", () => {
    test("a failing function is reported with its error, and called again by the next call", async () => {
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
          const { value, requests, supplies } = await runWithSupplier(
            supplier,
            () => json(WHOAMI),
            async (vault) => {
              const outcomes = await Promise.allSettled([
                vault.whoami(),
                vault.connections.list(),
                vault.connections.create(INPUT),
              ]);
              for (const { reason: error } of outcomes)
                assert.equal(
                  expectNoResponse(error, "VaultError", { status: undefined, code: "secret_unavailable", errors: [] })
                    .cause,
                  reason,
                );
              assert.equal(supplier.calls.length, 1);
              return vault.whoami();
            },
          );
          assert.deepEqual([value, requests.length, supplies], [WHOAMI, 1, 2]);
        }
      }
    });

    test("a failing refresh is reported as well", async () => {
      const supplier = new Supplier((text, n) => {
        if (n === 2) throw new Error("signed out");
        return expiring(60)(text);
      });
      for (const [wait, sent] of [
        [0, [1, 3]],
        [55_000, [3]],
      ]) {
        supplier.calls = [];
        const { tokens } = await runWithSupplier(
          supplier,
          rejectingFetch(wait === 0 ? 2 : 1),
          async (vault) => {
            if (wait > 0) assert.deepEqual(await vault.whoami(), WHOAMI);
            await pause(wait);
            assert.equal(
              expectNoResponse(await failure(vault.whoami()), "VaultError", { code: "secret_unavailable" }).cause
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

    test("an invalid secret is rejected, and nothing is sent", async () => {
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
        const { error, requests } = await runWithSupplier(new Supplier(() => junk), () => json(WHOAMI), whoami);
        expectNoResponse(error, "VaultError", { status: undefined, code: "secret_unavailable", cause: undefined });
        assert.equal(requests.length, 0);
      }
      // The constructor also rejects these secrets.
      for (const text of [
        "",
        "x",
        "sk_test_",
        `${OWN_SECRET}0`,
        OWN_SECRET.replace("sk_test_", "sk_live_"),
        "st_test_a b",
        "st_test_a\nb",
        `st_live_${"x".repeat(8200)}`,
        `Bearer ${OWN_SECRET}`,
      ]) {
        const expected = await failure(() => new ConnectorVault({ baseUrl: BASE_URL, secret: text }));
        for (const supplied of [text, { token: text }]) {
          const { error, requests } = await runWithSupplier(new Supplier(() => supplied), () => json(WHOAMI), whoami);
          expectNoResponse(error, "AuthenticationError", {
            status: 401,
            code: expected.code,
            message: expected.message,
          });
          assert.equal(requests.length, 0);
        }
      }
      const { value, requests } = await runWithSupplier(new Supplier(() => OWN_SECRET), () => json(WHOAMI), whoami);
      assert.deepEqual(
        [value, requests[0].headers.get("x-service-secret")],
        [WHOAMI, OWN_SECRET],
        "on a server, the function can also supply an API key",
      );
    });

    test("if one call stops waiting for it, the others still get it", async () => {
      const controller = new AbortController();
      const supplier = new Supplier((text) => pause(1000).then(() => text));
      const { value, supplies, requests, took, timers } = await runWithSupplier(
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
          expectCloseTo(Date.now() - began, 300);
          for (const error of [ended, await failure(calls[2])])
            expectNoResponse(error, "AbortError", { code: "aborted", cause: "mine" });
          return calls[1];
        },
      );
      assert.deepEqual([value, supplies, requests.length, timers], [WHOAMI, 1, 1, 0]);
      expectCloseTo(took, 1000);
      const { error, supplies: none } = await runWithSupplier(
        new Supplier(),
        () => json(WHOAMI),
        (vault) => vault.whoami({ signal: AbortSignal.abort() }),
      );
      expectNoResponse(error, "AbortError");
      assert.equal(none, 0, "a call that has ended before needs no token");
    });

    test("a refresh continues after the timeout of a call", async () => {
      const supplier = new Supplier((text) => pause(1500).then(() => text));
      const { value, supplies, requests } = await runWithSupplier(
        supplier,
        () => json(WHOAMI),
        async (vault) => {
          const began = Date.now();
          const slow = failure(vault.whoami());
          await pause(800);
          const later = vault.whoami();
          expectNoResponse(await slow, "TimeoutError", { code: "timeout" });
          expectCloseTo(Date.now() - began, 1000);
          return later;
        },
        { timeoutMs: 1000 },
      );
      assert.deepEqual([value, supplies, requests.length], [WHOAMI, 1, 1]);
    });

    test("a function that never returns is called again, and the new result is used", async () => {
      let resolveLate;
      const supplier = new Supplier((text, n) =>
        n === 1 ? new Promise((done) => (resolveLate = () => done(text))) : text,
      );
      const { value, tokens, supplies } = await runWithSupplier(
        supplier,
        () => json(WHOAMI),
        async (vault) => {
          expectNoResponse(await failure(vault.whoami()), "TimeoutError", { code: "timeout" });
          const first = await vault.whoami();
          resolveLate();
          await idle();
          return [first, await vault.whoami()];
        },
        { timeoutMs: 1000 },
      );
      assert.deepEqual([value, tokens, supplies], [[WHOAMI, WHOAMI], [2, 2], 2]);
    });

    test("an iteration continues from the same cursor after a refresh", async () => {
      const PAGES = 9;
      const cursor = (n) => n.toString(16).padStart(CURSOR_DIGITS, "0");
      const response = (request) => {
        const at = parseInt(new URL(request.url).searchParams.get("after") ?? "0", 16);
        const link =
          at + 1 < PAGES
            ? { link: `<${BASE_URL}/v1/vault/connections?limit=100&after=${cursor(at + 1)}>; rel="next"` }
            : {};
        return json(
          { rows: [{ id: `${at}a` }, { id: `${at}b` }], total: 2 * PAGES, pages: PAGES, page: at + 1 },
          200,
          link,
        );
      };
      // Two cases: the token expires, or the service rejects it after two pages.
      for (const [give, send] of [
        [expiring(60), response],
        [
          (text) => text,
          (() => {
            const used = new Map();
            return (request) => {
              const times = (used.get(numberOf(request)) ?? 0) + 1;
              used.set(numberOf(request), times);
              return times > 2 ? rejectToken() : response(request);
            };
          })(),
        ],
      ]) {
        const { value, tokens, requests } = await runWithSupplier(
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
        assert.equal(refusals, give.length === 1 && send !== response ? 4 : 0);
      }
    });

    test("is in no printed object or error", async () => {
      const supplier = new Supplier((text) => ({ token: text, expiresAt: null, note: "of the backend" }));
      const { error, value } = await runWithSupplier(
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
          expectError(await failure(vault.connections.create(INPUT)), "ValidationError", { message: "What is …?" });
          return vault;
        },
      );
      assert.equal(error, undefined, String(error));
      for (const printable of [
        JSON.stringify(value),
        inspect(value, { depth: 20, showHidden: true, getters: true }),
        ...Object.keys(value),
      ]) {
        for (const text of secrets) assert.ok(!printable.includes(text), printable);
      }
      const broken = new Supplier((text) => ({ token: `${text} ` }));
      expectNoResponse((await runWithSupplier(broken, () => json(WHOAMI), whoami)).error, "AuthenticationError", {
        code: "invalid_key",
      });
    });
  });
}
