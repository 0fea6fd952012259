// The package's errors if no server listens, if it closes connections or hangs, and if it is not a connector-vault.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { createServer as createTcpServer } from "node:net";
import { afterEach, describe, test } from "node:test";
import { inspect } from "node:util";
import { EVERY_CALL } from "../support/calls.mjs";
import { ConnectorVault, Recorder, expectError, expectNoResponse, failure } from "../support/package.mjs";
import { SUMMARY } from "../support/vault.mjs";

const NO_RETRIES = { maxRetries: 0 };
/** Detects hanging calls, with enough time on a busy machine. */
const HANG_TIMEOUT_MS = 5000;

/** Finds a local port on which no server listens. */
async function unusedPort() {
  const server = createTcpServer();
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address();
  await new Promise((done) => server.close(done));
  return port;
}

export function withoutService(fixture) {
  const cleanups = [];
  const client = (port, options) =>
    new ConnectorVault({
      baseUrl: `http://127.0.0.1:${port}`,
      secret: fixture.keys.full.secret,
      ...NO_RETRIES,
      ...options,
    });

  /** Starts another kind of server until the test ends. */
  async function startServer(server) {
    const sockets = new Set();
    server.on("connection", (socket) => {
      sockets.add(socket);
      socket.on("close", () => sockets.delete(socket)).on("error", () => {});
    });
    await new Promise((done) => server.listen(0, "127.0.0.1", done));
    cleanups.push(() => {
      sockets.forEach((socket) => socket.destroy());
      return new Promise((done) => server.close(done));
    });
    return server.address().port;
  }

  const serverWith = (response) => startServer(createServer(response));
  /** A server that responds to every request with these bytes. */
  const rawServer = (bytes, { close = false } = {}) =>
    startServer(
      createTcpServer((socket) => socket.on("data", () => (close ? socket.end(bytes) : socket.write(bytes)))),
    );

  describe("servers other than a connector-vault", () => {
    afterEach(() => Promise.all(cleanups.splice(0).map((end) => end())));

    test("no server: ConnectionError with fetch's own reason", async () => {
      const port = await unusedPort();
      for (const [what, [ask]] of Object.entries(EVERY_CALL)) {
        const error = expectNoResponse(await failure(ask(client(port))), "ConnectionError", {
          status: undefined,
          code: "no_response",
          errors: [],
        });
        assert.ok(error.cause instanceof TypeError, `${what}: ${inspect(error.cause)}`);
        assert.equal(error.cause.cause.code, "ECONNREFUSED");
      }
      const recorder = new Recorder();
      expectError(await failure(client(port, { fetch: recorder.fetch, maxRetries: 1 }).whoami()), "ConnectionError");
      assert.equal(recorder.calls, 2);
      expectError(
        await failure(
          new ConnectorVault({
            baseUrl: "https://vault.invalid",
            secret: fixture.keys.full.secret,
            ...NO_RETRIES,
          }).whoami(),
        ),
        "ConnectionError",
      );
    });

    test("a closed connection: ConnectionError", async () => {
      for (const bytes of [
        "",
        "HTTP/1.1 200 OK\r\n",
        "not HTTP at all\r\n\r\n",
        'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n{"account":"a',
      ]) {
        const port = await rawServer(bytes, { close: true });
        const error = expectError(await failure(client(port).whoami()), "ConnectionError", {
          code: "no_response",
        });
        assert.ok(error.cause !== undefined);
      }
    });

    test("a server that never responds, or never ends its response: TimeoutError", async () => {
      for (const bytes of [
        "",
        "HTTP/1.1 200 OK\r\n",
        'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n{"account":',
      ]) {
        let closed;
        const server = createTcpServer((socket) => {
          closed = new Promise((done) => socket.on("close", done));
          socket.on("error", () => {}).on("data", () => bytes && socket.write(bytes));
        });
        const port = await startServer(server);
        const began = performance.now();
        expectNoResponse(await failure(client(port, { timeoutMs: 150, maxRetries: 2 }).whoami()), "TimeoutError", {
          status: undefined,
          code: "timeout",
          errors: [],
        });
        const took = performance.now() - began;
        assert.ok(took >= 145 && took < HANG_TIMEOUT_MS, `${took} ms`);
        // The body of an abandoned response is cancelled.
        await closed;
      }
    });

    test("a signal aborts a hanging call immediately, with its reason", async () => {
      for (const reason of [new Error("mine"), "a text", undefined, null, 0]) {
        const requested = Promise.withResolvers();
        let closed;
        const port = await startServer(
          createTcpServer((socket) => {
            closed = new Promise((done) => socket.on("close", done));
            socket.on("error", () => {}).on("data", requested.resolve);
          }),
        );
        const controller = new AbortController();
        const call = failure(client(port).whoami({ signal: controller.signal }));
        await requested.promise;
        const began = performance.now();
        controller.abort(reason);
        const error = expectNoResponse(await call, "AbortError", { status: undefined, code: "aborted", errors: [] });
        assert.ok(performance.now() - began < HANG_TIMEOUT_MS);
        assert.equal(error.cause, controller.signal.reason);
        await closed;
      }
    });

    test("AbortSignal.timeout() ends a call as well", async () => {
      const port = await rawServer("");
      const error = expectError(await failure(client(port).whoami({ signal: AbortSignal.timeout(50) })), "AbortError", {
        code: "aborted",
      });
      assert.equal(error.cause.name, "TimeoutError");
    });

    const page = "<!doctype html><title>Not found</title>";
    const html = { "content-type": "text/html" };
    const json = { "content-type": "application/json" };
    for (const [what, status, headers, body] of [
      ["a web page", 200, html, page],
      ["a JSON document cut short", 200, json, '{"rows":[{"id":'],
      ["nothing", 200, json, ""],
      ["no content", 204, {}, ""],
      ["null", 200, json, "null"],
      ["an array", 200, json, "[]"],
      ["a text", 200, json, '"rows"'],
      ["a number", 200, json, "1"],
      ["another object", 200, json, '{"ok":true}'],
      ["a list without rows", 200, json, '{"total":1,"pages":1,"page":1}'],
      ["rows that are not an array", 200, json, '{"rows":{},"total":1,"pages":1,"page":1}'],
      ["accepted", 202, json, "{}"],
      ["reset content", 205, {}, ""],
      ["not modified", 304, {}, ""],
    ]) {
      test(`a response of another server is rejected: ${what}`, async () => {
        const port = await serverWith((_request, response) =>
          response.writeHead(status, { "x-request-id": "theirs", ...headers }).end(body),
        );
        // A summary also has a `total`.
        const lists = body.includes('"page":1');
        for (const [ask, , path] of Object.values(EVERY_CALL).filter(([, method]) => method === "GET")) {
          if (lists && path === SUMMARY) continue;
          const error = expectError(await failure(ask(client(port, { maxRetries: 2 }))), "ServerError", {
            status,
            code: "unexpected_response",
            requestId: "theirs",
            errors: [],
          });
          assert.equal(error.headers.get("x-request-id"), "theirs");
          assert.match(error.message, /baseUrl/);
        }
      });
    }

    for (const [what, status, kind, headers, body] of [
      ["a page that says 404", 404, "NotFoundError", html, page],
      ["a proxy that says 502", 502, "ServerError", html, "<h1>Bad gateway</h1>"],
      ["a proxy that says 500", 500, "ServerError", {}, ""],
      ["a proxy that says 429", 429, "RateLimitError", { "retry-after": "7" }, "slow down"],
      ["a page that says 401", 401, "AuthenticationError", html, page],
      ["a page that says 403", 403, "PermissionError", html, page],
      [
        "another service's problem",
        400,
        "ValidationError",
        { "content-type": "application/problem+json" },
        '{"title":"Bad"}',
      ],
      ["JSON null", 409, "ConflictError", json, "null"],
      ["a status of its own", 599, "ServerError", json, "[]"],
      ["418", 418, "ValidationError", {}, ""],
    ]) {
      test(`a failure without a problem document is reported: ${what}`, async () => {
        const port = await serverWith((_request, response) => response.writeHead(status, headers).end(body));
        for (const [ask] of Object.values(EVERY_CALL)) {
          const error = expectError(await failure(ask(client(port))), kind, {
            status,
            code: "unexpected_response",
            requestId: undefined,
            errors: [],
          });
          if (status === 429) assert.equal(error.retryAfter, 7);
          if (status === 404) assert.deepEqual(error.suggestions, []);
          if (status === 409) assert.equal(error.connectionId, undefined);
        }
      });
    }

    test("a problem with invalid members is still reported", async () => {
      for (const invalidProblem of [
        { errors: 5 },
        { errors: null },
        { errors: [null, 1, "x", {}] },
        { suggestions: "github" },
        { suggestions: [1] },
        { connectionId: 7 },
        { requestId: 5 },
        { status: "x" },
        { detail: "" },
        { __proto__: null, constructor: 1 },
      ]) {
        for (const [status, kind] of [
          [400, "ValidationError"],
          [404, "NotFoundError"],
          [409, "ConflictError"],
        ]) {
          const port = await serverWith((_request, response) =>
            response
              .writeHead(status, json)
              .end(JSON.stringify({ code: "x_y", detail: "It is odd.", ...invalidProblem })),
          );
          const error = await failure(client(port).whoami());
          assert.equal(error.name, kind, JSON.stringify(invalidProblem));
          assert.equal(error.status, status);
          assert.ok(Array.isArray(error.errors));
          if (status === 404) assert.ok(Array.isArray(error.suggestions));
          if (status === 409) assert.ok(error.connectionId === undefined || typeof error.connectionId === "string");
        }
      }
    });

    test("redirects are not followed, so the secret is not sent elsewhere", async () => {
      let elsewhere = 0;
      const other = await serverWith((_request, response) => {
        elsewhere += 1;
        response.writeHead(200, json).end('{"rows":[],"total":0,"pages":0,"page":1}');
      });
      for (const status of [301, 302, 303, 307, 308]) {
        const port = await serverWith((_request, response) =>
          response.writeHead(status, { location: `http://127.0.0.1:${other}/` }).end(),
        );
        for (const [what, [ask]] of Object.entries(EVERY_CALL)) {
          const error = expectError(await failure(ask(client(port, { maxRetries: 2 }))), "ServerError", {
            code: "unexpected_response",
          });
          assert.ok(error.status === status || error.status === 0, `${what}: ${error.status}`);
        }
      }
      assert.equal(elsewhere, 0);
    });
  });
}
