// Servers that misreport: whatever they say of their pages, a walk ends.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { VaultError, expectError } from "../support/package.mjs";
import { BASE, CURSOR_DIGITS, json, timed } from "../support/transport.mjs";

export function misreports() {
  describe("servers that misreport", () => {
    const rows = (n, count = 100) => Array.from({ length: count }, (_, i) => ({ id: n * 1000 + i }));
    /** A cursor as far as its shape goes. */
    const cursor = (name) => Buffer.from(name).toString("hex").padStart(CURSOR_DIGITS, "0");
    const link = (name, origin = BASE) => ({
      link: `<${origin}/v1/vault/connections?limit=100&after=${cursor(name)}>; rel="next"`,
    });
    const MOST = 50;

    /** Walks a list of the stub's to its end: the number of rows, and the requests. */
    async function walk(answer, list, options) {
      const { value, error, requests } = await timed(
        (request, n) => {
          if (n > MOST) throw new Error("it asks for ever");
          return answer(n, new URL(request.url).searchParams);
        },
        (vault) => list(vault).toArray(options),
        { maxRetries: 0 },
      );
      assert.ok(requests.length < MOST, "it asks for ever");
      // Who tells that the server misreports ends as well.
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
      test(`${what}: pages without rows end the walk, whatever is promised`, async () => {
        for (const promised of [
          { total: 1e9, pages: 1e7 },
          { total: 0, pages: 5 },
          { total: 7, pages: Number.MAX_SAFE_INTEGER },
        ]) {
          const { value, requests } = await walk(
            (n) => json({ rows: n === 1 ? rows(1) : [], page: n, ...promised }, 200, linked(`a${n}`)),
            list,
          );
          assert.equal(value.length, 100);
          assert.ok(requests.length <= 2);
          const empty = await walk((n) => json({ rows: [], page: n, ...promised }, 200, linked(`a${n}`)), list);
          assert.deepEqual([empty.value, empty.requests.length], [[], 1]);
        }
      });

      test(`${what}: the same page for ever ends the walk`, async () => {
        const { value, error } = await walk(
          () => json({ rows: rows(1), total: 1e9, pages: 1e7, page: 1 }, 200, linked("same")),
          list,
        );
        assert.ok(error || value.length <= 200, `${value?.length} rows`);
      });
    }

    test("connections: the cursor counts, not the total", async () => {
      for (const lie of [
        { total: 0, pages: 0, page: 1 },
        { total: 1, pages: 1, page: 1 },
        { total: 1e9, pages: 1e7, page: 9 },
      ]) {
        const { value, requests } = await walk(
          (n) => json({ rows: rows(n), ...lie }, 200, n < 4 ? link(`c${n}`) : {}),
          connections,
        );
        assert.deepEqual(
          requests.map(({ query }) => query.after),
          [undefined, ...["c1", "c2", "c3"].map(cursor)],
        );
        assert.deepEqual([value.length, requests.length, new Set(value.map(({ id }) => id)).size], [400, 4, 400]);
      }
    });

    test("connectors: a total that shrinks or grows on the way", async () => {
      const shrinking = await walk(
        (n) => json({ rows: rows(n), total: 500 - 100 * n, pages: 5 - n, page: n }),
        connectors,
      );
      assert.ok(shrinking.value.length >= 100 && shrinking.requests.length <= 5);
      const growing = await walk(
        (n) => json({ rows: n <= 3 ? rows(n) : [], total: 100 * (n + 1), pages: n + 1, page: n }),
        connectors,
      );
      assert.equal(growing.value.length, 300);
    });

    test("cursors that go round in circles end the walk", async () => {
      for (const circle of [["a"], ["a", "b"], ["a", "b", "c"]]) {
        const { requests } = await walk(
          (n) => json({ rows: rows(n), total: 1e6, pages: 1e4, page: n }, 200, link(circle[n % circle.length])),
          connections,
        );
        assert.ok(requests.length >= circle.length);
      }
    });

    test("a page has a cursor only where next() would follow it", async () => {
      const last = { total: 1e9, pages: 1e7 };
      for (const [answer, expected] of [
        [
          (n) => json({ rows: rows(n), ...last, page: n }, 200, n < 3 ? link(`c${n}`) : {}),
          [cursor("c1"), cursor("c2"), undefined],
        ],
        [
          (n) => json({ rows: n < 3 ? rows(n) : [], ...last, page: n }, 200, link(`c${n}`)),
          [cursor("c1"), cursor("c2"), undefined],
        ],
        [(n) => json({ rows: rows(n), ...last, page: n }, 200, link("same")), [cursor("same"), undefined]],
        [(n) => json({ rows: rows(n), total: 300, pages: 3, page: n }), [undefined, undefined, undefined]],
      ]) {
        const { value } = await timed(
          (_request, n) => answer(n),
          async (vault) => {
            const cursors = [];
            for (let page = await vault.connections.list(); page && cursors.length < MOST; page = await page.next())
              cursors.push(page.after);
            return cursors;
          },
        );
        assert.deepEqual(value, expected);
      }
    });

    test("next() of a page ends as well", async () => {
      const answers = await timed(
        (_request, n) => json({ rows: rows(n), total: 1e9, pages: 1e7, page: 1 }, 200, link("same")),
        async (vault) => {
          let pages = 0;
          for (let page = await vault.connections.list(); page && pages < MOST; page = await page.next()) pages += 1;
          return pages;
        },
      );
      assert.ok(answers.error || answers.value < MOST, `${answers.value} pages`);
    });

    test("`max` holds when a server sends more than it was asked for", async () => {
      const { value, requests } = await walk(
        (n) => json({ rows: rows(n, 5000), total: 5000, pages: 50, page: n }),
        connectors,
        { max: 3 },
      );
      assert.deepEqual([value.length, requests.length], [3, 1]);
    });

    test("a Link to elsewhere is not followed there", async () => {
      const { value, requests } = await walk(
        (n) =>
          json(
            { rows: rows(n, 1), total: 2, pages: 2, page: n },
            200,
            n === 1 ? link("c", "https://evil.example") : {},
          ),
        connections,
      );
      assert.equal(value.length, 2);
      for (const { url } of requests) assert.equal(new URL(url).origin, BASE);
    });

    test("a Link that can't be understood ends the walk", async () => {
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
          value: walked,
          error,
          requests,
        } = await timed(
          (_request, n) => json({ rows: rows(n, 1), total: 1, pages: 1, page: 1 }, 200, { link: value }),
          (vault) => connections(vault).toArray(),
        );
        assert.ok(error instanceof VaultError || walked.length === 1, value.slice(0, 40));
        assert.equal(requests.length, 1);
      }
    });
  });
}
