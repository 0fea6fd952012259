// The package's errors for responses of the service: class, fields and cause, without secrets.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { inspect } from "node:util";
import { EVERY_CALL, UNKNOWN } from "../support/calls.mjs";
import {
  ConnectorVault,
  Recorder,
  expectServiceError,
  expectError,
  expectNoSecret,
  failure,
} from "../support/package.mjs";
import { CONNECTIONS, connectionPath } from "../support/vault.mjs";

const NO_RETRIES = { maxRetries: 0 };

export function errors(fixture) {
  const { vault } = fixture;

  describe("errors", () => {
    for (const name of ["unknown", "revoked", "expired"]) {
      test(`401: every call with a key that is ${name}`, async () => {
        const apiKey = fixture.keys[name];
        for (const [ask, method, path] of Object.values(EVERY_CALL)) {
          const response = await fixture.plain(apiKey, path, { method });
          expectServiceError(await failure(ask(vault(apiKey))), "AuthenticationError", response, {
            status: 401,
            code: "invalid_key",
          });
        }
      });
    }

    test("403: a key that lacks the scope", async () => {
      for (const [what, [ask, method, path, scope]] of Object.entries(EVERY_CALL)) {
        if (scope === undefined) continue;
        const apiKey =
          fixture.keys[
            { "catalog:read": "noCatalog", "connections:read": "catalogOnly", "connections:write": "reader" }[scope]
          ];
        const response = await fixture.plain(apiKey, path, { method });
        const error = expectServiceError(await failure(ask(vault(apiKey))), "PermissionError", response, {
          status: 403,
          code: "insufficient_scope",
        });
        assert.ok(error.message.includes(`\`${scope}\``), what);
      }
    });

    test("404: a connection of another account or environment", async () => {
      const theirs = await vault(fixture.keys.other).connections.create({
        platform: "github",
        identity: "theirs",
        identityType: "user",
      });
      const live = await vault(fixture.keys.live).connections.create({
        platform: "github",
        identity: "live",
        identityType: "user",
      });
      const connections = vault(fixture.keys.full).connections;
      for (const id of [UNKNOWN, theirs.id, live.id, theirs.id.toUpperCase()]) {
        for (const [method, ask] of [
          ["GET", () => connections.get(id)],
          ["DELETE", () => connections.delete(id)],
        ]) {
          const error = expectServiceError(
            await failure(ask),
            "NotFoundError",
            await fixture.plain(fixture.keys.full, connectionPath(id), { method }),
            { status: 404, code: "connection_not_found" },
          );
          assert.deepEqual(error.suggestions, []);
        }
        for (const options of [{}, { ifMatch: "*" }, { ifMatch: theirs }])
          expectError(await failure(connections.update(id, { tags: ["no"] }, options)), "NotFoundError", {
            status: 404,
            code: "connection_not_found",
          });
      }
      assert.deepEqual(await vault(fixture.keys.other).connections.get(theirs.id), theirs);
    });

    test("404: an unknown platform, with suggestions", async () => {
      const { full } = fixture.keys;
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
        const response = await fixture.plain(full, `/v1/available-actions/${encodeURIComponent(platform)}`);
        const error = expectServiceError(await failure(vault(full).actions.list(platform)), "NotFoundError", response, {
          status: 404,
          code: "platform_not_found",
        });
        assert.ok(Array.isArray(error.suggestions));
        if (meant) assert.equal(error.suggestions[0], meant);
        expectServiceError(await failure(vault(full).actions.list(platform).toArray()), "NotFoundError", response);
      }
    });

    test("404: an unknown action, with suggestions", async () => {
      const { full } = fixture.keys;
      for (const [platform, key, meant, code = "action_not_found"] of [
        ["github", "issuesCraete", "issuesCreate"],
        ["GITHUB", "issues/create%"],
        ["github", "x".repeat(500)],
        ["gitub", "issuesCreate", "github", "platform_not_found"],
      ]) {
        const path = `/v1/available-actions/${platform}/${encodeURIComponent(key)}`;
        const response = await fixture.plain(full, path);
        const error = expectServiceError(
          await failure(vault(full).actions.get(platform, key)),
          "NotFoundError",
          response,
          {
            status: 404,
            code,
          },
        );
        if (meant) assert.ok(error.suggestions.includes(meant), `${meant} in ${error.suggestions}`);
      }
    });

    test("409 and 412 describe the conflict", async () => {
      const { full } = fixture.keys;
      const input = { platform: "github", identity: "errors-409", identityType: "user" };
      const { id } = await vault(full).connections.create(input);
      const headers = [["content-type", "application/json"]];
      const exists = await fixture.plain(full, CONNECTIONS, { method: "POST", headers, body: JSON.stringify(input) });
      expectServiceError(await failure(vault(full).connections.create(input)), "ConflictError", exists, {
        status: 409,
        code: "connection_exists",
        connectionId: id,
      });
      const stale = await fixture.plain(full, connectionPath(id), {
        method: "PATCH",
        headers: [...headers, ["if-match", '"x"']],
        body: "{}",
      });
      expectServiceError(
        await failure(vault(full).connections.update(id, {}, { ifMatch: '"x"' })),
        "PreconditionError",
        stale,
        { status: 412, code: "precondition_failed" },
      );
    });

    test("400: errors that only the service can detect", async () => {
      const { full, many } = fixture.keys;
      const after = /after=([^&>]+)/.exec((await fixture.plain(many, `${CONNECTIONS}?limit=5`)).header("link"))[1];
      for (const [apiKey, filter] of [
        [full, { after }],
        [full, { limit: 5, after }],
        [many, { limit: 6, after }],
        [many, { limit: 5, after, active: false }],
        [many, { limit: 5, after, tags: ["third"] }],
      ]) {
        const path = `${CONNECTIONS}?${new URLSearchParams(filter)}`;
        expectServiceError(
          await failure(vault(apiKey).connections.list(filter)),
          "ValidationError",
          await fixture.plain(apiKey, path),
          { status: 400, code: "invalid_parameter" },
        );
      }
      for (const [platform, suggestion] of [["gitub", "github"], ["Git_Hub", "github"], ["no such platform at all"]]) {
        const input = { platform, identity: "x", identityType: "user" };
        const response = await fixture.plain(full, CONNECTIONS, {
          method: "POST",
          headers: [["content-type", "application/json"]],
          body: JSON.stringify(input),
        });
        const { errors } = expectServiceError(
          await failure(vault(full).connections.create(input)),
          "ValidationError",
          response,
          { status: 400, code: "invalid_body" },
        );
        assert.equal(errors[0].pointer, "/platform");
        if (suggestion) assert.equal(errors[0].suggestion, suggestion);
      }
    });

    test("429: `retryAfter` is set, and a wait beyond the timeout is not made", async () => {
      const { limited } = fixture.keys;
      const recorder = new Recorder();
      const client = vault(limited, {
        baseUrl: `http://127.0.0.1:${fixture.limited.port}`,
        fetch: recorder.fetch,
        maxRetries: 2,
      });
      /** Sends calls beyond the rate limit, and returns the last result. Starts again if a new minute began in between. */
      async function sendBeyondLimit(ask) {
        for (;;) {
          const minute = Math.floor(Date.now() / 60_000);
          let ended = false;
          for (let i = 0; i < 40 && !ended; i += 1)
            ended = await client.whoami().then(
              () => false,
              () => true,
            );
          assert.ok(ended, "the rate limit was not reached");
          recorder.calls = 0;
          const error = await Promise.resolve(ask()).then(
            () => undefined,
            (reason) => reason,
          );
          if (Math.floor(Date.now() / 60_000) === minute) return error;
        }
      }
      for (const [ask] of Object.values(EVERY_CALL)) {
        const error = expectError(await sendBeyondLimit(() => ask(client)), "RateLimitError", {
          status: 429,
          code: "too_many_requests",
          retryAfter: 60,
          errors: [],
        });
        assert.equal(error.headers.get("retry-after"), "60");
        assert.equal(error.headers.get("x-request-id"), error.requestId);
        // There was no retry, because waiting for a minute would exceed the timeout.
        assert.equal(recorder.calls, 1);
      }
    });

    test("503: unavailable storage, and its recovery", async () => {
      const { outage } = fixture.keys;
      const client = vault(outage);
      const { id } = await client.connections.create({ platform: "github", identity: "outage", identityType: "user" });
      const run = (sql) => fixture.database.prepare(sql).run();
      await run("ALTER TABLE connections RENAME TO lost");
      try {
        const response = await fixture.plain(outage, CONNECTIONS);
        const once = vault(outage, NO_RETRIES).connections;
        for (const ask of [
          () => once.list(),
          () => once.get(id),
          () => once.update(id, { tags: ["x"] }),
          () => once.delete(id),
          () => once.create({ platform: "github", identity: "b", identityType: "user" }),
        ]) {
          expectServiceError(await failure(ask), "ServerError", response, {
            status: 503,
            code: "unavailable",
            retryAfter: 5,
          });
        }
        // The package does not wait for five seconds, because that would exceed the timeout.
        expectError(await failure(vault(outage, { timeoutMs: 4500 }).connections.list()), "ServerError", {
          status: 503,
          retryAfter: 5,
        });
      } finally {
        await run("ALTER TABLE lost RENAME TO connections");
      }
      assert.equal((await client.connections.list()).total, 1);
    });

    test("503: storage recovers while the call waits", async () => {
      const { outage } = fixture.keys;
      const run = (sql) => fixture.database.prepare(sql).run();
      await run("ALTER TABLE connections RENAME TO lost");
      const statuses = [];
      const recorder = new Recorder(async (request) => {
        const response = await fetch(request);
        statuses.push(response.status);
        if (response.status !== 503) return response;
        await run("ALTER TABLE lost RENAME TO connections");
        // Returns the same response without the seconds to wait.
        const headers = new Headers(response.headers);
        headers.set("retry-after", "0");
        return new Response(response.body, { status: 503, headers });
      });
      assert.equal((await vault(outage, { fetch: recorder.fetch }).connections.list()).total, 1);
      assert.deepEqual(statuses, [503, 200]);
    });

    test("a printed error shows its class", async () => {
      for (const [name, kind] of [
        ["unknown", "AuthenticationError"],
        ["noCatalog", "PermissionError"],
      ]) {
        const error = await failure(vault(fixture.keys[name]).connectors.list());
        assert.equal(error.constructor.name, kind);
        assert.ok(inspect(error).startsWith(`${kind}: ${error.message}\n`), inspect(error).split("\n")[0]);
        assert.ok(error.stack.startsWith(`${kind}: ${error.message}\n`), error.stack);
      }
    });

    test("printing a client shows no secret", () => {
      const client = vault(fixture.keys.full);
      for (const value of [
        client,
        client.connections,
        client.connectors,
        client.actions,
        client.connections.list(),
        { own: client },
      ]) {
        for (const text of [
          JSON.stringify(value),
          inspect(value, { depth: 20, showHidden: true, getters: true }),
          String(Object.entries(value)),
        ])
          assert.ok(!text?.includes(fixture.keys.full.secret));
      }
      for (const secret of [
        fixture.keys.full.secret.slice(0, -1),
        `${fixture.keys.full.secret}0`,
        `Bearer ${fixture.keys.full.secret}`,
      ]) {
        assert.throws(
          () => new ConnectorVault({ baseUrl: fixture.baseUrl, secret }),
          (error) => {
            expectNoSecret(error);
            for (const text of [inspect(error, { depth: 20, showHidden: true }), JSON.stringify(error), error.stack])
              assert.ok(!text.includes(secret), "the error shows the invalid secret");
            return true;
          },
        );
      }
    });
  });
}
