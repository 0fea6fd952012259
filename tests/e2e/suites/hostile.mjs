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
      const paths = [CONNECTORS, "/v1/whoami", "/v1/available-actions/github?limit=500", "/v1/available-actions/github?q=a", "/v1/nothing"];
      const expected = [200, 200, 200, 200, 404];
      const answers = await Promise.all(Array.from({ length: 1000 }, (_, i) => get(paths[i % paths.length])));
      answers.forEach((answer, i) => assert.equal(answer.status, expected[i % paths.length], answer.text.slice(0, 300)));
      for (let kind = 0; kind < 4; kind += 1) {
        const bodies = answers.filter((_, i) => i % paths.length === kind).map((answer) => answer.text);
        assert.equal(new Set(bodies).size, 1, `${paths[kind]}: the same answer to everybody`);
      }
    });

    test("a query of 32 KB is read like a short one", async () => {
      expectPage(await get(`${CONNECTORS}?name=${"a".repeat(32_000)}`), { total: 0 });
      expectPage(await get(`${CONNECTORS}?name=${"%61".repeat(10_000)}`), { total: 0 });
      expectPage(await get(`${CONNECTORS}?${"&".repeat(32_000)}`));
      const problem = expectProblem(await get(`${CONNECTORS}?${"a".repeat(30_000)}=1`), "unknown_parameter");
      assert.ok(problem.detail.includes(`\`${"a".repeat(64)}\``), "shown by its beginning");
      expectProblem(await get(`${CONNECTORS}?${"limit=1&".repeat(4000)}`), "repeated_parameter");
      expectProblem(await get(`${CONNECTORS}?limit=${"9".repeat(32_000)}`), "invalid_parameter");
    });

    test("headers of 30 KB change nothing", async () => {
      expectJson(await get("/v1/whoami", [["x-long", "a".repeat(30_000)]]), 200);
      expectJson(await get("/v1/whoami", [["origin", `https://${"a".repeat(20_000)}`]]), 200);
      expectPage(await get(CONNECTORS, [["if-none-match", '"a", '.repeat(5000)]]));
      expectJson(await get("/v1/whoami", Array.from({ length: 200 }, (_, i) => [`x-${i}`, "a"])), 200);
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
        expectPage(await get(`${CONNECTORS}?name=${value}&platform=${value}&category=${value}&key=${value}`), { total: 0 });
        expectPage(await get(`/v1/available-actions/github?title=${value}&method=${value}`), { total: 0 });
        expectProblem(await get(`/v1/available-actions/${value}`), text === "\u0000" ? "route_not_found" : "platform_not_found");
      }
    });

    test("the service still answers", async () => {
      expectPage(await get(CONNECTORS), { total: 8 });
      assert.ok(world.server.alive);
    });
  });
}
