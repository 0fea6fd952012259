// The list of connections: values are returned unchanged, and every filter agrees with filtering all rows.
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { costOf, expectJson } from "../support/expect.mjs";
import { key, store } from "../support/keys.mjs";
import { CONNECTIONS, Caller, expectConnection, expectConnections, follow, connectionPath } from "../support/vault.mjs";

const TYPES = ["user", "team", "organization", "project"];
const STATES = ["operational", "degraded", "failed", "unknown"];
const PLATFORMS = ["github", "petstore-swagger", "acme-store"];

const IDENTITIES = [
  "ann",
  "Ann",
  "ANN",
  "anna",
  "100%_*'\"\\::x y",
  "%",
  "_",
  "*",
  "\\",
  "'",
  "' OR 1=1 --",
  "both  ends",
  "urn::acme::7",
  ":::",
  "null",
  "0",
  "true",
  '{"a":[1]}',
  "é".repeat(256),
  "😀".repeat(256),
  `%_*'"\\::${" ".repeat(247)}x`,
  "İstanbul",
  "straße",
  "ΟΔΟΣ",
  "名前",
  "x\u0301",
  "line\u2028separator",
  "a".repeat(200),
  `${"a".repeat(60)}%`,
];
const NAMES = [
  null,
  'Ann\'s "Box" \\ 100%_*',
  "名前の長い人",
  "Ωmega ΣΑΣ",
  "👩‍👩‍👧 Familie",
  "ж".repeat(128),
  "مرحبا بالعالم",
  "नमस्ते",
  "Ann, Bob & Co",
  "sp  aces",
  "ANN",
  "ann",
  "x\u0301te",
  "été",
  "a\u2028b\u2029c",
  "null",
  "𝔤𝔦𝔱",
  "\u{10ffff}",
  "a".repeat(60),
  "%",
];
const TAGS = [
  [],
  ["b", "a", "b"],
  ["😀", '"quoted"', "back\\slash", "u\u2028v"],
  ["A b", "a b", "a"],
  ["'", "%", "_", "*"],
  ["a"],
  Array.from({ length: 50 }, (_, i) => `${"é".repeat(120)}${i}`),
  ["null", "0", "[]", "{}"],
  ["\u{10ffff}", "\ud7ff", "ﬁ"],
  ["::", "a&b=c", "a+b", "a#b"],
];

/** The body that creates the nth connection. */
const input = (n) => ({
  platform: PLATFORMS[n % 3],
  identity: IDENTITIES[n % IDENTITIES.length],
  identityType: TYPES[n % 4],
  name: NAMES[n % NAMES.length],
  tags: TAGS[n % TAGS.length],
  state: STATES[(n >> 1) % 4],
  active: n % 5 !== 3,
  label: n < IDENTITIES.length ? "default" : `second-${n}`,
  ...(n % 3 === 1 && { platformVersion: `v${n % 2 ? 9 : 8}` }),
});

const lower = (text) => text.toLowerCase();
const starts = (text, q) => text !== null && lower(text).startsWith(lower(q));
const FILTER_MATCHERS = {
  active: () => true,
  key: (row, value) => value.split(",").includes(row.key),
  platform: (row, value) => row.platform === lower(value),
  platformVersion: (row, value) => row.platformVersion === value,
  name: (row, value) => row.name !== null && lower(row.name) === lower(value),
  identityType: (row, value) => row.identityType === value,
  identity: (row, value) => row.identity === value,
  tags: (row, value, { tagsMatch }) =>
    value.split(",")[tagsMatch === "any" ? "some" : "every"]((tag) => row.tags.includes(tag)),
  tagsMatch: () => true,
  q: (row, value) => starts(row.name, value) || starts(row.identity, value),
};
const matchesFilter = (row, filter) =>
  row.active === (filter.active !== "false") &&
  Object.entries(filter).every(([name, value]) => FILTER_MATCHERS[name](row, value, filter));
const sorted = (a, b) => (a.createdAt === b.createdAt ? (a.id < b.id ? 1 : -1) : a.createdAt < b.createdAt ? 1 : -1);

export function connections(fixture) {
  const keys = Object.fromEntries(
    [
      ["own", {}],
      ["live", { environment: "live" }],
      ["other", { account: "lists-other" }],
      ["reader", { scopes: "connections:read" }],
    ].map(([name, row]) => [name, key({ account: "lists", ...row })]),
  );
  const [own, live, other, reader] = Object.values(keys).map((apiKey) => new Caller(fixture, apiKey));
  /** All connections of the account's test environment, from the responses to their creation, in list order. */
  let all;

  /** Asserts that a filter agrees with filtering all rows. */
  async function expectAgreement(filter) {
    const expected = all.filter((row) => matchesFilter(row, filter));
    const { next } = expectConnections(await own.list({ limit: "500", ...filter }), {
      rows: expected,
      total: expected.length,
      page: 1,
    });
    assert.equal(next, undefined, "all are on one page");
    return expected.length;
  }

  describe("connections", () => {
    before(async () => {
      await store(fixture.database, Object.values(keys));
      all = [];
      for (let n = 0; n < 60; n += 1) {
        const sent = input(n);
        const response = await own.create(sent);
        const { label, platformVersion, ...fields } = sent;
        const key = `test::${sent.platform}::${label}::${sent.identity}`;
        all.push(
          expectConnection(response, { ...fields, key, environment: "test", version: "1" }, { status: 201 }).connection,
        );
        if (platformVersion) assert.equal(all.at(-1).platformVersion, platformVersion);
      }
      all.sort(sorted);
      for (const caller of [live, other])
        for (let n = 0; n < 4; n += 1) expectConnection(await caller.create(input(n)), {}, { status: 201 });
    });

    test("a created connection is returned byte for byte, with its id in any case", async () => {
      for (const row of all) {
        assert.deepEqual(expectConnection(await own.read(row.id)).connection, row);
        assert.deepEqual(expectConnection(await reader.read(row.id.toUpperCase())).connection, row);
      }
      const [{ id }] = all;
      const encoded = [...id].map((char) => `%${char.charCodeAt(0).toString(16)}`).join("");
      assert.equal(expectConnection(await own.read(encoded)).connection.id, id);
    });

    test("only active connections are listed by default, in order", async () => {
      assert.equal(await expectAgreement({}), 48);
      assert.equal(await expectAgreement({ active: "true" }), 48);
      assert.equal(await expectAgreement({ active: "false" }), 12);
    });

    test("the response to HEAD is that of GET without its body", async () => {
      for (const path of [
        CONNECTIONS,
        `${CONNECTIONS}?limit=1`,
        connectionPath(all[0].id),
        connectionPath("nothing"),
        "/v1/vault/summary",
        `${CONNECTIONS}?limit=0`,
      ]) {
        const [get, head] = [await own.send("GET", path), await own.send("HEAD", path)];
        const comparable = (response) =>
          response.headers.filter(([name]) => name !== "x-request-id" && name !== "date").sort();
        assert.deepEqual([head.status, comparable(head), head.body.length], [get.status, comparable(get), 0]);
        assert.equal(head.header("content-length"), String(get.body.length));
      }
    });

    test("limits of filters: 100 keys, 20 tags, 100 characters, all together", async () => {
      const keys = [
        ...all.map((row) => row.key),
        ...Array.from({ length: 40 }, (_, i) => `test::github::none::${"x".repeat(200)}${i}`),
      ];
      assert.equal(keys.length, 100);
      assert.equal(await expectAgreement({ key: keys.join(",") }), 48);
      const long = all.find((row) => row.active && row.tags.length === 50);
      const tags = long.tags.slice(5, 25).join(",");
      assert.ok((await expectAgreement({ tags })) >= 1);
      assert.ok((await expectAgreement({ tags, tagsMatch: "any" })) >= 1);
      const q = [...long.identity].slice(0, 100).join("");
      const { platform, platformVersion, identityType, identity } = long;
      for (const tagsMatch of ["all", "any"]) {
        assert.equal(
          await expectAgreement({
            key: keys.join(","),
            tags,
            tagsMatch,
            q,
            platform,
            platformVersion,
            identityType,
            identity,
            ...(long.name && { name: long.name }),
          }),
          1,
        );
        await expectAgreement({ tags, tagsMatch, q, platform, platformVersion, identityType });
        await expectAgreement({ tags, tagsMatch, platform, platformVersion, identityType });
        await expectAgreement({ tags, tagsMatch, identityType });
      }
      // The same key a hundred times matches one connection.
      assert.equal(await expectAgreement({ key: Array(100).fill(long.key).join(",") }), 1);
    });

    test("connections of other environments or accounts are never listed", async () => {
      const [mine] = all;
      for (const [caller, total] of [
        [live, 3],
        [other, 3],
      ]) {
        const page = expectConnections(await caller.list({ limit: "500" }), { total });
        for (const row of page.rows) assert.ok(!all.some(({ id }) => id === row.id));
        for (const filter of [{ identity: "straße" }, { tags: "null" }, { name: "नमस्ते" }, { q: "İ" }]) {
          assert.ok((await expectAgreement(filter)) > 0);
          expectConnections(await caller.list(filter), { total: 0, rows: [], pages: 0 });
        }
      }
      expectConnections(await live.list({ key: mine.key }), { total: 0 });
      expectConnections(await live.list({ key: mine.key.replace("test::", "live::") }), { total: 0 });
    });

    test("pages by `Link` return each row once, with every filter", async () => {
      for (const [n, filter] of [
        {},
        { platform: "GitHub" },
        { tags: "a" },
        { tags: "a,b,😀", tagsMatch: "any" },
        { identityType: "team" },
        { q: "a" },
        { platformVersion: "v9" },
        { active: "false" },
        { key: all.map((row) => row.key).join(",") },
        { name: "ann" },
        { q: "%", tags: "a,b", tagsMatch: "any" },
      ].entries()) {
        for (const limit of n === 0 ? [1, 500] : [4, 500]) {
          const expected = all.filter((row) => matchesFilter(row, filter));
          const pages = await follow(own, { ...filter, limit });
          assert.deepEqual(
            pages.flatMap((page) => page.rows),
            expected,
          );
          assert.equal(pages.length, Math.max(1, Math.ceil(expected.length / limit)));
          for (const page of pages) assert.deepEqual([page.total, costOf(page.response).calls], [expected.length, 1]);
        }
      }
    });

    test("`Link` keeps the filters, and is safely escaped", async () => {
      for (const sent of [
        "limit=1&q=%61",
        "q=a&limit=1&page=1",
        "limit=1&tags=a%2Cb&tagsMatch=any",
        "limit=01&active=true",
        "limit=1&name=ann%20",
        "limit=1&&q=a%22%3E",
      ]) {
        const { total, next } = expectConnections(await own.list(sent));
        if (total < 2) assert.equal(next, undefined);
        else expectConnections(await own.send("GET", next), { total, page: 2 });
      }
    });

    test("the summary counts the account's connections in any state", async () => {
      const counts = (rows, field, values) =>
        Object.fromEntries(values.map((value) => [value, rows.filter((row) => String(row[field]) === value).length]));
      const summary = expectJson(await reader.summary(), 200);
      const platforms = PLATFORMS.map((platform) => ({
        platform,
        total: all.filter((row) => row.platform === platform).length,
      }));
      platforms.sort((a, b) => b.total - a.total || (a.platform < b.platform ? -1 : 1));
      assert.deepEqual(summary, {
        total: 60,
        active: counts(all, "active", ["true", "false"]),
        state: counts(all, "state", STATES),
        identityType: counts(all, "identityType", TYPES),
        platforms,
        otherPlatforms: 0,
      });
      for (const caller of [live, other]) assert.equal(expectJson(await caller.summary(), 200).total, 4);
    });
  });
}
