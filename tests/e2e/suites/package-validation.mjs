// What the package finds wrong before anything is sent, against what the service answers to the same request by plain
// HTTP: field by field the same, from the same rules. A table of what people get wrong, and filters at random.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  ConnectorVault,
  Recorder,
  each,
  expectInvalid,
  expectUnanswered,
  factsOf,
  failure,
  library,
} from "../support/package.mjs";
import { checksum, secret as wellFormed } from "../support/keys.mjs";
import { CONNECTIONS, one } from "../support/vault.mjs";

const CONNECTORS = "/v1/available-connectors";
const ACTIONS = "/v1/available-actions/github";
const ID = "aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa";
const x = (count) => "x".repeat(count);
const pairs = (filters) =>
  Object.entries(filters)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value === null ? "" : String(value))}`)
    .join("&");

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

const GOOD = { platform: "github", identity: "someone", identityType: "user" };
const TAGS = [
  null,
  "a",
  {},
  1,
  true,
  Array(51).fill("a"),
  { 0: "a", length: 1 },
  [1, null, true, [], {}, "good", ["a"], 1.5],
  [
    "a,b",
    "",
    " a",
    "a ",
    "\u00a0a",
    "a\u3000",
    "a\u0000b",
    "a\u007f",
    "a\u0085b",
    "\t",
    "ok",
    x(129),
    "😀".repeat(129),
  ],
  Array.from({ length: 52 }, (_, n) => (n % 26 ? "a" : ",")),
  Array(300).fill(","),
  ["e\u0301", "\u200b", "\u202eevil", "👩\u200d👧", "\ufeff", "a\u200db", "\u1112\u1161", "x\u0301"],
  ["\ud800"],
  ["a", "\udc00x"],
];
const BODIES = {
  create: [
    ...["identity", "identityType"].map((name) => ({ ...GOOD, [name]: undefined })),
    ...[1, null, true, [], {}, ""].flatMap((value) =>
      ["identity", "identityType", "label", "platformVersion", "state"].map((name) => ({ ...GOOD, [name]: value })),
    ),
    ...["", 1, [], {}, false, "a\nb", "\u0000", "\u009f", x(129), "😀".repeat(129)].map((name) => ({ ...GOOD, name })),
    ...["a,b", "a\tb", "\u007f", x(257), "é".repeat(257), "\ud83d", " ", " a", "a\u2028", "e\u0301", "a\u200bb"].map(
      (identity) => ({ ...GOOD, identity }),
    ),
    ...["User", "group", "organisation"].map((identityType) => ({ ...GOOD, identityType })),
    ...["Upper", "under_score", "a::b", "a b", "é", x(65)].map((label) => ({ ...GOOD, label })),
    ...["1", "v", "V1", "v1.0", "v٣", " v1", `v${"1".repeat(17)}`].map((platformVersion) => ({
      ...GOOD,
      platformVersion,
    })),
    ...["Operational", "ok", "degradet"].map((state) => ({ ...GOOD, state })),
    ...["true", 1, 0, null, [], Number.NaN].map((active) => ({ ...GOOD, active })),
    ...["id", "key", "environment", "version", "Name", "identitytype", "a/b~c", ""].map((name) => ({
      ...GOOD,
      [name]: "x",
    })),
    ...TAGS.map((tags) => ({ ...GOOD, tags })),
    {
      platform: "github",
      identity: "a,b",
      identityType: "x",
      name: "",
      label: "X",
      platformVersion: "x",
      state: "x",
      active: "x",
      tags: [","],
      more: 1,
    },
    { ...GOOD, name: x(70_000) },
    { ...GOOD, tags: Array(5000).fill(x(20)) },
    { ...GOOD, tags: [","], ...Object.fromEntries(Array.from({ length: 150 }, (_, n) => [`wrong${n}`, 1])) },
  ],
  update: [
    ...TAGS.map((tags) => ({ tags })),
    { tags: Array(5000).fill(x(20)) },
    { tags: ["😀".repeat(20_000)] },
    { tag: ["a"] },
    { Tags: [] },
    { tags: ["a"], active: false, name: null },
    { "a/b~c": 1 },
    { "": 1 },
    { tags: [","], identity: "x", version: "9" },
    JSON.parse('{"__proto__":{"tags":[]}}'),
  ],
  state: [
    {},
    ...["", "Failed", "broken", 1, null, []].map((state) => ({ state })),
    ...["false", 1, null, []].map((active) => ({ state: "failed", active })),
    ...["", 1, null, "a\nb", x(257), "😀".repeat(257)].map((reason) => ({ state: "failed", reason })),
    { active: true, reason: "x" },
    { state: "failed", reasons: "x" },
    { state: "failed", tags: [] },
    { state: "failed", reason: x(70_000) },
  ],
  session: [
    {},
    ...["", "a,b", "a\tb", x(257), 1, null, []].map((identity) => ({ identity })),
    ...["User", "group", null, 1].map((identityType) => ({ identity: "a", identityType })),
    ...[59, 3601, 0, -60, 60.5, "60", null, true, [], 1e300, 2 ** 53].map((ttlSeconds) => ({
      identity: "a",
      ttlSeconds,
    })),
    ...[[], "catalog:read", ["sessions:create"], ["catalog:read", "catalog:read"], ["x", 1, null], null, {}].map(
      (scopes) => ({ identity: "a", scopes }),
    ),
    ...[
      [],
      [""],
      ["github", "closed", "github", "github"],
      Array(21).fill("github"),
      Array.from({ length: 300 }, (_, n) => n),
      [["a"]],
    ].map((platforms) => ({ identity: "a", platforms })),
    ...[
      [],
      ["*"],
      ["https://app.example/"],
      ["https://App.example"],
      ["http://app.example"],
      [
        "https://a:443",
        "https://a:0",
        "https://a:",
        "https://a:65536",
        "https://a:99999999999",
        "https://.a",
        "https://a..b",
        "https://a:1:2",
        "a",
        "",
      ],
      Array.from({ length: 11 }, (_, n) => `https://a${n}`),
    ].map((origins) => ({ identity: "a", origins })),
    { identity: "a", ttl: 60 },
    { identity: ",", identityType: "x", scopes: [], platforms: ["A b"], origins: ["x"], ttlSeconds: 1, more: 1 },
    { identity: x(70_000) },
    { identity: "a", platforms: Array(5000).fill(x(20)) },
  ],
};
const IDS = [
  "nothing",
  "null",
  "undefined",
  ID.replaceAll("-", ""),
  `{${ID}}`,
  `urn:uuid:${ID}`,
  `${ID}0`,
  ID.slice(0, -1),
  `${ID} `,
  ` ${ID}`,
  ID.replace(/^./, "g"),
  ID.replace("-", "_"),
  "%",
  "%2e%2e",
  "' OR 1=1--",
  "../..",
  "a/b",
  "?limit=1",
  "#x",
  x(5000),
  "😀",
  "ﬀ".repeat(18),
  "１".repeat(8),
];
/** What no URL can have as a segment. */
const NO_SEGMENTS = ["", ".", ".."];

/** A stream of numbers below `most`, the same one every time (mulberry32). */
function numbers(seed) {
  let state = seed;
  return (most) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * most);
  };
}

/** What a validation tells of a call that fails with this error: a fault of the whole, where it has none of a part. */
const faultsOf = ({ errors, message }) => (errors.length > 0 ? errors : [{ detail: message }]);

export function validation(world) {
  /** A client whose requests are counted, and answered by the service. */
  const counted = () => {
    const recorder = new Recorder();
    return { recorder, client: world.vault(world.keys.full, { fetch: recorder.fetch, maxRetries: 0 }) };
  };
  const plain = (path, options) => world.plain(world.keys.full, path, options);

  /** Asserts that a call fails without a request, as the service answers; `validate` tells the same faults. */
  async function expectSame(what, call, answer, validate) {
    assert.ok(answer.status >= 400, `${what}: the service has nothing against it`);
    const { recorder, client } = counted();
    const error = await failure(() => call(client));
    assert.equal(recorder.calls, 0, `${what}: nothing is sent`);
    expectUnanswered(error, "ValidationError");
    const { status, code, message, errors } = error;
    assert.deepEqual({ status, code, message, errors }, factsOf(answer.json), what);
    if (validate) assert.deepEqual(validate(client), faultsOf(error), `${what}: the faults without a call`);
    assert.equal(recorder.calls, 0, `${what}: nothing is sent to validate`);
  }

  describe("validation", () => {
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
      test(`filters of ${what} are refused as the service refuses them`, async () => {
        await each(filters, async (filter) => {
          // An array without items has no spelling of its own in a query; it is refused like one of empty items.
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

      test(`filters of ${what} are refused the same when the list is iterated, and by toArray()`, async () => {
        for (const filter of filters.filter((_, n) => n % 9 === 0)) {
          if ("limit" in filter || "page" in filter || "after" in filter) continue;
          const answer = await plain(`${path}?${pairs(filter)}`);
          await expectSame("toArray", (client) => list(client, filter).toArray(), answer);
          await expectSame("iterated", (client) => list(client, filter)[Symbol.asyncIterator]().next(), answer);
        }
      });
    }

    for (const [name, method, path, call, validate] of [
      [
        "create",
        "POST",
        CONNECTIONS,
        (client, body) => client.connections.create(body),
        (client, body) => client.connections.validateCreate(body),
      ],
      [
        "update",
        "PATCH",
        one(ID),
        (client, body) => client.connections.update(ID, body),
        (client, body) => client.connections.validateUpdate(body),
      ],
      [
        "state",
        "PUT",
        `${one(ID)}/state`,
        (client, body) => client.connections.setState(ID, body),
        (client, body) => client.connections.validateSetState(body),
      ],
      [
        "session",
        "POST",
        "/v1/sessions",
        (client, body) => client.sessions.create(body),
        (client, body) => client.sessions.validateCreate(body),
      ],
    ]) {
      test(`bodies of ${name} are refused as the service refuses them`, async () => {
        await each(BODIES[name], async (body) => {
          const sent = { method, headers: [["content-type", "application/json"]], body: JSON.stringify(body) };
          await expectSame(
            sent.body.slice(0, 300),
            (client) => call(client, body),
            await plain(path, sent),
            (client) => validate(client, body),
          );
        });
      });
    }

    test("ids are refused as the service refuses them", async () => {
      await each(IDS, async (id) => {
        const path = one(encodeURIComponent(id));
        await expectSame(`get ${id}`, (client) => client.connections.get(id), await plain(path));
        await expectSame(
          `delete ${id}`,
          (client) => client.connections.delete(id),
          await plain(path, { method: "DELETE" }),
        );
        const headers = [["content-type", "application/json"]];
        for (const body of [{ tags: ["x"] }, {}, { tags: [","] }, { tag: 1 }]) {
          await expectSame(
            `update ${id} ${JSON.stringify(body)}`,
            (client) => client.connections.update(id, body),
            await plain(path, { method: "PATCH", headers, body: JSON.stringify(body) }),
          );
        }
      });
      for (const id of NO_SEGMENTS) {
        for (const ask of [
          (client) => client.connections.get(id),
          (client) => client.connections.delete(id),
          (client) => client.connections.update(id, {}),
        ])
          await expectSame(`"${id}"`, ask, await plain(one("nothing")));
      }
    });

    test("a platform never leads to another path", async () => {
      for (const platform of NO_SEGMENTS) {
        const { recorder, client } = counted();
        const error = await failure(() => client.actions.list(platform));
        assert.ok(error instanceof library.VaultError);
        assert.equal(error.status, 404);
        assert.deepEqual(client.actions.validateList(platform), [{ detail: error.message }]);
        assert.equal(recorder.calls, 0, JSON.stringify(platform));
      }
      for (const platform of [
        "../whoami",
        "../../v1/whoami",
        "github/..",
        "github?x=1",
        "github#x",
        "a\\b",
        "%2e%2e",
        "\ttab",
        "a\u0000b",
      ]) {
        const { recorder, client } = counted();
        const error = await failure(() => client.actions.list(platform));
        assert.equal(error.status, 404, platform);
        for (const { path } of recorder.requests)
          assert.equal(path, `/v1/available-actions/${encodeURIComponent(platform)}`);
      }
    });

    test("keys are refused as the service refuses them", async () => {
      const good = world.keys.full.secret;
      const made = (text) => text + checksum(text);
      const malformed = [
        "x",
        "sk_test_",
        good.slice(0, -1),
        `${good}0`,
        good.replace(/.$/, (last) => (last === "0" ? "1" : "0")),
        good.replace("sk_test_", "sk_live_"),
        made(`sk_prod_${"a".repeat(32)}`),
        made(`SK_TEST_${"a".repeat(32)}`),
        made(`sk_test_${"a".repeat(31)}`),
        made(`sk_test_${"a".repeat(31)}_`),
        `Bearer ${good}`,
        `${good}, ${good}`,
        x(500),
      ];
      for (const secret of malformed) {
        const answer = await world.server.send("/v1/whoami", { secret });
        for (const options of [{}, { maxRetries: 1 }]) {
          const error = await failure(() => new ConnectorVault({ baseUrl: world.baseUrl, secret, ...options }));
          expectUnanswered(error, "ValidationError", { ...factsOf(answer.json), status: 401, code: "invalid_key" });
        }
      }
      const missing = await world.server.send("/v1/whoami");
      const empty = await failure(() => new ConnectorVault({ baseUrl: world.baseUrl, secret: "" }));
      expectUnanswered(empty, "ValidationError", { ...factsOf(missing.json), status: 401, code: "missing_key" });
      for (const secret of [good, wellFormed("live"), `st_test_${x(40)}`, `st_live_${x(40)}`])
        assert.ok(new ConnectorVault({ baseUrl: world.baseUrl, secret }));
      for (const secret of [undefined, 5, null, {}, [good], true])
        expectInvalid(await failure(() => new ConnectorVault({ baseUrl: world.baseUrl, secret })), "secret");
    });

    test("arguments that no request can be made of are refused by name", async () => {
      for (const [call, name, suggestion] of [
        ...[5, "x", null, [], true].flatMap((filters) => [
          [(client) => client.connectors.list(filters), "filters"],
          [(client) => client.actions.list("github", filters), "filters"],
          [(client) => client.connections.list(filters), "filters"],
        ]),
        ...[5, "x", null, []].flatMap((options) => [
          [(client) => client.whoami(options), "options"],
          [(client) => client.connectors.list({}, options), "options"],
          [(client) => client.connections.get(ID, options), "options"],
          [(client) => client.connections.update(ID, {}, options), "options"],
        ]),
        ...[5, null, undefined, {}, [ID], Symbol("x")].flatMap((id) => [
          [(client) => client.connections.get(id), "id"],
          [(client) => client.connections.delete(id), "id"],
          [(client) => client.connections.update(id, {}), "id"],
        ]),
        ...[5, null, undefined, {}].map((platform) => [(client) => client.actions.list(platform), "platform"]),
        ...[5, {}, "x", null, [], () => {}].map((signal) => [(client) => client.whoami({ signal }), "signal"]),
        ...[5, {}, null, [], "", { id: ID }, { version: "1" }, "é", "a\nb", "x", `${ID}-1`, '"x', "W/x", "**"].map(
          (ifMatch) => [(client) => client.connections.update(ID, {}, { ifMatch }), "ifMatch"],
        ),
        [(client) => client.whoami({ signl: undefined, sginal: 1 }), "sginal", "signal"],
        [(client) => client.connections.update(ID, {}, { ifmatch: "*" }), "ifmatch", "ifMatch"],
        [(client) => client.connections.get(ID, { ifMatch: "*" }), "ifMatch"],
        [(client) => client.connections.list({}, { limit: 5 }), "limit"],
        ...[-1, 1.5, "5", Number.NaN, null, {}].flatMap((max) => [
          [(client) => client.connectors.list().toArray({ max }), "max"],
        ]),
        [(client) => client.connectors.list().toArray({ maximum: 5 }), "maximum", "max"],
        ...[5, "x", null].map((options) => [(client) => client.connectors.list().toArray(options), "options"]),
      ]) {
        const { recorder, client } = counted();
        expectInvalid(await failure(() => call(client)), name, suggestion);
        assert.equal(recorder.calls, 0);
      }
    });

    test("a validation refuses the arguments that its call refuses", async () => {
      for (const [name, values, call, validate] of [
        [
          "filters",
          [5, "x", null, [], true, new Map()],
          (client, filters) => client.connectors.list(filters),
          (client, filters) => client.connectors.validateList(filters),
        ],
        [
          "filters",
          [5, "x", null, [], true, new Map()],
          (client, filters) => client.actions.list("github", filters),
          (client, filters) => client.actions.validateList("github", filters),
        ],
        [
          "filters",
          [5, "x", null, [], true, new Map()],
          (client, filters) => client.connections.list(filters),
          (client, filters) => client.connections.validateList(filters),
        ],
        [
          "platform",
          [5, undefined, null, {}, "\ud800"],
          (client, platform) => client.actions.list(platform),
          (client, platform) => client.actions.validateList(platform),
        ],
        [
          "changes",
          [undefined, () => {}, new Map(), 10n],
          (client, changes) => client.connections.update(ID, changes),
          (client, changes) => client.connections.validateUpdate(changes),
        ],
        [
          "session",
          [undefined, () => {}, new Map(), 10n],
          (client, session) => client.sessions.create(session),
          (client, session) => client.sessions.validateCreate(session),
        ],
        [
          "connection",
          [undefined, () => {}, new Map(), 10n],
          (client, connection) => client.connections.create(connection),
          (client, connection) => client.connections.validateCreate(connection),
        ],
      ]) {
        for (const value of values) {
          const { recorder, client } = counted();
          const error = expectInvalid(await failure(() => call(client, value)), name);
          assert.deepEqual(validate(client, value), error.errors);
          assert.equal(recorder.calls, 0);
        }
      }
    });

    test("filters that no query can be made of are refused, and none is lost", async () => {
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
        const error = expectUnanswered(await failure(() => client[list].list(filter)), "ValidationError", {
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

    test("bodies that no JSON can be made of are refused", async () => {
      const circular = { ...GOOD };
      circular.tags = [circular];
      for (const body of [
        undefined,
        null,
        5,
        "x",
        [],
        true,
        () => {},
        circular,
        { ...GOOD, identity: 10n },
        {
          ...GOOD,
          toJSON: () => {
            throw new Error("mine");
          },
        },
      ]) {
        for (const [call, validate] of [
          [(client) => client.connections.create(body), (client) => client.connections.validateCreate(body)],
          [(client) => client.connections.update(ID, body), (client) => client.connections.validateUpdate(body)],
        ]) {
          const { recorder, client } = counted();
          const error = expectUnanswered(await failure(() => call(client)), "ValidationError");
          assert.ok(["invalid_argument", "invalid_body"].includes(error.code), error.code);
          assert.ok(error.errors.length > 0);
          assert.deepEqual(validate(client), error.errors);
          assert.equal(recorder.calls, 0);
        }
      }
    });

    test("keys of connections and connectors are taken apart, or refused", () => {
      const { parseConnectionKey, parseConnectorKey } = library;
      for (const [key, parts] of [
        ["test::github::default::ann", ["test", "github", "default", "ann"]],
        ["live::a::b::c::d::", ["live", "a", "b", "c::d::"]],
        ["test::github::default::::", ["test", "github", "default", "::"]],
        ["live::amazonaws-ec2::x-1::名前 %_*😀", ["live", "amazonaws-ec2", "x-1", "名前 %_*😀"]],
      ]) {
        const [environment, platform, label, identity] = parts;
        assert.deepEqual(parseConnectionKey(key), { environment, platform, label, identity });
      }
      for (const [key, platform, platformVersion] of [
        ["api::github::v1", "github", "v1"],
        ["api::amazonaws-ec2::v2016", "amazonaws-ec2", "v2016"],
        ["api::0::v0", "0", "v0"],
      ])
        assert.deepEqual(parseConnectorKey(key), { platform, platformVersion });
      for (const [parse, wrong] of [
        [
          parseConnectionKey,
          [
            "",
            "x",
            "test",
            "test::github::default",
            "test::github::default::",
            "prod::github::default::a",
            "TEST::github::default::a",
            " test::github::default::a",
            "test:github:default:a",
            "api::github::v1",
          ],
        ],
        [
          parseConnectorKey,
          [
            "",
            "x",
            "api",
            "api::github",
            "api::github::",
            "api::github::1",
            "api::github::v",
            "api::github::V1",
            "api::github::v1 ",
            "API::github::v1",
            "api::GitHub::v1",
            "api::::v1",
            "api::a b::v1",
            "api::github::v1::x",
            `api::${x(65)}::v1`,
            "test::github::default::a",
          ],
        ],
      ]) {
        for (const key of wrong) {
          assert.throws(
            () => parse(key),
            (error) => {
              expectUnanswered(error, "ValidationError");
              assert.ok(error.errors.length > 0);
              return true;
            },
            JSON.stringify(key),
          );
        }
        for (const key of [5, null, undefined, {}, [], Symbol("x"), 1n])
          assert.throws(
            () => parse(key),
            (error) => expectInvalid(error, "key") === error,
          );
      }
    });

    test("every key of the catalog and of the vault is taken apart", async () => {
      const { full, many } = world.keys;
      for await (const { key, platform, platformVersion } of world.vault(full).connectors.list({ limit: 500 }))
        assert.deepEqual(library.parseConnectorKey(key), { platform, platformVersion });
      for (const { key, environment, platform, identity } of (await world.vault(many).connections.list({ limit: 500 }))
        .rows) {
        assert.deepEqual(library.parseConnectionKey(key), { environment, platform, label: "default", identity });
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
      test(`filters of ${what} at random: the package and the service agree`, async () => {
        const below = numbers(20_260 + n);
        const pick = (values) => values[below(values.length)];
        const verdicts = { valid: 0, invalid: 0 };
        const atRandom = Array.from({ length: 150 }, () => {
          const filter = {};
          for (let i = below(5); i >= 0; i -= 1) {
            // Now and then one that the list does not have.
            const name = pick(below(12) === 0 ? Object.keys(VALUES) : own);
            const [first] = VALUES[name];
            // Lists take arrays where the service takes several, and nowhere else.
            const values = VALUES[name].filter((value) => !Array.isArray(value) || path === CONNECTIONS);
            filter[name] = below(2) === 0 ? first : pick(values);
          }
          return filter;
        });
        await each(atRandom, async (filter) => {
          const answer = await plain(`${path}?${pairs(filter)}`);
          const { recorder, client } = counted();
          const what = JSON.stringify(filter).slice(0, 300);
          const faults = validate(client, filter);
          assert.equal(recorder.calls, 0, what);
          if (answer.status === 200) {
            assert.deepEqual(faults, [], what);
            const { rows, total, pages, page } = await list(client, filter);
            assert.deepEqual({ rows, total, pages, page }, answer.json, what);
            assert.equal(recorder.calls, 1);
            verdicts.valid += 1;
            return;
          }
          const error = await failure(() => list(client, filter));
          const { status, code, message, errors } = error;
          assert.deepEqual({ status, code, message, errors }, factsOf(answer.json), what);
          // Whether a cursor is good, only the service knows.
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
