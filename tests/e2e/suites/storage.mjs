// While storage is missing, damaged or unavailable, the service responds with 503, and logs the cause. It recovers as soon as storage
// works again, without a restart unless stated.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { expectJson, expectPage, expectProblem } from "../support/expect.mjs";
import { key, store } from "../support/keys.mjs";
import { Server } from "../support/server.mjs";

const CONNECTORS = "/v1/available-connectors";
const ACTIONS = "/v1/available-actions/acme-store";
const OTHER_ACTIONS = "/v1/available-actions/petstore-swagger";
const DETAIL = "The service can't reach its storage. Try again shortly.";

export function storage(fixture) {
  let state;
  let server;
  let opened;
  const keys = { fresh: key(), further: key(), toRevoke: key() };
  const full = () => fixture.keys.full.secret;
  const get = (path, secret = full()) => server.send(path, { secret });

  /** Asserts a 503 whose `cause` is in the log with the request id, but not in the response. */
  async function expectUnavailable(path, cause, secret) {
    const response = await get(path, secret);
    const problem = expectProblem(response, "unavailable", { detail: DETAIL });
    await server.logged(`unavailable request=${problem.requestId}`, cause);
    assert.ok(!response.text.includes(cause));
    assert.ok(!/segment|current|api_keys|SQL|D1|KV/.test(response.text), response.text);
    const head = await server.send(path, { secret: secret ?? full(), method: "HEAD" });
    assert.deepEqual([head.status, head.body.length, head.header("retry-after")], [503, 0, "5"]);
  }

  describe("storage", () => {
    before(async () => {
      state = fixture.states.small.copy("storage");
      opened = await state.open();
      await store(opened.vault, Object.values(keys));
      await opened.catalog.delete("current");
      // Disables the cache of segments.
      server = await Server.start(state, {
        name: "storage",
        variables: { SEGMENT_CACHE_BYTES: "1", ALLOWED_ORIGINS: "*" },
      });
    });

    after(async () => {
      await server?.stop();
      await opened?.close();
    });

    test("`current` causes 503 while it is missing, damaged or of another format", async () => {
      const { record } = fixture.catalogs.small;
      const current = (value) => opened.catalog.put("current", value);
      await expectUnavailable(CONNECTORS, "no catalog is published: `current` is missing");
      await expectUnavailable(ACTIONS, "no catalog is published: `current` is missing");
      const old = (connectors, more = {}) => JSON.stringify({ format: 1, connectors, ...more });
      for (const [value, cause] of [
        ["", "`current` is damaged"],
        ["{", "`current` is damaged"],
        ["null", "`current` is damaged"],
        ["[".repeat(200_000), "`current` is damaged"],
        [old("0".repeat(31)), "`current` is damaged"],
        [old("A".repeat(32)), "`current` is damaged"],
        [old("0".repeat(32), { more: 1 }), "`current` is damaged"],
        [JSON.stringify({ format: 2, connectors: "0".repeat(32) }), "`current` is damaged"],
        [record.with(6, record[6] + 1), "the catalog has format 5, but this service reads format 4"],
        [record.with(40, record[40] ^ 1), "`current` is damaged: its checksum is wrong"],
        [record.subarray(0, record.length - 1), "`current` is damaged: its checksum is wrong"],
        [record.subarray(0, 9), "`current` is damaged: it is cut short"],
      ]) {
        await current(value);
        await expectUnavailable(CONNECTORS, cause);
      }
      expectJson(await get("/health"), 200);
      expectJson(await get("/v1/whoami"), 200);
      await current(record);
      expectPage(await get(CONNECTORS), { total: 6 });
    });

    for (const [what, damage] of [
      ["is missing", () => undefined],
      ["is empty", () => Buffer.alloc(0)],
      [
        "has a flipped bit in its first half",
        (bytes) => bytes.map((byte, at) => (at % 20 === 7 && at < bytes.length / 2 ? byte ^ 128 : byte)),
      ],
      ["has a flipped bit in its beginning", (bytes) => bytes.with(0, bytes[0] ^ 4)],
      ["is cut to its beginning", (bytes) => bytes.subarray(0, 16)],
      ["is text", () => Buffer.from("<!doctype html>")],
      ["is another segment", (_bytes, other) => other],
    ]) {
      test(`a segment causes 503 while it ${what}`, async () => {
        const { small } = fixture.catalogs;
        const [pack, connectors] = [
          // The segment with the actions of the platform, which the search over all platforms also reads.
          small.segmentWith('acme-store{"id"'),
          small.segmentWith("\napi::acme-store::"),
        ];
        for (const [id, other, broken, whole] of [
          [pack, connectors, [ACTIONS, `${ACTIONS}?q=order`], [CONNECTORS, OTHER_ACTIONS]],
          [connectors, pack, [CONNECTORS], [ACTIONS, OTHER_ACTIONS, "/v1/whoami"]],
        ]) {
          const name = `segment:${id}`;
          const before = [];
          for (const path of broken) before.push((await get(path)).text);
          const bytes = damage(small.segment(id), small.segment(other));
          if (bytes) await opened.catalog.put(name, bytes);
          else await opened.catalog.delete(name);
          for (const path of broken) await expectUnavailable(path, `\`${name}\``);
          for (const path of whole) assert.equal((await get(path)).status, 200, path);
          await opened.catalog.put(name, small.segment(id));
          for (const [i, path] of broken.entries()) {
            const response = await get(path);
            expectAny(response);
            assert.equal(response.text, before[i]);
          }
        }
      });
    }

    test("a missing table causes 503 until it is restored", async () => {
      const { fresh, further } = keys;
      assert.equal((await get(CONNECTORS)).status, 200);
      await opened.vault.prepare("ALTER TABLE api_keys RENAME TO lost").run();
      await expectUnavailable("/v1/whoami", "no such table: api_keys");
      await expectUnavailable(CONNECTORS, "no such table: api_keys", fresh.secret);
      await expectUnavailable("/v1/nothing", "no such table: api_keys", further.secret);
      expectAny(await get(CONNECTORS));
      expectProblem(await server.send(CONNECTORS), "missing_key");
      await opened.vault.prepare("ALTER TABLE lost RENAME TO api_keys").run();
      expectJson(await get("/v1/whoami"), 200);
      expectAny(await get(CONNECTORS, fresh.secret));
    });

    test("with ALLOWED_ORIGINS = *, every page can call", async () => {
      for (const origin of ["https://any.example", "null"]) {
        const response = await server.send("/health", { headers: [["origin", origin]] });
        assert.deepEqual([response.status, response.json], [200, { status: "ok" }]);
        assert.equal(response.header("access-control-allow-origin"), origin);
        assert.equal(response.header("access-control-allow-credentials"), undefined);
      }
    });

    test("a new catalog and a revocation apply at the latest in the next isolate", async () => {
      const { toRevoke } = keys;
      const before = await get(CONNECTORS, toRevoke.secret);
      const etag = expectAny(before);
      await opened.vault
        .prepare("UPDATE api_keys SET revoked_at = ? WHERE id = ?")
        .bind(Date.now(), toRevoke.row.id)
        .run();
      await opened.close();
      opened = undefined;
      await server.stop();
      await state.publish(fixture.catalogs.other);
      server = await Server.start(state, { name: "storage-again" });

      expectProblem(await get(CONNECTORS, toRevoke.secret), "invalid_key");
      const known = await server.send(CONNECTORS, { secret: full(), headers: [["if-none-match", etag]] });
      assert.notEqual(known.header("etag"), etag);
      expectPage(known, { total: 1 });
      expectProblem(await get(ACTIONS), "platform_not_found");
    });
  });

  /** Asserts that the response is a page of a catalog list, regardless of its rows. Returns its entity tag. */
  function expectAny(response) {
    assert.equal(response.status, 200, response.text);
    expectPage(response);
    return response.header("etag");
  }
}
