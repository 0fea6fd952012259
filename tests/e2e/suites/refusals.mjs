// Rejected requests to the vault: each error has the documented response, costs at most one query, and changes nothing.
import assert from "node:assert/strict";
import { afterEach, before, beforeEach, describe, test } from "node:test";
import { OF_AUDIT, READ_METHODS, costOf, expectHeaders, expectProblem } from "../support/expect.mjs";
import { key, secret, store } from "../support/keys.mjs";
import {
  CONNECTIONS,
  Caller,
  LIST_METHODS,
  ONE_METHODS,
  SUMMARY,
  expectConnection,
  expectConnections,
  one,
  stored,
} from "../support/vault.mjs";

const JSON_TYPE = [["content-type", "application/json"]];
const UNKNOWN = "aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa";
const OTHER_METHODS =
  "PUT TRACE PURGE QUERY PROPFIND PROPPATCH COPY MOVE LOCK UNLOCK MKCOL SEARCH REPORT MERGE ACL SUBSCRIBE UNSUBSCRIBE NOTIFY".split(
    " ",
  );

export function refusals(world) {
  const tenants = { account: "refusals" };
  const made = {
    owner: key(tenants),
    live: key({ ...tenants, environment: "live" }),
    other: key({ account: "refusals-other" }),
    reader: key({ ...tenants, scopes: "connections:read" }),
    writer: key({ ...tenants, scopes: "connections:write" }),
    catalogOnly: key({ ...tenants, scopes: "catalog:read" }),
    none: key({ ...tenants, scopes: "" }),
    revoked: key({ ...tenants, revoked_at: 1 }),
    expired: key({ ...tenants, expires_at: Date.now() - 1 }),
    lying: key({ ...tenants, environment: "live" }),
  };
  made.lying.row.environment = "test";
  const callers = Object.fromEntries(Object.entries(made).map(([name, each]) => [name, new Caller(world, each)]));
  const { owner, live, other } = callers;
  const input = (identity) => ({ platform: "github", identity, identityType: "user", tags: ["kept"] });
  const ids = {};
  const etags = {};
  let rows;
  const all = () => stored(world.database, "refusals", "refusals-other");
  /** One request of every kind: [method, path, headers, body]. */
  const every = () => [
    ["GET", CONNECTIONS],
    ["HEAD", CONNECTIONS],
    ["GET", `${CONNECTIONS}?limit=0`],
    ["GET", SUMMARY],
    ["GET", one(ids.own)],
    ["GET", one(UNKNOWN)],
    ["POST", CONNECTIONS, JSON_TYPE, JSON.stringify(input("never"))],
    ["POST", CONNECTIONS, JSON_TYPE, "{"],
    ["POST", CONNECTIONS],
    ["PATCH", one(ids.own), JSON_TYPE, '{"tags":["no"]}'],
    ["PATCH", one(ids.own), JSON_TYPE, "["],
    ["PATCH", one(ids.own), [...JSON_TYPE, ["if-match", "*"]], '{"tags":[]}'],
    ["PATCH", one(ids.foreign), JSON_TYPE, '{"tags":["no"]}'],
    ["DELETE", one(ids.own)],
    ["DELETE", one("nothing")],
    ["DELETE", one(ids.foreign), [["if-match", etags.foreign]]],
  ];
  const ask = (method, path, secret, headers = [], body = "") =>
    world.server.send(path, { method, secret, headers, body });

  /** Asserts a problem that cost at most `calls` calls and only wrote the actor. */
  function expectRefusal(answer, code, more = {}, calls = 1, written = 0) {
    const cost = costOf(answer);
    assert.ok(cost.calls <= calls, answer.header("server-timing"));
    assert.equal(cost.rowsWritten, written);
    return expectProblem(answer, code, more);
  }

  describe("rejected requests to the vault", () => {
    before(async () => {
      await store(world.database, Object.values(made));
      for (const [name, caller] of [
        ["own", owner],
        ["live", live],
        ["foreign", other],
        ["deleted", owner],
      ]) {
        const { connection, etag } = expectConnection(await caller.create(input(name)), {}, { status: 201 });
        [ids[name], etags[name]] = [connection.id, etag];
      }
      assert.equal((await owner.remove(ids.deleted)).status, 204);
      for (const caller of Object.values(callers)) await caller.use();
    });
    beforeEach(async () => {
      rows = await all();
    });
    afterEach(async () => assert.equal(await all(), rows, "something was written"));

    test("every request without a valid key gets 401", async () => {
      const good = made.owner.secret;
      const malformed = `${good.slice(0, -1)}${good.endsWith("0") ? "1" : "0"}`;
      for (const [method, path, headers = [], body] of every().filter(([method]) => method !== "HEAD")) {
        const wrong = [
          ["missing_key", [], 0],
          ["missing_key", [["authorization", `Bearer ${good}`]], 0],
          ["missing_key", [["x-service-secret", ""]], 0],
          ["invalid_key", [["x-service-secret", malformed]], 0],
          [
            "invalid_key",
            [
              ["x-service-secret", good],
              ["x-service-secret", good],
            ],
            0,
          ],
          ["invalid_key", [["x-service-secret", secret()]], 1],
          ...["revoked", "expired", "lying"].map((name) => [
            "invalid_key",
            [["x-service-secret", made[name].secret]],
            1,
          ]),
        ];
        const answers = await Promise.all(
          wrong.map(([, sent]) => ask(method, path, undefined, [...sent, ...headers], body)),
        );
        wrong.forEach(([code, , calls], i) => expectRefusal(answers[i], code, {}, calls));
      }
    });

    test("403 contains the missing scope", async () => {
      for (const [method, path, headers, body] of every()) {
        const isRead = method === "GET" || method === "HEAD";
        const scope = `connections:${isRead ? "read" : "write"}`;
        for (const name of [isRead ? "writer" : "reader", "catalogOnly"]) {
          const answer = await ask(method, path, made[name].secret, headers, body);
          assert.equal(answer.status, 403, `${method} ${path}`);
          if (method === "HEAD") continue;
          expectRefusal(answer, "insufficient_scope", { detail: `This API key lacks the scope \`${scope}\`.` });
        }
      }
    });

    for (const path of [
      "/v1/vault",
      "/v1/vault/",
      "/v1/Vault/connections",
      "/v1/vault/connections/",
      "/v1/vault//connections",
      "/v1/vault/connections//",
      "/v1/vault/summary/",
      "/v1/vault/Summary",
      "/v1/vault/connection",
      "/v1/vault/connections/%zz",
      "/v1/vault/connections/%ff",
      "/v1/vault/connections/%ed%a0%80",
      "/v1/vault/connections/a%00",
      `${one(UNKNOWN)}/`,
      `${one(UNKNOWN)}/tags`,
      "/v1/vault/connections%2Fa",
    ]) {
      test(`${path} is not a route, for any method`, async () => {
        for (const method of ["GET", "POST", "PATCH", "DELETE", "PUT"]) {
          expectRefusal(await ask(method, path, made.owner.secret, JSON_TYPE, '{"tags":[]}'), "route_not_found", {
            detail: "The service has no such path.",
          });
          expectRefusal(await ask(method, path), "missing_key", {}, 0);
        }
      });
    }

    test("ids outside the key's access have the same response and cost as unknown ones", async () => {
      const { own } = ids;
      const unseen = [
        UNKNOWN,
        ids.deleted,
        ids.foreign,
        ids.live,
        ids.foreign.toUpperCase(),
        "nothing",
        own.replaceAll("-", ""),
        `{${own}}`,
        `urn:uuid:${own}`,
        `${own}0`,
        own.slice(0, -1),
        `${own}%20`,
        `%20${own}`,
        own.replace(/^./, "g"),
        own.replace("-", "_"),
        own.replace(/-(?=[^-]*$)/, ""),
        "%25",
        "'%20OR%201=1--",
        "..%2F..",
        "x".repeat(5000),
        "%F0%9F%98%80",
        "null",
        "00000000-0000-0000-0000-000000000000",
      ];
      for (const [method, headers, body] of [
        ["GET"],
        ["GET", [["if-none-match", etags.foreign]]],
        ["HEAD"],
        ["PATCH", JSON_TYPE, '{"tags":["no"]}'],
        ["PATCH", JSON_TYPE, "{}"],
        ["PATCH", [...JSON_TYPE, ["if-match", "*"]], '{"tags":["no"]}'],
        ["PATCH", [...JSON_TYPE, ["if-match", etags.foreign]], '{"tags":["no"]}'],
        ["DELETE"],
        ["DELETE", [["if-match", etags.foreign]]],
      ]) {
        const answers = new Set();
        for (const answer of await Promise.all(
          unseen.map((id) => ask(method, one(id), made.owner.secret, headers, body)),
        )) {
          if (method === "HEAD") assert.equal(answer.status, 404);
          else {
            const written = /^(PATCH|DELETE)$/.test(method) && body !== "{}" ? OF_AUDIT : 0;
            expectRefusal(answer, "connection_not_found", { detail: "The vault has no such connection." }, 1, written);
          }
          const told = answer.headers.filter(([name]) => name !== "x-request-id" && name !== "date");
          answers.add(JSON.stringify([answer.status, told, answer.text.replace(answer.header("x-request-id"), "")]));
        }
        assert.equal(answers.size, 1, `${method}: ${[...answers].join("\n")}`);
      }
    });

    test("405 with the allowed methods, for every other method", async () => {
      for (const [path, allow, wrong] of [
        [CONNECTIONS, LIST_METHODS, ["PATCH", "DELETE"]],
        [one(ids.own), ONE_METHODS, ["POST"]],
        [one("nothing"), ONE_METHODS, ["POST"]],
        [SUMMARY, READ_METHODS, ["POST", "PATCH", "DELETE"]],
      ]) {
        await Promise.all(
          [...wrong, ...OTHER_METHODS].map(async (method) => {
            expectRefusal(
              await ask(method, path, made.owner.secret, JSON_TYPE, '{"tags":["no"]}'),
              "method_not_allowed",
              { allow, detail: `This path supports only ${allow}.` },
            );
            expectRefusal(await ask(method, path, made.none.secret), "method_not_allowed", { allow });
          }),
        );
        const preflight = await ask("OPTIONS", path);
        assert.deepEqual([preflight.status, preflight.body.length], [204, 0]);
        expectHeaders(preflight, { allow, "cache-control": "private, no-store" });
      }
    });

    test("a method override is ignored", async () => {
      for (const name of ["x-http-method-override", "x-http-method", "x-method-override"]) {
        for (const method of ["DELETE", "PATCH"]) {
          expectConnection(
            await ask("GET", one(ids.own), made.owner.secret, [[name, method], ...JSON_TYPE], '{"tags":[]}'),
            { version: "1" },
          );
          expectRefusal(
            await ask("POST", one(ids.own), made.owner.secret, [[name, method], ...JSON_TYPE], '{"tags":[]}'),
            "method_not_allowed",
            { allow: ONE_METHODS },
          );
        }
      }
    });

    test("errors of list parameters are reported together, with suggestions", async () => {
      const range = (name, most) => [name, `\`${name}\` must be a whole number from 1 to ${most}`];
      const empty = (name) => [name, `\`${name}\` is empty: give it a value, or leave it out`];
      const boolean = ["active", "`active` must be `true` or `false`"];
      const types = ["identityType", "`identityType` must be one of user, team, organization, project"];
      const hole = (name) => [name, `\`${name}\` contains an empty item`];
      const cursor = (after) => [`after=${after}`, "invalid_parameter", ["after"]];
      const { next } = expectConnections(await owner.list({ limit: 1, active: "false" }));
      assert.equal(next, undefined);
      for (const [query, code, ...faults] of [
        ...["0", "501", "-1", "1.0", "1e2", "%201", "18446744073709551616", "9".repeat(5000)].map((value) => [
          `limit=${value}`,
          "invalid_parameter",
          range("limit", 500),
        ]),
        ...["0", "-1", "1000000001", "18446744073709551617", "two"].map((value) => [
          `page=${value}`,
          "invalid_parameter",
          range("page", 1_000_000_000),
        ]),
        ...["TRUE", "1", "yes", "true%00"].map((value) => [`active=${value}`, "invalid_parameter", boolean]),
        ...["User", "USER", "group", "user%20"].map((value) => [`identityType=${value}`, "invalid_parameter", types]),
        ...[
          "key",
          "platformVersion",
          "name",
          "identityType",
          "identity",
          "platform",
          "tags",
          "q",
          "active",
          "limit",
          "page",
          "after",
        ].map((name) => [`${name}=`, "invalid_parameter", empty(name)]),
        ...["a,,b", ",", "a,", ",a"].flatMap((value) => [
          [`key=${value}`, "invalid_parameter", hole("key")],
          [`tags=${value}`, "invalid_parameter", hole("tags")],
        ]),
        [`key=${Array(101).fill("k").join(",")}`, "invalid_parameter", ["key", "`key` can have at most 100 items"]],
        [`tags=${Array(21).fill("t").join(",")}`, "invalid_parameter", ["tags", "`tags` can have at most 20 items"]],
        ["tags=a&tagsMatch=some", "invalid_parameter", ["tagsMatch", "`tagsMatch` must be one of all, any"]],
        ["tagsMatch=any", "invalid_parameter", ["tagsMatch"]],
        ["tags=a&tagsMatch=", "invalid_parameter", empty("tagsMatch")],
        [`q=${"a".repeat(101)}`, "invalid_parameter", ["q"]],
        [`q=${"%F0%9F%98%80".repeat(101)}`, "invalid_parameter", ["q"]],
        ...["%", "%zz", "%ff", "%ed%a0%80"].map((value) => [
          `identity=${value}`,
          "invalid_parameter",
          ["identity", "`identity` is not valid percent-encoded UTF-8"],
        ]),
        ...["x", "0", "%00", "a".repeat(84), "0".repeat(84), "0".repeat(5000), "'--"].map(cursor),
        ["environment=test", "unknown_parameter", ["environment"]],
        ["states=failed", "unknown_parameter", ["states"]],
        ["Platform=a", "unknown_parameter", ["Platform"]],
        ["id=1", "unknown_parameter", ["id"]],
        ["limit=1&limit=1", "repeated_parameter", ["limit", "`limit` is given more than once"]],
        ["key=a&key=b", "repeated_parameter", ["key"]],
        ["tags=a&t%61gs=b", "repeated_parameter", ["tags"]],
        [
          "tagz=a&limit=0&active=no&active=yes&identityType=x&key=,&page=x&after=x",
          "unknown_parameter",
          ["tagz"],
          ["active"],
          ["active"],
          ["key"],
          ["identityType"],
          ["after"],
          ["after"],
          ["limit"],
          ["page"],
        ],
      ]) {
        const problem = expectRefusal(await owner.list(query), code);
        const told = problem.errors.map(({ parameter, detail }) => [parameter, detail]);
        assert.deepEqual(told.map(([name]) => name).sort(), faults.map(([name]) => name).sort(), query.slice(0, 80));
        faults.forEach(
          ([name, detail]) =>
            detail &&
            assert.ok(
              told.some((fault) => fault[0] === name && fault[1] === detail),
              JSON.stringify(told),
            ),
        );
      }
      assert.equal(expectProblem(await owner.list("tagz=a"), "unknown_parameter").errors[0].suggestion, "tags");
    });

    test("a cursor is only valid for its list, limit and key", async () => {
      for (const n of [1, 2, 3]) expectConnection(await owner.create(input(`cursor-${n}`)), {}, { status: 201 });
      rows = await all();
      const { next, total } = expectConnections(await owner.list({ limit: 1 }));
      const after = new URLSearchParams(next.split("?")[1]).get("after");
      assert.ok(after.length >= 32);
      expectConnections(await owner.send("GET", next), { page: 2, total });
      const refused = (answer) =>
        assert.deepEqual(
          expectRefusal(answer, "invalid_parameter").errors.map(({ parameter }) => parameter),
          ["after"],
        );
      for (const query of [
        `after=${after}`,
        `limit=2&after=${after}`,
        `limit=1&platform=github&after=${after}`,
        `limit=1&active=false&after=${after}`,
        `limit=1&after=${after}&page=2`,
        `limit=1&page=1&after=${after}`,
      ])
        refused(await owner.list(query));
      for (const caller of [live, other, callers.reader]) refused(await caller.send("GET", next));
      const altered = [...after].map(
        (digit, at) => `${after.slice(0, at)}${digit === "0" ? "1" : "0"}${after.slice(at + 1)}`,
      );
      (await Promise.all(altered.map((changed) => owner.list({ limit: 1, after: changed })))).forEach(refused);
      for (const changed of [after.slice(1), `${after}0`, after.toUpperCase(), ` ${after}`, `${after},${after}`])
        if (changed !== after) refused(await owner.list({ limit: 1, after: changed }));
      expectConnections(await owner.send("GET", next), { page: 2, total });
    });

    test("the other requests accept no parameters", async () => {
      for (const [method, path, headers, body] of every().filter(
        ([method, path]) => method !== "HEAD" && !path.includes("?") && !(path === CONNECTIONS && method === "GET"),
      )) {
        for (const name of ["limit", "tags", "_method", "force"]) {
          const problem = expectRefusal(
            await ask(method, `${path}?${name}=1`, made.owner.secret, headers, body),
            "unknown_parameter",
          );
          assert.deepEqual(
            problem.errors.map(({ parameter }) => parameter),
            [name],
          );
        }
      }
    });

    test("the order of checks is parameters, body, resource, precondition", async () => {
      const bad = [["if-match", '"x"']];
      for (const [path, headers, body, code] of [
        [`${one(UNKNOWN)}?a=1`, [], "[", "unknown_parameter"],
        [one(UNKNOWN), [["content-type", "text/plain"], ...bad], "[".repeat(400_000), "unsupported_media_type"],
        [one(UNKNOWN), [...JSON_TYPE, ...bad], "[".repeat(400_000), "body_too_large"],
        [one(ids.own), [...JSON_TYPE, ...bad], "[", "invalid_body"],
        [one(UNKNOWN), [...JSON_TYPE, ...bad], "[", "invalid_body"],
        [one(UNKNOWN), [...JSON_TYPE, ...bad], "{}", "connection_not_found"],
        [one(ids.own), [...JSON_TYPE, ...bad], "{}", "precondition_failed"],
      ]) {
        expectRefusal(await ask("PATCH", path, made.owner.secret, headers, body), code);
      }
    });
  });
}
