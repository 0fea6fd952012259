// The package in cross-origin pages in Chromium: CORS, and API keys in pages.
import assert from "node:assert/strict";
import { copyFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { launch } from "../support/browser.mjs";
import { dist, library } from "../support/package.mjs";
import { secrets } from "../support/http.mjs";
import { CONNECTIONS, connectionPath } from "../support/vault.mjs";

const UNKNOWN = "aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa";
const PAGE = `<!doctype html><meta charset="utf-8"><title>A page</title><script type="module" src="page.mjs"></script>`;
/** For the page and its workers: the package, and errors as plain values. */
const SHARED = `
import * as library from "./connector-vault.mjs";
const { ConnectorVault, VaultError } = library;
const described = (error) => {
  const { name, message, status, code, requestId, errors, headers, suggestions, connectionId, retryAfter } = error;
  const header = (name) => headers?.get(name) ?? null;
  return {
    name, message, status, code, requestId, errors, suggestions, connectionId, retryAfter, isVaultError: error instanceof VaultError, isError: error instanceof Error, isClass: error.constructor === library[name], text: String(error), stack: String(error.stack),
    headers: Object.fromEntries(["x-request-id", "retry-after", "etag", "link", "server-timing", "content-type"].map((name) => [name, header(name)])),
  };
};
/** Runs a function, and returns its result or its error. */
globalThis.outcome = async (body, ...given) => {
  try {
    const run = new Function("library", "given", \`return (async () => { \${body} })()\`);
    return { value: await run(library, given) };
  } catch (error) {
    return { error: described(error) };
  }
};
`;
const WORKER = `${SHARED}
onmessage = async ({ data }) => postMessage(await outcome(...data));
`;
const IN_PAGE = `${SHARED}
globalThis.inWorker = (...given) => new Promise((done, fail) => {
  const worker = new Worker("./worker.mjs", { type: "module" });
  worker.onmessage = ({ data }) => (worker.terminate(), done(data));
  worker.onerror = (event) => fail(new Error(event.message));
  worker.postMessage(given);
});
globalThis.isReady = true;
`;

export function browser(fixture) {
  let chromium;
  let page;
  const secret = () => fixture.keys.page.secret;

  async function open(site) {
    const context = await chromium.newContext();
    const page = await context.newPage();
    await page.goto(site.origin);
    await page.waitForFunction(() => globalThis.isReady);
    return page;
  }

  /** Runs a function body in a page or in one of its workers, with arguments in `given` and the package in `library`. */
  const run = (body, { on = page, where = "outcome", given = [] } = {}) =>
    on.evaluate(([name, text, values]) => globalThis[name](text, ...values), [where, body, given]);

  /** Runs a function body with a client in `vault`. */
  const call = (body, { key = secret(), options = {}, ...how } = {}) =>
    run(
      `const [address, secret, options, ...more] = given; const vault = new library.ConnectorVault({ baseUrl: address, secret, allowSecretInBrowser: true, maxRetries: 0, ...options }); ${body}`,
      { ...how, given: [fixture.baseUrl, key, options, ...(how.given ?? [])] },
    );

  /** Runs a call, asserts that it succeeds, and returns its result. */
  async function value(body, how) {
    const outcome = await call(body, how);
    assert.equal(outcome.error, undefined, JSON.stringify(outcome.error));
    return outcome.value;
  }

  /** The error of a failing call. Asserts its class, and that it contains no secret. */
  function expectErrorInPage({ error, value: unexpected }, kind, expected = {}) {
    assert.ok(error, `it should have failed, but returned ${JSON.stringify(unexpected)}`);
    assert.deepEqual(
      [error.name, error.isVaultError, error.isError, error.isClass],
      [kind, true, true, true],
      error.stack,
    );
    assert.equal(error.text, `${kind}: ${error.message}`);
    for (const [name, wanted] of Object.entries(expected))
      assert.deepEqual(error[name], wanted, `${name}: ${JSON.stringify(error)}`);
    for (const text of secrets) assert.ok(!JSON.stringify(error).includes(text));
    return error;
  }

  function expectServiceError(outcome, kind, expected) {
    const error = expectErrorInPage(outcome, kind, expected);
    assert.match(error.requestId, /^[0-9a-f-]{36}$/);
    assert.equal(error.headers["x-request-id"], error.requestId);
    assert.match(error.headers["server-timing"], /^d1;/);
    assert.equal(error.headers["content-type"], "application/problem+json");
    return error;
  }

  describe("pages", () => {
    before(async () => {
      copyFileSync(join(dist, "index.mjs"), join(fixture.pages, "connector-vault.mjs"));
      for (const [name, text] of Object.entries({ "index.html": PAGE, "page.mjs": IN_PAGE, "worker.mjs": WORKER }))
        writeFileSync(join(fixture.pages, name), text);
      chromium = await launch();
      page = await open(fixture.site);
      assert.notEqual(fixture.site.origin, fixture.baseUrl);
    });

    after(() => chromium?.close());

    test("a page lists, filters and iterates over the catalog", async () => {
      const envelope = (rows) => `const { rows, total, pages, page } = ${rows}; return { rows, total, pages, page };`;
      assert.deepEqual(
        await value(envelope('await vault.connectors.list({ q: "google drive", limit: 3 })')),
        (await fixture.plain(fixture.keys.page, "/v1/available-connectors?q=google%20drive&limit=3")).json,
      );
      assert.deepEqual(
        await value(envelope('await vault.actions.list("GitHub", { method: "get", page: 2 })')),
        (await fixture.plain(fixture.keys.page, "/v1/available-actions/github?method=get&page=2")).json,
      );
      const { json } = await fixture.plain(fixture.keys.page, "/v1/available-connectors?limit=500");
      assert.deepEqual(
        await value("return (await vault.connectors.list().toArray()).map(({ key }) => key)"),
        json.rows.map(({ key }) => key),
      );
    });

    test("a page iterates over connections with cursors", async () => {
      const expected = fixture.seeded.filter(({ active }) => active).length;
      const walk =
        "const ids = []; for await (const { id } of vault.connections.list({ limit: 500 })) ids.push(id); return ids;";
      const ids = await value(walk, { key: fixture.keys.many.secret });
      assert.deepEqual([ids.length, new Set(ids).size], [expected, expected]);
      const requested = [];
      const listen = (request) => requested.push(request.url());
      page.on("request", listen);
      await value("return (await vault.connections.list().toArray({ max: 250 })).length", {
        key: fixture.keys.many.secret,
      });
      page.off("request", listen);
      const sent = requested
        .map((url) => new URL(url).searchParams)
        .map((query) => [query.get("limit"), query.has("after"), query.has("page")]);
      assert.deepEqual(sent, [
        ["100", false, false],
        ["100", true, false],
        ["100", true, false],
      ]);
      assert.equal(
        await value("return (await (await vault.connections.list({ limit: 5 })).next()).page", {
          key: fixture.keys.many.secret,
        }),
        2,
      );
    });

    test("a page creates, reads, changes with `ifMatch`, and deletes a connection", async () => {
      const connection = await value(
        'return vault.connections.create({ platform: "github", identity: "名前 %_ 😀", identityType: "user", tags: ["é", "a b"] })',
      );
      assert.deepEqual((await fixture.plain(fixture.keys.page, connectionPath(connection.id))).json, connection);
      assert.deepEqual(
        await value("return vault.connections.get(more[0])", { given: [connection.id.toUpperCase()] }),
        connection,
      );
      const changed = await value(
        'return vault.connections.update(more[0].id, { tags: ["x"] }, { ifMatch: more[0] })',
        { given: [connection] },
      );
      assert.deepEqual(changed, { ...connection, tags: ["x"], version: "2" });
      expectServiceError(
        await call('return vault.connections.update(more[0].id, { tags: ["y"] }, { ifMatch: more[0] })', {
          given: [connection],
        }),
        "PreconditionError",
        { status: 412, code: "precondition_failed" },
      );
      expectServiceError(
        await call(
          'return vault.connections.create({ platform: "github", identity: "名前 %_ 😀", identityType: "user" })',
        ),
        "ConflictError",
        { status: 409, code: "connection_exists", connectionId: connection.id },
      );
      assert.deepEqual(await value('return (await vault.connections.list({ tags: ["x"] })).rows'), [changed]);
      assert.equal((await value("return vault.connections.summary()")).total, 1);
      assert.equal(
        await value("return await vault.connections.delete(more[0]) === undefined", { given: [connection.id] }),
        true,
      );
      expectServiceError(
        await call("return vault.connections.delete(more[0])", { given: [connection.id] }),
        "NotFoundError",
        {
          status: 404,
          code: "connection_not_found",
        },
      );
      assert.equal((await value("return vault.whoami()")).account, "page");
    });

    test("each error of the service is reported with all members", async () => {
      const { unknown, revoked, expired, reader, noCatalog } = fixture.keys;
      for (const { secret: key } of [unknown, revoked, expired])
        expectServiceError(await call("return vault.whoami()", { key }), "AuthenticationError", {
          status: 401,
          code: "invalid_key",
          errors: [],
        });
      expectServiceError(await call("return vault.connectors.list()", { key: noCatalog.secret }), "PermissionError", {
        status: 403,
        code: "insufficient_scope",
      });
      expectServiceError(
        await call("return vault.connections.delete(more[0])", { key: reader.secret, given: [UNKNOWN] }),
        "PermissionError",
        { status: 403 },
      );
      const unknownError = expectServiceError(await call('return vault.actions.list("gitub")'), "NotFoundError", {
        status: 404,
        code: "platform_not_found",
      });
      assert.equal(unknownError.suggestions[0], "github");
      const error = expectServiceError(
        await call('return vault.connections.create({ platform: "gitub", identity: "a", identityType: "user" })'),
        "ValidationError",
        { status: 400, code: "invalid_body" },
      );
      assert.deepEqual(
        error.errors.map(({ pointer, suggestion }) => [pointer, suggestion]),
        [["/platform", "github"]],
      );
      const after = /after=([^&>]+)/.exec(
        (await fixture.plain(fixture.keys.many, `${CONNECTIONS}?limit=5`)).header("link"),
      )[1];
      expectServiceError(
        await call("return vault.connections.list({ limit: 6, after: more[0] })", {
          key: fixture.keys.many.secret,
          given: [after],
        }),
        "ValidationError",
        { status: 400, code: "invalid_parameter" },
      );
    });

    test("a page can read Retry-After when storage is unavailable", async () => {
      const run = (sql) => fixture.database.prepare(sql).run();
      await run("ALTER TABLE connections RENAME TO lost");
      try {
        const error = expectServiceError(await call("return vault.connections.list()"), "ServerError", {
          status: 503,
          code: "unavailable",
          retryAfter: 5,
        });
        assert.equal(error.headers["retry-after"], "5");
      } finally {
        await run("ALTER TABLE lost RENAME TO connections");
      }
    });

    test("arguments are validated before a request, as in Node", async () => {
      const requested = [];
      const listen = (request) => requested.push(request.url());
      page.on("request", listen);
      for (const [body, ask] of [
        [
          "return vault.connections.list({ limit: 0, tagz: 1 })",
          (vault) => vault.connections.list({ limit: 0, tagz: 1 }),
        ],
        ['return vault.connections.get("x")', (vault) => vault.connections.get("x")],
        ['return vault.connections.update("x", { tag: 1 })', (vault) => vault.connections.update("x", { tag: 1 })],
        ["return vault.whoami({ signl: 1 })", (vault) => vault.whoami({ signl: 1 })],
      ]) {
        const error = await ask(fixture.vault(fixture.keys.page)).then(
          () => assert.fail("it should have failed"),
          (reason) => reason,
        );
        expectErrorInPage(await call(body), "ValidationError", {
          status: error.status,
          code: error.code,
          message: error.message,
          errors: error.errors,
          requestId: undefined,
        });
      }
      page.off("request", listen);
      assert.deepEqual(requested, []);
    });

    test("reports an unreachable server, a timeout, and an aborted call", async () => {
      // Chromium blocks this port, as if no server listened.
      expectErrorInPage(
        await call(
          'return new library.ConnectorVault({ baseUrl: "http://127.0.0.1:1", secret, allowSecretInBrowser: true, maxRetries: 0 }).whoami()',
        ),
        "ConnectionError",
        { status: undefined, code: "no_response", requestId: undefined },
      );
      expectErrorInPage(await call("return vault.whoami()", { options: { timeoutMs: 1 } }), "TimeoutError", {
        code: "timeout",
      });
      expectErrorInPage(
        await call(
          "const controller = new AbortController(); const answer = vault.whoami({ signal: controller.signal }); controller.abort(); return answer;",
        ),
        "AbortError",
        { code: "aborted" },
      );
      expectErrorInPage(await call("return vault.whoami({ signal: AbortSignal.abort() })"), "AbortError", {
        code: "aborted",
      });
    });

    test("redirects and responses of other servers are rejected", async () => {
      const elsewhere =
        "return new library.ConnectorVault({ baseUrl: more[0], secret, allowSecretInBrowser: true }).whoami()";
      expectErrorInPage(await call(elsewhere, { given: [fixture.site.origin] }), "NotFoundError", {
        status: 404,
        code: "unexpected_response",
      });
      const requested = [];
      const allow = {
        "access-control-allow-origin": fixture.site.origin,
        "access-control-allow-headers": "x-service-secret",
        "access-control-allow-methods": "GET",
      };
      const server = createServer(({ method, url }, response) => {
        requested.push(url);
        if (method === "OPTIONS") response.writeHead(204, allow).end();
        else response.writeHead(307, { ...allow, location: "/elsewhere" }).end();
      });
      await new Promise((done) => server.listen(0, "127.0.0.1", done));
      try {
        expectErrorInPage(
          await call(elsewhere, { given: [`http://127.0.0.1:${server.address().port}`] }),
          "ServerError",
          {
            code: "unexpected_response",
          },
        );
        assert.deepEqual(requested, ["/v1/whoami", "/v1/whoami"]);
      } finally {
        server.closeAllConnections();
        await new Promise((done) => server.close(done));
      }
    });

    test("a page of an origin that is not allowed gets ConnectionError", async () => {
      const stranger = await open(fixture.stranger);
      for (const body of [
        "return vault.whoami()",
        "return vault.connections.list()",
        "return vault.connections.delete(more[0])",
        "return vault.connectors.list().toArray()",
      ]) {
        expectErrorInPage(await call(body, { on: stranger, given: [UNKNOWN] }), "ConnectionError", {
          status: undefined,
          code: "no_response",
          requestId: undefined,
          errors: [],
        });
      }
      await stranger.context().close();
    });

    for (const where of ["outcome", "inWorker"]) {
      test(`an API key is rejected ${where === "outcome" ? "in a page" : "in a worker of a page"} unless allowed, and a token is accepted`, async () => {
        const make = (options) =>
          run("const vault = new library.ConnectorVault(given[0]); return typeof vault.whoami;", {
            where,
            given: [{ baseUrl: fixture.baseUrl, ...options }],
          });
        for (const options of [
          { secret: secret() },
          { secret: secret(), allowSecretInBrowser: false },
          { secret: secret().replace("sk_test_", "sk_live_") },
        ]) {
          const isMalformed = options.secret !== secret();
          const error = expectErrorInPage(
            await make(options),
            isMalformed ? "AuthenticationError" : "ValidationError",
            {
              status: isMalformed ? 401 : undefined,
              requestId: undefined,
            },
          );
          assert.equal(error.code, isMalformed ? "invalid_key" : "secret_in_browser");
          // The message must name the reason, the alternative, and the option that allows a key.
          if (error.code === "secret_in_browser")
            for (const word of [/short-lived token/, /server/, /allowSecretInBrowser/])
              assert.match(error.message, word);
        }
        for (const token of [`st_test_${"x".repeat(40)}`, `st_live_${"Ab0".repeat(20)}`])
          assert.deepEqual(await make({ secret: token }), { value: "function" });
        assert.deepEqual(await make({ secret: secret(), allowSecretInBrowser: true }), { value: "function" });
      });
    }

    test("a worker of a page can call the service", async () => {
      assert.equal((await value("return vault.whoami()", { where: "inWorker" })).account, "page");
      expectServiceError(await call('return vault.actions.list("gitub")', { where: "inWorker" }), "NotFoundError", {
        status: 404,
        code: "platform_not_found",
      });
    });

    test("the code uses nothing that only Node has", () => {
      assert.equal(typeof window, "undefined");
      assert.ok(
        new library.ConnectorVault({ baseUrl: fixture.baseUrl, secret: secret() }),
        "API keys are allowed on servers",
      );
    });
  });
}
