// Assertions that hold for every response of the service.
import assert from "node:assert/strict";

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const SERVER_TIMING_PATTERN = /^d1;desc="calls=\d+ rows_read=\d+ rows_written=\d+", kv;desc="reads=\d+"$/;
const TITLES = {
  unknown_parameter: [400, "Unknown query parameter"],
  repeated_parameter: [400, "Repeated query parameter"],
  invalid_parameter: [400, "Invalid parameter"],
  query_too_broad: [400, "Query too broad"],
  invalid_body: [400, "Invalid body"],
  missing_key: [401, "Missing API key"],
  invalid_key: [401, "Invalid API key"],
  insufficient_scope: [403, "Insufficient scope"],
  route_not_found: [404, "Route not found"],
  platform_not_found: [404, "Platform not found"],
  action_not_found: [404, "Action not found"],
  connection_not_found: [404, "Connection not found"],
  attempt_not_found: [404, "Attempt not found"],
  credentials_not_found: [404, "Credentials not found"],
  oauth_client_not_found: [404, "OAuth client not found"],
  key_not_found: [404, "API key not found"],
  method_not_allowed: [405, "Method not allowed"],
  connection_exists: [409, "Connection exists"],
  connection_failed: [409, "Connection failed"],
  credentials_held: [409, "Credentials held"],
  not_checkable: [409, "Not checkable"],
  not_refreshable: [409, "Not refreshable"],
  oauth_client_missing: [409, "OAuth client missing"],
  key_limit: [409, "Too many API keys"],
  key_inactive: [409, "API key not active"],
  precondition_failed: [412, "Precondition failed"],
  body_too_large: [413, "Body too large"],
  unsupported_media_type: [415, "Unsupported media type"],
  credentials_rejected: [422, "Credentials rejected"],
  account_mismatch: [422, "Different account"],
  too_many_requests: [429, "Too many requests"],
  platform_unreachable: [502, "Platform unreachable"],
  refresh_failed: [503, "No new access token"],
  unavailable: [503, "Temporarily unavailable"],
  platform_timeout: [504, "Platform timeout"],
  vault_full: [507, "Vault full"],
};

export const READ_METHODS = "GET, HEAD, OPTIONS";
/** Every problem code of the service, and `internal`, which should not occur. */
export const PROBLEM_CODES = [...Object.keys(TITLES), "internal"];

/** The headers of a response by name, without those of the transport. */
function headersOf(response) {
  const transport = ["connection", "content-length", "date", "transfer-encoding"];
  const headers = response.headers.filter(([name]) => !transport.includes(name));
  const names = headers.map(([name]) => name);
  assert.equal(new Set(names).size, names.length, `a header is sent twice: ${names}`);
  return Object.fromEntries(headers);
}

/** Asserts exactly these headers, in addition to those of every response. */
export function expectHeaders(response, own, { vary = "x-service-secret, origin" } = {}) {
  const { "x-request-id": id, "server-timing": cost, ...rest } = headersOf(response);
  assert.match(id, UUID);
  assert.match(cost, SERVER_TIMING_PATTERN);
  assert.deepEqual(rest, { vary, "x-content-type-options": "nosniff", ...own });
}

/** The rows that a write adds for the audit: the actor, which is inserted first and deleted last. */
export const AUDIT_ROWS = 2;

/** The storage cost of a request, from the header `server-timing`. */
export function costOf(response) {
  const [calls, rowsRead, rowsWritten, reads] = response
    .header("server-timing")
    .match(/\d+(?=[ "])/g)
    .map(Number);
  return { calls, rowsRead, rowsWritten, reads };
}

/** Asserts an uncacheable JSON response, and returns its value. */
export function expectJson(response, status, own = {}) {
  assert.equal(response.status, status, response.text.slice(0, 500));
  expectHeaders(response, { "content-type": "application/json", "cache-control": "private, no-store", ...own });
  assert.equal(response.header("content-length"), String(response.body.length));
  return response.json;
}

/** Asserts a page of a catalog list, byte for byte compact JSON, and returns the envelope. */
export function expectPage(response, expected = {}) {
  assert.equal(response.status, 200, response.text.slice(0, 500));
  const etag = response.header("etag");
  assert.match(etag, /^"[^"]+"$/, "a strong entity tag");
  expectHeaders(response, { "content-type": "application/json", "cache-control": "private, no-cache", etag });
  assert.equal(response.header("content-length"), String(response.body.length));
  const envelope = response.json;
  assert.deepEqual(Object.keys(envelope), ["rows", "total", "pages", "page"]);
  assert.ok(Buffer.from(JSON.stringify(envelope)).equals(response.body), "compact JSON, in UTF-8");
  for (const [name, value] of Object.entries(expected)) assert.deepEqual(envelope[name], value, name);
  return envelope;
}

/**
 * Asserts a problem document with everything that its code implies, and returns it. `more`: exact members (`detail`, `errors`,
 * `suggestions`, `connectionId`); `headers`: additional headers; `vary`; `allow`: the methods of the path.
 */
export function expectProblem(response, code, { headers = {}, vary, allow = READ_METHODS, ...more } = {}) {
  const [status, title] = TITLES[code];
  assert.equal(response.status, status, response.text.slice(0, 500));
  const impliedHeaders = {
    ...(status === 401 && { "www-authenticate": "ApiKey" }),
    ...(status === 405 && { allow }),
    ...(status === 429 && { "retry-after": "60" }),
    ...(status === 503 && { "retry-after": "5" }),
  };
  const type = { "content-type": "application/problem+json", "cache-control": "private, no-store" };
  expectHeaders(response, { ...type, ...impliedHeaders, ...headers }, { vary });
  assert.equal(response.header("content-length"), String(response.body.length));
  const problem = response.json;
  const { type: page, detail, errors, suggestions, connectionId, ...facts } = problem;
  assert.deepEqual(facts, { title, status, code, requestId: response.header("x-request-id") });
  assert.match(page, new RegExp(`^http://127\\.0\\.0\\.1:\\d+/problems/${code}$`));
  assert.ok(detail.length > 0 && detail.length < 2000, detail);
  assert.equal(errors !== undefined, status === 400, "`errors` come with status 400, and only then");
  const names = code === "connection_exists";
  assert.equal(connectionId !== undefined, names, "`connectionId` comes with `connection_exists`, and only then");
  for (const [name, value] of Object.entries(more)) assert.deepEqual(problem[name], value, name);
  return problem;
}
