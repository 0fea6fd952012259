// Bodies that the package rejects before sending a request. Its errors must equal the service's response to the same body.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { each, expectNoResponse, failure } from "../support/package.mjs";
import { ID, comparisonHelpers, x } from "../support/validation.mjs";
import { CONNECTIONS, connectionPath } from "../support/vault.mjs";

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

export function bodies(fixture) {
  const { counted, plain, expectSame } = comparisonHelpers(fixture);

  describe("validation of bodies", () => {
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
        connectionPath(ID),
        (client, body) => client.connections.update(ID, body),
        (client, body) => client.connections.validateUpdate(body),
      ],
      [
        "state",
        "PUT",
        `${connectionPath(ID)}/state`,
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
      test(`invalid bodies of ${name} have the errors of the service`, async () => {
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

    test("bodies that can't be serialized are rejected", async () => {
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
          const error = expectNoResponse(await failure(() => call(client)), "ValidationError");
          assert.ok(["invalid_argument", "invalid_body"].includes(error.code), error.code);
          assert.ok(error.errors.length > 0);
          assert.deepEqual(validate(client), error.errors);
          assert.equal(recorder.calls, 0);
        }
      }
    });
  });
}
