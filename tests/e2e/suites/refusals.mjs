// A request for a connection that its key has no access to reads as many rows in D1 as one for an unknown id. Other errors are
// tested in tests/api: access.rs, requests.rs, pages.rs, parameters.rs and update.rs.
import assert from "node:assert/strict";
import { afterEach, before, beforeEach, describe, test } from "node:test";
import { AUDIT_ROWS, costOf, expectProblem } from "../support/expect.mjs";
import { key, store } from "../support/keys.mjs";
import { Caller, expectConnection, connectionPath, stored } from "../support/vault.mjs";

const JSON_TYPE = [["content-type", "application/json"]];
const UNKNOWN = "aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa";
export function refusals(fixture) {
  const tenants = { account: "refusals" };
  const apiKeys = {
    owner: key(tenants),
    live: key({ ...tenants, environment: "live" }),
    other: key({ account: "refusals-other" }),
  };
  const callers = Object.fromEntries(Object.entries(apiKeys).map(([name, each]) => [name, new Caller(fixture, each)]));
  const { owner, live, other } = callers;
  const input = (identity) => ({ platform: "github", identity, identityType: "user", tags: ["kept"] });
  const ids = {};
  const etags = {};
  let rows;
  const all = () => stored(fixture.database, "refusals", "refusals-other");
  const sendRequest = (method, path, secret, headers = [], body = "") =>
    fixture.server.send(path, { method, secret, headers, body });

  /** Asserts a problem that cost at most `calls` calls and only wrote the actor. */
  function expectRefusal(response, code, more = {}, calls = 1, written = 0) {
    const cost = costOf(response);
    assert.ok(cost.calls <= calls, response.header("server-timing"));
    assert.equal(cost.rowsWritten, written);
    return expectProblem(response, code, more);
  }

  describe("rejected requests to the vault", () => {
    before(async () => {
      await store(fixture.database, Object.values(apiKeys));
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

    test("ids outside the key's access have the same response and cost as unknown ones", async () => {
      const { own } = ids;
      const invisibleIds = [
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
        const responses = new Set();
        for (const response of await Promise.all(
          invisibleIds.map((id) => sendRequest(method, connectionPath(id), apiKeys.owner.secret, headers, body)),
        )) {
          if (method === "HEAD") assert.equal(response.status, 404);
          else {
            const written = /^(PATCH|DELETE)$/.test(method) && body !== "{}" ? AUDIT_ROWS : 0;
            expectRefusal(
              response,
              "connection_not_found",
              { detail: "The vault has no such connection." },
              1,
              written,
            );
          }
          const headers = response.headers.filter(([name]) => name !== "x-request-id" && name !== "date");
          responses.add(
            JSON.stringify([response.status, headers, response.text.replace(response.header("x-request-id"), "")]),
          );
        }
        assert.equal(responses.size, 1, `${method}: ${[...responses].join("\n")}`);
      }
    });
  });
}
