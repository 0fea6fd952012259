// Iterating over the package's lists returns each row once, with as few requests as possible.
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { ACTIONS, CONNECTORS, allRows, asQuery, recordingClient, rowsOf } from "../support/lists.mjs";
import { expectError, failure } from "../support/package.mjs";
import { CONNECTIONS } from "../support/vault.mjs";

export function iteration(fixture) {
  const { vault } = fixture;

  describe("iterating over lists", () => {
    let connectors;
    let actions;
    let connections;
    before(async () => {
      const { full, many } = fixture.keys;
      [connectors, actions, connections] = [
        await allRows(fixture, full, CONNECTORS),
        await allRows(fixture, full, `${ACTIONS}/github`),
        await allRows(fixture, many, CONNECTIONS),
      ];
      assert.ok(connectors.length > 200 && actions.length > 500 && connections.length > 2500);
      assert.equal(connections.length, fixture.seeded.filter((row) => row.active).length);
    });

    test("an iteration returns every row once, with 100 rows per request", async () => {
      const { full, many } = fixture.keys;
      for (const [key, expected, list] of [
        [full, connectors, (client) => client.connectors.list()],
        [full, actions, (client) => client.actions.list("github")],
        [many, connections, (client) => client.connections.list()],
        [
          many,
          connections,
          (client) => client.connections.list({ active: true, limit: undefined, page: undefined, after: undefined }),
        ],
      ]) {
        const { recorder, client } = recordingClient(fixture, key);
        assert.deepEqual(await rowsOf(list(client)), expected);
        assert.equal(recorder.calls, Math.ceil(expected.length / 100));
        assert.ok(recorder.requests.every(({ query: sent }) => sent.limit === "100"));
        assert.deepEqual(await list(client).toArray(), expected);
      }
    });

    test("an iteration keeps filters and limit", async () => {
      const { full, many } = fixture.keys;
      for (const [key, path, filter, list] of [
        [full, CONNECTORS, { q: "google", limit: 60 }, (client, filters) => client.connectors.list(filters)],
        [full, CONNECTORS, { category: "Cloud", authkit: false }, (client, filters) => client.connectors.list(filters)],
        [
          full,
          `${ACTIONS}/github`,
          { q: "list", method: "get", limit: 70 },
          (client, filters) => client.actions.list("github", filters),
        ],
        [
          many,
          CONNECTIONS,
          { tags: ["all", "third"], identityType: "team", limit: 40 },
          (client, filters) => client.connections.list(filters),
        ],
        [
          many,
          CONNECTIONS,
          { tags: ["t-1", "t-2"], tagsMatch: "any" },
          (client, filters) => client.connections.list(filters),
        ],
        [many, CONNECTIONS, { active: false, q: "g" }, (client, filters) => client.connections.list(filters)],
        [
          many,
          CONNECTIONS,
          { platform: "PLATFORM-5", platformVersion: "v1", limit: 7 },
          (client, filters) => client.connections.list(filters),
        ],
      ]) {
        const { limit = 100, ...rest } = filter;
        const expected = await allRows(fixture, key, path, rest);
        assert.ok(expected.length > 5);
        const { recorder, client } = recordingClient(fixture, key);
        assert.deepEqual(await rowsOf(list(client, filter)), expected, JSON.stringify(filter));
        assert.equal(recorder.calls, Math.ceil(expected.length / limit));
        for (const { query: sent } of recorder.requests) {
          const { page, after, ...kept } = sent;
          assert.deepEqual(kept, Object.fromEntries(new URLSearchParams(asQuery({ ...rest, limit }))));
        }
      }
    });

    test("an iteration starts at the given page or cursor", async () => {
      const { full, many } = fixture.keys;
      const { recorder, client } = recordingClient(fixture, many);
      assert.deepEqual(await rowsOf(client.connections.list({ limit: 500, page: 3 })), connections.slice(1000));
      assert.deepEqual(
        await rowsOf(client.connections.list({ page: 120 })),
        connections.slice(119 * 20),
        "the service's default limit, if only the page is given",
      );
      assert.deepEqual(await rowsOf(vault(full).connectors.list({ page: 2, limit: 100 })), connectors.slice(100));
      const link = (await fixture.plain(many, `${CONNECTIONS}?limit=250`)).header("link");
      const after = /after=([^&>]+)/.exec(link)[1];
      recorder.requests.length = 0;
      const page = await client.connections.list({ limit: 250, after });
      assert.deepEqual([page.page, page.rows], [2, connections.slice(250, 500)]);
      assert.deepEqual(await rowsOf(client.connections.list({ limit: 250, after })), connections.slice(250));
      assert.equal(recorder.requests[0].query.after, after);
    });

    test("iterating over a page continues after it, without requesting it again", async () => {
      const { recorder, client } = recordingClient(fixture, fixture.keys.many);
      const page = await client.connections.list({ limit: 500 });
      assert.deepEqual(await rowsOf(page), connections);
      assert.equal(recorder.calls, Math.ceil(connections.length / 500));
      const second = await page.next();
      recorder.calls = 0;
      assert.deepEqual(await second.toArray(), connections.slice(500));
      assert.deepEqual(await second.toArray({ max: 500 }), second.rows);
      assert.equal(recorder.calls, Math.ceil(connections.length / 500) - 2);
    });

    test("iterations over one list are repeatable and independent", async () => {
      const list = vault(fixture.keys.many).connections.list({ platform: "platform-3", limit: 20 });
      const expected = connections.filter((row) => row.platform === "platform-3");
      assert.ok(expected.length > 40);
      const [a, b] = await Promise.all([rowsOf(list), rowsOf(list)]);
      assert.deepEqual(a, expected);
      assert.deepEqual(b, expected);
      assert.deepEqual(await rowsOf(list), expected);
    });

    test("an iteration uses the minimum of requests, even after the list was awaited", async () => {
      for (const before of [
        (list) => list,
        (list) => list.toArray({ max: 1 }),
        (list) => list[Symbol.asyncIterator]().next(),
      ]) {
        const { recorder, client } = recordingClient(fixture, fixture.keys.many);
        const list = client.connections.list({ tags: ["third"] });
        await before(list);
        recorder.requests.length = 0;
        const expected = connections.filter((row) => row.tags.includes("third"));
        assert.deepEqual(await rowsOf(list), expected);
        assert.ok(recorder.requests.length <= Math.ceil(expected.length / 100), `${recorder.requests.length} requests`);
      }
    });

    test("stopping early sends no further requests", async () => {
      const { recorder, client } = recordingClient(fixture, fixture.keys.many);
      for (const [stop, requests] of [
        [1, 1],
        [100, 1],
        [101, 2],
        [250, 3],
      ]) {
        recorder.calls = 0;
        let count = 0;
        for await (const row of client.connections.list()) {
          assert.equal(row.id, connections[count].id);
          count += 1;
          if (count === stop) break;
        }
        assert.deepEqual([count, recorder.calls], [stop, requests], `break after ${stop}`);
        recorder.calls = 0;
        assert.deepEqual(await client.connections.list().toArray({ max: stop }), connections.slice(0, stop));
        assert.equal(recorder.calls, requests, `max ${stop}`);
      }
      recorder.calls = 0;
      assert.deepEqual(await client.connections.list({ limit: 2 }).toArray({ max: 5 }), connections.slice(0, 5));
      assert.equal(recorder.calls, 3);
      assert.deepEqual(await client.connections.list({ limit: 500 }).toArray({ max: 1_000_000 }), connections);
      assert.deepEqual(await client.connections.list().toArray({ max: 0 }), []);
      assert.deepEqual(
        (await client.connections.list({ limit: 500 }).toArray({ max: undefined })).length,
        connections.length,
      );
    });

    test("a returned or failed iterator is done", async () => {
      const { recorder, client } = recordingClient(fixture, fixture.keys.many);
      const iterator = client.connections.list()[Symbol.asyncIterator]();
      assert.deepEqual(await iterator.next(), { done: false, value: connections[0] });
      await iterator.return();
      assert.deepEqual(await iterator.next(), { done: true, value: undefined });
      assert.equal(recorder.calls, 1);
      const failingIterator = vault(fixture.keys.unknown).connections.list()[Symbol.asyncIterator]();
      expectError(await failure(failingIterator.next()), "AuthenticationError", { status: 401 });
      assert.deepEqual(await failingIterator.next(), { done: true, value: undefined });
    });

    test("a filter without rows takes one request", async () => {
      const { recorder, client } = recordingClient(fixture, fixture.keys.many);
      assert.deepEqual(await rowsOf(client.connections.list({ identity: "nobody" })), []);
      assert.equal(recorder.calls, 1);
      assert.deepEqual(await client.connections.list({ tags: ["nothing"] }).toArray(), []);
      assert.equal(recorder.calls, 2);
      assert.deepEqual(await client.connectors.list({ platform: "nothing" }).toArray({ max: 3 }), []);
      assert.equal(recorder.calls, 3);
    });

    test("a signal aborts an iteration", async () => {
      const { recorder, client } = recordingClient(fixture, fixture.keys.many);
      const controller = new AbortController();
      const reason = new Error("enough");
      let count = 0;
      const error = await failure(async () => {
        for await (const row of client.connections.list({}, { signal: controller.signal })) {
          count += row ? 1 : 0;
          if (count === 150) controller.abort(reason);
        }
      });
      expectError(error, "AbortError", { code: "aborted", cause: reason, status: undefined });
      assert.equal(recorder.calls, 2);
      const other = new AbortController();
      const page = await client.connections.list({ limit: 5 });
      other.abort();
      expectError(await failure(page.next({ signal: other.signal })), "AbortError");
      assert.equal((await page.next()).page, 2, "another call is not aborted");
    });

    test("the cursor of another key is rejected", async () => {
      const { many, manyAgain } = fixture.keys;
      const after = /after=([^&>]+)/.exec((await fixture.plain(many, `${CONNECTIONS}?limit=5`)).header("link"))[1];
      expectError(await failure(rowsOf(vault(manyAgain).connections.list({ limit: 5, after }))), "ValidationError", {
        status: 400,
        code: "invalid_parameter",
      });
    });
  });
}
