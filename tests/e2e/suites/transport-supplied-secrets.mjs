// When and how often the package calls a function that supplies the secret.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { ConnectorVault, expectError, failure } from "../support/package.mjs";
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
  ALL,
  BASE_URL,
  WHOAMI,
  INPUT,
  inSequence,
  json,
  overloaded,
  pause,
  problem,
  runTimed,
} from "../support/transport.mjs";
import { proof } from "../support/proof.mjs";

export function suppliedSecrets() {
  describe("a secret that a function supplies", () => {
    test("is requested with the first call, once for concurrent calls", async () => {
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
        const { value, supplies, requests, tokens } = await runWithSupplier(
          supplier,
          () => json(WHOAMI),
          async (vault) => {
            assert.equal(supplier.calls.length, 0, "creating a client requests no token");
            await failure(() => vault.connections.list({ limit: 0 }));
            assert.deepEqual([vault.connections.validateUpdate({ tags: [] }), supplier.calls.length], [[], 0]);
            const results = await Promise.all(Array.from({ length: 50 }, () => vault.whoami()));
            for (let i = 0; i < 5; i += 1) results.push(await vault.whoami());
            return results;
          },
        );
        assert.deepEqual(value, Array(55).fill(WHOAMI));
        assert.deepEqual([supplies, requests.length, new Set(tokens).size], [1, 55, 1]);
        assert.deepEqual(supplier.calls[0].given, [undefined], "called as a function, without arguments");
      }
    });

    test("clients with the same function call it separately", async () => {
      const supplier = new Supplier();
      const fetching = async () => json(WHOAMI);
      for (let i = 0; i < 3; i += 1)
        await new ConnectorVault({ baseUrl: BASE_URL, secret: supplier.supply, fetch: fetching }).whoami();
      assert.equal(supplier.calls.length, 3);
    });

    test("is replaced before it expires, at the next call", async () => {
      for (const [life, until] of [
        [900, 870],
        [1200, 1170],
        [300, 270],
        [200, 180],
        [60, 54],
        [30, 27],
      ]) {
        const { tokens, supplies, timers } = await runWithSupplier(
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
        assert.equal(timers, 0, "no timer is pending");
      }
    });

    test("without a valid expiry, it is used until it is rejected", async () => {
      for (const expiresAt of [undefined, null, "", "soon", Number.NaN, {}, "9999999-01-01"]) {
        const supplier = new Supplier((token) => ({ token, expiresAt }));
        const { supplies, tokens } = await runWithSupplier(
          supplier,
          (request, n) => (n > 3 ? rejectingFetch(2)(request) : json(WHOAMI)),
          async (vault) => {
            for (let i = 0; i < 5; i += 1, await pause(600_000)) await vault.whoami();
          },
          {},
          10_000,
        );
        assert.deepEqual([supplies, tokens], [2, [1, 1, 1, 1, 2, 2]], String(expiresAt));
      }
    });

    proof("a wrong clock causes a few refreshes, but no failed call", async () => {
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
          // The time of the service. The clock of the page is ahead by `skew`.
          const now = () => Date.now() - skew;
          const ends = new Map();
          const supplier = new Supplier((token) => {
            ends.set(token, now() + life);
            return { token, expiresAt: new Date(now() + life).toISOString() };
          });
          let calls = 0;
          const { error, supplies, requests } = await runWithSupplier(
            supplier,
            (request) => (now() < ends.get(request.headers.get("x-service-secret")) ? json(WHOAMI) : rejectToken()),
            async (vault) => {
              for (const began = Date.now(); Date.now() - began < WALK_MS; await pause(5000)) {
                calls += 1;
                await vault.whoami();
              }
            },
            {},
            5000,
          );
          const what = `${life} ms, ${skew} ms ahead: ${supplies} refreshes, ${requests.length} requests`;
          assert.equal(error, undefined, `${what}: ${error}`);
          // If the clock is ahead by almost the whole lifetime, the package sees half a minute left.
          assert.ok(supplies <= WALK_MS / 25_000 + 1, what);
          assert.ok(requests.length <= calls + supplies, what);
          if (Math.abs(skew) <= 1000)
            assert.ok(supplies <= WALK_MS / (life - Math.min(life * 0.1, 30_000) - 6000) + 1, what);
          if (skew === 0) assert.equal(requests.length, calls, `${what}: nothing was refused`);
        }
      }
    });

    for (const [name, [call, good]] of Object.entries(ALL)) {
      test(`${name}: a rejected secret is refreshed and the call sent once more`, async () => {
        for (const options of [{}, { maxRetries: 0 }]) {
          const { error, requests, tokens, supplies, took } = await runWithSupplier(
            new Supplier(),
            rejectingFetch(2, good),
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
          const again = await runWithSupplier(new Supplier(), rejectToken, call, options);
          expectError(again.error, "AuthenticationError", { status: 401, code: "invalid_key", requestId: "r" });
          assert.deepEqual([again.tokens, again.supplies, again.took], [[1, 2], 2, 0]);
        }
      });
    }

    test("after a second rejection, the next call requests another one", async () => {
      const { value, tokens } = await runWithSupplier(new Supplier(), rejectingFetch(4), async (vault) => {
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

    test("concurrent rejections cause one refresh, even if some arrive late", async () => {
      const supplier = new Supplier((text, n) => (n === 1 ? text : pause(500).then(() => text)));
      const { value, supplies, tokens } = await runWithSupplier(
        supplier,
        async (request, n) => {
          // Some rejections arrive during the refresh, and others long after it.
          if (n <= 50) await pause(n * 40);
          return rejectingFetch(2)(request);
        },
        (vault) => Promise.all(Array.from({ length: 50 }, () => vault.whoami())),
      );
      assert.deepEqual(value, Array(50).fill(WHOAMI));
      assert.deepEqual([supplies, tokens], [2, [...Array(50).fill(1), ...Array(50).fill(2)]]);
    });

    test("a refresh does not count as a retry, and vice versa", async () => {
      const { value, tokens } = await runWithSupplier(
        new Supplier(),
        inSequence(
          () => overloaded(),
          rejectToken,
          () => overloaded(),
          () => json(WHOAMI),
        ),
        whoami,
      );
      assert.deepEqual([value, tokens], [WHOAMI, [1, 1, 2, 2]]);
      const { error, requests } = await runWithSupplier(
        new Supplier(),
        inSequence(rejectToken, () => overloaded()),
        whoami,
      );
      expectError(error, "ServerError", { status: 503 });
      assert.equal(requests.length, 4);
    });

    test("only a rejected secret is refreshed", async () => {
      for (const [status, code] of [
        [400, "invalid_parameter"],
        [403, "insufficient_scope"],
        [404, "connection_not_found"],
        [429, "too_many_requests"],
        [500, "internal"],
        [503, "unavailable"],
      ]) {
        const { error, supplies } = await runWithSupplier(new Supplier(), () => problem(status, code), whoami);
        assert.deepEqual([error.status, supplies], [status, 1]);
      }
    });

    test("a static token is not refreshed", async () => {
      const text = new Supplier().token(1);
      const { error, tokens } = await runTimed(
        rejectToken,
        async (vault) => {
          const outcomes = await Promise.allSettled([vault.whoami(), vault.connections.create(INPUT)]);
          throw outcomes[1].reason;
        },
        { secret: text },
      ).then((outcome) => ({ ...outcome, tokens: outcome.requests.map(numberOf) }));
      expectError(error, "AuthenticationError", { status: 401, code: "invalid_key" });
      assert.deepEqual(tokens, [1, 1]);
    });
  });
}
