// The package's lists against the service: every filter gives what plain HTTP gives, and whoever iterates meets each row
// once, with no more requests than that takes.
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { ConnectorVault, Recorder, each, expectError, failure } from "../support/package.mjs";
import { CONNECTIONS, query } from "../support/vault.mjs";

const CONNECTORS = "/v1/available-connectors";
const ACTIONS = "/v1/available-actions";

/** Filters as the query that plain HTTP sends. */
const asQuery = (filters) =>
  query(
    Object.fromEntries(
      Object.entries(filters)
        .filter(([, value]) => value !== undefined)
        .map(([name, value]) => [name, String(value)]),
    ),
  );
const envelope = ({ rows, total, pages, page }) => ({ rows, total, pages, page });

const CONNECTOR_FILTERS = [
  {},
  { limit: 3 },
  { limit: 500 },
  { page: 2 },
  { limit: 7, page: 3 },
  { limit: 500, page: 1_000_000_000 },
  { platform: "github" },
  { platform: "GitHub" },
  { platform: "nothing" },
  { authkit: true },
  { authkit: false },
  { key: "api::github::v1" },
  { key: "API::GITHUB::V1" },
  { name: "github v3 REST api" },
  { name: "%" },
  { category: "other" },
  { category: "OTHER", limit: 2, page: 2 },
  { q: "google drive" },
  { q: "ads", limit: 4 },
  { q: "a&b=c#d%20+" },
  { q: "Ünïcödé 😀" },
  {
    platform: "github",
    name: "GitHub v3 REST API",
    key: "api::github::v1",
    q: "git",
    authkit: false,
    limit: 1,
    page: 1,
  },
  {
    platform: undefined,
    authkit: undefined,
    key: undefined,
    name: undefined,
    category: undefined,
    q: undefined,
    limit: undefined,
    page: undefined,
  },
];
const ACTION_FILTERS = [
  {},
  { limit: 500 },
  { limit: 9, page: 40 },
  { method: "POST" },
  { method: "post", limit: 2 },
  { method: "DELETE", page: 2 },
  { title: "list branches" },
  { key: "reposListBranches" },
  { key: "reposlistbranches" },
  { q: "pull request" },
  { q: "PULL", method: "PATCH" },
  { q: "zzzz" },
  { title: undefined, limit: 1 },
];
const CONNECTION_FILTERS = [
  {},
  { limit: 500 },
  { page: 3 },
  { limit: 13, page: 190 },
  { page: 1_000_000_000 },
  { platform: "Platform-7" },
  { platformVersion: "v2" },
  { name: "ÑAME 00002" },
  { identityType: "team" },
  { identity: "Group-00003" },
  { identity: "group-00003" },
  { q: "group-0000" },
  { q: "ñame" },
  { q: "%" },
  { active: true, limit: 5 },
  { active: false },
  { tags: "third" },
  { tags: "third,t-3" },
  { tags: ["third", "t-3"] },
  { tags: ["rare-3", "rare-5"], tagsMatch: "any" },
  { tags: ["rare-3", "all"], tagsMatch: "all" },
  { tags: ["nothing"] },
  {
    platform: "platform-1",
    platformVersion: "v1",
    identityType: "user",
    tags: ["all"],
    active: true,
    q: "g",
    limit: 3,
    page: 1,
  },
  { name: undefined, tags: undefined, key: undefined, after: undefined, active: undefined, limit: 2 },
];

export function lists(world) {
  const { vault } = world;
  const rowsOf = async (list) => {
    const rows = [];
    for await (const row of list) rows.push(row);
    return rows;
  };
  /** All rows of a list by plain HTTP, a page at a time. */
  async function all(made, path, filters = {}) {
    const rows = [];
    for (let page = 1; ; page += 1) {
      const { json } = await world.plain(made, `${path}?${asQuery({ ...filters, limit: 500, page })}`);
      rows.push(...json.rows);
      if (page >= json.pages) return rows;
    }
  }
  const recorded = (made, options) => {
    const recorder = new Recorder();
    return { recorder, client: vault(made, { fetch: recorder.fetch, ...options }) };
  };

  describe("lists", () => {
    let connectors;
    let actions;
    let connections;
    before(async () => {
      const { full, many } = world.keys;
      [connectors, actions, connections] = [
        await all(full, CONNECTORS),
        await all(full, `${ACTIONS}/github`),
        await all(many, CONNECTIONS),
      ];
      assert.ok(connectors.length > 200 && actions.length > 500 && connections.length > 2500);
      assert.equal(connections.length, world.seeded.filter((row) => row.active).length);
    });

    for (const [what, path, key, filters, list, validate] of [
      [
        "connectors",
        CONNECTORS,
        "full",
        CONNECTOR_FILTERS,
        (client, filter) => client.connectors.list(filter),
        (client, filter) => client.connectors.validateList(filter),
      ],
      [
        "actions",
        `${ACTIONS}/github`,
        "full",
        ACTION_FILTERS,
        (client, filter) => client.actions.list("GitHub", filter),
        (client, filter) => client.actions.validateList("GitHub", filter),
      ],
      [
        "connections",
        CONNECTIONS,
        "many",
        CONNECTION_FILTERS,
        (client, filter) => client.connections.list(filter),
        (client, filter) => client.connections.validateList(filter),
      ],
    ]) {
      test(`${what}: each filter gives what plain HTTP gives`, async () => {
        const made = world.keys[key];
        await each(filters, async (filter) => {
          assert.deepEqual(validate(vault(made), filter), [], "what the service takes has no faults");
          const page = await list(vault(made), filter);
          assert.deepEqual(
            envelope(page),
            (await world.plain(made, `${path}?${asQuery(filter)}`)).json,
            JSON.stringify(filter),
          );
        });
      });
    }

    test("connections by key, one or many, in a text or an array", async () => {
      const { many } = world.keys;
      const [a, b, c] = connections.filter((_, n) => n % 900 === 7).map((row) => row.key);
      for (const key of [
        a,
        [a],
        `${a},${b}`,
        [a, b, c],
        [c, "test::nothing::default::x", a],
        [a.toUpperCase()],
        ["no key"],
        Array.from({ length: 100 }, (_, n) => connections[n].key),
      ]) {
        const page = await vault(many).connections.list({ key, limit: 500 });
        assert.deepEqual(
          envelope(page),
          (await world.plain(many, `${CONNECTIONS}?${asQuery({ key, limit: 500 })}`)).json,
        );
        assert.equal(
          page.total,
          [key]
            .flat()
            .flatMap((each) => each.split(","))
            .filter((each) => connections.some((row) => row.key === each)).length,
        );
      }
    });

    test("no filters at all, and none but undefined, are the same", async () => {
      const client = vault(world.keys.full);
      const first = envelope(await client.connectors.list());
      assert.equal(first.rows.length, 20);
      for (const list of [
        client.connectors.list(undefined),
        client.connectors.list({}),
        client.connectors.list(undefined, undefined),
        client.connectors.list({}, {}),
        client.connectors.list({}, { signal: undefined }),
      ])
        assert.deepEqual(envelope(await list), first);
    });

    test("a list is sent when it is awaited, and then once", async () => {
      const { recorder, client } = recorded(world.keys.full);
      const list = client.connectors.list({ limit: 2 });
      await new Promise(setImmediate);
      await new Promise(setImmediate);
      assert.equal(recorder.calls, 0, "nothing is sent before");
      const [first, again] = [await list, await list];
      assert.equal(first, again);
      assert.equal(recorder.calls, 1);
      let finished = 0;
      const counted = list.finally(() => (finished += 1));
      assert.equal((await counted).total, first.total);
      assert.equal(await list.then(({ total }) => total), first.total);
      assert.equal(await list.catch(() => "never"), first);
      assert.deepEqual([finished, recorder.calls], [1, 1]);
      const both = await Promise.all([
        client.connectors.list({ limit: 1 }),
        client.actions.list("github", { limit: 1 }),
      ]);
      assert.deepEqual(
        both.map(({ rows }) => rows.length),
        [1, 1],
      );
      const error = await failure(client.actions.list("nothing"));
      assert.equal(await client.actions.list("nothing").catch(({ code }) => code), error.code);
      assert.equal(
        await client.actions.list("nothing").then(
          () => "never",
          ({ code }) => code,
        ),
        error.code,
      );
    });

    test("a list that nobody awaits does nothing, and fails nobody", async () => {
      const { recorder, client } = recorded(world.keys.full);
      for (const list of [
        client.connectors.list({ limit: 0 }),
        client.actions.list("nothing"),
        client.connections.list({ wrong: 1 }),
      ])
        assert.equal(typeof list.then, "function");
      await new Promise(setImmediate);
      assert.equal(recorder.calls, 0);
    });

    test("next() leads from page to page, and ends", async () => {
      const { full, many } = world.keys;
      for (const [key, path, filter, list] of [
        [full, CONNECTORS, { limit: 100 }, (client, given) => client.connectors.list(given)],
        [full, CONNECTORS, { q: "google", limit: 50, page: 2 }, (client, given) => client.connectors.list(given)],
        [
          full,
          `${ACTIONS}/github`,
          { method: "GET", limit: 150 },
          (client, given) => client.actions.list("github", given),
        ],
        [many, CONNECTIONS, { tags: ["third"], limit: 300 }, (client, given) => client.connections.list(given)],
        [many, CONNECTIONS, { active: false, limit: 90, page: 3 }, (client, given) => client.connections.list(given)],
      ]) {
        const { recorder, client } = recorded(key);
        const numbers = [];
        for (let page = await list(client, filter); page; page = await page.next()) {
          numbers.push(page.page);
          const { json } = await world.plain(key, `${path}?${asQuery({ ...filter, page: page.page })}`);
          assert.deepEqual(envelope(page), json);
          assert.equal((await page.next()) === undefined, page.page === json.pages);
          assert.equal(
            page.after === undefined,
            path !== CONNECTIONS || page.page === json.pages,
            "a cursor where there is one",
          );
        }
        const first = filter.page ?? 1;
        assert.deepEqual(
          numbers,
          Array.from({ length: numbers.length }, (_, n) => first + n),
        );
        assert.ok(numbers.length >= 2);
        for (const [n, { query: sent }] of recorder.requests.entries()) {
          assert.equal("after" in sent, path === CONNECTIONS && n > 0, "the cursor is followed where there is one");
          assert.ok(!("after" in sent && "page" in sent));
        }
      }
    });

    test("a page's cursor leads another client to the page that follows", async () => {
      const { many } = world.keys;
      for (const filters of [{ limit: 500 }, { limit: 90, active: false }, { limit: 300, tags: ["third"] }]) {
        const link = (await world.plain(many, `${CONNECTIONS}?${asQuery(filters)}`)).header("link");
        let page = await vault(many).connections.list(filters);
        assert.equal(page.after, new URLSearchParams(/\?([^>]*)/.exec(link)[1]).get("after"), "the service's own");
        for (const { pages } = page; page.page < pages; ) {
          const following = await page.next();
          assert.deepEqual(vault(many).connections.validateList({ ...filters, after: page.after }), []);
          page = await vault(many).connections.list({ ...filters, after: page.after });
          assert.deepEqual({ ...page }, { ...following });
        }
        assert.equal(page.after, undefined, "the last page has none");
        assert.equal(await page.next(), undefined);
      }
    });

    test("a page past the end has no rows and no next one", async () => {
      for (const page of [
        await vault(world.keys.full).connectors.list({ page: 999 }),
        await vault(world.keys.many).connections.list({ page: 999_999 }),
        await vault(world.keys.other).connections.list(),
      ]) {
        assert.deepEqual(
          [page.rows, page.after, await page.next(), await page.toArray(), await rowsOf(page)],
          [[], undefined, undefined, [], []],
        );
      }
    });

    test("iterating meets every row once, a hundred at a time", async () => {
      const { full, many } = world.keys;
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
        const { recorder, client } = recorded(key);
        assert.deepEqual(await rowsOf(list(client)), expected);
        assert.equal(recorder.calls, Math.ceil(expected.length / 100));
        assert.ok(recorder.requests.every(({ query: sent }) => sent.limit === "100"));
        assert.deepEqual(await list(client).toArray(), expected);
      }
    });

    test("iterating keeps the filters and the limit", async () => {
      const { full, many } = world.keys;
      for (const [key, path, filter, list] of [
        [full, CONNECTORS, { q: "google", limit: 60 }, (client, given) => client.connectors.list(given)],
        [full, CONNECTORS, { category: "Other", authkit: false }, (client, given) => client.connectors.list(given)],
        [
          full,
          `${ACTIONS}/github`,
          { q: "list", method: "get", limit: 70 },
          (client, given) => client.actions.list("github", given),
        ],
        [
          many,
          CONNECTIONS,
          { tags: ["all", "third"], identityType: "team", limit: 40 },
          (client, given) => client.connections.list(given),
        ],
        [
          many,
          CONNECTIONS,
          { tags: ["t-1", "t-2"], tagsMatch: "any" },
          (client, given) => client.connections.list(given),
        ],
        [many, CONNECTIONS, { active: false, q: "g" }, (client, given) => client.connections.list(given)],
        [
          many,
          CONNECTIONS,
          { platform: "PLATFORM-5", platformVersion: "v1", limit: 7 },
          (client, given) => client.connections.list(given),
        ],
      ]) {
        const { limit = 100, ...rest } = filter;
        const expected = await all(key, path, rest);
        assert.ok(expected.length > 5);
        const { recorder, client } = recorded(key);
        assert.deepEqual(await rowsOf(list(client, filter)), expected, JSON.stringify(filter));
        assert.equal(recorder.calls, Math.ceil(expected.length / limit));
        for (const { query: sent } of recorder.requests) {
          const { page, after, ...kept } = sent;
          assert.deepEqual(kept, Object.fromEntries(new URLSearchParams(asQuery({ ...rest, limit }))));
        }
      }
    });

    test("iterating begins at the page or the cursor that is given", async () => {
      const { full, many } = world.keys;
      const { recorder, client } = recorded(many);
      assert.deepEqual(await rowsOf(client.connections.list({ limit: 500, page: 3 })), connections.slice(1000));
      assert.deepEqual(
        await rowsOf(client.connections.list({ page: 120 })),
        connections.slice(119 * 20),
        "the service's own limit, when only the page is given",
      );
      assert.deepEqual(await rowsOf(vault(full).connectors.list({ page: 2, limit: 100 })), connectors.slice(100));
      const link = (await world.plain(many, `${CONNECTIONS}?limit=250`)).header("link");
      const after = /after=([^&>]+)/.exec(link)[1];
      recorder.requests.length = 0;
      const page = await client.connections.list({ limit: 250, after });
      assert.deepEqual([page.page, page.rows], [2, connections.slice(250, 500)]);
      assert.deepEqual(await rowsOf(client.connections.list({ limit: 250, after })), connections.slice(250));
      assert.equal(recorder.requests[0].query.after, after);
    });

    test("iterating over a page goes on from it, and sends nothing for the page itself", async () => {
      const { recorder, client } = recorded(world.keys.many);
      const page = await client.connections.list({ limit: 500 });
      assert.deepEqual(await rowsOf(page), connections);
      assert.equal(recorder.calls, Math.ceil(connections.length / 500));
      const second = await page.next();
      recorder.calls = 0;
      assert.deepEqual(await second.toArray(), connections.slice(500));
      assert.deepEqual(await second.toArray({ max: 500 }), second.rows);
      assert.equal(recorder.calls, Math.ceil(connections.length / 500) - 2);
    });

    test("a walk over one list can be begun again, and two at a time do not meet", async () => {
      const list = vault(world.keys.many).connections.list({ platform: "platform-3", limit: 20 });
      const expected = connections.filter((row) => row.platform === "platform-3");
      assert.ok(expected.length > 40);
      const [a, b] = await Promise.all([rowsOf(list), rowsOf(list)]);
      assert.deepEqual(a, expected);
      assert.deepEqual(b, expected);
      assert.deepEqual(await rowsOf(list), expected);
    });

    test("a walk is as quick as it can be, whatever was asked of the list before", async () => {
      for (const before of [
        (list) => list,
        (list) => list.toArray({ max: 1 }),
        (list) => list[Symbol.asyncIterator]().next(),
      ]) {
        const { recorder, client } = recorded(world.keys.many);
        const list = client.connections.list({ tags: ["third"] });
        await before(list);
        recorder.requests.length = 0;
        const expected = connections.filter((row) => row.tags.includes("third"));
        assert.deepEqual(await rowsOf(list), expected);
        assert.ok(recorder.requests.length <= Math.ceil(expected.length / 100), `${recorder.requests.length} requests`);
      }
    });

    test("who stops early sends no more", async () => {
      const { recorder, client } = recorded(world.keys.many);
      for (const [stop, requests] of [
        [1, 1],
        [100, 1],
        [101, 2],
        [250, 3],
      ]) {
        recorder.calls = 0;
        let met = 0;
        for await (const row of client.connections.list()) {
          assert.equal(row.id, connections[met].id);
          met += 1;
          if (met === stop) break;
        }
        assert.deepEqual([met, recorder.calls], [stop, requests], `break after ${stop}`);
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

    test("an iterator that is returned or that failed is done", async () => {
      const { recorder, client } = recorded(world.keys.many);
      const iterator = client.connections.list()[Symbol.asyncIterator]();
      assert.deepEqual(await iterator.next(), { done: false, value: connections[0] });
      await iterator.return();
      assert.deepEqual(await iterator.next(), { done: true, value: undefined });
      assert.equal(recorder.calls, 1);
      const failing = vault(world.keys.unknown).connections.list()[Symbol.asyncIterator]();
      expectError(await failure(failing.next()), "AuthenticationError", { status: 401 });
      assert.deepEqual(await failing.next(), { done: true, value: undefined });
    });

    test("a filter without rows takes one request", async () => {
      const { recorder, client } = recorded(world.keys.many);
      assert.deepEqual(await rowsOf(client.connections.list({ identity: "nobody" })), []);
      assert.equal(recorder.calls, 1);
      assert.deepEqual(await client.connections.list({ tags: ["nothing"] }).toArray(), []);
      assert.equal(recorder.calls, 2);
      assert.deepEqual(await client.connectors.list({ platform: "nothing" }).toArray({ max: 3 }), []);
      assert.equal(recorder.calls, 3);
    });

    test("a walk ends where its signal says so", async () => {
      const { recorder, client } = recorded(world.keys.many);
      const controller = new AbortController();
      const reason = new Error("enough");
      let met = 0;
      const error = await failure(async () => {
        for await (const row of client.connections.list({}, { signal: controller.signal })) {
          met += row ? 1 : 0;
          if (met === 150) controller.abort(reason);
        }
      });
      expectError(error, "AbortError", { code: "aborted", cause: reason, status: undefined });
      assert.equal(recorder.calls, 2);
      const other = new AbortController();
      const page = await client.connections.list({ limit: 5 });
      other.abort();
      expectError(await failure(page.next({ signal: other.signal })), "AbortError");
      assert.equal((await page.next()).page, 2, "another call is not ended");
    });

    test("a walk with another key's cursor fails, and so tells the truth", async () => {
      const { many, manyAgain } = world.keys;
      const after = /after=([^&>]+)/.exec((await world.plain(many, `${CONNECTIONS}?limit=5`)).header("link"))[1];
      expectError(await failure(rowsOf(vault(manyAgain).connections.list({ limit: 5, after }))), "ValidationError", {
        status: 400,
        code: "invalid_parameter",
      });
    });

    test("an unused client sends nothing", () => {
      const recorder = new Recorder();
      assert.ok(new ConnectorVault({ baseUrl: world.baseUrl, secret: world.keys.full.secret, fetch: recorder.fetch }));
      assert.equal(recorder.calls, 0);
    });
  });
}
