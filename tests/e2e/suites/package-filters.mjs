// Filters that the package rejects before sending a request. Its errors must equal the service's response to the same filters, for a
// table of common mistakes and for random filters.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { each, expectNoResponse, errorPropertiesOf, failure } from "../support/package.mjs";
import { ACTIONS, CONNECTORS, ID, comparisonHelpers, pairs, x } from "../support/validation.mjs";
import { CONNECTIONS } from "../support/vault.mjs";

const PAGING = [
  ...[
    0,
    501,
    -1,
    1.5,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    1e21,
    -0.5,
    2 ** 53,
    10n ** 30n,
    "0",
    "ten",
    "1 ",
    "",
    "١",
    "0x10",
  ].map((limit) => ({ limit })),
  ...[0, 1_000_000_001, -1, 2.5, 1e300, "two", ""].map((page) => ({ page })),
  { limit: 0, page: 0 },
  { limit: null, page: null },
  { limit: true },
];
const Q = ["", x(101), "😀".repeat(101)].map((q) => ({ q }));
const CONNECTOR_FILTERS = [
  ...PAGING,
  ...Q,
  { q: " " },
  { q: "\u3000\t" },
  { q: 1, limit: 0 },
  { authkit: "yes" },
  { authkit: "TRUE" },
  { authkit: 1 },
  { authkit: "" },
  { authkit: null },
  ...["platform", "key", "name", "category"].flatMap((name) => [{ [name]: "" }, { [name]: null }]),
  { plattform: "github" },
  { Platform: "github" },
  { active: true },
  { tags: "x" },
  { after: "x" },
  { per_page: 1 },
  { "limit[]": 1 },
  { [x(500)]: 1 },
  { "": 1 },
  { "a&b=c": "d" },
  { "ü 😀": "" },
  { __proto__x: 1 },
  { constructor: 1 },
  { toString: "x" },
  { limt: 1, category: "", page: 0, authkit: "maybe", limit: 501, key: "", nmae: "x", q: x(101) },
  Object.fromEntries(Array.from({ length: 150 }, (_, n) => [`wrong${n}`, n])),
];
const ACTION_FILTERS = [
  ...PAGING,
  ...Q,
  { q: "\u00a0" },
  { title: "" },
  { key: "" },
  { method: "" },
  { method: null },
  { titel: "a" },
  { methods: "GET" },
  { platform: "github" },
  { name: "x" },
  { tags: "x", limit: 0, title: "" },
];
const CONNECTION_FILTERS = [
  ...PAGING,
  ...Q,
  ...["key", "platformVersion", "name", "identityType", "identity", "platform", "tags", "q", "active", "after"].flatMap(
    (name) => [{ [name]: "" }, { [name]: null }],
  ),
  ...["User", "group", "organisation", "user "].map((identityType) => ({ identityType })),
  ...["no", "TRUE", 1, 0].map((active) => ({ active })),
  { tagsMatch: "any" },
  { tagsMatch: "all", tags: undefined },
  { tags: "a", tagsMatch: "some" },
  { tags: ["a"], tagsMatch: "" },
  { tags: ["a", "b"], tagsMatch: null },
  { tags: "a,,b" },
  { tags: "," },
  { tags: ["a", ""] },
  { tags: ["", "a"] },
  { tags: ["", ""] },
  { tags: [] },
  { key: [] },
  { key: ["a", "", "b"] },
  { key: "a," },
  { tags: Array(21).fill("t") },
  { tags: Array(21).fill("t").join() },
  { key: Array(101).fill("k") },
  { key: Array(101).fill("k").join() },
  { tags: Array(5000).fill("t") },
  { environment: "test" },
  { state: "Failed" },
  { state: "" },
  { platformVersion: "V2" },
  { platformVersion: "1" },
  { id: ID },
  { tag: "a" },
  { Tags: "a" },
  { identity_type: "user" },
  { page: 2, after: "x" },
  { after: "x", page: 0, limit: 0 },
  { tagz: "a", limit: 0, active: "no", identityType: "x", key: ",", page: "x", q: x(101), tagsMatch: "both", name: "" },
];

/** A deterministic stream of numbers below `max` (mulberry32). */
function numbers(seed) {
  let position = seed;
  return (max) => {
    position = (position + 0x6d2b79f5) | 0;
    let mixed = Math.imul(position ^ (position >>> 15), 1 | position);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * max);
  };
}

export function filters(fixture) {
  const { counted, plain, expectSame } = comparisonHelpers(fixture);

  describe("validation of filters", () => {
    for (const [what, path, filters, list, validate] of [
      [
        "connectors",
        CONNECTORS,
        CONNECTOR_FILTERS,
        (client, filter) => client.connectors.list(filter),
        (client, filter) => client.connectors.validateList(filter),
      ],
      [
        "actions",
        ACTIONS,
        ACTION_FILTERS,
        (client, filter) => client.actions.list("github", filter),
        (client, filter) => client.actions.validateList("github", filter),
      ],
      [
        "connections",
        CONNECTIONS,
        CONNECTION_FILTERS,
        (client, filter) => client.connections.list(filter),
        (client, filter) => client.connections.validateList(filter),
      ],
    ]) {
      test(`invalid filters of ${what} have the errors of the service`, async () => {
        await each(filters, async (filter) => {
          // An empty array can't be encoded in a query, so the package rejects it like an array with an empty item.
          const sent = Object.fromEntries(
            Object.entries(filter).map(([name, value]) => [
              name,
              Array.isArray(value) && value.length === 1 && value[0] === "" ? "," : value,
            ]),
          );
          await expectSame(
            JSON.stringify(filter, (_, value) => (typeof value === "bigint" ? String(value) : value)).slice(0, 300),
            (client) => list(client, filter),
            await plain(`${path}?${pairs(sent)}`),
            (client) => validate(client, filter),
          );
        });
      });

      test(`invalid filters of ${what} have the same errors in iterations and toArray()`, async () => {
        for (const filter of filters.filter((_, n) => n % 9 === 0)) {
          if ("limit" in filter || "page" in filter || "after" in filter) continue;
          const response = await plain(`${path}?${pairs(filter)}`);
          await expectSame("toArray", (client) => list(client, filter).toArray(), response);
          await expectSame("iterated", (client) => list(client, filter)[Symbol.asyncIterator]().next(), response);
        }
      });
    }

    test("filters that can't be encoded are rejected, and none is ignored", async () => {
      for (const [list, filter, name] of [
        ["connectors", { platform: {} }, "platform"],
        ["connectors", { platform: ["a", "b"] }, "platform"],
        ["connectors", { q: () => {} }, "q"],
        ["connectors", { name: Symbol("x") }, "name"],
        ["connections", { tags: [1] }, "tags"],
        ["connections", { tags: [null] }, "tags"],
        ["connections", { tags: ["a", undefined] }, "tags"],
        ["connections", { tags: ["a,b"] }, "tags"],
        ["connections", { key: ["test::github::default::a,b"] }, "key"],
        ["connections", { identity: ["a"] }, "identity"],
        ["connections", { active: [true] }, "active"],
        ["connections", { tags: { 0: "a" } }, "tags"],
      ]) {
        const { recorder, client } = counted();
        const error = expectNoResponse(await failure(() => client[list].list(filter)), "ValidationError", {
          status: 400,
          code: "invalid_parameter",
        });
        assert.deepEqual(
          error.errors.map(({ parameter }) => parameter),
          [name],
        );
        assert.deepEqual(client[list].validateList(filter), error.errors);
        assert.equal(recorder.calls, 0);
      }
    });

    const VALUES = {
      platform: ["github", "GitHub", "", " ", "%", "ü"],
      authkit: [true, false, "true", "TRUE", "1", ""],
      key: ["a", ["a", "b"], "a,b", "a,,b", [], ["x", ""], ",", ""],
      name: ["GitHub", "", "%_*", "😀", "a&b=c"],
      category: ["Other", "", "x y"],
      q: ["git", "", " ", x(100), x(101), "😀".repeat(100), "😀".repeat(101), "a b", "%"],
      title: ["List branches", ""],
      method: ["GET", "get", "nothing", ""],
      platformVersion: ["v1", "1", ""],
      identityType: ["user", "team", "User", ""],
      identity: ["ann", "", "a,b", "a::b"],
      tags: ["a", ["a", "b"], "a,b,c", Array(20).fill("t"), Array(21).fill("t"), ["", "b"], "a,", ""],
      tagsMatch: ["any", "all", "some", ""],
      active: [true, false, "true", "no", ""],
      limit: [1, 20, 500, 501, 0, -1, 1.5, "007", "x", ""],
      page: [1, 2, 1e9, 1e9 + 1, 0, "3", "x", ""],
      after: ["x", "0".repeat(83), "g".repeat(84), ""],
    };
    const PARAMETERS = {
      connectors: [
        CONNECTORS,
        ["platform", "authkit", "key", "name", "category", "q", "limit", "page"],
        (client, filter) => client.connectors.list(filter),
        (client, filter) => client.connectors.validateList(filter),
      ],
      actions: [
        ACTIONS,
        ["title", "key", "method", "q", "limit", "page"],
        (client, filter) => client.actions.list("github", filter),
        (client, filter) => client.actions.validateList("github", filter),
      ],
      connections: [
        CONNECTIONS,
        [
          "key",
          "platformVersion",
          "name",
          "identityType",
          "identity",
          "platform",
          "tags",
          "tagsMatch",
          "q",
          "active",
          "limit",
          "page",
          "after",
        ],
        (client, filter) => client.connections.list(filter),
        (client, filter) => client.connections.validateList(filter),
      ],
    };

    for (const [n, [what, [path, own, list, validate]]] of Object.entries(PARAMETERS).entries()) {
      test(`random filters of ${what}: the package and the service agree`, async () => {
        const below = numbers(20_260 + n);
        const pick = (values) => values[below(values.length)];
        const verdicts = { valid: 0, invalid: 0 };
        const randomFilter = Array.from({ length: 150 }, () => {
          const filter = {};
          for (let i = below(5); i >= 0; i -= 1) {
            // One in twelve filters may be unknown to the list.
            const name = pick(below(12) === 0 ? Object.keys(VALUES) : own);
            const [first] = VALUES[name];
            // Only filters with several values accept arrays.
            const values = VALUES[name].filter((value) => !Array.isArray(value) || path === CONNECTIONS);
            filter[name] = below(2) === 0 ? first : pick(values);
          }
          return filter;
        });
        await each(randomFilter, async (filter) => {
          const response = await plain(`${path}?${pairs(filter)}`);
          const { recorder, client } = counted();
          const what = JSON.stringify(filter).slice(0, 300);
          const faults = validate(client, filter);
          assert.equal(recorder.calls, 0, what);
          if (response.status === 200) {
            assert.deepEqual(faults, [], what);
            const { rows, total, pages, page } = await list(client, filter);
            assert.deepEqual({ rows, total, pages, page }, response.json, what);
            assert.equal(recorder.calls, 1);
            verdicts.valid += 1;
            return;
          }
          const error = await failure(() => list(client, filter));
          const { status, code, message, errors } = error;
          assert.deepEqual({ status, code, message, errors }, errorPropertiesOf(response.json), what);
          // Only the service can validate a cursor.
          const cursorOnly = errors.every(({ parameter }) => parameter === "after");
          if (!cursorOnly) assert.equal(recorder.calls, 0, what);
          assert.equal(error.headers === undefined, recorder.calls === 0);
          assert.deepEqual(faults, recorder.calls === 0 ? errors : [], what);
          verdicts.invalid += 1;
        });
        assert.ok(verdicts.valid > 15 && verdicts.invalid > 30, JSON.stringify(verdicts));
      });
    }
  });
}
