// The Hono Worker of the benchmarks returns the same responses as ours: sends each request of a table to both.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { compatibilityDate } from "../bench/common.mjs";
import { HttpLoad } from "../bench/load.mjs";
import { Runtime } from "../bench/runtime.mjs";
import { serveStorage, vault } from "../bench/store.mjs";
import { externalService, hono, honoValues, localValues, ours } from "../bench/workers.mjs";
import { send } from "../../tests/e2e/support/http.mjs";
import { key, secret } from "../../tests/e2e/support/keys.mjs";
import { State, build, folder, smallCatalog } from "../../tests/e2e/support/workspace.mjs";

const CONNECTORS = "/v1/available-connectors";
const ACTIONS = "/v1/available-actions/petstore-swagger";
const VAULT = "/v1/vault/connections";
const CONNECTION_PATH = `${VAULT}/00000000-0000-4000-8000-000000000007`;
const UNKNOWN_CONNECTION = `${VAULT}/00000000-0000-4000-8000-00000000beef`;
const JSON_TYPE = ["content-type", "application/json"];

const keys = {
  full: key({ account: "bench" }),
  catalogOnly: key({ account: "bench", scopes: "catalog:read" }),
  readOnly: key({ account: "bench", scopes: "connections:read" }),
  otherAccount: key({ account: "other" }),
  live: key({ account: "bench", environment: "live" }),
  revoked: key({ account: "bench", revoked_at: 1 }),
  expired: key({ account: "bench", expires_at: 1 }),
  unknown: { secret: secret() },
};

const get = (path, who = "full", headers = []) => ({ path, who, headers });
const patch = (path, body, { who = "full", headers = [JSON_TYPE] } = {}) => ({
  method: "PATCH",
  path,
  who,
  headers,
  body,
});
const tags = (...list) => JSON.stringify({ tags: list });

/** Requests that both Workers support. */
const REQUESTS = [
  get("/health"),
  get("/v1/whoami"),
  get("/v1/whoami?x=1"),
  // 1. Authentication and authorization.
  ...[CONNECTORS, ACTIONS, VAULT, CONNECTION_PATH, "/v1/nothing"].flatMap((path) => [
    { path, headers: [] },
    ...["revoked", "expired", "unknown", "catalogOnly", "readOnly", "otherAccount", "live"].map((who) =>
      get(path, who),
    ),
    { path, headers: [["x-service-secret", "sk_test_wrong"]] },
  ]),
  ...["POST", "PUT", "DELETE", "PATCH", "PURGE"].flatMap((method) =>
    [CONNECTORS, ACTIONS].map((path) => ({ method, path, who: "full", headers: [] })),
  ),
  ...[CONNECTORS, ACTIONS, "/health"].map((path) => ({ ...get(path), method: "HEAD" })),
  get(`${CONNECTORS}/`),
  get(`${CONNECTORS}?limit=0&nothing=1`, "readOnly"),
  // 2. Parameters.
  ...["0", "501", "-1", "1.0", "%201", "999999999999999999999", "two", ""].flatMap((value) => [
    get(`${CONNECTORS}?limit=${value}`),
    get(`${VAULT}?page=${value}`),
  ]),
  ...["limit=3", "limit=500", "page=2&limit=3", "page=1000000000&limit=500", "page=1000000000"].flatMap((query) =>
    [CONNECTORS, ACTIONS, VAULT].map((path) => get(`${path}?${query}`)),
  ),
  ...[
    "pages=2",
    "Limit=1",
    "limit=1&limit=1",
    "authkit=yes",
    "name=%zz",
    "q=+",
    `q=${"a".repeat(101)}`,
    "q=",
    "limt=1&name=a&name=b&category=&page=0",
  ].map((query) => get(`${CONNECTORS}?${query}`)),
  ...["identityType=robot", "key=a,,b", "tags=,", "active=1", `tags=${Array(21).fill("a")}`, "identity="].map((query) =>
    get(`${VAULT}?${query}`),
  ),
  // 3. The catalog.
  ...[
    "platform=GitHub",
    "platform=acme-store",
    "platform=nothing",
    "key=api::acme-store::v2",
    "name=acme%20store",
    "category=other",
    "category=E-Commerce",
    "authkit=true",
    "authkit=false",
    "q=store",
    "q=ACME+store",
    "q=pet",
    "q=e",
    "q=a+pet",
  ].map((query) => get(`${CONNECTORS}?${query}`)),
  ...[
    "title=list%20all%20pets",
    "title=List",
    "method=get",
    "method=HEAD",
    "key=listPets",
    "key=LISTPETS",
    "q=pet",
    "q=list+pets",
    "q=pets+list",
    "q=swagger",
    "q=zzz",
  ].map((query) => get(`${ACTIONS}?${query}`)),
  get("/v1/available-actions/PETSTORE-Swagger"),
  get("/v1/available-actions/%70etstore-swagger"),
  get("/v1/available-actions/nothing-like-it"),
  get(CONNECTORS, "full", [["if-none-match", "*"]]),
  get(CONNECTORS, "full", [["if-none-match", '"other"']]),
  // 4. The vault.
  ...[
    "platform=github",
    "platform=GitHub",
    "platform=nothing",
    "identity=user-7@example.com",
    "identityType=user",
    "identityType=team",
    "platformVersion=v1",
    "tags=tag-3",
    "tags=tag-3,bench",
    "tags=tag-3,tag-4",
    "tags=tag-3,tag-4&tagsMatch=any",
    "active=false",
    "active=true",
    "q=USER-1",
    "q=nobody",
    "key=test::github::default::user-0@example.com,test::slack::default::user-2@example.com",
    "name=ann",
    "platform=github&tags=tag-6&limit=2",
  ].map((query) => get(`${VAULT}?${query}`)),
  get(CONNECTION_PATH),
  get(CONNECTION_PATH.toUpperCase().replace("/V1/VAULT/CONNECTIONS", VAULT)),
  get(UNKNOWN_CONNECTION),
  get(`${VAULT}/nothing`),
  patch(CONNECTION_PATH, tags("a", "b", "a")),
  patch(CONNECTION_PATH, tags("a", "b", "a")),
  patch(CONNECTION_PATH, "{}"),
  patch(CONNECTION_PATH, tags("c"), { headers: [JSON_TYPE, ["if-match", '"00000000-0000-4000-8000-000000000007-2"']] }),
  patch(CONNECTION_PATH, tags("d"), { headers: [JSON_TYPE, ["if-match", '"00000000-0000-4000-8000-000000000007-2"']] }),
  patch(CONNECTION_PATH, tags("e"), { headers: [JSON_TYPE, ["if-match", "*"]] }),
  patch(CONNECTION_PATH, tags()),
  patch(CONNECTION_PATH, tags("é", "🦀".repeat(128)), {
    headers: [["content-type", "application/json; charset=utf-8"]],
  }),
  ...[
    '{"tags":["a,b"]}',
    '{"tags":[""]}',
    '{"tags":[" a"]}',
    '{"tags":["a\\u0000"]}',
    '{"tags":[1]}',
    '{"tags":"a"}',
    '{"tags":["a"],"name":"x"}',
    '{"a~/b":1}',
    "[]",
    "",
    "{",
    '{"tags":["a"]} x',
    `{"tags":${JSON.stringify(Array(51).fill("a"))}}`,
  ].map((body) => patch(CONNECTION_PATH, body)),
  patch(CONNECTION_PATH, tags("x"), { headers: [["content-type", "text/plain"]] }),
  patch(CONNECTION_PATH, " ".repeat(70_000)),
  patch(CONNECTION_PATH, tags("x"), { who: "readOnly" }),
  patch(CONNECTION_PATH, tags("x"), { who: "otherAccount" }),
  patch(UNKNOWN_CONNECTION, tags("x")),
  get(CONNECTION_PATH),
];

/** The comparable parts of a response: human-readable messages, request ids and version names differ. */
function comparable(response) {
  const headers = Object.fromEntries(
    ["content-type", "cache-control", "vary", "allow", "www-authenticate", "x-content-type-options"].map((name) => [
      name,
      response.header(name),
    ]),
  );
  const hasTag = response.header("etag") !== undefined;
  if (response.body.length === 0) return { status: response.status, headers, hasTag };
  const { requestId, detail, errors, suggestions, ...body } = response.json;
  // For an unknown parameter, the nearest valid one is also compared.
  const places = errors?.map(({ parameter, pointer, suggestion }) => ({
    parameter,
    pointer,
    ...(body.code === "unknown_parameter" && { suggestion }),
  }));
  return { status: response.status, headers, hasTag, body, places, suggests: suggestions?.length };
}

describe("the Hono Worker of the benchmarks", () => {
  const runtimes = {};
  const storages = [];

  before(async () => {
    await build();
    const state = new State("hono-catalog");
    await state.publish(await smallCatalog());
    const place = join(folder, "hono");
    mkdirSync(place);
    const start = async (name, values, make) => {
      const storage = await serveStorage((request) => values.get(request), vault(keys.full.row, 30));
      const insert = storage.database.prepare(
        "INSERT INTO api_keys (hash, id, account, environment, scopes, created_at, expires_at, revoked_at) VALUES (?, ?, ?, ?, ?, 0, ?, ?)",
      );
      for (const { row } of Object.values(keys).filter((apiKey) => apiKey.row && apiKey !== keys.full)) {
        insert.run(row.hash, row.id, row.account, row.environment, row.scopes, row.expires_at, row.revoked_at);
      }
      storages.push(storage);
      const service = await make(place, { compatibilityDate: compatibilityDate(), storage: "storage" });
      runtimes[name] = await Runtime.start(place, name, [service, externalService("storage", storage.port)], [name]);
    };
    await start("ours", await localValues(state.path), ours);
    const load = await HttpLoad.to(runtimes.ours.ports.ours, 1);
    const values = await honoValues(load, { "x-service-secret": keys.full.secret });
    load.close();
    await start("hono", values, hono);
  });

  after(async () => {
    for (const runtime of Object.values(runtimes)) await runtime.stop();
    for (const storage of storages) storage.close();
  });

  for (const [index, { method = "GET", path, who, headers, body }] of REQUESTS.entries()) {
    const digest = body ? ` ${createHash("sha256").update(body).digest("hex").slice(0, 6)}` : "";
    test(`${index}. ${method} ${path.slice(0, 100)} as ${who ?? "nobody"}${digest}`, async () => {
      const sent = [...(who ? [["x-service-secret", keys[who].secret]] : []), ...headers];
      const sendRequest = async (name) => {
        const response = await send({ port: runtimes[name].ports[name], method, path, headers: sent, body });
        return comparable(response);
      };
      const [expected, answered] = [await sendRequest("ours"), await sendRequest("hono")];
      // Replaces host and port in URLs, which differ between the Workers.
      const same = (value) => JSON.parse(JSON.stringify(value).replace(/127\.0\.0\.1:\d+/g, "host"));
      assert.deepEqual(same(answered), same(expected));
    });
  }

  test("a matching entity tag returns 304", async () => {
    for (const name of ["ours", "hono"]) {
      for (const path of [CONNECTORS, `${ACTIONS}?q=pet`]) {
        const sendRequest = (headers) =>
          send({
            port: runtimes[name].ports[name],
            path,
            headers: [["x-service-secret", keys.full.secret], ...headers],
          });
        const etag = (await sendRequest([])).header("etag");
        const response = await sendRequest([["if-none-match", `"other", W/${etag}`]]);
        assert.deepEqual(
          [response.status, response.body.length, response.header("etag")],
          [304, 0, etag],
          `${name} ${path}`,
        );
      }
    }
  });
});
