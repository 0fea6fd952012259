// A function that supplies tokens, as the option `secret` takes it, and what the tests of it share.
import { secrets } from "./http.mjs";
import { WHOAMI, json, problem, timed } from "./transport.mjs";

/** What gives tokens: one that is named by its number, when `give` does not say otherwise. */
export class Supplier {
  /** Each time that it was asked: { at, given }. */
  asked = [];

  constructor(give = (text) => text) {
    const supplier = this;
    this.supply = function (...given) {
      supplier.asked.push({ at: Date.now(), given: [this, ...given] });
      return give(supplier.token(supplier.asked.length), supplier.asked.length);
    };
  }

  /** Its nth token. */
  token(n) {
    const text = `st_test_${String(n).padStart(4, "0")}.${"signed-by-the-tests".repeat(3)}`;
    secrets.add(text);
    return text;
  }
}
/** The number of the token that a request was sent with. */
export const numberOf = (request) => Number(/^st_test_(\d+)\./.exec(request.headers.get("x-service-secret"))?.[1]);
export const refused = () => problem(401, "invalid_key");
/** A `fetch` that refuses all tokens before the nth. */
export const refusing =
  (n, good = () => json(WHOAMI)) =>
  (request) =>
    numberOf(request) < n ? refused() : good(request);

/** A call with a supplier of its own: what `timed` gives, and how often the supplier was asked. */
export async function supplied(supplier, send, call, options, tick) {
  const outcome = await timed(send, call, { secret: supplier.supply, ...options }, tick);
  return { ...outcome, supplies: supplier.asked.length, tokens: outcome.requests.map(numberOf) };
}
export const whoami = (vault, options) => vault.whoami(options);
export const expiring = (seconds) => (text) => ({
  token: text,
  expiresAt: new Date(Date.now() + seconds * 1000).toISOString(),
});
