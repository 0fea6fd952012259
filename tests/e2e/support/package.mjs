// The npm package as installed in a project, and shared code of the tests of its errors.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { inspect } from "node:util";
import { root } from "../../../scripts/lib/paths.mjs";
import { run } from "../../../scripts/lib/run.mjs";
import { secrets } from "./http.mjs";
import { folder } from "./workspace.mjs";

const AT_A_TIME = 6;

export const dist = join(root, "npm", "dist");

async function installed() {
  await run("npm", ["run", "--silent", "build:package"], { timeout: 900_000 });
  const project = join(folder, "project");
  mkdirSync(join(project, "node_modules"), { recursive: true });
  symlinkSync(join(root, "npm"), join(project, "node_modules", "connector-vault"), "dir");
  const entry = join(project, "entry.mjs");
  if (!existsSync(entry)) writeFileSync(entry, 'export * from "connector-vault";\n');
  return import(pathToFileURL(entry).href);
}

/** The exports of the package. */
export const library = await installed();
export const { ConnectorVault, VaultError } = library;

/** Incorrect calls of a test's `fetch`. Collected instead of thrown, because an exception would look like a lost connection. */
const incorrectFetchCalls = [];

const unhandled = [];
process.on("unhandledRejection", (reason) => unhandled.push(reason));

/** Asserts, after all other tests, that there were no unhandled rejections and no incorrect calls. */
export function expectCorrectFetchCalls() {
  assert.deepEqual(unhandled, []);
  assert.deepEqual(incorrectFetchCalls, []);
}

/** A `fetch` that records its requests; `send` responds, by default the real one. */
export class Recorder {
  /** The requests: { method, url, path, query, headers, body }. */
  requests = [];
  calls = 0;

  constructor(send = (request) => fetch(request)) {
    const recorder = this;
    this.fetch = async function (...args) {
      recorder.calls += 1;
      const [request] = args;
      if (this !== undefined) incorrectFetchCalls.push("`fetch` is called as a method");
      if (args.length !== 1 || !(request instanceof Request))
        incorrectFetchCalls.push(`\`fetch\` gets ${inspect(args)}`);
      const { pathname, searchParams } = new URL(request.url);
      const note = {
        method: request.method,
        url: request.url,
        path: pathname,
        query: Object.fromEntries(searchParams),
        headers: request.headers,
        request,
        at: Date.now(),
      };
      recorder.requests.push(note);
      note.body = request.method === "GET" || request.method === "DELETE" ? "" : await request.clone().text();
      return send(request, recorder.requests.length);
    };
  }
}

/** Checks many items, a few concurrently. */
export async function each(items, check) {
  const left = [...items].entries();
  const worker = async () => {
    for (const [n, item] of left) await check(item, n);
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, worker));
}

/** The rejection of a call. A synchronous exception is rethrown. */
export async function failure(call) {
  let value;
  try {
    value = await (typeof call === "function" ? call() : call);
  } catch (error) {
    return error;
  }
  return assert.fail(`it should have failed, but returned ${inspect(value)?.slice(0, 500)}`);
}

/** The visible content of an error, as strings. */
const visible = (error) => [
  JSON.stringify(error),
  String(error),
  error.message,
  String(error.stack),
  inspect(error, { depth: 20, showHidden: true, getters: true }),
];

/** Asserts that a value contains no secret of this run. */
export function expectNoSecret(value) {
  assert.ok(secrets.size > 0);
  for (const text of visible(value))
    for (const secret of secrets)
      assert.ok(!text.includes(secret), `a secret is in ${text.replaceAll(secret, "(secret)").slice(0, 1000)}`);
}

/** Asserts an error of exactly this class, with the invariants of all errors; `expected`: exact properties. */
export function expectError(error, kind, expected = {}) {
  const { [kind]: ExpectedClass } = library;
  assert.ok(error instanceof VaultError, `a VaultError: ${inspect(error)}`);
  assert.ok(error instanceof Error);
  assert.equal(error.constructor, ExpectedClass, `${error.constructor.name} instead of ${kind}: ${inspect(error)}`);
  assert.equal(error.name, kind);
  assert.ok(typeof error.message === "string" && error.message.length > 0);
  assert.equal(String(error), `${kind}: ${error.message}`);
  assert.ok(error.stack.includes(error.message), error.stack);
  assert.ok(Array.isArray(error.errors));
  assert.ok(error.headers === undefined || error.headers instanceof Headers);
  for (const [name, value] of Object.entries(expected))
    assert.deepEqual(error[name], value, `${name} of ${inspect(error)}`);
  expectNoSecret(error);
  return error;
}

/** Asserts an error of this class for a call that got no response. */
export const expectNoResponse = (error, kind, expected) =>
  expectError(error, kind, { requestId: undefined, headers: undefined, ...expected });

/** Asserts that the error names this option or argument as invalid. */
export function expectInvalid(error, parameter, suggestion) {
  expectNoResponse(error, "ValidationError", { status: undefined, code: "invalid_argument" });
  const fault =
    error.errors.find((error) => error.parameter === parameter) ??
    assert.fail(`\`${parameter}\` is not among ${inspect(error.errors)}`);
  assert.ok(fault.detail.length > 10, fault.detail);
  if (suggestion !== undefined) assert.equal(fault.suggestion, suggestion);
  return error;
}

/** Converts a problem document to the properties that the package's error must have. */
export const errorPropertiesOf = ({ status, code, detail, errors = [] }) => ({ status, code, message: detail, errors });

/** Asserts that an error equals the service's response to the same request. */
export function expectServiceError(error, kind, response, more = {}) {
  const { requestId, suggestions, connectionId, ...problem } = response.json;
  assert.equal(requestId, response.header("x-request-id"));
  expectError(error, kind, {
    ...errorPropertiesOf(problem),
    ...(suggestions && { suggestions }),
    ...(connectionId && { connectionId }),
    ...more,
  });
  assert.match(error.requestId, /^[0-9a-f-]{36}$/);
  assert.notEqual(error.requestId, requestId, "each request has an id of its own");
  assert.equal(error.headers.get("x-request-id"), error.requestId);
  assert.equal(error.headers.get("content-type"), "application/problem+json");
  return error;
}
