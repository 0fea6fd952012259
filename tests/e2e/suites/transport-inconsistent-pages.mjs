// Iterating over a list from a server with inconsistent totals, page counts and links.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { VaultError, expectError } from "../support/package.mjs";
import { BASE_URL, CURSOR_DIGITS, json, runTimed } from "../support/transport.mjs";

export function inconsistentPages() {
  describe("servers with inconsistent page metadata", () => {
    const rows = (n, count = 100) => Array.from({ length: count }, (_, i) => ({ id: n * 1000 + i }));
    /** A string with the form of a cursor. */
    const cursor = (name) => Buffer.from(name).toString("hex").padStart(CURSOR_DIGITS, "0");
    const link = (name, origin = BASE_URL) => ({
      link: `<${origin}/v1/vault/connections?limit=100&after=${cursor(name)}>; rel="next"`,
    });
    const MAX_REQUESTS = 50;

    /** Collects all rows of a list; returns them and the requests. */
    async function collect(respond, list, options) {
      const { value, error, requests } = await runTimed(
        (request, n) => {
          if (n > MAX_REQUESTS) throw new Error("the iteration does not end");
          return respond(n, new URL(request.url).searchParams);
        },
        (vault) => list(vault).toArray(options),
        { maxRetries: 0 },
      );
      assert.ok(requests.length < MAX_REQUESTS, "the iteration does not end");
      // An error that reports the inconsistency is also acceptable.
      if (error) expectError(error, "ServerError", { code: "unexpected_response" });
      return { value, error, requests };
    }
    const connectors = (vault) => vault.connectors.list();
    const connections = (vault) => vault.connections.list();

    for (const [what, list, linked] of [
      ["connectors", connectors, () => ({})],
      ["actions", (vault) => vault.actions.list("github"), () => ({})],
      ["connections", connections, link],
    ]) {
      test(`${what}: an empty page ends the iteration, whatever the totals`, async () => {
        for (const totals of [
          { total: 1e9, pages: 1e7 },
          { total: 0, pages: 5 },
          { total: 7, pages: Number.MAX_SAFE_INTEGER },
        ]) {
          const { value, requests } = await collect(
            (n) => json({ rows: n === 1 ? rows(1) : [], page: n, ...totals }, 200, linked(`a${n}`)),
            list,
          );
          assert.equal(value.length, 100);
          assert.ok(requests.length <= 2);
          const empty = await collect((n) => json({ rows: [], page: n, ...totals }, 200, linked(`a${n}`)), list);
          assert.deepEqual([empty.value, empty.requests.length], [[], 1]);
        }
      });

      test(`${what}: the same page again ends the iteration`, async () => {
        const samePage = () => json({ rows: rows(1), total: 1e9, pages: 1e7, page: 1 }, 200, linked("same"));
        const { error, requests } = await collect(samePage, list);
        assert.deepEqual([error, requests.length], [undefined, 2]);
      });
    }

    test("connections: iteration follows the cursor, not the total", async () => {
      for (const totals of [
        { total: 0, pages: 0, page: 1 },
        { total: 1, pages: 1, page: 1 },
        { total: 1e9, pages: 1e7, page: 9 },
      ]) {
        const { value, requests } = await collect(
          (n) => json({ rows: rows(n), ...totals }, 200, n < 4 ? link(`c${n}`) : {}),
          connections,
        );
        assert.deepEqual(
          requests.map(({ query }) => query.after),
          [undefined, ...["c1", "c2", "c3"].map(cursor)],
        );
        assert.deepEqual([value.length, requests.length, new Set(value.map(({ id }) => id)).size], [400, 4, 400]);
      }
    });

    test("connectors: iteration ends when the total changes between pages", async () => {
      const shrinking = await collect(
        (n) => json({ rows: rows(n), total: 500 - 100 * n, pages: 5 - n, page: n }),
        connectors,
      );
      assert.ok(shrinking.value.length >= 100 && shrinking.requests.length <= 5);
      const growing = await collect(
        (n) => json({ rows: n <= 3 ? rows(n) : [], total: 100 * (n + 1), pages: n + 1, page: n }),
        connectors,
      );
      assert.equal(growing.value.length, 300);
    });

    test("`after` is set only if next() returns a page", async () => {
      const last = { total: 1e9, pages: 1e7 };
      for (const [respond, expected] of [
        [
          (n) => json({ rows: rows(n), ...last, page: n }, 200, n < 3 ? link(`c${n}`) : {}),
          [cursor("c1"), cursor("c2"), undefined],
        ],
        [
          (n) => json({ rows: n < 3 ? rows(n) : [], ...last, page: n }, 200, link(`c${n}`)),
          [cursor("c1"), cursor("c2"), undefined],
        ],
        [(n) => json({ rows: rows(n), total: 300, pages: 3, page: n }), [undefined, undefined, undefined]],
      ]) {
        const { value } = await runTimed(
          (_request, n) => respond(n),
          async (vault) => {
            const cursors = [];
            for (
              let page = await vault.connections.list();
              page && cursors.length < MAX_REQUESTS;
              page = await page.next()
            )
              cursors.push(page.after);
            return cursors;
          },
        );
        assert.deepEqual(value, expected);
      }
    });

    test("`max` applies when a server sends more rows than requested", async () => {
      const { value, requests } = await collect(
        (n) => json({ rows: rows(n, 5000), total: 5000, pages: 50, page: n }),
        connectors,
        { max: 3 },
      );
      assert.deepEqual([value.length, requests.length], [3, 1]);
    });

    test("a Link to another origin is requested from `baseUrl`", async () => {
      const { value, requests } = await collect(
        (n) =>
          json(
            { rows: rows(n, 1), total: 2, pages: 2, page: n },
            200,
            n === 1 ? link("c", "https://evil.example") : {},
          ),
        connections,
      );
      assert.equal(value.length, 2);
      for (const { url } of requests) assert.equal(new URL(url).origin, BASE_URL);
    });

    test("an invalid Link ends the iteration", async () => {
      for (const value of [
        "x",
        "<>",
        '<http://[>; rel="next"',
        '<?after=%zz>; rel="next"',
        '<?limit=1>; rel="next"',
        '<?after=>; rel="next"',
        '<?after=1>; rel="prev"',
        ";;;",
        "<".repeat(1000),
      ]) {
        const {
          value: collected,
          error,
          requests,
        } = await runTimed(
          (_request, n) => json({ rows: rows(n, 1), total: 1, pages: 1, page: 1 }, 200, { link: value }),
          (vault) => connections(vault).toArray(),
        );
        assert.ok(error instanceof VaultError || collected.length === 1, value.slice(0, 40));
        assert.equal(requests.length, 1);
      }
    });
  });
}
