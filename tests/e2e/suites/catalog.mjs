// The two lists of the catalog: all pages, and every filter compared with filtering all rows.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { expectPage } from "../support/expect.mjs";
import { expectOrder, walk } from "../support/walk.mjs";

const CONNECTORS = "/v1/available-connectors";
const CONNECTOR = [
  "id",
  "name",
  "key",
  "platform",
  "platformVersion",
  "status",
  "description",
  "category",
  "image",
  "tags",
  "oauth",
  "tools",
  "version",
  "active",
];
const ACTION = ["title", "key", "method", "platform", "modelName"];
const STATUSES = ["generally_available", "beta", "alpha", "not_available"];
const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"];

const equalsIgnoringCase = (a, b) => a.toLowerCase() === b.toLowerCase();
const query = (filter) => new URLSearchParams(filter).toString();

export function catalogLists(fixture) {
  const get = (path) => fixture.server.send(path, { secret: fixture.keys.full.secret });

  describe("catalog", () => {
    test("connectors have the documented members, and are sorted", async () => {
      const rows = await walk(get, CONNECTORS, 3);
      expectOrder(rows, "name");
      for (const row of rows) {
        assert.deepEqual(Object.keys(row), CONNECTOR);
        assert.equal(row.key, `api::${row.platform}::${row.platformVersion}`);
        assert.match(row.platform, /^[a-z0-9-]{1,64}$/);
        assert.match(row.platformVersion, /^v\d+$/);
        assert.match(row.image, /^(https:|data:image\/)/);
        assert.ok(Number.isSafeInteger(row.id) && row.id > 0);
        assert.ok(STATUSES.includes(row.status));
        assert.ok(row.tags.every((tag) => typeof tag === "string"));
        for (const name of ["name", "description", "category", "version"]) assert.equal(typeof row[name], "string");
        for (const name of ["oauth", "active"]) assert.equal(typeof row[name], "boolean");
      }
      assert.equal(new Set(rows.map((row) => row.id)).size, rows.length);
    });

    test("`tools` is the number of actions of a platform", async () => {
      for (const { platform, tools } of await walk(get, CONNECTORS)) {
        const rows = await walk(get, `/v1/available-actions/${platform}`);
        assert.equal(rows.length, tools, platform);
        expectOrder(rows, "title");
        for (const row of rows) {
          assert.deepEqual([Object.keys(row), row.platform], [ACTION, platform]);
          assert.ok(METHODS.includes(row.method));
          assert.match(row.modelName, /^([\p{Lu}\p{Lt}\p{Lo}\p{N}][\p{L}\p{M}\p{N}]*)?$/u);
        }
      }
    });

    test("filters of connectors agree with filtering all rows", async () => {
      const all = await walk(get, CONNECTORS);
      const filters = [
        ...all.flatMap((row) => [
          { platform: row.platform.toUpperCase() },
          { key: row.key },
          { key: row.key.toUpperCase() },
          { name: row.name.toUpperCase() },
          { name: row.name.slice(0, -1) },
          { category: row.category.toLowerCase() },
          { category: row.category, platform: row.platform, key: row.key, name: row.name },
          { category: "other", platform: row.platform },
        ]),
        { platform: "nothing" },
        { platform: "git" },
      ];
      for (const filter of filters) {
        const expected = all.filter((row) =>
          Object.entries(filter).every(([name, value]) =>
            name === "key" ? row.key === value : equalsIgnoringCase(row[name], value),
          ),
        );
        expectPage(await get(`${CONNECTORS}?${query(filter)}`), { rows: expected, total: expected.length });
      }
    });

    test("`authkit` filters by the operator's setting", async () => {
      const platforms = async (filter) =>
        expectPage(await get(`${CONNECTORS}?${filter}`)).rows.map((row) => row.platform);
      assert.deepEqual(await platforms("authkit=true"), ["github"]);
      assert.deepEqual(await platforms("authkit=true&platform=closed"), []);
      assert.equal((await platforms("authkit=false")).length, 8);
    });

    test("filters of actions agree with filtering all rows", async () => {
      const path = "/v1/available-actions/github";
      const all = await walk(get, path);
      assert.ok(all.length > 500, "more than one page");
      const sampleRows = all.filter((_, i) => i % 100 === 0);
      const filters = [
        ...METHODS.flatMap((method) => [{ method }, { method: method.toLowerCase() }]),
        { method: "HEAD" },
        { method: "get,post" },
        ...sampleRows.flatMap((row) => [
          { key: row.key },
          { key: row.key.toUpperCase() },
          { title: row.title.toUpperCase() },
          { title: `${row.title} ` },
          { title: row.title, method: row.method, key: row.key },
          { title: row.title, method: "TRACE" },
        ]),
      ];
      for (const filter of filters) {
        const expected = all.filter((row) =>
          Object.entries(filter).every(([name, value]) =>
            name === "key" ? row.key === value : equalsIgnoringCase(row[name], value),
          ),
        );
        expectPage(await get(`${path}?limit=500&${query(filter)}`), {
          rows: expected.slice(0, 500),
          total: expected.length,
        });
      }
    });

    for (const q of [
      "issue",
      "ISSUE",
      "create issue",
      "issue create",
      "repos/",
      "github",
      "a",
      "get a",
      "create an issue",
      "no such thing",
      "%_*",
      "é",
    ]) {
      test(`q=${q} finds exactly the rows with every word`, async () => {
        const all = await walk(get, "/v1/available-actions/github");
        const words = q.toLowerCase().split(/\s+/);
        const containsEachWord = (row) =>
          words.every((word) => [row.title, row.key, row.platform].some((text) => text.toLowerCase().includes(word)));
        const expected = all.filter(containsEachWord);
        const found = await walk(get, `/v1/available-actions/github?${query({ q })}`);
        const keys = (rows) => rows.map((row) => row.key).sort();
        assert.deepEqual(keys(found), keys(expected));
      });
    }

    test("the best match is first", async () => {
      for (const [path, q, field, expected] of [
        [CONNECTORS, "github", "platform", "github"],
        [CONNECTORS, "pet", "platform", "petstore-swagger"],
        [CONNECTORS, "ECOMMERCE", "platform", "acme-store"],
        ["/v1/available-actions/github", "Create an issue", "title", "Create an issue"],
      ]) {
        const { rows } = expectPage(await get(`${path}?limit=1&${query({ q })}`));
        assert.equal(rows[0]?.[field], expected, q);
      }
    });

    test("an unknown platform is a valid filter of connectors", async () => {
      expectPage(await get(`${CONNECTORS}?platform=nothing`), { rows: [], total: 0, pages: 0 });
    });
  });
}
