// The package's errors, each made by a real server: the service itself, or one that is no connector-vault. Class, fields
// and cause are right, and no secret is in any of them.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { createServer as createTcpServer } from "node:net";
import { inspect } from "node:util";
import { afterEach, describe, test } from "node:test";
import {
  ConnectorVault,
  Recorder,
  expectAnswered,
  expectError,
  expectNoSecret,
  expectUnanswered,
  failure,
} from "../support/package.mjs";
import { CONNECTIONS, SUMMARY, one } from "../support/vault.mjs";

const UNKNOWN = "aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa";
const ONCE = { maxRetries: 0 };
/** A call that hangs is noticed, and one that does not has time enough on a busy machine. */
const SOON_MS = 5000;

/** Every call, with the request that it is by plain HTTP. */
const EVERY = {
  "connectors.list": [(client) => client.connectors.list(), "GET", "/v1/available-connectors", "catalog:read"],
  "actions.list": [(client) => client.actions.list("github"), "GET", "/v1/available-actions/github", "catalog:read"],
  "connections.list": [(client) => client.connections.list(), "GET", CONNECTIONS, "connections:read"],
  "connections.get": [(client) => client.connections.get(UNKNOWN), "GET", one(UNKNOWN), "connections:read"],
  "connections.update": [
    (client) => client.connections.update(UNKNOWN, { tags: ["x"] }),
    "PATCH",
    one(UNKNOWN),
    "connections:write",
  ],
  "connections.create": [
    (client) => client.connections.create({ platform: "github", identity: "never", identityType: "user" }),
    "POST",
    CONNECTIONS,
    "connections:write",
  ],
  "connections.setState": [
    (client) => client.connections.setState(UNKNOWN, { state: "failed" }),
    "PUT",
    `${one(UNKNOWN)}/state`,
    "connections:write",
  ],
  "connections.setName": [
    (client) => client.connections.setName(UNKNOWN, "Ann"),
    "PUT",
    `${one(UNKNOWN)}/name`,
    "connections:write",
  ],
  "connections.delete": [(client) => client.connections.delete(UNKNOWN), "DELETE", one(UNKNOWN), "connections:write"],
  "connections.summary": [(client) => client.connections.summary(), "GET", SUMMARY, "connections:read"],
  whoami: [(client) => client.whoami(), "GET", "/v1/whoami", undefined],
  "connectors, iterated": [
    (client) => client.connectors.list().toArray(),
    "GET",
    "/v1/available-connectors?limit=100",
    "catalog:read",
  ],
  "connections, iterated": [
    (client) => client.connections.list()[Symbol.asyncIterator]().next(),
    "GET",
    `${CONNECTIONS}?limit=100`,
    "connections:read",
  ],
};

/** A port of this machine on which nobody listens. */
async function deadPort() {
  const server = createTcpServer();
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address();
  await new Promise((done) => server.close(done));
  return port;
}

export function errors(world) {
  const { vault } = world;
  const ended = [];
  const client = (port, options) =>
    new ConnectorVault({ baseUrl: `http://127.0.0.1:${port}`, secret: world.keys.full.secret, ...ONCE, ...options });

  /** A server that is none of ours, until the test ends. */
  async function listening(server) {
    const sockets = new Set();
    server.on("connection", (socket) => {
      sockets.add(socket);
      socket.on("close", () => sockets.delete(socket)).on("error", () => {});
    });
    await new Promise((done) => server.listen(0, "127.0.0.1", done));
    ended.push(() => {
      sockets.forEach((socket) => socket.destroy());
      return new Promise((done) => server.close(done));
    });
    return server.address().port;
  }

  const answering = (answer) => listening(createServer(answer));
  /** A server that answers every request with these bytes. */
  const sending = (bytes, { close = false } = {}) =>
    listening(createTcpServer((socket) => socket.on("data", () => (close ? socket.end(bytes) : socket.write(bytes)))));

  describe("errors", () => {
    afterEach(() => Promise.all(ended.splice(0).map((end) => end())));

    for (const name of ["unknown", "revoked", "expired"]) {
      test(`401: a key that is ${name}, whatever is asked`, async () => {
        const made = world.keys[name];
        for (const [ask, method, path] of Object.values(EVERY)) {
          const answer = await world.plain(made, path, { method });
          expectAnswered(await failure(ask(vault(made))), "AuthenticationError", answer, {
            status: 401,
            code: "invalid_key",
          });
        }
      });
    }

    test("403: a key that lacks the scope", async () => {
      for (const [what, [ask, method, path, scope]] of Object.entries(EVERY)) {
        if (scope === undefined) continue;
        const made =
          world.keys[
            { "catalog:read": "noCatalog", "connections:read": "catalogOnly", "connections:write": "reader" }[scope]
          ];
        const answer = await world.plain(made, path, { method });
        const error = expectAnswered(await failure(ask(vault(made))), "PermissionError", answer, {
          status: 403,
          code: "insufficient_scope",
        });
        assert.ok(error.message.includes(`\`${scope}\``), what);
      }
    });

    test("404: a connection that the key can't see", async () => {
      const theirs = await vault(world.keys.other).connections.create({
        platform: "github",
        identity: "theirs",
        identityType: "user",
      });
      const live = await vault(world.keys.live).connections.create({
        platform: "github",
        identity: "live",
        identityType: "user",
      });
      const own = vault(world.keys.full).connections;
      for (const id of [UNKNOWN, theirs.id, live.id, theirs.id.toUpperCase()]) {
        for (const [method, ask] of [
          ["GET", () => own.get(id)],
          ["DELETE", () => own.delete(id)],
        ]) {
          const error = expectAnswered(
            await failure(ask),
            "NotFoundError",
            await world.plain(world.keys.full, one(id), { method }),
            { status: 404, code: "connection_not_found" },
          );
          assert.deepEqual(error.suggestions, []);
        }
        for (const options of [{}, { ifMatch: "*" }, { ifMatch: theirs }])
          expectError(await failure(own.update(id, { tags: ["no"] }, options)), "NotFoundError", {
            status: 404,
            code: "connection_not_found",
          });
      }
      assert.deepEqual(await vault(world.keys.other).connections.get(theirs.id), theirs);
    });

    test("404: a platform that is none, with those that may have been meant", async () => {
      const { full } = world.keys;
      for (const [platform, meant] of [
        ["gitub", "github"],
        ["GITHUBB", "github"],
        ["googleapis-drive2"],
        ["a b%c/d"],
        ["ünïcode😀"],
        ["x".repeat(500)],
        ["%2e%2e"],
        ["petstore"],
        ["nothing like it"],
      ]) {
        const answer = await world.plain(full, `/v1/available-actions/${encodeURIComponent(platform)}`);
        const error = expectAnswered(await failure(vault(full).actions.list(platform)), "NotFoundError", answer, {
          status: 404,
          code: "platform_not_found",
        });
        assert.ok(Array.isArray(error.suggestions));
        if (meant) assert.equal(error.suggestions[0], meant);
        expectAnswered(await failure(vault(full).actions.list(platform).toArray()), "NotFoundError", answer);
      }
    });

    test("409 and 412 tell what is in the way", async () => {
      const { full } = world.keys;
      const wish = { platform: "github", identity: "errors-409", identityType: "user" };
      const { id } = await vault(full).connections.create(wish);
      const headers = [["content-type", "application/json"]];
      const exists = await world.plain(full, CONNECTIONS, { method: "POST", headers, body: JSON.stringify(wish) });
      expectAnswered(await failure(vault(full).connections.create(wish)), "ConflictError", exists, {
        status: 409,
        code: "connection_exists",
        connectionId: id,
      });
      const stale = await world.plain(full, one(id), {
        method: "PATCH",
        headers: [...headers, ["if-match", '"x"']],
        body: "{}",
      });
      expectAnswered(
        await failure(vault(full).connections.update(id, {}, { ifMatch: '"x"' })),
        "PreconditionError",
        stale,
        { status: 412, code: "precondition_failed" },
      );
    });

    test("400: what only the service can find", async () => {
      const { full, many } = world.keys;
      const after = /after=([^&>]+)/.exec((await world.plain(many, `${CONNECTIONS}?limit=5`)).header("link"))[1];
      for (const [made, filter] of [
        [full, { after }],
        [full, { limit: 5, after }],
        [many, { limit: 6, after }],
        [many, { limit: 5, after, active: false }],
        [many, { limit: 5, after, tags: ["third"] }],
      ]) {
        const path = `${CONNECTIONS}?${new URLSearchParams(filter)}`;
        expectAnswered(
          await failure(vault(made).connections.list(filter)),
          "ValidationError",
          await world.plain(made, path),
          { status: 400, code: "invalid_parameter" },
        );
      }
      for (const [platform, suggestion] of [["gitub", "github"], ["Git_Hub", "github"], ["no such platform at all"]]) {
        const wish = { platform, identity: "x", identityType: "user" };
        const answer = await world.plain(full, CONNECTIONS, {
          method: "POST",
          headers: [["content-type", "application/json"]],
          body: JSON.stringify(wish),
        });
        const { errors } = expectAnswered(
          await failure(vault(full).connections.create(wish)),
          "ValidationError",
          answer,
          { status: 400, code: "invalid_body" },
        );
        assert.equal(errors[0].pointer, "/platform");
        if (suggestion) assert.equal(errors[0].suggestion, suggestion);
      }
    });

    test("429: a key that asks too often is told when to try again, at once", async () => {
      const { limited } = world.keys;
      const recorder = new Recorder();
      const asking = client(world.limited.port, { secret: limited.secret, fetch: recorder.fetch, maxRetries: 2 });
      /** What a call gives to a key that has asked too often; again when a minute ended on the way there. */
      async function beyondLimit(ask) {
        for (;;) {
          const minute = Math.floor(Date.now() / 60_000);
          let ended = false;
          for (let i = 0; i < 40 && !ended; i += 1)
            ended = await asking.whoami().then(
              () => false,
              () => true,
            );
          assert.ok(ended, "a key may ask as often as it likes");
          recorder.calls = 0;
          const error = await Promise.resolve(ask()).then(
            () => undefined,
            (reason) => reason,
          );
          if (Math.floor(Date.now() / 60_000) === minute) return error;
        }
      }
      for (const [ask] of Object.values(EVERY)) {
        const error = expectError(await beyondLimit(() => ask(asking)), "RateLimitError", {
          status: 429,
          code: "too_many_requests",
          retryAfter: 60,
          errors: [],
        });
        assert.equal(error.headers.get("retry-after"), "60");
        assert.equal(error.headers.get("x-request-id"), error.requestId);
        // A minute's wait would outlast the call's time: there was no second try.
        assert.equal(recorder.calls, 1);
      }
    });

    test("503: storage that is broken, and whole again", async () => {
      const { outage } = world.keys;
      const whole = vault(outage);
      const { id } = await whole.connections.create({ platform: "github", identity: "outage", identityType: "user" });
      const run = (sql) => world.database.prepare(sql).run();
      await run("ALTER TABLE connections RENAME TO lost");
      try {
        const answer = await world.plain(outage, CONNECTIONS);
        const once = vault(outage, ONCE).connections;
        for (const ask of [
          () => once.list(),
          () => once.get(id),
          () => once.update(id, { tags: ["x"] }),
          () => once.delete(id),
          () => once.create({ platform: "github", identity: "b", identityType: "user" }),
        ]) {
          expectAnswered(await failure(ask), "ServerError", answer, {
            status: 503,
            code: "unavailable",
            retryAfter: 5,
          });
        }
        // Five seconds' wait would outlast the call.
        expectError(await failure(vault(outage, { timeoutMs: 4500 }).connections.list()), "ServerError", {
          status: 503,
          retryAfter: 5,
        });
      } finally {
        await run("ALTER TABLE lost RENAME TO connections");
      }
      assert.equal((await whole.connections.list()).total, 1);
    });

    test("503, then whole again while the call waits", async () => {
      const { outage } = world.keys;
      const run = (sql) => world.database.prepare(sql).run();
      await run("ALTER TABLE connections RENAME TO lost");
      const statuses = [];
      const recorder = new Recorder(async (request) => {
        const answer = await fetch(request);
        statuses.push(answer.status);
        if (answer.status !== 503) return answer;
        await run("ALTER TABLE lost RENAME TO connections");
        // As it was, but for the seconds to wait.
        const headers = new Headers(answer.headers);
        headers.set("retry-after", "0");
        return new Response(answer.body, { status: 503, headers });
      });
      assert.equal((await vault(outage, { fetch: recorder.fetch }).connections.list()).total, 1);
      assert.deepEqual(statuses, [503, 200]);
    });

    test("nobody listens: ConnectionError with fetch's own reason", async () => {
      const port = await deadPort();
      for (const [what, [ask]] of Object.entries(EVERY)) {
        const error = expectUnanswered(await failure(ask(client(port))), "ConnectionError", {
          status: undefined,
          code: "connection_failed",
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
          new ConnectorVault({ baseUrl: "https://vault.invalid", secret: world.keys.full.secret, ...ONCE }).whoami(),
        ),
        "ConnectionError",
      );
    });

    test("a connection that breaks off: ConnectionError", async () => {
      for (const bytes of [
        "",
        "HTTP/1.1 200 OK\r\n",
        "not HTTP at all\r\n\r\n",
        'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n{"account":"a',
      ]) {
        const port = await sending(bytes, { close: true });
        const error = expectError(await failure(client(port).whoami()), "ConnectionError", {
          code: "connection_failed",
        });
        assert.ok(error.cause !== undefined);
      }
    });

    test("a server that never answers, or never ends its answer: TimeoutError when the time is over", async () => {
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
        const port = await listening(server);
        const began = performance.now();
        expectUnanswered(await failure(client(port, { timeoutMs: 150, maxRetries: 2 }).whoami()), "TimeoutError", {
          status: undefined,
          code: "timeout",
          errors: [],
        });
        const took = performance.now() - began;
        assert.ok(took >= 145 && took < SOON_MS, `${took} ms`);
        // What nobody waits for any longer is let go of.
        await closed;
      }
    });

    test("a signal ends a call that a server never answers, at once and with its reason", async () => {
      for (const reason of [new Error("mine"), "a text", undefined, null, 0]) {
        const asked = Promise.withResolvers();
        let closed;
        const port = await listening(
          createTcpServer((socket) => {
            closed = new Promise((done) => socket.on("close", done));
            socket.on("error", () => {}).on("data", asked.resolve);
          }),
        );
        const controller = new AbortController();
        const call = failure(client(port).whoami({ signal: controller.signal }));
        await asked.promise;
        const began = performance.now();
        controller.abort(reason);
        const error = expectUnanswered(await call, "AbortError", { status: undefined, code: "aborted", errors: [] });
        assert.ok(performance.now() - began < SOON_MS);
        assert.equal(error.cause, controller.signal.reason);
        await closed;
      }
    });

    test("AbortSignal.timeout() ends a call as well", async () => {
      const port = await sending("");
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
      ["rows that are none", 200, json, '{"rows":{},"total":1,"pages":1,"page":1}'],
      ["accepted", 202, json, "{}"],
      ["reset content", 205, {}, ""],
      ["not modified", 304, {}, ""],
    ]) {
      test(`an answer that no connector-vault gives: ${what}`, async () => {
        const port = await answering((_request, response) =>
          response.writeHead(status, { "x-request-id": "theirs", ...headers }).end(body),
        );
        // A summary has a `total` as well.
        const lists = body.includes('"page":1');
        for (const [ask, , path] of Object.values(EVERY).filter(([, method]) => method === "GET")) {
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
      test(`a failure that tells no problem: ${what}`, async () => {
        const port = await answering((_request, response) => response.writeHead(status, headers).end(body));
        for (const [ask] of Object.values(EVERY)) {
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

    test("a problem with odd members is an error all the same", async () => {
      for (const odd of [
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
          const port = await answering((_request, response) =>
            response.writeHead(status, json).end(JSON.stringify({ code: "x_y", detail: "It is odd.", ...odd })),
          );
          const error = await failure(client(port).whoami());
          assert.equal(error.name, kind, JSON.stringify(odd));
          assert.equal(error.status, status);
          assert.ok(Array.isArray(error.errors));
          if (status === 404) assert.ok(Array.isArray(error.suggestions));
          if (status === 409) assert.ok(error.connectionId === undefined || typeof error.connectionId === "string");
        }
      }
    });

    test("a redirect is not followed: the secret stays where it was sent", async () => {
      let elsewhere = 0;
      const other = await answering((_request, response) => {
        elsewhere += 1;
        response.writeHead(200, json).end('{"rows":[],"total":0,"pages":0,"page":1}');
      });
      for (const status of [301, 302, 303, 307, 308]) {
        const port = await answering((_request, response) =>
          response.writeHead(status, { location: `http://127.0.0.1:${other}/` }).end(),
        );
        for (const [what, [ask]] of Object.entries(EVERY)) {
          const error = expectError(await failure(ask(client(port, { maxRetries: 2 }))), "ServerError", {
            code: "unexpected_response",
          });
          assert.ok(error.status === status || error.status === 0, `${what}: ${error.status}`);
        }
      }
      assert.equal(elsewhere, 0);
    });

    test("an error looks like one of its class to whoever prints it", async () => {
      for (const [name, kind] of [
        ["unknown", "AuthenticationError"],
        ["noCatalog", "PermissionError"],
      ]) {
        const error = await failure(vault(world.keys[name]).connectors.list());
        assert.equal(error.constructor.name, kind);
        assert.ok(inspect(error).startsWith(`${kind}: ${error.message}\n`), inspect(error).split("\n")[0]);
        assert.ok(error.stack.startsWith(`${kind}: ${error.message}\n`), error.stack);
      }
    });

    test("the client itself shows no secret", () => {
      const own = vault(world.keys.full);
      for (const value of [own, own.connections, own.connectors, own.actions, own.connections.list(), { own }]) {
        for (const text of [
          JSON.stringify(value),
          inspect(value, { depth: 20, showHidden: true, getters: true }),
          String(Object.entries(value)),
        ])
          assert.ok(!text?.includes(world.keys.full.secret));
      }
      for (const secret of [
        world.keys.full.secret.slice(0, -1),
        `${world.keys.full.secret}0`,
        `Bearer ${world.keys.full.secret}`,
      ]) {
        assert.throws(
          () => new ConnectorVault({ baseUrl: world.baseUrl, secret }),
          (error) => {
            expectNoSecret(error);
            for (const text of [inspect(error, { depth: 20, showHidden: true }), JSON.stringify(error), error.stack])
              assert.ok(!text.includes(secret), "nor what was meant to be one");
            return true;
          },
        );
      }
    });
  });
}
