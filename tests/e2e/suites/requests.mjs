// Routes, methods, headers, order of checks, and problem documents.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  PROBLEM_CODES,
  READ_METHODS,
  costOf,
  expectHeaders,
  expectJson,
  expectPage,
  expectProblem,
} from "../support/expect.mjs";

const CONNECTORS = "/v1/available-connectors";
const ACTIONS = "/v1/available-actions/petstore-swagger";
const READ_PATHS = ["/v1/whoami", CONNECTORS, ACTIONS];
// Every method that the runtime lets through, except the three supported ones.
const OTHER_METHODS = (
  "POST PUT PATCH DELETE TRACE PURGE QUERY PROPFIND PROPPATCH COPY MOVE LOCK UNLOCK MKCOL SEARCH REPORT MERGE ACL " +
  "SUBSCRIBE UNSUBSCRIBE NOTIFY CHECKOUT MKACTIVITY"
).split(" ");

export function requests(fixture) {
  const send = (path, options) => fixture.server.send(path, options);
  const full = () => fixture.keys.full.secret;

  describe("requests", () => {
    test("/health is public and does not query storage", async () => {
      const response = await send("/health");
      assert.deepEqual(expectJson(response, 200), { status: "ok" });
      assert.deepEqual(costOf(response), { calls: 0, rowsRead: 0, rowsWritten: 0, reads: 0 });
    });

    test("every request has a unique id", async () => {
      const ids = [];
      for (let i = 0; i < 20; i += 1) ids.push((await send("/health")).header("x-request-id"));
      assert.equal(new Set(ids).size, ids.length);
    });

    test("a request id of the client is ignored", async () => {
      const id = "11111111-1111-4111-8111-111111111111";
      assert.notEqual((await send("/health", { headers: [["x-request-id", id]] })).header("x-request-id"), id);
    });

    test("a request for replicas returns a bookmark of the database, and later requests can use it", async () => {
      const sendRequest = (path, since, more = {}) =>
        send(path, { secret: full(), ...more, headers: [["x-vault-bookmark", since]] });
      const first = await sendRequest("/v1/vault/connections?limit=1", "first-unconstrained");
      assert.equal(first.status, 200, first.text);
      const bookmark = first.header("x-vault-bookmark");
      assert.match(bookmark, /^([0-9A-Za-z]{2}\.)?[0-9a-f]{8}-/);
      for (const path of ["/v1/vault/connections?limit=1", "/v1/vault/summary", "/v1/whoami"]) {
        const next = await sendRequest(path, bookmark);
        assert.equal(next.status, 200, next.text);
        assert.equal(costOf(next).calls, 1, path);
        assert.ok(next.header("x-vault-bookmark") >= bookmark, path);
      }
      for (const path of [CONNECTORS, "/health"])
        assert.equal((await sendRequest(path, bookmark)).header("x-vault-bookmark"), undefined, path);
      assert.equal((await send("/v1/whoami", { secret: full() })).header("x-vault-bookmark"), undefined);
      expectProblem(await sendRequest("/v1/whoami", "yesterday's"), "invalid_parameter");
    });

    for (const path of [
      "/health",
      ...READ_PATHS,
      "/v1/available-actions/nothing",
      "/v1/nothing",
      `${CONNECTORS}?limit=0`,
    ]) {
      test(`HEAD ${path} has the status and headers of GET without a body`, async () => {
        await send(path, { secret: full() });
        const get = await send(path, { secret: full() });
        const head = await send(path, { secret: full(), method: "HEAD" });
        const comparable = (response) =>
          response.headers.filter(([name]) => name !== "x-request-id" && name !== "date").sort();
        assert.deepEqual([head.status, comparable(head)], [get.status, comparable(get)]);
        assert.deepEqual([head.body.length, head.header("content-length")], [0, String(get.body.length)]);
        assert.ok(get.body.length > 0);
      });
    }

    for (const path of ["/health", ...READ_PATHS]) {
      test(`${path} responds with 405 to every other method`, async () => {
        for (const method of OTHER_METHODS) {
          const response = await send(path, { method, secret: full() });
          expectProblem(response, "method_not_allowed", { detail: `This path supports only ${READ_METHODS}.` });
        }
      });
    }

    test("a method override is ignored", async () => {
      const headers = ["x-http-method-override", "x-http-method", "x-method-override"].map((name) => [name, "DELETE"]);
      expectPage(await send(CONNECTORS, { secret: full(), headers }));
      expectProblem(
        await send(CONNECTORS, { secret: full(), method: "POST", headers: [["x-http-method-override", "GET"]] }),
        "method_not_allowed",
      );
      expectProblem(await send(`${CONNECTORS}?_method=DELETE`, { secret: full() }), "unknown_parameter");
    });

    test("the body of a read is ignored", async () => {
      expectPage(await send(CONNECTORS, { secret: full(), body: "{".repeat(100_000) }));
      expectProblem(await send(CONNECTORS, { secret: full(), method: "POST", body: "{}" }), "method_not_allowed");
    });

    for (const [path, platform] of [
      [ACTIONS, "petstore-swagger"],
      ["/%761/available%2Dactions/petstore-swagger", "petstore-swagger"],
      ["/v1/available-actions/%70etstore%2dswagger", "petstore-swagger"],
      ["/v1/available-actions/PETSTORE-Swagger", "petstore-swagger"],
      ["/v1/available-actions/%50ETSTORE-SWAGGER", "petstore-swagger"],
    ]) {
      test(`GET ${path} leads to ${platform}`, async () => {
        for (const row of expectPage(await send(path, { secret: full() }), { total: 3 }).rows)
          assert.equal(row.platform, platform);
      });
    }

    for (const [path, why, meant] of [
      ["/v1", "no route"],
      ["/v1/", "no route"],
      ["/v1/nothing", "no route"],
      ["/v1/available-connectors/", "trailing slash", "/v1/available-connectors"],
      ["/v1/whoami/", "trailing slash", "/v1/whoami"],
      ["/v1/available-actions/", "empty platform", "/v1/available-actions"],
      ["/v1/available-actions/github/", "trailing slash", "/v1/available-actions/{platform}"],
      ["/v1/available-actions/github/x/y", "one segment more"],
      ["/v1//available-connectors", "empty segment", "/v1/available-connectors"],
      ["/v1/Available-Connectors", "case", "/v1/available-connectors"],
      ["/v1/available-actions/%zz", "not hexadecimal"],
      ["/v1/available-actions/%", "cut short"],
      ["/v1/available-actions/%4", "cut short"],
      ["/v1/available-actions/%ff", "not UTF-8"],
      ["/v1/available-actions/%c0%af", "overlong UTF-8"],
      ["/v1/available-actions/%ed%a0%80", "lone surrogate"],
      ["/v1/available-actions/git%00hub", "NUL"],
      ["/v1/%00", "NUL"],
      ["/v1/available%2Dconnectors%2F", "encoded slash"],
      ["/v1/available-connectors%3Flimit=1", "encoded question mark", "/v1/available-connectors"],
      ["/v1/available-connectors;limit=1", "path parameter", "/v1/available-connectors"],
      [`/v1/${"a".repeat(8000)}`, "very long"],
      [`/v1/${"%25".repeat(4000)}`, "much encoding"],
      [`/v1${"/a".repeat(4000)}`, "deep"],
    ]) {
      test(`GET ${path.slice(0, 60)} is not a route: ${why}`, async () => {
        expectProblem(await send(path, { secret: full() }), "route_not_found", {
          detail: `The service has no such path${meant ? `; did you mean \`${meant}\`?` : "."}`,
        });
        expectProblem(await send(path), "missing_key");
      });
    }

    for (const path of [
      "//v1/available-connectors",
      "/V1/available-connectors",
      "/v1%2Favailable-connectors",
      "/health/",
      "/nothing",
      "/%zz",
      "/%ff",
      "/%00",
      "/problems/nothing",
    ]) {
      test(`GET ${path} is not a route, and needs no key`, async () => {
        expectProblem(await send(path), "route_not_found");
        expectProblem(await send(path, { method: "POST" }), "route_not_found");
      });
    }

    for (const [platform, shown, suggestions] of [
      ["gitub", "gitub", ["github"]],
      ["git%2Fhub", "git/hub", ["github"]],
      ["%2567ithub", "%67ithub", undefined],
      ["caf%C3%A9", "café", undefined],
      ["..%2F..%2Fetc%2Fpasswd", "../../etc/passwd", undefined],
      ["%3Cscript%3E", "<script>", undefined],
      ["%F0%9F%98%80", "😀", undefined],
      ["'%20OR%201=1--", "' OR 1=1--", undefined],
      ["x".repeat(5000), `${"x".repeat(64)}…`, undefined],
    ]) {
      test(`platform ${platform.slice(0, 40)} is decoded once and unknown`, async () => {
        const response = await send(`/v1/available-actions/${platform}`, { secret: full() });
        const problem = expectProblem(response, "platform_not_found");
        assert.ok(problem.detail.startsWith(`The catalog has no platform \`${shown}\``), problem.detail);
        assert.deepEqual(problem.suggestions, suggestions, "only similar platforms are suggested");
        for (const nearest of suggestions ?? []) assert.ok(problem.detail.includes(`\`${nearest}\``));
      });
    }

    test("the order of checks is key, route and method, scope, parameters, resource", async () => {
      const { noCatalog } = fixture.keys;
      const invalidQuery = "?limit=0&nothing=1";
      for (const [method, path, secret, code] of [
        ["GET", `/v1/nothing${invalidQuery}`, undefined, "missing_key"],
        ["POST", `${CONNECTORS}${invalidQuery}`, undefined, "missing_key"],
        ["POST", `${CONNECTORS}${invalidQuery}`, "sk_test_wrong", "invalid_key"],
        ["GET", `/v1/nothing${invalidQuery}`, noCatalog.secret, "route_not_found"],
        ["DELETE", `/v1/nothing${invalidQuery}`, noCatalog.secret, "route_not_found"],
        ["POST", `${CONNECTORS}${invalidQuery}`, noCatalog.secret, "method_not_allowed"],
        ["GET", `${CONNECTORS}${invalidQuery}`, noCatalog.secret, "insufficient_scope"],
        ["GET", `/v1/available-actions/nothing${invalidQuery}`, noCatalog.secret, "insufficient_scope"],
        ["GET", `/v1/available-actions/nothing${invalidQuery}`, full(), "invalid_parameter"],
        ["GET", "/v1/available-actions/nothing?nothing=1", full(), "unknown_parameter"],
        ["GET", "/v1/available-actions/nothing", full(), "platform_not_found"],
      ]) {
        const problem = expectProblem(
          await send(path, { method, secret }),
          code === "invalid_parameter" ? "unknown_parameter" : code,
        );
        if (code === "invalid_parameter") assert.equal(problem.errors.length, 2);
      }
    });

    test("without ALLOWED_ORIGINS, cross-origin pages cannot call", async () => {
      const headers = [["origin", "https://a.example"]];
      const ownHeaders = { allow: READ_METHODS, "cache-control": "private, no-store" };
      expectPage(await send(CONNECTORS, { secret: full(), headers }));
      for (const path of [...READ_PATHS, "/health", "/v1/nothing"]) {
        const response = await send(path, {
          method: "OPTIONS",
          headers: [...headers, ["access-control-request-method", "GET"]],
        });
        expectHeaders(response, ownHeaders);
        assert.deepEqual([response.status, response.body.length], [204, 0]);
      }
      expectProblem(await send("/nothing", { method: "OPTIONS", headers }), "route_not_found");
    });

    test("a matching If-None-Match returns 304 without a body", async () => {
      for (const path of [CONNECTORS, `${CONNECTORS}?limit=2`, ACTIONS, `${ACTIONS}?q=pet`]) {
        const etag = (await send(path, { secret: full() })).header("etag");
        for (const [value, status] of [
          [etag, 304],
          [`W/${etag}`, 304],
          [`"other", ${etag}`, 304],
          ["*", 304],
          ['"other"', 200],
          [etag.replaceAll('"', ""), 200],
          [etag.toUpperCase().replace('"', '"x'), 200],
        ]) {
          const response = await send(path, { secret: full(), headers: [["if-none-match", value]] });
          if (status === 200) {
            expectPage(response);
            continue;
          }
          assert.deepEqual([response.status, response.body.length], [304, 0], `${path} ${value}`);
          expectHeaders(response, { "cache-control": "private, no-cache", etag });
        }
        const head = await send(path, { method: "HEAD", secret: full(), headers: [["if-none-match", etag]] });
        assert.deepEqual([head.status, head.body.length], [304, 0]);
      }
    });

    test("different responses have different entity tags", async () => {
      const paths = [
        CONNECTORS,
        `${CONNECTORS}?limit=2`,
        `${CONNECTORS}?limit=2&page=2`,
        `${CONNECTORS}?q=store`,
        ACTIONS,
        `${ACTIONS}?limit=2`,
      ];
      const tags = [];
      for (const path of paths) tags.push((await send(path, { secret: full() })).header("etag"));
      assert.equal(new Set(tags).size, paths.length);
      assert.equal((await send(CONNECTORS, { secret: fixture.keys.live.secret })).header("etag"), tags[0]);
      expectProblem(await send(CONNECTORS, { headers: [["if-none-match", tags[0]]] }), "missing_key");
      expectProblem(
        await send(`${CONNECTORS}?limit=0`, { secret: full(), headers: [["if-none-match", "*"]] }),
        "invalid_parameter",
      );
    });

    for (const code of PROBLEM_CODES) {
      test(`/problems/${code} is a page`, async () => {
        const response = await send(`/problems/${code}`);
        assert.deepEqual([response.status, response.header("content-type")], [200, "text/html; charset=utf-8"]);
        assert.ok(response.text.includes(code), "the page is about its code");
      });
    }
  });
}
