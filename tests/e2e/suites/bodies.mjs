// Contract, parts 1, 4 and 6: bodies that are no JSON, too large, of another media type, or not what the vault takes. All
// faults come at once, nothing is written, and the service stays up.
import assert from "node:assert/strict";
import { afterEach, before, beforeEach, describe, test } from "node:test";
import { costOf, expectProblem } from "../support/expect.mjs";
import { Chunked } from "../support/http.mjs";
import { key, store } from "../support/keys.mjs";
import { CONNECTIONS, Caller, expectConnection, one, stored } from "../support/vault.mjs";

const MOST = 65_536;
const KIB = "The body may have at most 64 KiB.";
const BOM = Buffer.from([0xef, 0xbb, 0xbf]);
const utf16 = (text) => Buffer.from(text, "utf16le");
const bytes = (...parts) => Buffer.concat(parts.map((part) => Buffer.from(part)));

/** What is no JSON object at all: one fault, of the whole body. */
const NO_OBJECT = {
  nothing: "",
  "white space": " \r\n\t",
  "a byte order mark": bytes(BOM, '{"tags":[]}'),
  "UTF-16": utf16('{"tags":[]}'),
  "a byte that is no UTF-8": bytes('{"tags":["', [0xff], '"]}'),
  "a sequence cut short": bytes('{"tags":["', [0xe2, 0x82], '"]}'),
  "overlong UTF-8": bytes('{"tags":["', [0xc0, 0xaf], '"]}'),
  "a surrogate in UTF-8": bytes('{"tags":["', [0xed, 0xa0, 0x80], '"]}'),
  "a lone surrogate": String.raw`{"tags":["\ud800"]}`,
  "a lone low surrogate": String.raw`{"tags":["\udc00x"]}`,
  "surrogates the wrong way round": String.raw`{"tags":["\udc00\ud800"]}`,
  "a surrogate in a name": String.raw`{"\ud800":1}`,
  "a text after the object": '{"tags":["no"]}x',
  "two objects": '{"tags":["no"]}{"tags":[]}',
  "a NUL after the object": '{"tags":["no"]}\0',
  null: "null",
  "an array": "[]",
  "an array of objects": '[{"tags":[]}]',
  "a text": '"tags"',
  "a number": "1",
  true: "true",
  "an object that does not end": '{"tags":[]',
  "single quotes": "{'tags':[]}",
  "a comma too many": '{"tags":["a",]}',
  "a comment": '{"tags":[]/**/}',
  "a bare name": "{tags:[]}",
  NaN: '{"tags":NaN}',
  "a form": "tags=a&tags=b",
  "a control character in a text": '{"tags":["a\nb"]}',
  "a bad escape": String.raw`{"tags":["\x41"]}`,
  "60 KB of [": "[".repeat(60_000),
  '60 KB of {"tags":': '{"tags":'.repeat(7_500),
  "nested 10,000 deep": `{"tags":${"[".repeat(10_000)}${"]".repeat(10_000)}}`,
};

const x = (count) => "x".repeat(count);
const TAGS = [
  [null, ["/tags"]],
  ["a", ["/tags"]],
  [{}, ["/tags"]],
  [1, ["/tags"]],
  [true, ["/tags"]],
  [Array(51).fill("a"), ["/tags"]],
  [{ 0: "a", length: 1 }, ["/tags"]],
  [
    [1, null, true, [], {}, "good", ["a"], { a: { b: [] } }, 1.5, -1],
    [0, 1, 2, 3, 4, 6, 7, 8, 9].map((i) => `/tags/${i}`),
  ],
  [
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
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12].map((i) => `/tags/${i}`),
  ],
  [Array.from({ length: 52 }, (_, i) => (i % 26 ? "a" : ",")), ["/tags", "/tags/0", "/tags/26"]],
];

const GOOD = { platform: "github", identity: "someone", identityType: "user" };
const CREATE = [
  [{}, ["/platform", "/identity", "/identityType"]],
  ...["platform", "identity", "identityType"].map((name) => [{ ...GOOD, [name]: undefined }, [`/${name}`]]),
  ...[1, null, true, [], {}, ""].flatMap((value) =>
    ["platform", "identity", "identityType", "label", "platformVersion", "state"].map((name) => [
      { ...GOOD, [name]: value },
      [`/${name}`],
    ]),
  ),
  ...["", 1, [], "a\nb", "\u0000", "\u009f", x(129), "😀".repeat(129)].map((name) => [{ ...GOOD, name }, ["/name"]]),
  ...["a,b", "a\tb", "\u007f", x(257), "é".repeat(257)].map((identity) => [{ ...GOOD, identity }, ["/identity"]]),
  ...["Git Hub", "github ", "gitub", "nothing", "api::github::v1", x(5000)].map((platform) => [
    { ...GOOD, platform },
    ["/platform"],
  ]),
  ...["User", "group", "user "].map((identityType) => [{ ...GOOD, identityType }, ["/identityType"]]),
  ...["Upper", "under_score", "a::b", "a b", "é", x(65)].map((label) => [{ ...GOOD, label }, ["/label"]]),
  ...["1", "v", "V1", "v1.0", "v-1", "v٣", " v1"].map((platformVersion) => [
    { ...GOOD, platformVersion },
    ["/platformVersion"],
  ]),
  ...["Operational", "ok"].map((state) => [{ ...GOOD, state }, ["/state"]]),
  ...["true", 1, 0, null, []].map((active) => [{ ...GOOD, active }, ["/active"]]),
  ...["id", "key", "environment", "description", "version", "createdAt", "type", "account", "__proto__", "Name"].map(
    (name) => [`{"${name}":"x",${JSON.stringify(GOOD).slice(1)}`, [`/${name}`]],
  ),
  ...TAGS.map(([tags, pointers]) => [{ ...GOOD, tags }, pointers]),
  [
    {
      platform: "nothing",
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
    [
      "/platform",
      "/identity",
      "/identityType",
      "/name",
      "/label",
      "/platformVersion",
      "/state",
      "/active",
      "/tags/0",
      "/more",
    ],
  ],
];
const PATCH = [
  ...TAGS.map(([tags, pointers]) => [{ tags }, pointers]),
  [{ tag: ["a"] }, ["/tag"]],
  [{ Tags: [] }, ["/Tags"]],
  [{ tags: ["a"], active: false, name: null }, ["/active", "/name"]],
  [{ "a/b~c": 1 }, ["/a~1b~0c"]],
  [{ "": 1 }, ["/"]],
  ['{"__proto__":{"tags":[]}}', ["/__proto__"]],
  ['{"tags":["a"],"tags":["b"]}', ["/tags"]],
  [String.raw`{"tags":["a"],"t\u0061gs":["a"]}`, ["/tags"]],
  [{ tags: [","], identity: "x", version: "9" }, ["/identity", "/version", "/tags/0"]],
];

export function bodies(world) {
  const made = key({ account: "bodies" });
  const caller = new Caller(world, made);
  let id;
  let rows;
  const all = () => stored(world.database, "bodies");

  function expectRefusal(answer, code, more) {
    const problem = expectProblem(answer, code, more);
    assert.deepEqual([costOf(answer).calls, costOf(answer).rowsWritten], [1, 0]);
    return problem;
  }

  /** Asserts that exactly these pointers are faulty, each with a sentence that names its place. */
  function expectFaults(answer, pointers) {
    const { errors, detail } = expectRefusal(answer, "invalid_body");
    assert.deepEqual(errors.map(({ pointer }) => pointer).sort(), pointers.toSorted(), answer.text.slice(0, 600));
    for (const fault of errors) {
      assert.ok(fault.detail.length > 10 && fault.detail.length < 500, fault.detail);
      assert.equal(fault.parameter, undefined);
    }
    assert.ok(detail.startsWith(errors[0].detail));
    assert.equal(detail.endsWith(" more in `errors`)"), errors.length > 1);
    return errors;
  }

  const send = {
    POST: (body, headers) => caller.create(body, headers),
    PATCH: (body, headers) => caller.patch(id, body, headers),
  };

  describe("bodies", () => {
    before(async () => {
      await store(world.database, [made]);
      id = expectConnection(await caller.create({ ...GOOD, identity: "kept", tags: ["kept"] }), {}, { status: 201 })
        .connection.id;
    });
    beforeEach(async () => {
      rows = await all();
    });
    afterEach(async () => assert.equal(await all(), rows, "something was written"));

    for (const method of ["PATCH", "POST"]) {
      for (const [what, body] of Object.entries(NO_OBJECT)) {
        test(`${method} of ${what}: the body as a whole is faulty`, async () => {
          expectFaults(await send[method](body), [""]);
        });
      }
    }

    test("PATCH: every fault of a body is named by its pointer", async () => {
      for (const [body, pointers] of PATCH) expectFaults(await send.PATCH(body), pointers);
    });

    test("POST: every fault of a body is named by its pointer", async () => {
      for (const [body, pointers] of CREATE) expectFaults(await send.POST(body), pointers);
    });

    test("what may have been meant is told", async () => {
      for (const [method, body, suggestion] of [
        ["PATCH", { tag: [] }, "tags"],
        ["PATCH", { TAGS: [] }, "tags"],
        ["POST", { ...GOOD, identitytype: "user" }, "identityType"],
        ["POST", { ...GOOD, platform: "gitub" }, "github"],
        ["POST", { ...GOOD, state: "degradet" }, "degraded"],
        ["POST", { ...GOOD, identityType: "organisation" }, "organization"],
      ]) {
        assert.equal(expectRefusal(await send[method](body), "invalid_body").errors[0].suggestion, suggestion);
      }
    });

    test("a hundred faults are told in one answer, and no more", async () => {
      for (const body of [
        { tags: Array(5000).fill(",") },
        Object.fromEntries(Array.from({ length: 3000 }, (_, i) => [`wrong${i}`, 1])),
      ]) {
        for (const method of ["PATCH", "POST"])
          assert.equal(expectRefusal(await send[method](body), "invalid_body").errors.length, 100);
      }
    });

    test("a body of 64 KiB is read, one of a byte more is not", async () => {
      const padded = (size) => `{"tags":["kept"]${" ".repeat(size - 17)}}`;
      for (const frame of [
        (text) => text,
        (text) => new Chunked([text]),
        (text) => new Chunked(text.match(/.{1,1000}/gs)),
      ]) {
        expectConnection(await send.PATCH(frame(padded(MOST))), { version: "1", tags: ["kept"] });
        for (const size of [MOST + 1, 400_000])
          expectRefusal(await send.PATCH(frame(padded(size))), "body_too_large", { detail: KIB });
        expectFaults(await send.POST(frame(padded(MOST))), ["/platform", "/identity", "/identityType"]);
        expectRefusal(await send.POST(frame(padded(MOST + 1))), "body_too_large", { detail: KIB });
      }
      for (const method of ["PATCH", "POST"])
        for (const text of ["[", '{"tags":', "\0"])
          expectRefusal(await send[method](text.repeat(400_000)), "body_too_large", { detail: KIB });
    });

    test("the answer to a body that is too large comes without reading on", async () => {
      // Of these bodies the end is never sent.
      for (const chunks of [
        [x(MOST), "x"],
        [x(30_000), x(30_000), x(30_000)],
        Array(70).fill(x(1000)),
        [x(1_000_000)],
      ]) {
        for (const method of ["PATCH", "POST"])
          expectRefusal(await send[method](new Chunked(chunks, { ends: false })), "body_too_large", { detail: KIB });
      }
    });

    test("a body is JSON by its media type, or 415", async () => {
      const detail = "The body must be JSON: send it with `Content-Type: application/json`.";
      for (const method of ["PATCH", "POST"]) {
        const path = method === "POST" ? CONNECTIONS : one(id);
        for (const body of [method === "POST" ? JSON.stringify(GOOD) : '{"tags":["no"]}', "", "[".repeat(400_000)]) {
          for (const headers of [
            [],
            ...[
              "text/plain",
              "application/jsonx",
              "application",
              "json",
              "application/merge-patch+json",
              "application/json-patch+json",
              "application/x-www-form-urlencoded",
              "application/json, text/plain",
              "text/json",
              "multipart/form-data; boundary=application/json",
              ";application/json",
              '"application/json"',
            ].map((type) => [["content-type", type]]),
          ]) {
            expectRefusal(await caller.send(method, path, { headers, body }), "unsupported_media_type", { detail });
          }
        }
      }
    });

    test("the service still answers, and has no fault", async () => {
      expectConnection(await caller.read(id), { version: "1", tags: ["kept"] });
      assert.ok(world.server.alive);
      assert.ok(!/panicked|RuntimeError|internal request=| 500 /.test(world.server.output));
    });
  });
}
