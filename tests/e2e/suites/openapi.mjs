// The OpenAPI document is public, and describes the requests and responses of the real service.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { before, describe, test } from "node:test";
import { root } from "../../../scripts/lib/paths.mjs";
import { ConsolePeople } from "../support/access.mjs";
import { Agents } from "../support/agents.mjs";
import { expectProblem } from "../support/expect.mjs";
import { ALL_SCOPES, key, store } from "../support/keys.mjs";
import { Description } from "../support/openapi.mjs";
import { connectionPath, query } from "../support/vault.mjs";
import { proof } from "../support/proof.mjs";

const PATH = "/v1/openapi.json";
const JSON_TYPE = ["content-type", "application/json"];
/** Operations that call a platform. */
const CALLS = /^(runAction|proxy)/;
const UNKNOWN = "00000000-0000-4000-8000-000000000000";
const PLATFORM = "github";
const ACTION = "issuesCreate";
/** Statuses caused by limits, internal errors, platforms or storage. Other suites test most of them. */
const TESTED_ELSEWHERE = ["429", "500", "502", "503", "504", "507"];
const KEYS = /^(rotate|revoke)Key$/;
const WEBHOOKS = /^(get|update|delete|rotate|test)Webhook$|^replayEvents$|^listDeliveries$/;
const CLIENT = `/v1/oauth-clients/${PLATFORM}`;

const exampleOf = ({ content }) => Object.values(content["application/json"].examples)[0].value;

export function openapi(fixture) {
  const keys = {
    full: key({ account: "openapi", scopes: ALL_SCOPES }),
    scopeless: key({ account: "openapi", scopes: "" }),
  };
  let description;
  const send = (path, options) => fixture.server.send(path, options);
  let lastIdentity = 0;
  const input = (more = {}) => ({
    platform: PLATFORM,
    identity: `openapi-${(lastIdentity += 1)}`,
    identityType: "user",
    ...more,
  });
  const create = (body) =>
    send("/v1/vault/connections", {
      method: "POST",
      secret: keys.full.secret,
      headers: [JSON_TYPE],
      body: JSON.stringify(body),
    });

  const putJson = (path, body) =>
    send(path, { method: "PUT", secret: keys.full.secret, headers: [JSON_TYPE], body: JSON.stringify(body) });
  const connecting = (more) => {
    const { identity, identityType } = input();
    return { platform: PLATFORM, identity, identityType, ...more };
  };
  const byToken = (token = "example-token") => connecting({ authMethod: "token", fields: { token } });

  /** Creates a webhook, and deletes all others. */
  async function createOnlyWebhook(more = {}) {
    const options = { secret: keys.full.secret, headers: [JSON_TYPE] };
    for (const { id } of (await send("/v1/webhooks", options)).json.rows)
      await send(`/v1/webhooks/${id}`, { ...options, method: "DELETE" });
    const body = JSON.stringify({ url: "https://app.example.com/", ...more });
    return (await send("/v1/webhooks", { ...options, method: "POST", body })).json;
  }

  const newKey = () => {
    const body = JSON.stringify({ scopes: ["connections:read"] });
    return send("/v1/keys", { method: "POST", secret: keys.full.secret, headers: [JSON_TYPE], body });
  };

  const agents = () => new Agents(fixture.server, keys.full.secret);
  const people = () => new ConsolePeople(fixture.server, keys.full.secret);

  /** Creates the resource that the operation needs, and returns its id. */
  async function resourceIdFor(operationId) {
    if (operationId === "getAttempt") {
      const body = JSON.stringify(connecting({ authMethod: "oauth2" }));
      const options = { method: "POST", secret: keys.full.secret, headers: [JSON_TYPE], body };
      return (await send("/v1/vault/connect", options)).json.id;
    }
    if (WEBHOOKS.test(operationId)) return (await createOnlyWebhook()).id;
    if (KEYS.test(operationId)) return (await newKey()).json.id;
    if (operationId === "deleteAgentGrant") return agents().grant();
    if (operationId === "deleteConsoleSession") return people().session();
    const { id } = (await create(input())).json;
    if (/^getCredentials$|^checkConnection$/.test(operationId)) {
      const storedResponse = await putJson(`${connectionPath(id)}/credentials`, {
        type: "bearer",
        token: "example-token",
      });
      assert.equal(storedResponse.status, 204, storedResponse.text);
    }
    return id;
  }

  /** Builds a valid request to the operation, as an argument of `send`. */
  async function validRequest({ operationId, path, method, requestBody, security }) {
    // Deletes the webhooks that earlier requests created.
    if (operationId === "createWebhook") await createOnlyWebhook();
    if (operationId === "createKey")
      await fixture.database.prepare("DELETE FROM api_keys WHERE created_by IS NOT NULL").run();
    if (/^(get|delete)AgentSignIn$/.test(operationId)) await agents().signIn();
    if (/^(get|delete)ConsoleSignIn$/.test(operationId)) await people().configure();
    const { request } = operationId === "createAgentGrant" ? await agents().request() : {};
    if (operationId !== "setOauthClient") await putJson(CLIENT, { clientId: "example-client" });
    const id = path.includes("{id}") ? await resourceIdFor(operationId) : undefined;
    // Other operations get the first example of the document.
    const bodies = {
      createConnection: input({ name: "Ann", tags: ["eu"] }),
      setConnectionState: { state: "degraded", active: true, reason: "slow" },
      connect: byToken(),
      setCredentials: { type: "bearer", token: "example-token" },
      importConnections: {
        connections: [{ ...input(), credentials: { type: "bearer", token: "example-token" } }],
      },
      setOauthClient: { clientId: "example-client", clientSecret: "example-secret" },
      createWebhook: { url: "https://app.example.com/", types: ["connection.failed"] },
      setAgentSignIn: { type: "app", url: "https://app.example.com/agents" },
      createAgentGrant: { request, identity: "ann", access: "read" },
      setBranding: { name: "Acme", color: "#1a2b3c" },
      setConsoleSignIn: {
        ...{ type: "oidc", issuer: "https://id.example.com", clientId: "vault" },
        ...{ claim: "groups", roles: { support: ["connections:read"] } },
      },
      createSession: { identity: "ann", platforms: [PLATFORM], origins: ["https://a.example"] },
    };
    // `searchActions` is the only operation with a required query parameter.
    const needed = operationId === "searchActions" ? "?q=user" : "";
    return {
      path: path.replace("{id}", id).replace("{platform}", PLATFORM).replace("{key}", ACTION) + needed,
      method,
      secret:
        security?.length === 0 ? undefined : operationId === "signOut" ? await people().signIn() : keys.full.secret,
      headers: requestBody ? [JSON_TYPE] : [],
      body: requestBody ? JSON.stringify(bodies[operationId] ?? exampleOf(requestBody)) : undefined,
    };
  }

  /** Variations of a successful request that the operation rejects, or responds to without a body. */
  async function requestVariants(operation) {
    const request = await validRequest(operation);
    const { operationId } = operation;
    const { path, headers } = request;
    if (request.secret === undefined) return [];
    const otherRequests = [
      { path: `${path}${path.includes("?") ? "&" : "?"}lmit=1` },
      { path: `${path}${path.includes("?") ? "&" : "?"}limit=0&limit=1` },
      { secret: undefined },
      { secret: "sk_test_mistyped" },
      { secret: keys.scopeless.secret },
      { path: path.replace(PLATFORM, "gitub").replace(/[0-9a-f-]{36}/, UNKNOWN) },
    ];
    if (operation.parameters?.some(({ $ref }) => $ref?.endsWith("IfMatch"))) {
      otherRequests.push({ headers: [...headers, ["if-match", '"other"']] });
    }
    if (request.body !== undefined) {
      otherRequests.push(
        { headers: [] },
        { body: "{" },
        { body: '{"tags":["a,b"],"nothing":1}' },
        { body: " ".repeat(operationId === "importConnections" ? (1 << 20) + 1 : (64 << 10) + 1) },
      );
    }
    otherRequests.push(...(await specificVariants(operation.operationId, request)));
    return otherRequests.map((other) => ({ ...request, ...other }));
  }

  /** Adds OAuth clients until the account has this many. */
  const fillOauthClients = (count) =>
    fixture.database
      .prepare(
        `WITH RECURSIVE numbers(number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM numbers WHERE number < ?1)
        INSERT INTO oauth_clients
          (account, environment, platform, name, client_id, scopes, authorization_parameters, variables, created_at, updated_at)
        SELECT 'openapi', 'test', 'filler', 'client-' || number, 'id', '[]', '{}', '{}', 0, 0 FROM numbers
        LIMIT max(0, ?1 - (SELECT count(*) FROM oauth_clients WHERE account = 'openapi' AND environment = 'test'))`,
      )
      .bind(count)
      .run();

  /** Requests that have a status of their own at one operation, such as a rejection by its rules. */
  async function specificVariants(id, { path, ...request }) {
    const as = (body) => ({ body: JSON.stringify(body) });
    if (id === "createConnection") {
      const body = JSON.stringify(input());
      await send(path, { ...request, body });
      return [{ body }];
    }
    if (id === "connect") {
      const { json } = await send(path, { ...request, ...as(byToken()) });
      const reconnection = { connection: json.id, fields: { token: "example-token" } };
      const [consent, wrong] = [connecting({ authMethod: "oauth2" }), byToken("wrong-token")];
      return [{}, {}, as(reconnection), as({ ...reconnection, connection: UNKNOWN }), as(consent), as(wrong)];
    }
    if (id === "setCredentials") return [as({ type: "bearer", token: "wrong-token" })];
    if (id === "setConnectionState") {
      const connection = await resourceIdFor("getCredentials");
      return [{ path: path.replace(/[0-9a-f-]{36}/, connection) }];
    }
    if (id === "getCredentials") {
      const failed = await resourceIdFor("getStatus");
      const expired = { type: "oauth2", accessToken: "example-token", expiresAt: "2020-01-31T12:00:00Z" };
      await putJson(`${connectionPath(failed)}/credentials`, expired);
      return [{ path: path.replace(/[0-9a-f-]{36}/, failed) }];
    }
    if (id === "checkConnection") {
      const failed = await resourceIdFor(id);
      const sql = "UPDATE connections SET state = 'failed', active = 0 WHERE id = ?";
      await fixture.database.prepare(sql).bind(failed).run();
      return [{ path: path.replace(/[0-9a-f-]{36}/, failed) }];
    }
    if (id === "createWebhook") {
      await createOnlyWebhook();
      for (let index = 0; index < 19; index += 1) await send(path, request);
      return [{}];
    }
    if (id === "createKey") {
      while ((await newKey()).status === 201);
      return [{}];
    }
    if (id === "rotateKey") {
      const { id: revoked } = (await newKey()).json;
      await send(`/v1/keys/${revoked}`, { method: "DELETE", secret: keys.full.secret });
      return [{ path: path.replace(/[0-9a-f-]{36}/, revoked) }];
    }
    if (id === "replayEvents") {
      const { id: paused } = await createOnlyWebhook({ active: false });
      return [{ path: path.replace(/wh_[0-9a-f-]{36}/, paused) }];
    }
    if (/^[gs]et(Agent|Console)SignIn$/.test(id)) {
      await send(path, { method: "DELETE", secret: keys.full.secret });
      return [{}];
    }
    if (id === "setOauthClient") {
      await send(path, { method: "DELETE", secret: keys.full.secret });
      await fillOauthClients(999);
      return [{}, { path: `${path}?name=one-too-many` }];
    }
    return [];
  }

  describe("the OpenAPI document", () => {
    before(async () => {
      await store(fixture.database, Object.values(keys));
      description = new Description((await send(PATH)).json);
    });

    test("is public, also for pages of every origin", async () => {
      const file = readFileSync(join(root, "www", "public", PATH));
      for (const headers of [[], [["origin", "https://a.example"]], [["x-service-secret", "sk_test_mistyped"]]]) {
        const response = await send(PATH, { headers });
        assert.deepEqual([response.status, response.header("content-type")], [200, "application/json"]);
        assert.equal(response.header("access-control-allow-origin"), "*");
        assert.match(response.header("x-request-id"), /^[\da-f-]{36}$/);
        assert.deepEqual(
          ["vary", "server-timing"].map((name) => response.header(name)),
          ["x-service-secret, origin", 'd1;desc="calls=0 rows_read=0 rows_written=0", kv;desc="reads=0"'],
        );
        assert.ok(response.body.equals(file), "the document is the file");
        description.expect("openapi", response);
        const head = await send(PATH, { method: "HEAD", headers });
        assert.deepEqual([head.status, head.body.length, head.header("etag")], [200, 0, response.header("etag")]);
        const known = await send(PATH, { headers: [...headers, ["if-none-match", response.header("etag")]] });
        assert.equal(known.status, 304);
        description.expect("openapi", known);
      }
      const origin = [["origin", "https://a.example"]];
      for (const method of ["POST", "PUT", "PATCH", "DELETE"]) {
        const response = await send(PATH, { method, headers: origin });
        expectProblem(response, "method_not_allowed", {
          headers: {
            allow: "GET, HEAD, OPTIONS",
            "access-control-allow-origin": "https://a.example",
            "access-control-expose-headers": response.header("access-control-expose-headers"),
          },
        });
      }
      const preflight = await send(PATH, {
        method: "OPTIONS",
        headers: [...origin, ["access-control-request-method", "GET"]],
      });
      assert.deepEqual(
        ["allow", "access-control-allow-origin", "access-control-allow-methods"].map((name) => preflight.header(name)),
        ["GET, HEAD, OPTIONS", "https://a.example", "GET, HEAD, OPTIONS"],
      );
      assert.equal(preflight.status, 204);
      assert.ok((await send("/v1/%6fpenapi.json")).body.equals(file), "segments are decoded once, as in other paths");
    });

    test("is the only public resource below /v1", async () => {
      for (const path of [`${PATH}/`, `${PATH}x`, "/v1/openapi", "/v1//openapi.json", "/v1", "/v1/", "/v1/whoami"]) {
        expectProblem(await send(path), "missing_key");
      }
      expectProblem(await send("/openapi.json"), "route_not_found");
      expectProblem(await send("/_headers"), "route_not_found");
    });

    test("describes every response of every operation", async () => {
      for (const [id, operation] of description.operations) {
        // These operations return responses of platforms, which `calls.test.mjs` tests.
        if (CALLS.test(id)) continue;
        const seen = new Set();
        const sendRequest = async (request) => {
          const response = await send(request.path, request);
          description.expect(id, response);
          seen.add(String(response.status));
          return response;
        };
        for (const request of await requestVariants(operation)) await sendRequest(request);
        const request = await validRequest(operation);
        const response = await sendRequest(request);
        assert.ok(response.status < 300, `${id} ${response.status}`);
        if (operation.parameters?.some(({ $ref }) => $ref?.endsWith("IfNoneMatch"))) {
          await sendRequest({ ...request, headers: [["if-none-match", response.header("etag")]] });
        }
        const describedStatuses = Object.keys(operation.responses).filter(
          (status) => !TESTED_ELSEWHERE.includes(status),
        );
        assert.deepEqual([...seen].sort(), describedStatuses, id);
      }
    });

    test("describes the response of whoami to a token", async () => {
      const sendRequest = (input) =>
        send("/v1/sessions", {
          method: "POST",
          secret: keys.full.secret,
          headers: [JSON_TYPE],
          body: JSON.stringify(input),
        });
      const { schema } = description.operations.get("createSession").requestBody.content["application/json"];
      for (const [input, taken] of [
        [{ identity: "ann" }, true],
        [{ identity: "ann", identityType: "team", scopes: ["catalog:read"], ttlSeconds: 60 }, true],
        [
          {
            identity: "ann",
            platforms: ["GitHub"],
            origins: ["http://localhost:5173", "https://a.example:8443"],
            ttlSeconds: 3600,
          },
          true,
        ],
        [{}, false],
        [{ identity: "" }, false],
        [{ identity: "ann", scopes: [] }, false],
        [{ identity: "ann", scopes: ["sessions:create"] }, false],
        [{ identity: "ann", platforms: ["A b"] }, false],
        [{ identity: "ann", platforms: ["a", "a"] }, false],
        [{ identity: "ann", ttlSeconds: 3601 }, false],
        [{ identity: "ann", origins: ["https://a.example/"] }, false],
        [{ identity: "ann", origins: ["http://a.example"] }, false],
        [{ identity: "ann", ttlSeconds: 60.5 }, false],
        [{ identity: " ann" }, false],
        [{ identity: "\u202eann" }, false],
      ]) {
        const response = await sendRequest(input);
        description.expect("createSession", response);
        assert.deepEqual(
          [response.status === 201, description.faults(schema, input) === undefined],
          [taken, taken],
          JSON.stringify(input),
        );
        if (!taken) continue;
        const page = input.origins ? [["origin", input.origins[0]]] : [];
        const whoami = await send("/v1/whoami", { secret: response.json.token, headers: page });
        assert.equal(whoami.status, 200);
        description.expect("whoami", whoami);
      }
    });

    test("describes the responses with large pages", async () => {
      for (const [id, path] of [
        ["listConnectors", "/v1/available-connectors"],
        ["listActions", `/v1/available-actions/${PLATFORM}`],
        ["listConnections", "/v1/vault/connections"],
      ]) {
        for (const filter of ["limit=500", "limit=2", "page=1000000000"]) {
          const response = await send(`${path}?${filter}`, { secret: keys.full.secret });
          assert.equal(response.status, 200);
          description.expect(id, response);
        }
      }
    });

    proof("states the limits of every parameter", async () => {
      const text = (length) => "x".repeat(length);
      const list = (length) => Array.from({ length }, (_, n) => `x${n}`).join();
      /** Returns valid and invalid values of a parameter with this schema. */
      const testValues = ({ type, format, enum: names, items, minimum, maximum, maxLength, maxItems, pattern }) => {
        if (type === "boolean")
          return [
            ["true", "false"],
            ["True", "1"],
          ];
        if (type === "integer")
          return [[minimum, maximum].map(String), [minimum - 1, maximum + 1].map(String).concat("x", "1.5")];
        if (items?.enum)
          return [
            [items.enum[0], items.enum.slice(0, maxItems).join()],
            ["nothing", items.enum[0].toUpperCase(), ","],
          ];
        if (type === "array")
          return [
            ["x", list(maxItems)],
            [list(maxItems + 1), "a,,b", ","],
          ];
        if (names) return [names, ["nothing", names[0].toUpperCase()]];
        if (format === "uuid") return [[UNKNOWN], ["x", UNKNOWN.slice(1)]];
        if (format === "date") return [[new Date().toISOString().slice(0, 10)], ["x", "2026-02-30"]];
        if (format === "date-time") return [["2026-01-15T08:00:00Z"], ["x", "2026-01-15"]];
        if (maxLength)
          return [
            [text(1), text(maxLength)],
            [text(maxLength + 1), ...(pattern ? [" "] : [])],
          ];
        const mismatches = ["x", "0".repeat(10), "É"].filter((value) => !new RegExp(pattern, "u").test(value));
        return pattern ? [[], mismatches] : [["x", "%_*,'\"\\é🦀"], []];
      };
      let parameters = 0;
      for (const operation of description.operations.values()) {
        for (const { name, schema } of operation.parameters?.filter((parameter) => parameter.in === "query") ?? []) {
          const [taken, invalidValues] = testValues(schema);
          const [path] = (await validRequest(operation)).path.split("?");
          const status = async (value) => {
            const needed = operation.operationId === "searchActions" && { q: "x" };
            const filter = query({ ...needed, [name]: value, ...(name === "tagsMatch" && { tags: "x" }) });
            const response = await send(`${path}?${filter}`, { secret: keys.full.secret });
            description.expect(operation.operationId, response);
            return response.status;
          };
          // A pending attempt delays its response by `wait` seconds, so only the shortest value is sent.
          const allowed = name === "wait" ? taken.slice(0, 1) : taken;
          for (const value of allowed) assert.equal(await status(value), 200, `${path}?${name}=${value}`);
          for (const value of [...invalidValues, ""])
            assert.equal(await status(value), 400, `${path}?${name}=${value}`);
          parameters += 1;
        }
      }
      assert.ok(parameters > 50, `${parameters} parameters`);
    });

    proof("accepts the same bodies as the service", async () => {
      const long = (count) => "é".repeat(count);
      const cases = [
        {},
        input(),
        { ...input(), platform: "GitHub" },
        { ...input(), platform: "Git Hub" },
        { ...input(), platform: 1 },
        { ...input(), identityType: "User" },
        { ...input(), nothing: 1 },
        ...[1, "", long(256), long(257), "a,b", "a\nb", "a\u{85}", " a ", "a::b\u{1f980}"].map((identity) =>
          input({ identity }),
        ),
        ...[null, 1, "", long(128), long(129), "a,b", "a\u{0}", " a "].map((name) => input({ name })),
        ...[null, "", "a-1", "A", "a_b", "x".repeat(64), "x".repeat(65)].map((label) => input({ label })),
        ...["v1", "v", "1", "v1.0", `v${"1".repeat(16)}`, `v${"1".repeat(17)}`, null].map((platformVersion) =>
          input({ platformVersion }),
        ),
        ...[
          null,
          "x",
          [],
          ["a"],
          ["a", "a"],
          [""],
          ["a,b"],
          [" a"],
          ["a\u{a0}"],
          ["a b"],
          ["\u{2028}a"],
          ["a\u{200b}"],
          ["\u{202e}a"],
          ["👩\u{200d}👧", "❤\u{fe0f}"],
          ["\u{1f980}".repeat(128)],
          ["\u{1f980}".repeat(129)],
          ["a\u{7f}"],
          ["\u{feff}"],
          [1],
          Array(50).fill("t"),
          Array(51).fill("t"),
        ].map((tags) => input({ tags })),
        ...["failed", "Failed", null].map((state) => input({ state })),
        ...[true, false, null, "true"].map((active) => input({ active })),
      ];
      const { schema } = description.operations.get("createConnection").requestBody.content["application/json"];
      let created = 0;
      for (const body of cases) {
        const response = await create(body);
        description.expect("createConnection", response);
        const faults = description.faults(schema, body);
        assert.equal(
          response.status === 201,
          faults === undefined,
          `${JSON.stringify(body)}: ${response.status}, ${faults}`,
        );
        created += response.status === 201 ? 1 : 0;
      }
      assert.ok(created > 15 && cases.length - created > 25, `${created} of ${cases.length}`);
      for (const [change, taken] of [
        [{}, true],
        [{ tags: [] }, true],
        [{ name: "x" }, false],
        [{ tags: null }, false],
      ]) {
        const { id } = (await create(input())).json;
        const body = JSON.stringify(change);
        const response = await send(connectionPath(id), {
          method: "PATCH",
          secret: keys.full.secret,
          headers: [JSON_TYPE],
          body,
        });
        description.expect("updateConnection", response);
        const { schema: changes } =
          description.operations.get("updateConnection").requestBody.content["application/json"];
        assert.deepEqual(
          [response.status === 200, description.faults(changes, change) === undefined],
          [taken, taken],
          body,
        );
      }
    });
  });
}
