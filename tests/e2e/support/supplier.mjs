// A function that supplies tokens for the option `secret`, and shared code of its tests.
import { secrets } from "./http.mjs";
import { WHOAMI, json, problem, runTimed } from "./transport.mjs";

/** Supplies numbered tokens, unless `give` overrides them. */
export class Supplier {
  /** All calls: { at, given }. */
  calls = [];

  constructor(give = (text) => text) {
    const supplier = this;
    this.supply = function (...args) {
      supplier.calls.push({ at: Date.now(), given: [this, ...args] });
      return give(supplier.token(supplier.calls.length), supplier.calls.length);
    };
  }

  /** The nth token that it supplies. */
  token(n) {
    const text = `st_test_${String(n).padStart(4, "0")}.${"signed-by-the-tests".repeat(3)}`;
    secrets.add(text);
    return text;
  }
}
/** The number of the token in a request. */
export const numberOf = (request) => Number(/^st_test_(\d+)\./.exec(request.headers.get("x-service-secret"))?.[1]);
export const rejectToken = () => problem(401, "invalid_key");
/** A `fetch` that rejects all tokens before the nth. */
export const rejectingFetch =
  (n, good = () => json(WHOAMI)) =>
  (request) =>
    numberOf(request) < n ? rejectToken() : good(request);

/** Runs a call with a new supplier: the result of `runTimed`, and the number of calls of the supplier. */
export async function runWithSupplier(supplier, send, call, options, tick) {
  const outcome = await runTimed(send, call, { secret: supplier.supply, ...options }, tick);
  return { ...outcome, supplies: supplier.calls.length, tokens: outcome.requests.map(numberOf) };
}
export const whoami = (vault, options) => vault.whoami(options);
export const expiring = (seconds) => (text) => ({
  token: text,
  expiresAt: new Date(Date.now() + seconds * 1000).toISOString(),
});
