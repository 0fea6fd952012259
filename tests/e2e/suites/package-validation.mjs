// The package's validation of ids, platforms, secrets and keys, compared with the service, and of unusable arguments.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { checksum, secret as wellFormed } from "../support/keys.mjs";
import {
  ConnectorVault,
  each,
  expectInvalid,
  expectNoResponse,
  errorPropertiesOf,
  failure,
  library,
} from "../support/package.mjs";
import { ID, comparisonHelpers, x } from "../support/validation.mjs";
import { connectionPath } from "../support/vault.mjs";

const IDS = [
  "nothing",
  "null",
  "undefined",
  ID.replaceAll("-", ""),
  `{${ID}}`,
  `urn:uuid:${ID}`,
  `${ID}0`,
  ID.slice(0, -1),
  `${ID} `,
  ` ${ID}`,
  ID.replace(/^./, "g"),
  ID.replace("-", "_"),
  "%",
  "%2e%2e",
  "' OR 1=1--",
  "../..",
  "a/b",
  "?limit=1",
  "#x",
  x(5000),
  "😀",
  "ﬀ".repeat(18),
  "１".repeat(8),
];
/** Values that cannot be a URL path segment. */
const INVALID_SEGMENTS = ["", ".", ".."];

export function validation(fixture) {
  const { counted, plain, expectSame } = comparisonHelpers(fixture);

  describe("validation", () => {
    test("invalid ids have the errors of the service", async () => {
      await each(IDS, async (id) => {
        const path = connectionPath(encodeURIComponent(id));
        await expectSame(`get ${id}`, (client) => client.connections.get(id), await plain(path));
        await expectSame(
          `delete ${id}`,
          (client) => client.connections.delete(id),
          await plain(path, { method: "DELETE" }),
        );
        const headers = [["content-type", "application/json"]];
        for (const body of [{ tags: ["x"] }, {}, { tags: [","] }, { tag: 1 }]) {
          await expectSame(
            `update ${id} ${JSON.stringify(body)}`,
            (client) => client.connections.update(id, body),
            await plain(path, { method: "PATCH", headers, body: JSON.stringify(body) }),
          );
        }
      });
      for (const id of INVALID_SEGMENTS) {
        for (const ask of [
          (client) => client.connections.get(id),
          (client) => client.connections.delete(id),
          (client) => client.connections.update(id, {}),
        ])
          await expectSame(`"${id}"`, ask, await plain(connectionPath("nothing")));
      }
    });

    test("a platform cannot change the path", async () => {
      for (const platform of INVALID_SEGMENTS) {
        const { recorder, client } = counted();
        const error = await failure(() => client.actions.list(platform));
        assert.ok(error instanceof library.VaultError);
        assert.equal(error.status, 404);
        assert.deepEqual(client.actions.validateList(platform), [{ detail: error.message }]);
        assert.equal(recorder.calls, 0, JSON.stringify(platform));
      }
      for (const platform of [
        "../whoami",
        "../../v1/whoami",
        "github/..",
        "github?x=1",
        "github#x",
        "a\\b",
        "%2e%2e",
        "\ttab",
        "a\u0000b",
      ]) {
        const { recorder, client } = counted();
        const error = await failure(() => client.actions.list(platform));
        assert.equal(error.status, 404, platform);
        for (const { path } of recorder.requests)
          assert.equal(path, `/v1/available-actions/${encodeURIComponent(platform)}`);
      }
    });

    test("an action's key cannot change the path", async () => {
      for (const key of [...INVALID_SEGMENTS, "a\u0000b"]) {
        const { recorder, client } = counted();
        const error = await failure(() => client.actions.get("github", key));
        expectNoResponse(error, "ValidationError", {
          status: 404,
          code: "action_not_found",
          message: `The platform \`github\` has no action \`${key}\`.`,
        });
        assert.equal(recorder.calls, 0, JSON.stringify(key));
      }
      for (const key of ["../../whoami", "a/b", "a?x=1", "a#x", "%2e%2e", "\ttab"]) {
        const { recorder, client } = counted();
        const error = await failure(() => client.actions.get("github", key));
        assert.equal(error.code, "action_not_found", key);
        assert.equal(recorder.requests[0].path, `/v1/available-actions/github/${encodeURIComponent(key)}`);
      }
    });

    test("invalid API keys have the errors of the service", async () => {
      const valid = fixture.keys.full.secret;
      const withChecksum = (text) => text + checksum(text);
      const malformed = [
        "x",
        "sk_test_",
        valid.slice(0, -1),
        `${valid}0`,
        valid.replace(/.$/, (last) => (last === "0" ? "1" : "0")),
        valid.replace("sk_test_", "sk_live_"),
        withChecksum(`sk_prod_${"a".repeat(32)}`),
        withChecksum(`SK_TEST_${"a".repeat(32)}`),
        withChecksum(`sk_test_${"a".repeat(31)}`),
        withChecksum(`sk_test_${"a".repeat(31)}_`),
        `Bearer ${valid}`,
        `${valid}, ${valid}`,
        x(500),
      ];
      for (const secret of malformed) {
        const response = await fixture.server.send("/v1/whoami", { secret });
        for (const options of [{}, { maxRetries: 1 }]) {
          const error = await failure(() => new ConnectorVault({ baseUrl: fixture.baseUrl, secret, ...options }));
          expectNoResponse(error, "AuthenticationError", {
            ...errorPropertiesOf(response.json),
            status: 401,
            code: "invalid_key",
          });
        }
      }
      const responseWithoutKey = await fixture.server.send("/v1/whoami");
      const empty = await failure(() => new ConnectorVault({ baseUrl: fixture.baseUrl, secret: "" }));
      expectNoResponse(empty, "AuthenticationError", {
        ...errorPropertiesOf(responseWithoutKey.json),
        status: 401,
        code: "missing_key",
      });
      for (const secret of [valid, wellFormed("live"), `st_test_${x(40)}`, `st_live_${x(40)}`])
        assert.ok(new ConnectorVault({ baseUrl: fixture.baseUrl, secret }));
      for (const secret of [undefined, 5, null, {}, [valid], true])
        expectInvalid(await failure(() => new ConnectorVault({ baseUrl: fixture.baseUrl, secret })), "secret");
    });

    test("unusable arguments are rejected by name", async () => {
      for (const [call, name, suggestion] of [
        ...[5, "x", null, [], true].flatMap((filters) => [
          [(client) => client.connectors.list(filters), "filters"],
          [(client) => client.actions.list("github", filters), "filters"],
          [(client) => client.connections.list(filters), "filters"],
        ]),
        ...[5, "x", null, []].flatMap((options) => [
          [(client) => client.whoami(options), "options"],
          [(client) => client.connectors.list({}, options), "options"],
          [(client) => client.connections.get(ID, options), "options"],
          [(client) => client.connections.update(ID, {}, options), "options"],
        ]),
        ...[5, null, undefined, {}, [ID], Symbol("x")].flatMap((id) => [
          [(client) => client.connections.get(id), "id"],
          [(client) => client.connections.delete(id), "id"],
          [(client) => client.connections.update(id, {}), "id"],
        ]),
        ...[5, null, undefined, {}].map((platform) => [(client) => client.actions.list(platform), "platform"]),
        ...[5, {}, "x", null, [], () => {}].map((signal) => [(client) => client.whoami({ signal }), "signal"]),
        ...[5, {}, null, [], "", { id: ID }, { version: "1" }, "é", "a\nb", "x", `${ID}-1`, '"x', "W/x", "**"].map(
          (ifMatch) => [(client) => client.connections.update(ID, {}, { ifMatch }), "ifMatch"],
        ),
        [(client) => client.whoami({ signl: undefined, sginal: 1 }), "sginal", "signal"],
        [(client) => client.connections.update(ID, {}, { ifmatch: "*" }), "ifmatch", "ifMatch"],
        [(client) => client.connections.get(ID, { ifMatch: "*" }), "ifMatch"],
        [(client) => client.connections.list({}, { limit: 5 }), "limit"],
        ...[-1, 1.5, "5", Number.NaN, null, {}].flatMap((max) => [
          [(client) => client.connectors.list().toArray({ max }), "max"],
        ]),
        [(client) => client.connectors.list().toArray({ maximum: 5 }), "maximum", "max"],
        ...[5, "x", null].map((options) => [(client) => client.connectors.list().toArray(options), "options"]),
      ]) {
        const { recorder, client } = counted();
        expectInvalid(await failure(() => call(client)), name, suggestion);
        assert.equal(recorder.calls, 0);
      }
    });

    test("a validation rejects the same arguments as its call", async () => {
      for (const [name, values, call, validate] of [
        [
          "filters",
          [5, "x", null, [], true, new Map()],
          (client, filters) => client.connectors.list(filters),
          (client, filters) => client.connectors.validateList(filters),
        ],
        [
          "filters",
          [5, "x", null, [], true, new Map()],
          (client, filters) => client.actions.list("github", filters),
          (client, filters) => client.actions.validateList("github", filters),
        ],
        [
          "filters",
          [5, "x", null, [], true, new Map()],
          (client, filters) => client.connections.list(filters),
          (client, filters) => client.connections.validateList(filters),
        ],
        [
          "platform",
          [5, undefined, null, {}, "\ud800"],
          (client, platform) => client.actions.list(platform),
          (client, platform) => client.actions.validateList(platform),
        ],
        [
          "changes",
          [undefined, () => {}, new Map(), 10n],
          (client, changes) => client.connections.update(ID, changes),
          (client, changes) => client.connections.validateUpdate(changes),
        ],
        [
          "session",
          [undefined, () => {}, new Map(), 10n],
          (client, session) => client.sessions.create(session),
          (client, session) => client.sessions.validateCreate(session),
        ],
        [
          "connection",
          [undefined, () => {}, new Map(), 10n],
          (client, connection) => client.connections.create(connection),
          (client, connection) => client.connections.validateCreate(connection),
        ],
      ]) {
        for (const value of values) {
          const { recorder, client } = counted();
          const error = expectInvalid(await failure(() => call(client, value)), name);
          assert.deepEqual(validate(client, value), error.errors);
          assert.equal(recorder.calls, 0);
        }
      }
    });

    test("keys of connections and connectors are parsed or rejected", () => {
      const { parseConnectionKey, parseConnectorKey } = library;
      for (const [key, parts] of [
        ["test::github::default::ann", ["test", "github", "default", "ann"]],
        ["live::a::b::c::d::", ["live", "a", "b", "c::d::"]],
        ["test::github::default::::", ["test", "github", "default", "::"]],
        ["live::amazonaws-ec2::x-1::名前 %_*😀", ["live", "amazonaws-ec2", "x-1", "名前 %_*😀"]],
      ]) {
        const [environment, platform, label, identity] = parts;
        assert.deepEqual(parseConnectionKey(key), { environment, platform, label, identity });
      }
      for (const [key, platform, platformVersion] of [
        ["api::github::v1", "github", "v1"],
        ["api::amazonaws-ec2::v2016", "amazonaws-ec2", "v2016"],
        ["api::0::v0", "0", "v0"],
      ])
        assert.deepEqual(parseConnectorKey(key), { platform, platformVersion });
      for (const [parse, wrong] of [
        [
          parseConnectionKey,
          [
            "",
            "x",
            "test",
            "test::github::default",
            "test::github::default::",
            "prod::github::default::a",
            "TEST::github::default::a",
            " test::github::default::a",
            "test:github:default:a",
            "api::github::v1",
          ],
        ],
        [
          parseConnectorKey,
          [
            "",
            "x",
            "api",
            "api::github",
            "api::github::",
            "api::github::1",
            "api::github::v",
            "api::github::V1",
            "api::github::v1 ",
            "API::github::v1",
            "api::GitHub::v1",
            "api::::v1",
            "api::a b::v1",
            "api::github::v1::x",
            `api::${x(65)}::v1`,
            "test::github::default::a",
          ],
        ],
      ]) {
        for (const key of wrong) {
          assert.throws(
            () => parse(key),
            (error) => {
              expectNoResponse(error, "ValidationError");
              assert.ok(error.errors.length > 0);
              return true;
            },
            JSON.stringify(key),
          );
        }
        for (const key of [5, null, undefined, {}, [], Symbol("x"), 1n])
          assert.throws(
            () => parse(key),
            (error) => expectInvalid(error, "key") === error,
          );
      }
    });

    test("every key of the catalog and of the vault is parsed", async () => {
      const { full, many } = fixture.keys;
      for await (const { key, platform, platformVersion } of fixture.vault(full).connectors.list({ limit: 500 }))
        assert.deepEqual(library.parseConnectorKey(key), { platform, platformVersion });
      for (const { key, environment, platform, identity } of (
        await fixture.vault(many).connections.list({ limit: 500 })
      ).rows) {
        assert.deepEqual(library.parseConnectionKey(key), { environment, platform, label: "default", identity });
      }
    });
  });
}
