// The largest platform, microsoft-graph-beta with more than 22,000 actions, in one isolate of 128 MiB.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { costOf, expectPage } from "../support/expect.mjs";
import { isolateBytes } from "../support/memory.mjs";
import { walk } from "../support/walk.mjs";

const PATH = "/v1/available-actions/microsoft-graph-beta";
const ACTION_COUNT = 22_361;
const ISOLATE_BYTES = 128 * 2 ** 20;
/** The allowed memory growth of 200 requests: cached responses have a budget of 4 MiB. */
const GROWTH_BYTES = 8 * 2 ** 20;

export function largestPlatform(fixture) {
  const get = (path) => fixture.server.send(path, { secret: fixture.keys.full.secret });
  const sum = ({ wasm, heap, buffers }) => wasm + heap + buffers;

  describe("the largest platform", () => {
    test("first page, last page, key, title and q take one request each", async () => {
      const first = expectPage(await get(`${PATH}?limit=500`), { total: ACTION_COUNT, pages: 45, page: 1 });
      assert.equal(first.rows.length, 500);
      const last = expectPage(await get(`${PATH}?limit=500&page=45`), { total: ACTION_COUNT, page: 45 });
      assert.equal(last.rows.length, ACTION_COUNT - 44 * 500);
      const row = last.rows.at(-1);
      expectPage(await get(`${PATH}?key=${encodeURIComponent(row.key)}`), { rows: [row], total: 1 });
      const pageByTitle = expectPage(
        await get(`${PATH}?limit=500&title=${encodeURIComponent(row.title.toUpperCase())}`),
      );
      assert.ok(pageByTitle.rows.some(({ key }) => key === row.key));
      const matchingPage = expectPage(await get(`${PATH}?q=user+messages&limit=500`));
      assert.ok(matchingPage.total > 10 && matchingPage.total < ACTION_COUNT);
      expectPage(await get(`${PATH}?limit=1&page=${ACTION_COUNT}`), { rows: [row], pages: ACTION_COUNT });
    });

    test("all pages agree with every count and filter", async () => {
      const all = await walk(get, PATH);
      assert.equal(all.length, ACTION_COUNT);
      for (const method of ["GET", "POST", "PUT", "PATCH", "DELETE"]) {
        const expected = all.filter((row) => row.method === method).length;
        expectPage(await get(`${PATH}?method=${method}`), { total: expected });
      }
      for (const word of ["user", "chat", "drive item", "microsoft"]) {
        const containsEachWord = (row) =>
          word.split(" ").every((part) => `${row.title}\n${row.key}\n${row.platform}`.toLowerCase().includes(part));
        expectPage(await get(`${PATH}?q=${word.replace(" ", "+")}`), { total: all.filter(containsEachWord).length });
      }
    });

    test("the largest platform is cached after the first read", async () => {
      await get(PATH);
      assert.deepEqual(costOf(await get(`${PATH}?page=7`)), { calls: 0, rowsRead: 0, rowsWritten: 0, reads: 0 });
    });

    test("200 requests stay within the memory of the isolate, and do not leak", async () => {
      const warm = await isolateBytes(fixture.server);
      for (let i = 0; i < 200; i += 1) {
        const q = `${String.fromCharCode(97 + (i % 26))}${i % 10}`;
        expectPage(await get(`${PATH}?limit=500&page=${1 + (i % 46)}${i % 2 ? `&q=${q}` : ""}`));
      }
      const after = await isolateBytes(fixture.server);
      assert.ok(warm.wasm > 8e6, `the segment is in memory: ${JSON.stringify(warm)}`);
      for (const bytes of [warm, after]) assert.ok(sum(bytes) < ISOLATE_BYTES, JSON.stringify(bytes));
      assert.ok(sum(after) - sum(warm) < GROWTH_BYTES, `${JSON.stringify(warm)} → ${JSON.stringify(after)}`);
      assert.ok(fixture.server.alive);
    });
  });
}
