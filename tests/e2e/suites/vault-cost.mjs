// The cost of requests to the vault, from `server-timing`: each makes one call to D1, and the rows that it may read do not
// depend on the number of connections.
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { AUDIT_ROWS, costOf, expectJson, expectProblem } from "../support/expect.mjs";
import { key, store } from "../support/keys.mjs";
import { insertConnections } from "../support/seed.mjs";
import { Caller, expectConnection, expectConnections, follow } from "../support/vault.mjs";
import { isProof, sampled } from "../support/proof.mjs";

const LIMITS = [1, 20, 100, 500];
const SIZES = isProof ? { small: 4000, large: 20_000 } : { small: 4000, large: 12_000 };
/** The limits that are also tested with the small vault. */
const COMPARED_LIMITS = [20, 500];
const EXTRA_ROWS = 64;

const repeat = (count, make) => Array.from({ length: count }, (_, i) => make(i));
const keyOf = (row) => `test::${row.platform}::default::${row.identity}`;
const startsWithIgnoringCase = (text, q) => text?.toLowerCase().startsWith(q.toLowerCase());
/** The number of names plus the number of identities that start with `q`. A connection with both counts twice. */
const countPrefixed = (q) => (rows) =>
  rows.filter(({ name }) => startsWithIgnoringCase(name, q)).length +
  rows.filter(({ identity }) => startsWithIgnoringCase(identity, q)).length;
const countWith = (name, value) => (rows) => rows.filter((row) => row[name] === value).length;
const none = () => 0;

/** Cases: a filter, the rows that it may read per row of a page, and its number of values, each of which may read three more rows. */
const LISTS = [
  [{}, 1, none],
  [{ active: "false" }, 1, none],
  [{ platform: "platform-7" }, 1, none],
  [{ platform: "platform-7", platformVersion: "v2" }, 1, none],
  [{ platform: "platform-7", platformVersion: "v1" }, 1, none],
  [{ platform: "platform-7", active: "false" }, 1, none],
  [{ identityType: "team" }, 1, none],
  [{ identityType: "team", active: "false" }, 1, none],
  [{ platform: "platform-7", identityType: "team" }, 1, none],
  [{ platform: "nothing" }, 1, none],
  [{ state: "failed" }, 2, none],
  [{ state: "failed", active: "false" }, 2, none],
  [{ platform: "platform-7", state: "unknown" }, 2, none],
  [{ identityType: "team", state: "failed" }, 1, none],
  [{ platformVersion: "v1", state: "failed" }, 2, none],
  [{ platformVersion: "v1", identityType: "user" }, 2, none],
  [{ platform: "platform-7", platformVersion: "v1", identityType: "project" }, 2, none],
  [{ platformVersion: "v2", identityType: "team", state: "failed" }, 1, none],
  [{ tags: "all" }, 2, none],
  [{ tags: "third" }, 2, none],
  [{ tags: "rare-50" }, 2, none],
  [{ tags: "none" }, 2, none],
  [{ tags: "third", active: "false" }, 2, none],
  [{ identity: "Group-00040" }, 1, countWith("identity", "Group-00040")],
  [{ identity: "nobody" }, 1, none],
  [{ name: "ñame 00040" }, 1, countWith("name", "Ñame 00040")],
  [{ name: "nobody" }, 1, none],
  [{ q: "ÑAME 00040" }, 1, countPrefixed("Ñame 00040")],
  [{ q: "group-00040" }, 1, countPrefixed("group-00040")],
  [{ q: "group-0004" }, 1, countPrefixed("group-0004")],
  [{ q: "nobody" }, 1, none],
];

export function vaultCost(fixture) {
  const tenants = Object.fromEntries(Object.keys(SIZES).map((size) => [size, key({ account: `cost-${size}` })]));
  const callers = Object.fromEntries(Object.entries(tenants).map(([size, made]) => [size, new Caller(fixture, made)]));
  const rows = {};
  const writers = key({ account: "cost-writes" });
  const writer = new Caller(fixture, writers);

  /** Asserts that a response cost one call, wrote nothing, and read at most `maxRows` rows. Returns the rows read. */
  function expectReads(response, maxRows, what) {
    const { calls, rowsRead, rowsWritten } = costOf(response);
    assert.deepEqual([calls, rowsWritten], [1, 0], what);
    assert.ok(rowsRead <= maxRows, `${what}: ${rowsRead} rows read, more than ${maxRows}`);
    return rowsRead;
  }

  describe("the vault's cost", () => {
    before(async () => {
      await store(fixture.database, [...Object.values(tenants), writers]);
      for (const caller of [...Object.values(callers), writer]) {
        assert.deepEqual(
          [await caller.use(), await caller.use()].map((response) => costOf(response).rowsWritten),
          [1, 0],
        );
      }
      for (const [size, count] of Object.entries(SIZES))
        rows[size] = await insertConnections(fixture.database, `cost-${size}`, count);
    });

    for (const [filter, each, matches] of sampled(LISTS, 6)) {
      test(`a page of ${JSON.stringify(filter)} costs the same in small and large vaults`, async () => {
        for (const limit of LIMITS) {
          const read = {};
          for (const size of COMPARED_LIMITS.includes(limit) ? ["small", "large"] : ["large"]) {
            const valueCount = matches(rows[size].filter(({ active }) => String(active) === (filter.active ?? "true")));
            const maxRows = each * limit + EXTRA_ROWS + 3 * valueCount;
            read[size] = [];
            const note = (page, what) =>
              read[size].push([
                page.rows.length,
                expectReads(page.response, maxRows, `${size}, limit ${limit}, ${what}`),
              ]);
            // Reads the first pages through `Link`, and a page far from the start by its number.
            let ask = `/v1/vault/connections?${new URLSearchParams({ ...filter, limit })}`;
            for (let page = 1; page <= 3 && ask; page += 1) {
              const response = await callers[size].send("GET", ask);
              const list = expectConnections(response, { page });
              note({ ...list, response }, `page ${page}`);
              if (page === 1)
                assert.ok(list.total > 0 || /no/.test(JSON.stringify(filter)), "the filter matches no rows");
              if (page === 2 && list.pages > 4) {
                const { next } = expectConnections(
                  await callers[size].list({ ...filter, limit, page: list.pages - 2 }),
                );
                const response = await callers[size].send("GET", next);
                note(
                  { ...expectConnections(response, { page: list.pages - 1 }), response },
                  `page ${list.pages - 1} by Link`,
                );
              }
              ask = list.next;
            }
          }
          // Pages with the same number of rows cost the same, except for a block of the index.
          const pages = Math.min(read.small?.length ?? 0, read.large.length);
          for (let page = 0; page < pages; page += 1) {
            const [[fewer, small], [more, large]] = [read.small[page], read.large[page]];
            if (fewer === more)
              assert.ok(
                Math.abs(large - small) <= 2,
                `limit ${limit}, page ${page + 1}: ${small} rows read of the small vault, ${large} of the large one`,
              );
          }
        }
      });
    }

    test("every page costs as much as the first one", async () => {
      for (const [filter, each] of [
        [{}, 1],
        [{ tags: "third" }, 2],
        [{ identityType: "team" }, 1],
      ]) {
        const pages = await follow(callers.large, { ...filter, limit: 500 });
        assert.ok(pages.length > 5);
        pages.forEach(({ response }, i) =>
          expectReads(response, each * 500 + EXTRA_ROWS, `${JSON.stringify(filter)}, page ${i + 1}`),
        );
        assert.equal(pages.flatMap((page) => page.rows).length, pages[0].total);
      }
    });

    test("keys cost two rows each", async () => {
      for (const size of Object.keys(SIZES)) {
        for (const count of [1, 2, 50, 100]) {
          const keys = repeat(count, (i) =>
            i % 10 === 9 ? `test::platform-1::default::nobody-${i}` : keyOf(rows[size][i * 39]),
          );
          for (const limit of LIMITS) {
            const response = await callers[size].list({ key: keys.join(","), limit });
            const { total } = expectConnections(response);
            assert.ok(total <= count && (count === 1 || total > count / 2));
            expectReads(response, limit + EXTRA_ROWS + 2 * count, `${count} keys, limit ${limit}`);
          }
        }
      }
    });

    test("a page number past the end does not read the pages before", async () => {
      for (const filter of [
        {},
        { platform: "platform-7" },
        { tags: "all" },
        { identityType: "team" },
        { state: "failed" },
      ]) {
        for (const page of [100_000, 1_000_000_000]) {
          const response = await callers.large.list({ ...filter, limit: 500, page });
          expectConnections(response, { rows: [], page });
          expectReads(response, 500 + EXTRA_ROWS, JSON.stringify(filter));
        }
      }
    });

    test("the summary reads at most 600 rows, with sixty platforms and hundreds of tags", async () => {
      const costs = {};
      for (const size of Object.keys(SIZES)) {
        const response = await callers[size].summary();
        const summary = expectJson(response, 200);
        assert.deepEqual([summary.total, summary.platforms.length], [SIZES[size], 50]);
        assert.equal(
          summary.platforms.reduce((sum, { total }) => sum + total, summary.otherPlatforms),
          SIZES[size],
        );
        costs[size] = expectReads(response, 600, size);
      }
      assert.ok(Math.abs(costs.large - costs.small) <= 2, JSON.stringify(costs));
    });

    test("several tags cost the rows of all, or those of the rarest one", async () => {
      for (const [filter, most] of [
        [{ tags: "all,third" }, 100_000],
        // The limit includes the counters of each query plan, by which the cheapest one is chosen.
        [{ tags: "all,rare-50" }, 80 + 30 * 4],
        [{ tags: "third,rare-50", platformVersion: "v2" }, 80 + 30 * 6],
        [{ tags: "t-1,t-2,t-3", tagsMatch: "any" }, 64 + 3 * 200 + 40],
        [{ tags: repeat(20, (i) => `t-${i}`).join(","), tagsMatch: "any" }, 128 + 20 * 200 * 2],
      ]) {
        const response = await callers.large.list(filter);
        const { total } = expectConnections(response);
        assert.ok(total > 0);
        expectReads(response, most, JSON.stringify(filter));
      }
    });

    test("queries that would read too much are rejected before reading", async () => {
      for (const [filter, names, most] of [
        [{ tags: "all,third", tagsMatch: "any", identityType: "user" }, ["tags", "identityType"], EXTRA_ROWS],
        // There is no counter for this prefix: the query stops at its limit.
        [{ q: "group", state: "failed" }, ["q"], 100_000],
      ]) {
        const response = await callers.large.list(filter);
        expectReads(response, most, JSON.stringify(filter));
        assert.deepEqual(
          expectProblem(response, "query_too_broad").errors.map(({ parameter }) => parameter),
          names,
        );
        // With fewer matches, the same query succeeds.
        expectConnections(await callers.small.list({ ...filter, platform: "platform-7" }));
      }
    });

    test("one connection costs a few rows", async () => {
      for (const size of Object.keys(SIZES)) expectReads(await callers[size].read(rows[size][1].id), 8, size);
    });

    test("a create writes at most 37 rows and 4 for each tag", async () => {
      const known = repeat(50, (i) => `known-${i}`);
      for (let n = 0; n < 2; n += 1) {
        for (const tags of [
          [],
          ["a"],
          ["b", "b", "b"],
          known.slice(0, 20),
          known,
          repeat(50, (i) => `new-${n}-${i}`),
        ]) {
          for (const extra of [
            {},
            { name: "A name" },
            { platform: "acme-store", active: false, platformVersion: `v${n}` },
          ]) {
            const response = await writer.create({
              platform: "github",
              identity: `i-${n}-${tags.length}-${tags[0]}-${JSON.stringify(extra).length}`,
              identityType: "user",
              tags,
              ...extra,
            });
            expectConnection(response, { tags }, { status: 201 });
            const { calls, rowsWritten } = costOf(response);
            assert.equal(calls, 1);
            const maxRows = 37 + 4 * new Set(tags).size;
            assert.ok(
              rowsWritten > 0 && rowsWritten <= maxRows,
              `${tags.length} tags: ${rowsWritten} rows written, more than ${maxRows}`,
            );
          }
        }
      }
    });

    test("a PATCH writes at most 10 rows and 2 for each tag that differs", async () => {
      const {
        connection: { id },
      } = expectConnection(
        await writer.create({ platform: "github", identity: "patched", identityType: "user" }),
        {},
        { status: 201 },
      );
      const numberedTags = (name, count) => repeat(count, (i) => `${name}-${i}`);
      let previousTags = [];
      for (const tags of [
        ["a"],
        ["a", "b"],
        ["b", "a"],
        ["b", "b", "a"],
        ["c"],
        [],
        numberedTags("x", 50),
        numberedTags("x", 50).reverse(),
        numberedTags("x", 49),
        [...numberedTags("x", 25), ...numberedTags("y", 25)],
        numberedTags("y", 50),
        numberedTags("known", 50),
        ["known-0"],
        [],
        ["a", "all"],
        ["a", "all"],
      ]) {
        const response = await writer.patch(id, { tags });
        expectConnection(response, { tags });
        const differs = previousTags.concat(tags).filter((tag) => previousTags.includes(tag) !== tags.includes(tag));
        const changed = new Set(differs).size;
        const { calls, rowsWritten, rowsRead } = costOf(response);
        assert.equal(calls, 1);
        const same = JSON.stringify(previousTags) === JSON.stringify(tags);
        assert.ok(
          same ? rowsWritten === AUDIT_ROWS : rowsWritten > 0 && rowsWritten <= 10 + 2 * changed,
          `${changed} tags changed: ${rowsWritten} rows written`,
        );
        assert.ok(rowsRead < 1500, `${rowsRead} rows read`);
        previousTags = tags;
      }
    });

    test("a write costs the same in small and large vaults", async () => {
      const costs = {};
      for (const size of Object.keys(SIZES)) {
        const caller = callers[size];
        const created = await caller.create({
          platform: "github",
          identity: "late",
          identityType: "user",
          tags: ["all", "third"],
        });
        const {
          connection: { id },
        } = expectConnection(created, {}, { status: 201 });
        const patched = await caller.patch(id, { tags: ["all", "late"] });
        const removed = await caller.remove(id);
        assert.deepEqual([patched.status, removed.status], [200, 204]);
        costs[size] = [created, patched, removed].map((response) => {
          const { reads: _, ...cost } = costOf(response);
          assert.equal(cost.calls, 1);
          assert.ok(cost.rowsRead <= 250, response.header("server-timing"));
          return cost;
        });
      }
      assert.deepEqual(costs.large, costs.small);
    });
  });
}
