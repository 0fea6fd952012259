// Contract, part 2: query parameters. Nothing is guessed; all faults come at once.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { expectPage, expectProblem } from "../support/expect.mjs";

const CONNECTORS = "/v1/available-connectors";
const ACTIONS = "/v1/available-actions/petstore-swagger";

const LIMIT = "`limit` must be a whole number from 1 to 500";
const PAGE = "`page` must be a whole number from 1 to 1000000000";
const BOOLEAN = "`authkit` must be `true` or `false`";
const SEARCH = "`q` must have 1 to 100 characters and at least one that is not white space";
const empty = (name) => `\`${name}\` is empty: give it a value, or leave it out`;
const encoded = (name) => `\`${name}\` is not valid percent-encoded UTF-8`;
const twice = (name) => `\`${name}\` is given more than once`;
const unknown = (name, meant) => `\`${name}\` is not a parameter of this endpoint; did you mean \`${meant}\`?`;

export function parameters(world) {
  const send = (path) => world.server.send(path, { secret: world.keys.full.secret });

  describe("parameters", () => {
    for (const [path, code, ...errors] of [
      // limit and page
      ...[
        "0",
        "501",
        "-1",
        "+1",
        "1.0",
        "1e2",
        "0x10",
        "%201",
        "1%20",
        "%D9%A1",
        "Infinity",
        "NaN",
        "null",
        "18446744073709551616",
        "9".repeat(5000),
        "1,2",
        "%00",
      ].map((value) => [`${CONNECTORS}?limit=${value}`, "invalid_parameter", ["limit", LIMIT]]),
      ...["0", "-1", "1000000001", "18446744073709551617", "1.5", "two", "%EF%BC%91"].map((value) => [
        `${CONNECTORS}?page=${value}`,
        "invalid_parameter",
        ["page", PAGE],
      ]),
      // booleans
      ...["TRUE", "1", "0", "yes", "%20true", "true%00"].map((value) => [
        `${CONNECTORS}?authkit=${value}`,
        "invalid_parameter",
        ["authkit", BOOLEAN],
      ]),
      // present but empty
      ...["platform", "authkit", "key", "name", "category", "q", "limit", "page"].map((name) => [
        `${CONNECTORS}?${name}=`,
        "invalid_parameter",
        [name, empty(name)],
      ]),
      ...["title", "key", "method", "q", "limit", "page"].map((name) => [
        `${ACTIONS}?${name}`,
        "invalid_parameter",
        [name, empty(name)],
      ]),
      // search
      [`${CONNECTORS}?q=${"a".repeat(101)}`, "invalid_parameter", ["q", SEARCH]],
      [`${CONNECTORS}?q=${"%F0%9F%98%80".repeat(101)}`, "invalid_parameter", ["q", SEARCH]],
      [`${CONNECTORS}?q=+`, "invalid_parameter", ["q", SEARCH]],
      [`${ACTIONS}?q=%E3%80%80%09`, "invalid_parameter", ["q", SEARCH]],
      // percent-encoding
      ...["%", "%4", "%zz", "%ff", "%C3", "%ed%a0%80", "%c0%af"].map((value) => [
        `${CONNECTORS}?name=${value}`,
        "invalid_parameter",
        ["name", encoded("name")],
      ]),
      // unknown
      [`${CONNECTORS}?pages=2`, "unknown_parameter", ["pages", unknown("pages", "page"), "page"]],
      [`${CONNECTORS}?Platform=github`, "unknown_parameter", ["Platform", unknown("Platform", "platform"), "platform"]],
      [`${CONNECTORS}?Limit=1`, "unknown_parameter", ["Limit", unknown("Limit", "limit"), "limit"]],
      [`${CONNECTORS}?per_page=1`, "unknown_parameter", ["per_page", unknown("per_page", "page"), "page"]],
      [`${CONNECTORS}?name%20=a`, "unknown_parameter", ["name ", unknown("name ", "name"), "name"]],
      [`${CONNECTORS}?limit%5B%5D=1`, "unknown_parameter", ["limit[]", unknown("limit[]", "limit"), "limit"]],
      [`${ACTIONS}?titel=a`, "unknown_parameter", ["titel", unknown("titel", "title"), "title"]],
      [`${ACTIONS}?methods=GET`, "unknown_parameter", ["methods", unknown("methods", "method"), "method"]],
      // repeated
      [`${CONNECTORS}?limit=1&limit=1`, "repeated_parameter", ["limit", twice("limit")]],
      [`${CONNECTORS}?name=a&n%61me=b&name=c`, "repeated_parameter", ["name", twice("name")]],
      // all at once, in the order in which they are met
      [
        `${CONNECTORS}?limt=1&name=a&name=b&category=&page=0&authkit=maybe&limit=501&key=%zz`,
        "unknown_parameter",
        ["limt", unknown("limt", "limit"), "limit"],
        ["name", twice("name")],
        ["category", empty("category")],
        ["key", encoded("key")],
        ["authkit", BOOLEAN],
        ["limit", LIMIT],
        ["page", PAGE],
      ],
    ]) {
      test(`GET ${path.slice(0, 100)}: ${code}`, async () => {
        const expected = errors.map(([parameter, detail, suggestion]) => ({
          parameter,
          detail,
          ...(suggestion && { suggestion }),
        }));
        const more = errors.length > 1 ? ` (${errors.length - 1} more in \`errors\`)` : "";
        expectProblem(await send(path), code, { errors: expected, detail: errors[0][1] + more });
      });
    }

    test("an endpoint knows its own parameters only", async () => {
      for (const [path, name] of [
        [CONNECTORS, "title"],
        [CONNECTORS, "method"],
        [CONNECTORS, "environment"],
        [ACTIONS, "name"],
        [ACTIONS, "category"],
        [ACTIONS, "authkit"],
        [ACTIONS, "platform"],
        ["/v1/whoami", "limit"],
      ]) {
        const problem = expectProblem(await send(`${path}?${name}=1`), "unknown_parameter");
        assert.deepEqual(
          problem.errors.map((fault) => fault.parameter),
          [name],
        );
      }
    });

    test("a hundred faults are told in one answer, and no more", async () => {
      const names = Array.from({ length: 3000 }, (_, i) => `wrong${i}`);
      const problem = expectProblem(
        await send(`${CONNECTORS}?${names.map((name) => `${name}=1`).join("&")}`),
        "unknown_parameter",
      );
      assert.deepEqual(
        problem.errors.map((fault) => fault.parameter),
        names.slice(0, 100),
      );
    });

    for (const [query, expected] of [
      ["", { page: 1, total: 8, pages: 1 }],
      ["?", { page: 1, total: 8, pages: 1 }],
      ["?&&", { page: 1, total: 8, pages: 1 }],
      ["?limit=1", { page: 1, total: 8, pages: 8 }],
      ["?limit=500", { page: 1, total: 8, pages: 1 }],
      ["?limit=3&page=3", { page: 3, total: 8, pages: 3 }],
      ["?limit=00000000000000000000003&page=0000000000000000000000003", { page: 3, total: 8, pages: 3 }],
      ["?limit=3&page=4", { page: 4, total: 8, pages: 3, rows: [] }],
      ["?limit=500&page=1000000000", { page: 1_000_000_000, total: 8, pages: 1, rows: [] }],
      ["?name=nothing", { page: 1, total: 0, pages: 0, rows: [] }],
      ["?name=nothing&page=7", { page: 7, total: 0, pages: 0, rows: [] }],
      ["?%6cimit=1&%70age=2", { page: 2, total: 8, pages: 8 }],
      ["?authkit=false", { page: 1, total: 8, pages: 1 }],
      // What is special elsewhere is an ordinary character here.
      ...["%25", "_", "*", "%27", "%22", "%5C", "%27%20OR%201%3D1", ".*", "%00"].map((value) => [
        `?name=${value}`,
        { total: 0, rows: [] },
      ]),
      [`?name=${"a".repeat(256)}`, { total: 0, rows: [] }],
    ]) {
      test(`GET ${CONNECTORS}${query.slice(0, 80)}`, async () => {
        expectPage(await send(CONNECTORS + query), expected);
      });
    }

    test("each page of a filter is in its place", async () => {
      const { rows } = expectPage(await send(CONNECTORS));
      for (let limit = 1; limit <= 9; limit += 1) {
        for (let page = 1; page <= Math.ceil(8 / limit) + 1; page += 1) {
          const expected = rows.slice(limit * (page - 1), limit * page);
          expectPage(await send(`${CONNECTORS}?limit=${limit}&page=${page}`), {
            rows: expected,
            page,
            total: 8,
            pages: Math.ceil(8 / limit),
          });
        }
      }
    });
  });
}
