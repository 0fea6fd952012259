// Shared code of the tests of the package's validation.
import assert from "node:assert/strict";
import { Recorder, expectNoResponse, errorPropertiesOf, failure } from "./package.mjs";

export const CONNECTORS = "/v1/available-connectors";
export const ACTIONS = "/v1/available-actions/github";
export const ID = "aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa";
export const x = (count) => "x".repeat(count);

/** Encodes filters as a query. */
export const pairs = (filters) =>
  Object.entries(filters)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value === null ? "" : String(value))}`)
    .join("&");

/** Converts a call's error to the errors that a validation returns: its list, or one for the whole request. */
const faultsOf = ({ errors, message }) => (errors.length > 0 ? errors : [{ detail: message }]);

/** Compares the package with the service: { counted, plain, expectSame }. */
export function comparisonHelpers(fixture) {
  /** A client of the service whose requests are counted. */
  const countingClient = () => {
    const recorder = new Recorder();
    return { recorder, client: fixture.vault(fixture.keys.full, { fetch: recorder.fetch, maxRetries: 0 }) };
  };
  const plain = (path, options) => fixture.plain(fixture.keys.full, path, options);

  /** Asserts that a call fails without a request, with the service's error; `validate` returns the same errors. */
  async function expectSame(what, call, response, validate) {
    assert.ok(response.status >= 400, `${what}: the service accepts it`);
    const { recorder, client } = countingClient();
    const error = await failure(() => call(client));
    assert.equal(recorder.calls, 0, `${what}: a request was sent`);
    expectNoResponse(error, "ValidationError");
    const { status, code, message, errors } = error;
    assert.deepEqual({ status, code, message, errors }, errorPropertiesOf(response.json), what);
    if (validate) assert.deepEqual(validate(client), faultsOf(error), `${what}: the validation returns other errors`);
    assert.equal(recorder.calls, 0, `${what}: the validation sent a request`);
  }

  return { counted: countingClient, plain, expectSame };
}
