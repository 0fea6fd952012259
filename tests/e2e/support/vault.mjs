// The vault through the API, and in the database.
import assert from "node:assert/strict";
import { expectHeaders, expectJson } from "./expect.mjs";

export const CONNECTIONS = "/v1/vault/connections";
export const SUMMARY = "/v1/vault/summary";
/** The values of `Allow` for the list and for one connection. */
export const LIST_METHODS = "GET, HEAD, POST, OPTIONS";
export const CONNECTION_METHODS = "GET, HEAD, PATCH, DELETE, OPTIONS";

const FIELDS = [
  "id",
  "platformVersion",
  "name",
  "type",
  "key",
  "environment",
  "platform",
  "identity",
  "identityType",
  "description",
  "state",
  "tags",
  "version",
  "active",
  "createdAt",
];
const ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const TIME_PATTERN = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const NEXT_LINK_PATTERN = /^<(http:\/\/127\.0\.0\.1:\d+)(\/v1\/vault\/connections\?[^<>"\s]*)>; rel="next"$/;

export const query = (filter) => new URLSearchParams(filter).toString();
export const connectionPath = (id) => `${CONNECTIONS}/${id}`;

/** Requests with one key. Bodies are sent as JSON unless they are bytes. */
export class Caller {
  /** @param {object} fixture with the server @param {{ secret: string }} key */
  constructor(fixture, key) {
    this.fixture = fixture;
    this.key = key;
  }

  send(method, path, { body, headers = [] } = {}) {
    return this.fixture.server.send(path, { method, secret: this.key.secret, headers, body });
  }

  sendJson(method, path, value, headers = []) {
    const body = typeof value === "string" || value?.constructor !== Object ? value : JSON.stringify(value);
    const hasContentType = headers.some(([name]) => name.toLowerCase() === "content-type");
    return this.send(method, path, {
      body,
      headers: hasContentType ? headers : [["content-type", "application/json"], ...headers],
    });
  }

  list = (filter = {}) => this.send("GET", `${CONNECTIONS}?${typeof filter === "string" ? filter : query(filter)}`);
  read = (id, headers) => this.send("GET", connectionPath(id), { headers });
  create = (value, headers) => this.sendJson("POST", CONNECTIONS, value, headers);
  patch = (id, value, headers) => this.sendJson("PATCH", connectionPath(id), value, headers);
  setState = (id, value, headers) => this.sendJson("PUT", `${connectionPath(id)}/state`, value, headers);
  setName = (id, value, headers) => this.sendJson("PUT", `${connectionPath(id)}/name`, value, headers);
  remove = (id, headers) => this.send("DELETE", connectionPath(id), { headers });
  summary = () => this.send("GET", SUMMARY);
  /** Records today's use of the key in advance, so that it does not count towards the cost of a request. */
  use = () => this.send("GET", "/v1/whoami");
}

/** The invariants of every connection, as functions: one assertion per connection is faster than one per invariant. */
const INVARIANTS = Object.entries({
  fields: (row) => Object.keys(row).join() === FIELDS.join(),
  id: ({ id }) => ID.test(id),
  type: ({ type }) => type === "api",
  platform: ({ platform }) => /^[a-z0-9-]{1,64}$/.test(platform),
  platformVersion: ({ platformVersion }) => /^v\d+$/.test(platformVersion),
  environment: ({ environment }) => ["test", "live"].includes(environment),
  key: ({ key, environment, platform, identity }) =>
    key.startsWith(`${environment}::${platform}::`) && key.endsWith(`::${identity}`),
  identityType: ({ identityType }) => ["user", "team", "organization", "project"].includes(identityType),
  state: ({ state }) => ["operational", "degraded", "failed", "unknown"].includes(state),
  name: ({ name }) => name === null || typeof name === "string",
  description: ({ description }) => typeof description === "string",
  tags: ({ tags }) => Array.isArray(tags) && tags.every((tag) => typeof tag === "string"),
  version: ({ version }) => typeof version === "string" && /^[1-9]\d*$/.test(version),
  active: ({ active }) => typeof active === "boolean",
  createdAt: ({ createdAt }) => TIME_PATTERN.test(createdAt) && new Date(createdAt).toISOString() === createdAt,
});

/** Asserts that a connection has the members that docs/api.md describes, and returns it. */
export function expectFields(connection) {
  for (const [what, holds] of INVARIANTS)
    if (!holds(connection)) assert.fail(`${what} of ${JSON.stringify(connection)}`);
  return connection;
}

/** Asserts one connection, byte for byte compact JSON, with its strong entity tag: { connection, etag }. */
export function expectConnection(response, expected = {}, { status = 200, vary, headers } = {}) {
  assert.equal(response.status, status, response.text.slice(0, 500));
  const etag = response.header("etag");
  assert.match(etag, /^"[^"]+"$/, "a strong entity tag");
  const connection = expectFields(response.json);
  const location = `http://127.0.0.1:${response.port}${connectionPath(connection.id)}`;
  const own = {
    "content-type": "application/json",
    "cache-control": "private, no-store",
    etag,
    ...(status === 201 && { location }),
    ...headers,
  };
  expectHeaders(response, own, { vary });
  assert.ok(Buffer.from(JSON.stringify(connection)).equals(response.body), "compact JSON, in UTF-8");
  for (const [name, value] of Object.entries(expected)) assert.deepEqual(connection[name], value, name);
  return { connection, etag };
}

/** Asserts a page of connections. Returns the envelope, and in `next` the path of `Link`, if there is one. */
export function expectConnections(response, expected = {}) {
  const link = response.header("link");
  const envelope = expectJson(response, 200, link === undefined ? {} : { link });
  assert.deepEqual(Object.keys(envelope), ["rows", "total", "pages", "page"]);
  assert.ok(Buffer.from(JSON.stringify(envelope)).equals(response.body), "compact JSON, in UTF-8");
  envelope.rows.forEach(expectFields);
  for (const [name, value] of Object.entries(expected)) assert.deepEqual(envelope[name], value, name);
  if (link === undefined) return { ...envelope, next: undefined };
  const [, origin, next] = NEXT_LINK_PATTERN.exec(link) ?? assert.fail(`\`Link\` is ${link}`);
  assert.equal(origin, `http://127.0.0.1:${response.port}`, "the address of the service");
  return { ...envelope, next };
}

/** All pages of a list, by following `Link`. `each` gets every page before the next one is requested. */
export async function follow(caller, filter = {}, each = async () => {}) {
  const pages = [];
  let path = `${CONNECTIONS}?${query(filter)}`;
  while (path !== undefined) {
    const response = await caller.send("GET", path);
    const page = { ...expectConnections(response, { page: pages.length + 1 }), response };
    pages.push(page);
    await each(page, pages.length);
    path = page.next;
  }
  return pages;
}

/** All data of some accounts in the database, as a string. */
export async function stored(database, ...accounts) {
  const statement = ([table, order]) =>
    database
      .prepare(
        `SELECT * FROM ${table} WHERE account IN (SELECT value FROM json_each(?)) ORDER BY account, environment, ${order}`,
      )
      .bind(JSON.stringify(accounts));
  const tables = [
    ["connections", "seq"],
    ["connection_tags", "seq, tag"],
    ["connection_counts", "active, dimension, value"],
  ];
  return JSON.stringify((await database.batch(tables.map(statement))).map(({ results }) => results));
}

/** Asserts that counters are right for every account. */
export async function expectCorrectCounts(database) {
  const fresh = `
    SELECT account, environment, active, dimension, value, count(*) AS n FROM connection_counted GROUP BY 1, 2, 3, 4, 5
    UNION ALL
    SELECT account, environment, active, 'tag', value, count(*) FROM
      (SELECT DISTINCT c.account, c.environment, c.active, j.value, c.seq FROM connections c, json_each(c.tags) j) GROUP BY 1, 2, 3, 5
    ORDER BY 1, 2, 3, 4, 5`;
  const counted =
    "SELECT account, environment, active, dimension, value, n FROM connection_counts ORDER BY 1, 2, 3, 4, 5";
  const [expected, found] = (await database.batch([database.prepare(fresh), database.prepare(counted)])).map(
    ({ results }) => results,
  );
  assert.ok(expected.length > 100);
  assert.deepEqual(found, expected);
}

const COLUMNS =
  "account, environment, id, active, platform, platform_version, label, identity, identity_folded, identity_type, name, " +
  "name_folded, description, state, tags, version, created_at, written_by";

/** Retries once, because the server may just have closed the keep-alive connection to the database. */
const retryOnClosedConnection = (ask) =>
  ask().catch((error) => (error.cause?.code === "UND_ERR_SOCKET" ? ask() : Promise.reject(error)));

/** Inserts connections directly into the database; `rows` have the API's members, and `createdAt` in milliseconds. */
export async function seed(database, account, rows) {
  const defaults = { label: "default", environment: "test", description: "", name: null };
  const foldedColumns = ({ identity, name }) => ({
    identityFolded: identity.toLowerCase(),
    nameFolded: name?.toLowerCase() ?? null,
  });
  const values = rows.map((row) => ({ ...defaults, ...row, ...foldedColumns(row) }));
  const insert = database.prepare(`INSERT INTO connections (${COLUMNS})
    SELECT ?1, j.value ->> 'environment', j.value ->> 'id', j.value ->> 'active', j.value ->> 'platform',
      j.value ->> 'platformVersion', j.value ->> 'label', j.value ->> 'identity', j.value ->> 'identityFolded',
      j.value ->> 'identityType', j.value ->> 'name', j.value ->> 'nameFolded', j.value ->> 'description', j.value ->> 'state',
      j.value -> 'tags', 1, j.value ->> 'createdAt', j.value ->> 'id' FROM json_each(?2) j`);
  for (let at = 0; at < values.length; at += 5000) {
    await retryOnClosedConnection(() => insert.bind(account, JSON.stringify(values.slice(at, at + 5000))).run());
  }
}
