// Tests that only `npm run proof` runs: rarer cases of a rule whose usual case `npm test` covers. They are in the same files as the
// tests whose service and pages they use.
import { test } from "node:test";

/** Whether `npm run proof` runs the tests. */
export const isProof = Boolean(process.env.CONNECTOR_VAULT_PROOF);

/** Like `test`, for a test that only `npm run proof` runs. */
export const proof = isProof ? test : () => {};

/** All cases for `npm run proof`; for `npm test`, the first of every `step`. */
export const sampled = (cases, step) => cases.filter((_, at) => isProof || at % step === 0);
