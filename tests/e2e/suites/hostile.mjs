// Requests of those who mean no good: the service stays up, answers as promised, and serves the others.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { expectJson, expectPage, expectProblem } from "../support/expect.mjs";

const CONNECTORS = "/v1/available-connectors";

export function hostile(world) {
  const secret = () => world.keys.full.secret;
  const get = (path, headers = []) => world.server.send(path, { secret: secret(), headers });

  describe("hostile requests", () => {
    test("1,000 at once are all answered", async () => {
      const paths = [
        CONNECTORS,
        "/v1/whoami",
        "/v1/available-actions/github?limit=500",
        "/v1/available-actions/github?q=a",
        "/v1/nothing",
      ];
      const expected = [200, 200, 200, 200, 404];
      const answers = await Promise.all(Array.from({ length: 1000 }, (_, i) => get(paths[i % paths.length])));
      answers.forEach((answer, i) =>
        assert.equal(answer.status, expected[i % paths.length], answer.text.slice(0, 300)),
      );
      for (let kind = 0; kind < 4; kind += 1) {
        const bodies = answers.filter((_, i) => i % paths.length === kind).map((answer) => answer.text);
        assert.equal(new Set(bodies).size, 1, `${paths[kind]}: the same answer to everybody`);
      }
    });

    test("a query of 60 KB is read like a short one", async () => {
      for (const name of ["a".repeat(60_000), "%61".repeat(20_000), "a".repeat(257)]) {
        expectProblem(await get(`${CONNECTORS}?name=${name}`), "invalid_parameter", {
          errors: [{ parameter: "name", detail: "`name` must have 1 to 256 characters" }],
        });
      }
      expectPage(await get(`${CONNECTORS}?${"&".repeat(32_000)}`));
      const problem = expectProblem(await get(`${CONNECTORS}?${"a".repeat(30_000)}=1`), "unknown_parameter");
      assert.ok(problem.detail.includes(`\`${"a".repeat(64)}…\``), "shown by its beginning");
      expectProblem(await get(`${CONNECTORS}?${"limit=1&".repeat(4000)}`), "repeated_parameter");
      expectProblem(await get(`${CONNECTORS}?limit=${"9".repeat(32_000)}`), "invalid_parameter");
    });

    test("headers of 30 KB change nothing", async () => {
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

    test("searches that cost most do not stop the others", async () => {
      const long = "a ".repeat(50).trim();
      const [searched, ...others] = await Promise.all([
        get(`/v1/available-actions/microsoft-graph-beta?q=${encodeURIComponent(long)}`),
        ...Array.from({ length: 50 }, () => world.server.send("/health")),
      ]);
      expectPage(searched);
      for (const answer of others) expectJson(answer, 200);
    });

    test("case folding is Unicode's, and no trap", async () => {
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
      test(`?${query} names no parameter`, async () => {
        const problem = expectProblem(await get(`${CONNECTORS}?${query}`), "unknown_parameter");
        assert.deepEqual(
          problem.errors.map((fault) => fault.parameter),
          [name],
        );
      });
    }

    test("parameters are told apart by & only, and name and value by the first =", async () => {
      expectProblem(await get(`${CONNECTORS}?limit=1;page=2`), "invalid_parameter");
      expectProblem(await get(`${CONNECTORS}?limit=1%26page=2`), "invalid_parameter");
      expectPage(await get(`${CONNECTORS}?name==a`), { total: 0 });
      expectPage(await get(`${CONNECTORS}?name=a#limit=0`), { total: 0 });
    });

    test("headers that proxies and frameworks heed are not heeded", async () => {
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
        const answer = await world.server.send("/nothing", { headers });
        expectProblem(answer, "route_not_found");
        assert.ok(!answer.text.includes("evil"));
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

    test("header values that are no UTF-8 are ordinary ones", async () => {
      expectPage(
        await get(CONNECTORS, [
          ["if-none-match", '"\xff\xfe"'],
          ["origin", "\xff\xfe"],
        ]),
      );
      expectProblem(await world.server.send(CONNECTORS, { secret: "\xff\xfe" }), "invalid_key");
    });

    test("the service still answers", async () => {
      expectPage(await get(CONNECTORS), { total: 8 });
      assert.ok(world.server.alive);
    });
  });
}
