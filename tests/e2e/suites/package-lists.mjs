// The package's lists against the service: every filter and every page must equal plain HTTP.
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { ACTIONS, CONNECTORS, allRows, asQuery, envelope, recordingClient, rowsOf } from "../support/lists.mjs";
import { ConnectorVault, Recorder, each, failure } from "../support/package.mjs";
import { CONNECTIONS } from "../support/vault.mjs";

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
  { name: "github" },
  { name: "%" },
  { category: "other" },
  { category: "OTHER", limit: 2, page: 2 },
  { q: "google drive" },
  { q: "ads", limit: 4 },
  { q: "a&b=c#d%20+" },
  { q: "Ünïcödé 😀" },
  {
    platform: "github",
    name: "GitHub",
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
const SEARCHES = [
  { q: "create github issue" },
  { q: "Send an e-mail!", limit: 3 },
  { q: "list", limit: 2, page: 5000 },
  { q: "issue", platform: ["GitHub", "gitlab"], method: "post" },
  { q: "issue", platform: "github,gitlab", limit: 5, page: 2 },
  { q: "issue", platform: "nothing" },
  { q: "Ünïcödé 😀", method: undefined },
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

export function lists(fixture) {
  const { vault } = fixture;

  describe("lists", () => {
    let connections;
    before(async () => {
      connections = await allRows(fixture, fixture.keys.many, CONNECTIONS);
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
        "a search over all actions",
        ACTIONS,
        "full",
        SEARCHES,
        (client, filter) => client.actions.search(filter),
        (client, filter) => client.actions.validateSearch(filter),
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
      test(`${what}: each filter equals plain HTTP`, async () => {
        const apiKey = fixture.keys[key];
        await each(filters, async (filter) => {
          assert.deepEqual(validate(vault(apiKey), filter), [], "a filter that the service accepts has no errors");
          const page = await list(vault(apiKey), filter);
          const {
            totalIsMinimum = false,
            notes = [],
            ...json
          } = (await fixture.plain(apiKey, `${path}?${asQuery(filter)}`)).json;
          assert.deepEqual(envelope(page), json, JSON.stringify(filter));
          assert.equal(page.totalIsMinimum, totalIsMinimum);
          assert.deepEqual(page.notes, notes);
        });
      });
    }

    test("a search over all actions requires words, and finds matching actions", async () => {
      const client = vault(fixture.keys.full);
      const [first] = await client.actions.search({ q: "create github issue" }).toArray({ max: 1 });
      assert.deepEqual([first.platform, first.key], ["github", "issuesCreate"]);
      assert.deepEqual(
        client.actions.validateSearch({ platform: "github" }).map(({ parameter, detail }) => [parameter, detail]),
        [["q", "`q` is required"]],
      );
      assert.equal((await failure(() => client.actions.search({ q: " " }))).code, "invalid_parameter");
    });

    test("connections are found by one or several keys, in a string or an array", async () => {
      const { many } = fixture.keys;
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
          (await fixture.plain(many, `${CONNECTIONS}?${asQuery({ key, limit: 500 })}`)).json,
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

    test("filters that are undefined equal no filters", async () => {
      const client = vault(fixture.keys.full);
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

    test("a list is requested once, when it is awaited", async () => {
      const { recorder, client } = recordingClient(fixture, fixture.keys.full);
      const list = client.connectors.list({ limit: 2 });
      await new Promise(setImmediate);
      await new Promise(setImmediate);
      assert.equal(recorder.calls, 0, "nothing is sent before");
      const [first, again] = [await list, await list];
      assert.equal(first, again);
      assert.equal(recorder.calls, 1);
      let finished = 0;
      const countedList = list.finally(() => (finished += 1));
      assert.equal((await countedList).total, first.total);
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

    test("a list that is not awaited sends nothing, and throws nothing", async () => {
      const { recorder, client } = recordingClient(fixture, fixture.keys.full);
      for (const list of [
        client.connectors.list({ limit: 0 }),
        client.actions.list("nothing"),
        client.connections.list({ wrong: 1 }),
      ])
        assert.equal(typeof list.then, "function");
      await new Promise(setImmediate);
      assert.equal(recorder.calls, 0);
    });

    test("next() returns each following page, then undefined", async () => {
      const { full, many } = fixture.keys;
      for (const [key, path, filter, list] of [
        [full, CONNECTORS, { limit: 100 }, (client, filters) => client.connectors.list(filters)],
        [full, CONNECTORS, { q: "google", limit: 50, page: 2 }, (client, filters) => client.connectors.list(filters)],
        [
          full,
          `${ACTIONS}/github`,
          { method: "GET", limit: 150 },
          (client, filters) => client.actions.list("github", filters),
        ],
        [many, CONNECTIONS, { tags: ["third"], limit: 300 }, (client, filters) => client.connections.list(filters)],
        [
          many,
          CONNECTIONS,
          { active: false, limit: 90, page: 3 },
          (client, filters) => client.connections.list(filters),
        ],
      ]) {
        const { recorder, client } = recordingClient(fixture, key);
        const numbers = [];
        for (let page = await list(client, filter); page; page = await page.next()) {
          numbers.push(page.page);
          const { json } = await fixture.plain(key, `${path}?${asQuery({ ...filter, page: page.page })}`);
          assert.deepEqual(envelope(page), json);
          assert.equal((await page.next()) === undefined, page.page === json.pages);
          assert.equal(
            page.after === undefined,
            path !== CONNECTIONS || page.page === json.pages,
            "a cursor where the list has one",
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

    test("the cursor of a page works in another client", async () => {
      const { many } = fixture.keys;
      for (const filters of [{ limit: 500 }, { limit: 90, active: false }, { limit: 300, tags: ["third"] }]) {
        const link = (await fixture.plain(many, `${CONNECTIONS}?${asQuery(filters)}`)).header("link");
        let page = await vault(many).connections.list(filters);
        assert.equal(
          page.after,
          new URLSearchParams(/\?([^>]*)/.exec(link)[1]).get("after"),
          "the cursor is that of the service",
        );
        for (const { pages } = page; page.page < pages; ) {
          const nextPage = await page.next();
          assert.deepEqual(vault(many).connections.validateList({ ...filters, after: page.after }), []);
          page = await vault(many).connections.list({ ...filters, after: page.after });
          assert.deepEqual({ ...page }, { ...nextPage });
        }
        assert.equal(page.after, undefined, "the last page has none");
        assert.equal(await page.next(), undefined);
      }
    });

    test("a page past the end has no rows and no next page", async () => {
      for (const page of [
        await vault(fixture.keys.full).connectors.list({ page: 999 }),
        await vault(fixture.keys.many).connections.list({ page: 999_999 }),
        await vault(fixture.keys.other).connections.list(),
      ]) {
        assert.deepEqual(
          [page.rows, page.after, await page.next(), await page.toArray(), await rowsOf(page)],
          [[], undefined, undefined, [], []],
        );
      }
    });

    test("an unused client sends nothing", () => {
      const recorder = new Recorder();
      assert.ok(
        new ConnectorVault({ baseUrl: fixture.baseUrl, secret: fixture.keys.full.secret, fetch: recorder.fetch }),
      );
      assert.equal(recorder.calls, 0);
    });
  });
}
