// The service survives hostile requests: it responds as documented, and continues to serve other callers.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { expectJson, expectPage, expectProblem } from "../support/expect.mjs";
import { TruncatedBody, ChunkedBody, statusesOf } from "../support/http.mjs";

const CONNECTORS = "/v1/available-connectors";

export function hostileRequests(fixture) {
  const secret = () => fixture.keys.full.secret;
  const get = (path, headers = []) => fixture.server.send(path, { secret: secret(), headers });

  describe("hostile requests", () => {
    test("a query of 60 KB is parsed like a short one", async () => {
      for (const name of ["a".repeat(60_000), "%61".repeat(20_000), "a".repeat(257)]) {
        expectProblem(await get(`${CONNECTORS}?name=${name}`), "invalid_parameter", {
          errors: [{ parameter: "name", detail: "`name` must have 1 to 256 characters" }],
        });
      }
      expectPage(await get(`${CONNECTORS}?${"&".repeat(32_000)}`));
      const problem = expectProblem(await get(`${CONNECTORS}?${"a".repeat(30_000)}=1`), "unknown_parameter");
      assert.ok(problem.detail.includes(`\`${"a".repeat(64)}…\``), "only its beginning is shown");
      expectProblem(await get(`${CONNECTORS}?${"limit=1&".repeat(4000)}`), "repeated_parameter");
      expectProblem(await get(`${CONNECTORS}?limit=${"9".repeat(32_000)}`), "invalid_parameter");
    });

    test("headers of 30 KB have no effect", async () => {
      expectJson(await get("/v1/whoami", [["x-long", "a".repeat(30_000)]]), 200);
      expectJson(await get("/v1/whoami", [["origin", `https://${"a".repeat(20_000)}`]]), 200);
      expectPage(await get(CONNECTORS, [["if-none-match", '"a", '.repeat(5000)]]));
      expectJson(
        await get(
          "/v1/whoami",
          Array.from({ length: 200 }, (_, i) => [`x-${i}`, "a"]),
        ),
        200,
      );
    });

    test("the most expensive searches do not block other requests", async () => {
      const long = "a ".repeat(50).trim();
      const [searched, ...others] = await Promise.all([
        get(`/v1/available-actions/microsoft-graph-beta?q=${encodeURIComponent(long)}`),
        ...Array.from({ length: 50 }, () => fixture.server.send("/health")),
      ]);
      expectPage(searched);
      for (const response of others) expectJson(response, 200);
    });

    test("case folding follows Unicode, without traps", async () => {
      for (const text of ["İ", "ẞ", "ﬁ", "Σ", "\u0000", "\u{10ffff}", "e\u0301", "‮", "\ufeff", "𝔤𝔦𝔱"]) {
        const value = encodeURIComponent(text);
        expectPage(await get(`${CONNECTORS}?q=${value}`));
        expectPage(await get(`${CONNECTORS}?name=${value}&platform=${value}&category=${value}&key=${value}`), {
          total: 0,
        });
        expectPage(await get(`/v1/available-actions/github?title=${value}&method=${value}`), { total: 0 });
        expectProblem(
          await get(`/v1/available-actions/${value}`),
          text === "\u0000" ? "route_not_found" : "platform_not_found",
        );
      }
    });

    for (const [query, name] of [
      ["=1", ""],
      ["?limit=1", "?limit"],
      ["%00=1", "\u0000"],
      ["__proto__=1", "__proto__"],
      ["constructor=1", "constructor"],
      ["limit[]=1", "limit[]"],
      ["limit=1&&LIMIT=1", "LIMIT"],
      ["%3Cscript%3E=1", "<script>"],
      ["%zz=1", "%zz"],
    ]) {
      test(`the query ?${query} has no parameters`, async () => {
        const problem = expectProblem(await get(`${CONNECTORS}?${query}`), "unknown_parameter");
        assert.deepEqual(
          problem.errors.map((fault) => fault.parameter),
          [name],
        );
      });
    }

    test("only & separates parameters, and only the first = separates name and value", async () => {
      expectProblem(await get(`${CONNECTORS}?limit=1;page=2`), "invalid_parameter");
      expectProblem(await get(`${CONNECTORS}?limit=1%26page=2`), "invalid_parameter");
      expectPage(await get(`${CONNECTORS}?name==a`), { total: 0 });
      expectPage(await get(`${CONNECTORS}?name=a#limit=0`), { total: 0 });
    });

    test("headers of proxies and frameworks have no effect", async () => {
      for (const headers of [
        [
          ["x-forwarded-host", "evil.example"],
          ["forwarded", "host=evil.example"],
          ["x-forwarded-proto", "ftp"],
        ],
        [
          ["x-original-url", "/v1/whoami"],
          ["x-rewrite-url", "/v1/whoami"],
        ],
      ]) {
        const response = await fixture.server.send("/nothing", { headers });
        expectProblem(response, "route_not_found");
        assert.ok(!response.text.includes("evil"));
      }
      for (const header of [
        ["range", "bytes=0-10"],
        ["accept", "application/xml"],
        ["accept-language", "xx"],
        ["content-type", "text/plain"],
        ["upgrade", "websocket"],
      ]) {
        expectPage(await get(CONNECTORS, [header]), { total: 8 });
      }
    });

    test("header values that are not UTF-8 are accepted", async () => {
      expectPage(
        await get(CONNECTORS, [
          ["if-none-match", '"\xff\xfe"'],
          ["origin", "\xff\xfe"],
        ]),
      );
      expectProblem(await fixture.server.send(CONNECTORS, { secret: "\xff\xfe" }), "invalid_key");
    });

    test("long keys, tokens and paths are rejected like short ones", async () => {
      const long = "a".repeat(60_000);
      for (const longSecret of [long, `sk_test_${long}`, `st_test_${long}.${"a".repeat(43)}`, "🔑".repeat(10_000)])
        expectProblem(await fixture.server.send("/v1/whoami", { secret: longSecret }), "invalid_key");
      const path = "a".repeat(20_000);
      for (const [start, code] of [
        ["/v1/", "route_not_found"],
        ["/v1/available-actions/", "platform_not_found"],
        ["/v1/available-actions/github/", "action_not_found"],
        ["/v1/vault/connections/", "connection_not_found"],
      ]) {
        const response = await get(`${start}${path}`);
        expectProblem(response, code);
        assert.ok(response.text.length < 1000, `${start}: a response of ${response.text.length} characters`);
      }
    });

    test("repeated security headers are rejected", async () => {
      const twice = (name, value) => [
        [name, value],
        [name, value],
      ];
      expectProblem(await get("/v1/whoami", [["x-service-secret", secret()]]), "invalid_key");
      const { id } = (await get("/v1/vault/connections?limit=1")).json.rows[0] ?? { id: "none" };
      const patch = (headers) =>
        fixture.server.send(`/v1/vault/connections/${id}`, { method: "PATCH", secret: secret(), headers, body: "{}" });
      expectProblem(await patch(twice("content-type", "application/json")), "unsupported_media_type");
    });

    test("a body of 120 MB is not read completely", async () => {
      // The service closes the connection while the body is still being sent, and the reset may overtake its response
      // (RFC 9112, section 9.6), in which case the request is repeated.
      const responseTo = async (options) => {
        for (let left = 9; ; left -= 1) {
          try {
            return await fixture.server.send("/v1/vault/connections", options);
          } catch (error) {
            if (left === 0 || !["EPIPE", "ECONNRESET"].includes(error.code)) throw error;
          }
        }
      };
      const chunk = Buffer.alloc(1_000_000, "[");
      for (const body of [
        new ChunkedBody(Array(120).fill(chunk)),
        new TruncatedBody(120_000_000, "["),
        "[".repeat(400_000),
      ]) {
        const headers = [["content-type", "application/json"]];
        const options = { method: "POST", secret: secret(), headers, body };
        expectProblem(await responseTo(options), "body_too_large");
      }
    });

    // Two servers could parse each of these requests differently, which lets callers smuggle a second request. The runtime
    // rejects all but one, and never responds to the remainder: if there is both a length and chunks, it reads the
    // chunks and closes the connection (RFC 9112, section 6.1), and the request has no key.
    const smuggled = "GET /health HTTP/1.1\r\nHost: a\r\n\r\n";
    for (const [what, head, expected] of [
      ["two lengths", "Content-Length: 3\r\nContent-Length: 41", [400]],
      ["a length and chunks", "Content-Length: 3\r\nTransfer-Encoding: chunked", [401]],
      ["an unknown coding", "Transfer-Encoding: xchunked", [400]],
      ["two codings", "Transfer-Encoding: chunked, identity", [400]],
      ["a negative length", "Content-Length: -1", [400]],
      ["a length in hexadecimal", "Content-Length: 0x10", [400]],
      ["a length with a sign", "Content-Length: +3", [400]],
      ["a blank before the colon", "Content-Length : 3", [400]],
      ["a folded header", "X-A: 1\r\n Content-Length: 3", [400]],
      ["a NUL in a header", "X-A: \0", [400]],
      ["a carriage return in a header", "X-A: 1\rContent-Length: 3", [400]],
    ]) {
      test(`${what}: the server sends at most one response`, async () => {
        const text = `POST /v1/vault/connections HTTP/1.1\r\nHost: a\r\n${head}\r\n\r\n0\r\n\r\n${smuggled}`;
        assert.deepEqual(await statusesOf(fixture.server.port, text), expected);
      });
    }

    test("similar names of parameters and paths are unknown", async () => {
      for (const platform of ["gіthub", "ｇｉｔｈｕｂ", "github\u200b", "GİTHUB", "git\u00adhub"])
        expectProblem(await get(`/v1/available-actions/${encodeURIComponent(platform)}`), "platform_not_found");
      for (const path of ["/v1/whоami", "/ｖ１/whoami", "/v1/whoami\u200b", "/v1∕whoami"])
        expectProblem(await get(encodeURI(path)), "route_not_found");
      const twice = encodeURIComponent(encodeURIComponent("github"));
      expectProblem(await get(`/v1/available-actions/${encodeURIComponent(`${twice}%20`)}`), "platform_not_found");
    });

    test("reflected values cannot inject headers or HTML", async () => {
      const evil = "\r\nset-cookie: evil=1\r\n\r\n<script>evil</script>";
      const value = encodeURIComponent(evil);
      for (const path of [
        `${CONNECTORS}?${value}=1`,
        `${CONNECTORS}?limit=${value}`,
        `/v1/available-actions/${value}`,
        `/v1/available-actions/github/${value}`,
        `/v1/available-connectors/${value}`,
        `/v1/vault/connections/${value}`,
        `/v1/vault/connections?after=${value}`,
        `/v1/vault/connections?name=${value}&limit=1`,
        `/v1/oauth-clients/${value}`,
        `/v1/webhooks/${value}`,
        `/v1/events?after=${value}`,
        `/connect/go/${value}`,
        `/connect/callback?state=${value}&error=${value}&error_description=${value}`,
        `/connect?token=${value}`,
        `/v1/${value}`,
        `/${value}`,
      ]) {
        const response = await get(path);
        assert.ok(!response.headers.some(([, text]) => text.includes("evil=1")), path);
        const type = response.header("content-type") ?? "";
        // JSON is always served as JSON, even if its content looks like HTML.
        if (type.startsWith("text/html"))
          assert.ok(!response.text.includes("<script>evil"), `${path}: ${response.text}`);
        else assert.match(type, /^application\/(problem\+)?json$/, path);
        assert.equal(response.header("x-content-type-options"), "nosniff", path);
      }
    });

    test("the service still responds", async () => {
      expectPage(await get(CONNECTORS), { total: 8 });
      assert.ok(fixture.server.alive);
    });
  });
}
