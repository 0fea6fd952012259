// Calls to platforms on the real runtime: streaming, forwarding, and memory.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer, request as httpRequest } from "node:http";
import { Readable } from "node:stream";
import { after, before, describe, test } from "node:test";
import { Platform, calledCatalog } from "./support/called.mjs";
import { App, SCOPES, VAULT_KEY } from "./support/connecting.mjs";
import { key, store } from "./support/keys.mjs";
import { isolateBytes } from "./support/memory.mjs";
import { SESSION_SECRET, Server } from "./support/server.mjs";
import { State, build } from "./support/workspace.mjs";
import { proof } from "./support/proof.mjs";

/** The timeout of a request: without one, a missing response would block the other tests. */
const TIMEOUT_MS = 20_000;
const MEGABYTE = 1 << 20;
const LARGE_BYTES = 256 * MEGABYTE;
const FILE_BYTES = 100 * MEGABYTE;
/** The allowed variation of an isolate's memory, in bytes. */
const MEMORY_TOLERANCE_BYTES = 24 * MEGABYTE;
/** The number of requests of the leak test, and the allowed growth per request in bytes. A leaked callback takes several hundred. */
const LEAK_TEST_REQUESTS = 2000;
const MAX_BYTES_PER_REQUEST = 100;

/** The platform's pagination, in the format of providers.toml: an OpenAPI document can't describe it. */
const PAGINATION = `[platforms.called]
name = "Called"
documents = ["called"]
pagination = [{ next = "/next", parameter = "cursor" }]
`;

describe("calls to platforms", () => {
  let [platform, state, server, opened, app, id] = [];
  const apiKey = key({ scopes: `${SCOPES} connections:call events:read usage:read`, account: "calling" });

  before(async () => {
    await build();
    platform = await Platform.start();
    const catalog = await calledCatalog("called", platform, PAGINATION);
    state = new State("calls");
    await state.prepare(catalog);
    server = await Server.start(state, {
      name: "calls",
      variables: { LOCAL_TARGETS: "allow", ALLOWED_ORIGINS: "https://app.example" },
      secrets: { SESSION_SECRET, VAULT_KEYS: `tests:${VAULT_KEY}` },
    });
    opened = await state.open();
    await store(opened.vault, [apiKey]);
    app = new App(() => server, apiKey);
    const connection = { platform: "called", identity: "ann", identityType: "user" };
    id = (await app.expect(201, "POST", "/v1/vault/connections", connection)).id;
    await app.expect(204, "PUT", `/v1/vault/connections/${id}/credentials`, { type: "bearer", token: "good" });
  });

  after(async () => {
    await Promise.all([server?.stop(), platform?.stop()]);
    await opened?.close();
  });

  /** A proxied call, with the runtime's `fetch`. */
  const call = (path, { headers, ...init } = {}) =>
    fetch(`http://127.0.0.1:${server.port}/v1/vault/connections/${id}/proxy/${path}`, {
      ...init,
      redirect: "manual",
      headers: { "x-service-secret": apiKey.secret, ...headers },
    });

  test("a request and its response are forwarded", async () => {
    for (const method of ["GET", "POST", "PUT", "PATCH", "DELETE"]) {
      const body = method === "GET" ? undefined : `body of ${method}`;
      const headers = { cookie: "mine=1", "x-own": "2", "x-forwarded-for": "1.2.3.4", authorization: "Bearer mine" };
      const response = await call("users/a%2Fb?x=%20&y", { method, body, headers });
      const seen = await response.json();
      assert.equal(response.status, 200);
      assert.deepEqual([seen.method, seen.url, seen.body], [method, "/api/users/a%2Fb?x=%20&y", body ?? ""]);
      assert.deepEqual([seen.headers.authorization, seen.headers["x-own"]], ["Bearer good", "2"]);
      // Ignores `cf-worker`, which the runtime adds.
      for (const name of Object.keys(seen.headers))
        assert.doesNotMatch(name, /^(x-service-secret|cookie|cf-(?!worker$)|x-forwarded|x-vault|sec-|x-real-ip)/);
      assert.equal(response.headers.get("x-vault-source"), "platform");
      assert.equal(response.headers.get("set-cookie"), null);
      assert.equal(response.headers.get("cache-control"), "private, no-store");
      assert.equal(response.headers.get("x-platform-request-id"), "theirs");
      assert.match(response.headers.get("server-timing"), /calls=1 /);
    }
  });

  test("compressed, partial, empty and not-modified responses are forwarded unchanged", async () => {
    const gzip = await call("gzip", { headers: { "accept-encoding": "gzip" } });
    assert.equal(await gzip.text(), "compressed text ".repeat(1000));
    const part = await call("range", { headers: { range: "bytes=2-4" } });
    assert.deepEqual([part.status, part.headers.get("content-range"), await part.text()], [206, "bytes 2-4/10", "234"]);
    const unchanged = await call("etag", { headers: { "if-none-match": '"1"' } });
    assert.deepEqual([unchanged.status, unchanged.headers.get("etag"), await unchanged.text()], [304, '"1"', ""]);
    const none = await call("none");
    assert.deepEqual([none.status, await none.text()], [204, ""]);
    const head = await call("length", { method: "HEAD" });
    assert.deepEqual([head.status, await head.text(), platform.last.method], [200, "", "HEAD"]);
  });

  test("the next page is read from the body, which is forwarded unchanged", async () => {
    const short = await call("page?bytes=1000");
    assert.match(short.headers.get("x-vault-next") ?? "", /page\?bytes=1000&cursor=page-2$/);
    assert.deepEqual(await short.json(), { items: "x".repeat(1000), next: "page-2" });
    // A long response is forwarded before its end, where the cursor is, so the header is missing.
    const long = await call(`page?bytes=${4 * MEGABYTE}`);
    assert.equal(long.headers.get("x-vault-next"), null);
    assert.deepEqual(await long.json(), { items: "x".repeat(4 * MEGABYTE), next: "page-2" });
  });

  test("redirects are followed within the origin only", async () => {
    const moved = await call("moved");
    assert.deepEqual([moved.status, (await moved.json()).url], [200, "/api/there?x=1"]);
    const away = await call("away");
    assert.deepEqual([away.status, away.headers.get("x-platform-location")], [302, platform.redirectTarget]);
  });

  test("a client that follows redirects does not send its key to another host", async (t) => {
    const requests = [];
    const other = createServer((request, response) => {
      requests.push(request.headers);
      response.end();
    }).listen(0, "127.0.0.1");
    await once(other, "listening");
    t.after(() => other.close());
    platform.redirectTarget = `http://127.0.0.1:${other.address().port}/elsewhere`;
    // Uses Node's `fetch`, because it follows redirects by default.
    const url = `http://127.0.0.1:${server.port}/v1/vault/connections/${id}/proxy/away`;
    const response = await fetch(url, { headers: { "x-service-secret": apiKey.secret } });
    assert.deepEqual([response.status, response.url, response.redirected], [302, url, false]);
    assert.deepEqual([response.headers.get("x-platform-location"), requests], [platform.redirectTarget, []]);
  });

  test("calls only reach declared servers, and paths below them", async () => {
    const other = await call("x", { headers: { "x-vault-server": `${platform.origin}/other` } });
    assert.equal((await other.json()).url, "/other/x");
    const before = platform.requests.length;
    for (const server of ["https://example.com", platform.origin, `${platform.origin}/api/..`]) {
      const response = await call("x", { headers: { "x-vault-server": server } });
      assert.deepEqual([response.status, (await response.json()).code], [400, "invalid_parameter"], server);
      assert.equal(response.headers.get("x-vault-source"), "vault");
    }
    for (const path of ["..%2fx", "a%2f..%2f..%2fx", "%252e%252e%252fx"])
      assert.equal((await call(path)).status, 400, path);
    // `fetch` resolves `..` before sending, so this requests another path of the service.
    const outside = await call("../../../../../x");
    assert.equal(outside.status, 404);
    assert.equal(platform.requests.length, before);
  });

  test("server-sent events are streamed", { timeout: TIMEOUT_MS }, async () => {
    const response = await call("events");
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    assert.equal((await reader.read()).value, "data: first\n\n");
    platform.last.next("second");
    assert.equal((await reader.read()).value, "data: second\n\n");
    platform.last.end();
    assert.equal((await reader.read()).done, true);
  });

  test("hostile requests do not disturb ten calls in progress", { timeout: TIMEOUT_MS }, async () => {
    const open = [];
    for (let index = 0; index < 10; index += 1) {
      const reader = (await call("events")).body.pipeThrough(new TextDecoderStream()).getReader();
      assert.equal((await reader.read()).value, "data: first\n\n");
      open.push({ reader, at: platform.last });
    }
    const nested = "[".repeat(400_000);
    const bytes = Buffer.from([0xff, 0xfe, 0xc0, 0x80, 0xed, 0xa0, 0x80]);
    const actions = `/v1/vault/connections/${id}/actions`;
    const requests = [
      ["POST", "/v1/vault/connections", nested],
      ["POST", "/v1/vault/connections", `{"platform":${nested}`],
      ["POST", "/v1/vault/connections", bytes],
      ["PUT", `/v1/vault/connections/${id}/credentials`, nested],
      ["POST", `${actions}/createThing`, `{"body":{"name":${nested}}}`],
      ["POST", `${actions}/createThing`, JSON.stringify({ query: { tags: Array(30_000).fill("X") } })],
      ["POST", "/mcp", nested],
      ["POST", "/mcp", JSON.stringify({ jsonrpc: "2.0", id: 1e300, method: "tools/call", params: { name: "\u0000" } })],
      ["GET", `/v1/available-actions/called?q=${"a ".repeat(5000)}`],
      ["GET", `/v1/vault/connections?cursor=${"A".repeat(16_000)}`],
      ["GET", `/v1/vault/connections/${id}/proxy/${"%2e%2e%2f".repeat(1000)}`],
    ];
    for (const [method, path, body] of requests) {
      const headers = [["content-type", "application/json"]];
      const { status } = await server.send(path, { method, secret: apiKey.secret, headers, body });
      assert.ok(status === 200 || (status >= 400 && status < 500), `${method} ${path.slice(0, 60)}: ${status}`);
    }
    for (const { reader, at } of open) {
      at.next("second");
      assert.equal((await reader.read()).value, "data: second\n\n");
      at.end();
      assert.equal((await reader.read()).done, true);
    }
  });

  test("an abort reaches the platform during its response", { timeout: TIMEOUT_MS }, async () => {
    const abort = new AbortController();
    const response = await call(`large?bytes=${LARGE_BYTES}`, { signal: abort.signal });
    await response.body.getReader().read();
    abort.abort();
    assert.equal(await platform.last.ended.promise, "aborted");
  });

  const isolateMemory = async () => Object.values(await isolateBytes(server)).reduce((sum, bytes) => sum + bytes, 0);

  test("a download of 256 MB is not buffered", async () => {
    const before = await isolateMemory();
    const response = await call(`large?bytes=${LARGE_BYTES}`);
    let [received, most, next] = [0, 0, LARGE_BYTES / 4];
    for await (const chunk of response.body) {
      received += chunk.length;
      if (received > next) {
        most = Math.max(most, await isolateMemory());
        next += LARGE_BYTES / 4;
      }
    }
    assert.equal(received, LARGE_BYTES);
    assert.ok(most - before < MEMORY_TOLERANCE_BYTES, `${before} became ${most}`);
  });

  proof("thousands of requests do not leak memory", async () => {
    const sendRequest = async (count) => {
      let left = count;
      const sendAll = async () => {
        while (left-- > 0) await app.expect(200, "GET", "/v1/whoami");
      };
      await Promise.all(Array.from({ length: 8 }, sendAll));
    };
    await sendRequest(500);
    const before = await isolateMemory();
    await sendRequest(LEAK_TEST_REQUESTS);
    const perRequest = ((await isolateMemory()) - before) / LEAK_TEST_REQUESTS;
    assert.ok(perRequest < MAX_BYTES_PER_REQUEST, `${perRequest} bytes of memory for each request`);
  });

  /** Sends a stream over plain HTTP. Returns the response, with its text. */
  const upload = (path, own, stream, trailers) =>
    new Promise((done, fail) => {
      const headers = { "x-service-secret": apiKey.secret, ...own };
      const where = { port: server.port, host: "127.0.0.1", path: `/v1/vault/connections/${id}/proxy/${path}` };
      const sent = httpRequest({ ...where, method: "POST", headers }, async (response) => {
        let text = "";
        for await (const chunk of response) text += chunk;
        done({ status: response.statusCode, headers: response.headers, trailers: response.trailers, text });
        sent.destroy();
      });
      sent.on("error", fail);
      if (trailers) sent.addTrailers(trailers);
      stream.pipe(sent);
    });

  for (const hasLength of [true, false])
    test(`an upload of 256 MB is not buffered, ${hasLength ? "with" : "without"} its length`, async () => {
      const before = await isolateMemory();
      let peak = 0;
      async function* chunks() {
        const chunk = Buffer.alloc(MEGABYTE, "x");
        for (let sent = 0; sent < LARGE_BYTES; sent += MEGABYTE) {
          yield chunk;
          if (sent === LARGE_BYTES / 2) peak = await isolateMemory();
        }
      }
      const length = hasLength ? { "content-length": LARGE_BYTES } : {};
      const { status } = await upload("upload", length, Readable.from(chunks()));
      assert.deepEqual([status, platform.last.size], [200, LARGE_BYTES]);
      const expected = hasLength ? [String(LARGE_BYTES), undefined] : [undefined, "chunked"];
      const { headers } = platform.last;
      assert.deepEqual([headers["content-length"], headers["transfer-encoding"]], expected);
      assert.ok(peak > 0 && peak - before < MEMORY_TOLERANCE_BYTES, `${before} became ${peak}`);
    });

  proof("a form with a file of 100 MB is not buffered", async () => {
    const before = await isolateMemory();
    const [hash, boundary] = [createHash("sha256"), "a-boundary"];
    let peak = 0;
    async function* form() {
      yield `--${boundary}\r\nContent-Disposition: form-data; name="note"\r\n\r\né\r\n`;
      yield `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="f"\r\n\r\n`;
      for (let sent = 0; sent < FILE_BYTES; sent += MEGABYTE) {
        yield Buffer.alloc(MEGABYTE, `${sent} `);
        if (sent === FILE_BYTES / 2) peak = await isolateMemory();
      }
      yield `\r\n--${boundary}--\r\n`;
    }
    async function* hashed() {
      for await (const chunk of form()) {
        hash.update(chunk);
        yield chunk;
      }
    }
    const type = `multipart/form-data; boundary=${boundary}`;
    const { status } = await upload("form", { "content-type": type }, Readable.from(hashed()));
    const { headers, size, hash: received } = platform.last;
    assert.deepEqual([status, headers["content-type"], received], [200, type, hash.digest("hex")]);
    assert.ok(
      size > FILE_BYTES && peak > 0 && peak - before < MEMORY_TOLERANCE_BYTES,
      `${size} bytes; ${before} became ${peak}`,
    );
  });

  test("trailers are removed in both directions", async () => {
    const trailerHeaders = { trailer: "x-checksum", te: "trailers" };
    const up = await upload("x", trailerHeaders, Readable.from(["some ", "text"]), { "x-checksum": "1" });
    const { body, headers, trailers } = platform.last;
    assert.deepEqual([up.status, body, trailers], [200, "some text", {}]);
    for (const name of ["trailer", "te", "x-checksum"]) assert.equal(headers[name], undefined, name);
    const down = await upload("trailers", {}, Readable.from([]));
    assert.deepEqual([down.status, down.text, down.trailers], [200, "text", {}]);
    for (const name of ["trailer", "x-checksum"]) assert.equal(down.headers[name], undefined, name);
  });

  test("a 401 during the upload is forwarded, and the body not sent again", {
    timeout: TIMEOUT_MS,
  }, async () => {
    const before = platform.requests.length;
    // The upload never ends, so the test must not wait for it.
    const endless = new Readable({ read() {} });
    endless.push(Buffer.alloc(MEGABYTE * 2, "x"));
    const response = await upload("impatient", {}, endless);
    assert.deepEqual(
      [response.status, response.text, response.headers["x-vault-source"]],
      [401, "too late", "platform"],
    );
    assert.equal(response.headers["x-platform-www-authenticate"], "Bearer");
    assert.equal(platform.requests.length, before + 1);
  });

  test("an action runs with validated input", async () => {
    const run = (input) => app.call("POST", `/v1/vault/connections/${id}/actions/createThing`, input);
    const response = await run({ path: { owner: "a b" }, query: { tags: ["x", "y"] }, body: { name: "é", size: 3 } });
    assert.equal(response.status, 200, response.text);
    const { status, headers, body } = response.json;
    assert.deepEqual([status, headers["content-type"]], [200, "application/json"]);
    assert.deepEqual([body.method, body.url], ["POST", "/api/owners/a%20b/things?tags=x&tags=y"]);
    assert.deepEqual(JSON.parse(body.body), { name: "é", size: 3 });
    const before = platform.requests.length;
    const refused = await run({ query: { tags: ["X"] }, body: { nme: "x" } });
    assert.deepEqual([refused.status, refused.json.code], [400, "invalid_body"]);
    const pointers = refused.json.errors.map(({ pointer }) => pointer);
    assert.deepEqual(pointers.sort(), ["/body/name", "/body/nme", "/path/owner", "/query/tags/0"]);
    assert.equal(platform.requests.length, before);
  });

  test("events of calls follow soon after the response", { timeout: TIMEOUT_MS }, async () => {
    const feed = (after = "") => app.expect(200, "GET", `/v1/events?types=connection.called&limit=500${after}`);
    const { next: after } = await feed();
    assert.equal((await call("none?q=hidden")).status, 204);
    assert.equal((await call("none?q=hidden", { method: "DELETE" })).status, 204);
    let rows = [];
    while (rows.length === 0) ({ rows } = await feed(`&after=${after}`));
    const [{ connection, call: recorded }] = rows.map(({ data }) => data);
    const { durationMs, keyId, ...rest } = recorded;
    const expected = { method: "DELETE", path: "none", status: 204, error: null, identity: null };
    assert.deepEqual([rest, connection.id, rows.length], [expected, id, 1]);
    assert.ok(Number.isInteger(durationMs) && durationMs >= 0 && keyId.length > 0, JSON.stringify(recorded));
  });

  test("a call is traced and counted after its response", { timeout: 60_000 }, async () => {
    const received = [];
    const collector = createServer(async (request, response) => {
      const chunks = await request.toArray();
      received.push({ url: request.url, headers: request.headers, body: JSON.parse(Buffer.concat(chunks)) });
      // The collector never responds to the first export, which must not delay the service's responses.
      if (received.length > 1) response.end("{}");
    }).listen(0, "127.0.0.1");
    await once(collector, "listening");
    const traced = await Server.start(state, {
      name: "calls-traced",
      // Timers run ten times as fast, because the service writes usage after twenty seconds.
      timers: 10,
      variables: { LOCAL_TARGETS: "allow", OTLP_URL: `http://127.0.0.1:${collector.address().port}` },
      // The local Analytics Engine discards data points. scripts/test/edge.test.mjs tests their format.
      bindings: '[[analytics_engine_datasets]]\nbinding = "USAGE"\ndataset = "connector_vault_usage"\n',
      secrets: { VAULT_KEYS: `tests:${VAULT_KEY}`, OTLP_HEADERS: "authorization=Bearer%20otlp" },
    });
    try {
      const origin = `http://127.0.0.1:${traced.port}`;
      const headers = { "x-service-secret": apiKey.secret };
      const trace = "4bf92f3577b34da6a3ce929d0e0e4736";
      // A separate connection, because the other service may write the usage of the first connection at any time.
      const connection = { platform: "called", identity: "eve", identityType: "user" };
      const { id } = await app.expect(201, "POST", "/v1/vault/connections", connection);
      await app.expect(204, "PUT", `/v1/vault/connections/${id}/credentials`, { type: "bearer", token: "good" });
      const path = `${origin}/v1/vault/connections/${id}/proxy/traced?secret=1`;
      const traceparent = `00-${trace}-00f067aa0ba902b7-01`;
      for (let count = 0; count < 2; count += 1) {
        const response = await fetch(path, { headers: { ...headers, traceparent, tracestate: "a=1" } });
        const seen = await response.json();
        while (received.length <= count) await new Promise((resolve) => setTimeout(resolve, 20));
        const { url, headers: sent, body } = received[count];
        assert.deepEqual(
          [url, sent.authorization, sent["content-type"]],
          ["/v1/traces", "Bearer otlp", "application/json"],
        );
        const [span] = body.resourceSpans[0].scopeSpans[0].spans;
        assert.deepEqual([span.traceId, span.parentSpanId], [trace, "00f067aa0ba902b7"]);
        assert.deepEqual([seen.headers.traceparent, seen.headers.tracestate], [`00-${trace}-${span.spanId}-01`, "a=1"]);
        assert.doesNotMatch(JSON.stringify(body), /good|secret|traced|"eve"/);
      }
      const usage = `${origin}/v1/usage?groupBy=platform,identity,endpoint,status&identity=eve`;
      let rows = [];
      while (rows.length === 0) {
        await new Promise((resolve) => setTimeout(resolve, 100));
        ({ rows } = await (await fetch(usage, { headers })).json());
      }
      const counted = { day: null, endpoint: "calls", platform: "called", identity: "eve", status: "2xx" };
      assert.deepEqual(rows, [{ ...counted, other: false, requests: 2 }]);
      assert.doesNotMatch(traced.output, /usage: /);
    } finally {
      await traced.stop();
      collector.closeAllConnections();
      collector.close();
    }
  });

  test("an unreachable platform is reported", async () => {
    platform.token = "other";
    assert.equal((await call("x")).status, 401);
    platform.token = "good";
    await platform.stop();
    const response = await call("x");
    assert.deepEqual([response.status, (await response.json()).code], [502, "platform_unreachable"]);
  });
});
