// Configuration: ALLOWED_ORIGINS, SECRET_HEADERS and the rate-limit binding.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { READ_METHODS, expectHeaders, expectProblem } from "../support/expect.mjs";
import { Description } from "../support/openapi.mjs";
import { Server } from "../support/server.mjs";
import { store, key } from "../support/keys.mjs";
import {
  CONNECTIONS,
  Caller,
  LIST_METHODS,
  CONNECTION_METHODS,
  expectConnection,
  connectionPath,
} from "../support/vault.mjs";

const CONNECTORS = "/v1/available-connectors";
const LIMIT = 20;
const EXPOSED_HEADERS =
  "ETag, Link, Retry-After, Server-Timing, x-request-id, x-vault-bookmark, x-vault-next, x-vault-retry-at, x-vault-source, WWW-Authenticate";
const vary = "x-service-secret, x-alias-secret, origin";
const allowed = (origin) => ({
  "access-control-allow-origin": origin,
  "access-control-expose-headers": EXPOSED_HEADERS,
});

export function configuration(fixture) {
  let server;
  const keys = {
    first: key(),
    second: key(),
    narrow: key({ scopes: "connections:read" }),
    page: key({ account: "pages" }),
  };
  const send = (path, options) => server.send(path, options);

  describe("configuration", () => {
    before(async () => {
      const state = (fixture.states.configured = fixture.states.small.copy("configured"));
      await state.use(({ vault }) => store(vault, Object.values(keys)));
      server = await Server.start(state, {
        name: "configured",
        byWrangler: true,
        variables: {
          ALLOWED_ORIGINS: "https://a.example, http://localhost:5173/",
          SECRET_HEADERS: "X-Alias-Secret, x-service-secret",
        },
        bindings: `[[ratelimits]]\nname = "RATE_LIMITER"\nnamespace_id = "1001"\nsimple = { limit = ${LIMIT}, period = 60 }\n`,
      });
    });

    after(() => server?.stop());

    for (const origin of ["https://a.example", "http://localhost:5173"]) {
      test(`a page of ${origin} can call, and read the response`, async () => {
        const headers = [["origin", origin]];
        const preflight = await send(CONNECTORS, {
          method: "OPTIONS",
          headers: [...headers, ["access-control-request-method", "GET"]],
        });
        assert.deepEqual([preflight.status, preflight.body.length], [204, 0]);
        expectHeaders(
          preflight,
          {
            allow: READ_METHODS,
            "cache-control": "private, no-store",
            "access-control-allow-methods": READ_METHODS,
            "access-control-allow-headers":
              "x-service-secret, x-alias-secret, content-type, if-match, if-none-match, x-vault-bookmark",
            "access-control-max-age": "86400",
            ...allowed(origin),
          },
          { vary },
        );
        const page = await send(CONNECTORS, { secret: fixture.keys.full.secret, headers });
        assert.equal(page.status, 200);
        expectHeaders(
          page,
          {
            "content-type": "application/json",
            "cache-control": "private, no-cache",
            etag: page.header("etag"),
            ...allowed(origin),
          },
          { vary },
        );
        // The page can also read errors.
        expectProblem(await send(CONNECTORS, { headers }), "missing_key", { headers: allowed(origin), vary });
        expectProblem(await send("/nothing", { headers }), "route_not_found", { headers: allowed(origin), vary });
      });
    }

    test("an allowed page can change the vault, and read exposed headers", async () => {
      const origin = "https://a.example";
      const headers = [["origin", origin]];
      const caller = new Caller({ server }, keys.page);
      for (const [path, methods, expected] of [
        [CONNECTIONS, LIST_METHODS, ["POST"]],
        [connectionPath("any"), CONNECTION_METHODS, ["PATCH", "DELETE"]],
      ]) {
        for (const method of expected) {
          const asks = [
            ["access-control-request-method", method],
            ["access-control-request-headers", "content-type,if-match,x-service-secret"],
          ];
          const preflight = await send(path, { method: "OPTIONS", headers: [...headers, ...asks] });
          assert.deepEqual([preflight.status, preflight.body.length], [204, 0]);
          assert.deepEqual(
            [preflight.header("access-control-allow-methods"), preflight.header("access-control-allow-origin")],
            [methods, origin],
          );
          for (const name of asks[1][1].split(","))
            assert.ok(preflight.header("access-control-allow-headers").split(", ").includes(name), name);
        }
      }
      const may = { vary, headers: allowed(origin) };
      const input = (identity) => ({ platform: "acme-store", identity, identityType: "user" });
      const {
        connection: { id },
        etag,
      } = expectConnection(await caller.create(input("a"), headers), {}, { ...may, status: 201 });
      expectConnection(await caller.create(input("b"), headers), {}, { ...may, status: 201 });
      expectProblem(await caller.create(input("b"), headers), "connection_exists", may);
      expectConnection(await caller.patch(id, { tags: ["x"] }, [...headers, ["if-match", etag]]), { tags: ["x"] }, may);
      expectProblem(
        await caller.patch(id, { tags: ["y"] }, [...headers, ["if-match", etag]]),
        "precondition_failed",
        may,
      );
      const list = await caller.send("GET", `${CONNECTIONS}?limit=1`, { headers });
      expectHeaders(
        list,
        {
          "content-type": "application/json",
          "cache-control": "private, no-store",
          link: list.header("link"),
          ...may.headers,
        },
        { vary },
      );
      assert.match(list.header("link"), /^<http.*>; rel="next"$/);
      assert.equal((await caller.remove(id, headers)).header("access-control-allow-origin"), origin);
      expectProblem(await caller.remove(id, headers), "connection_not_found", may);
    });

    for (const origin of [
      "https://b.example",
      "https://a.example.evil",
      "http://a.example",
      "https://a.example:8443",
      "null",
      "*",
      "",
      "https://a.example, https://a.example",
    ]) {
      test(`a page of "${origin}" cannot call`, async () => {
        const headers = [["origin", origin]];
        const preflight = await send(CONNECTORS, { method: "OPTIONS", headers });
        assert.deepEqual([preflight.status, preflight.body.length], [204, 0]);
        expectHeaders(preflight, { allow: READ_METHODS, "cache-control": "private, no-store" }, { vary });
        expectProblem(await send(CONNECTORS, { headers }), "missing_key", { vary });
      });
    }

    test("the key can be in either header, but not in both", async () => {
      const { secret } = fixture.keys.full;
      const alias = (value) => [["x-alias-secret", value]];
      assert.equal((await send("/v1/whoami", { headers: alias(secret) })).json.account, "acme");
      assert.equal((await send("/v1/whoami", { headers: [["X-ALIAS-SECRET", secret]] })).json.account, "acme");
      for (const second of [secret, fixture.keys.live.secret, "x"]) {
        expectProblem(await send("/v1/whoami", { secret, headers: alias(second) }), "invalid_key", { vary });
      }
      assert.equal(
        (await send("/v1/whoami", { secret, headers: alias("") })).status,
        200,
        "an empty header carries no key",
      );
      expectProblem(await send("/v1/whoami", { headers: [...alias(secret), ...alias(secret)] }), "invalid_key", {
        vary,
      });
    });

    /** Sends requests up to the rate limit, then requests `path`. Repeats if a new minute began in between. */
    async function sendBeyondLimit(secret, path, method) {
      for (;;) {
        const minute = Math.floor(Date.now() / 60_000);
        let limited = false;
        for (let i = 0; i <= 2 * LIMIT && !limited; i += 1)
          limited = (await send("/v1/whoami", { secret })).status === 429;
        assert.ok(limited, `the limit of ${LIMIT} requests a minute was not reached`);
        const response = await send(path, { secret, method });
        if (Math.floor(Date.now() / 60_000) === minute) return response;
      }
    }

    test("the rate limit affects only the key that exceeds it", async () => {
      const { first, second } = keys;
      const description = Description.committed();
      const detail = "This API key has sent too many requests. Wait, then retry.";
      for (const path of [
        "/v1/whoami",
        CONNECTORS,
        `${CONNECTORS}?limit=0`,
        "/v1/available-actions/nothing",
        CONNECTIONS,
        `${CONNECTIONS}?limit=0`,
        connectionPath("nothing"),
      ]) {
        const response = await sendBeyondLimit(first.secret, path);
        expectProblem(response, "too_many_requests", { detail, vary });
        // Every operation documents the 429 in the same way.
        description.expect("whoami", response);
      }
      assert.equal((await send("/v1/whoami", { secret: second.secret })).status, 200);
    });

    test("route, method and scope are checked before the rate limit, and do not count", async () => {
      const { first, narrow } = keys;
      expectProblem(await sendBeyondLimit(first.secret, "/v1/nothing"), "route_not_found", { vary });
      expectProblem(await sendBeyondLimit(first.secret, CONNECTORS, "POST"), "method_not_allowed", { vary });
      expectProblem(await sendBeyondLimit(narrow.secret, CONNECTORS), "insufficient_scope", { vary });
      expectProblem(await sendBeyondLimit(narrow.secret, CONNECTIONS, "POST"), "insufficient_scope", { vary });
      expectProblem(await sendBeyondLimit(first.secret, CONNECTIONS, "PUT"), "method_not_allowed", {
        vary,
        allow: LIST_METHODS,
      });
      for (let i = 0; i < 3 * LIMIT; i += 1)
        expectProblem(await send(CONNECTORS, { secret: fixture.keys.noCatalog.secret }), "insufficient_scope", {
          vary,
        });
      assert.equal((await send("/v1/whoami", { secret: fixture.keys.noCatalog.secret })).status, 200);
      assert.equal((await send("/health")).status, 200);
    });
  });
}
