// Request bodies on the real runtime: bytes arrive unchanged, chunked or not, and a body that is too large is rejected without reading
// it. tests/api/recorded_responses.rs, update.rs and create.rs have the rules of what a body may contain.
import assert from "node:assert/strict";
import { afterEach, before, beforeEach, describe, test } from "node:test";
import { costOf, expectProblem } from "../support/expect.mjs";
import { ChunkedBody } from "../support/http.mjs";
import { key, store } from "../support/keys.mjs";
import { CONNECTIONS, Caller, expectConnection, connectionPath, stored } from "../support/vault.mjs";

const MAX_BYTES = 65_536;
const KIB = "The body may have at most 64 KiB.";
const BOM = Buffer.from([0xef, 0xbb, 0xbf]);
const bytes = (...parts) => Buffer.concat(parts.map((part) => Buffer.from(part)));
const x = (count) => "x".repeat(count);
const GOOD = { platform: "github", identity: "someone", identityType: "user" };

/** Bodies that the runtime could change before the core rejects them as a whole. */
const NON_OBJECTS = {
  nothing: "",
  "a byte order mark": bytes(BOM, '{"tags":[]}'),
  "a byte that is not UTF-8": bytes('{"tags":["', [0xff], '"]}'),
  "a surrogate in UTF-8": bytes('{"tags":["', [0xed, 0xa0, 0x80], '"]}'),
  "a NUL after the object": '{"tags":["no"]}\0',
  "a form": "tags=a&tags=b",
  "60 KB of [": "[".repeat(60_000),
  "nested 10,000 deep": `{"tags":${"[".repeat(10_000)}${"]".repeat(10_000)}}`,
};

/** Bodies with the pointers of their errors. */
const INVALID = {
  POST: [
    { ...GOOD, platform: "nothing", identity: "a,b", tags: [","], more: 1 },
    ["/platform", "/identity", "/tags/0", "/more"],
  ],
  PATCH: [{ tags: [","], identity: "x", version: "9" }, ["/identity", "/version", "/tags/0"]],
};

export function bodies(fixture) {
  const apiKey = key({ account: "bodies" });
  const caller = new Caller(fixture, apiKey);
  let id;
  let rows;
  const all = () => stored(fixture.database, "bodies");

  function expectRefusal(response, code, more) {
    const problem = expectProblem(response, code, more);
    assert.deepEqual([costOf(response).calls, costOf(response).rowsWritten], [1, 0]);
    return problem;
  }

  /** Asserts errors at exactly these pointers, each with a message that contains its location. */
  function expectFaults(response, pointers) {
    const { errors, detail } = expectRefusal(response, "invalid_body");
    assert.deepEqual(errors.map(({ pointer }) => pointer).sort(), pointers.toSorted(), response.text.slice(0, 600));
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
      await store(fixture.database, [apiKey]);
      id = expectConnection(await caller.create({ ...GOOD, identity: "kept", tags: ["kept"] }), {}, { status: 201 })
        .connection.id;
    });
    beforeEach(async () => {
      rows = await all();
    });
    afterEach(async () => assert.equal(await all(), rows, "something was written"));

    for (const method of ["PATCH", "POST"]) {
      test(`${method}: a body that is not a JSON object is one error`, async () => {
        for (const body of Object.values(NON_OBJECTS)) expectFaults(await send[method](body), [""]);
      });

      test(`${method}: every error of a body has its pointer`, async () => {
        const [body, pointers] = INVALID[method];
        expectFaults(await send[method](body), pointers);
      });
    }

    test("a body of 64 KiB is accepted, a larger one is rejected", async () => {
      const padded = (size) => `{"tags":["kept"]${" ".repeat(size - 17)}}`;
      for (const frame of [
        (text) => text,
        (text) => new ChunkedBody([text]),
        (text) => new ChunkedBody(text.match(/.{1,1000}/gs)),
      ]) {
        expectConnection(await send.PATCH(frame(padded(MAX_BYTES))), { version: "1", tags: ["kept"] });
        for (const size of [MAX_BYTES + 1, 400_000])
          expectRefusal(await send.PATCH(frame(padded(size))), "body_too_large", { detail: KIB });
        expectFaults(await send.POST(frame(padded(MAX_BYTES))), ["/platform", "/identity", "/identityType"]);
        expectRefusal(await send.POST(frame(padded(MAX_BYTES + 1))), "body_too_large", { detail: KIB });
      }
      for (const method of ["PATCH", "POST"])
        for (const text of ["[", '{"tags":', "\0"])
          expectRefusal(await send[method](text.repeat(400_000)), "body_too_large", { detail: KIB });
    });

    test("a body that is too large is rejected before its end", async () => {
      // Bodies that exceed the limit, and whose end is never sent.
      for (const chunks of [
        [x(MAX_BYTES), "x"],
        [x(30_000), x(30_000), x(30_000)],
        Array(70).fill(x(1000)),
        [x(1_000_000)],
      ]) {
        for (const method of ["PATCH", "POST"])
          expectRefusal(await send[method](new ChunkedBody(chunks, { ends: false })), "body_too_large", {
            detail: KIB,
          });
      }
    });

    test("a body needs a JSON media type, or the status is 415", async () => {
      const detail = "The body must be JSON: send it with `Content-Type: application/json`.";
      for (const method of ["PATCH", "POST"]) {
        const path = method === "POST" ? CONNECTIONS : connectionPath(id);
        for (const body of [method === "POST" ? JSON.stringify(GOOD) : '{"tags":["no"]}', "", "[".repeat(400_000)]) {
          for (const headers of [
            [],
            ...["text/plain", "application/json, text/plain"].map((type) => [["content-type", type]]),
          ]) {
            expectRefusal(await caller.send(method, path, { headers, body }), "unsupported_media_type", { detail });
          }
        }
      }
    });

    test("the service still responds, without internal errors", async () => {
      expectConnection(await caller.read(id), { version: "1", tags: ["kept"] });
      assert.ok(fixture.server.alive);
      assert.ok(!/panicked|RuntimeError|internal request=| 500 /.test(fixture.server.output));
    });
  });
}
