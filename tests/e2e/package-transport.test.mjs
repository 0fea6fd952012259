// The npm package in situations that no real server can reproduce: series of failures, delays, and custom `fetch` functions. Uses
// simulated time, which advances when everything is idle, so these tests need their own process. package.test.mjs tests against the
// service.
import { describe, test } from "node:test";
import { expectCorrectFetchCalls } from "./support/package.mjs";
import { aborts } from "./suites/transport-aborts.mjs";
import { fetches } from "./suites/transport-fetch.mjs";
import { inconsistentPages } from "./suites/transport-inconsistent-pages.mjs";
import { invalidValues } from "./suites/transport-invalid.mjs";
import { options } from "./suites/transport-options.mjs";
import { suppliedSecrets } from "./suites/transport-supplied-secrets.mjs";
import { retries } from "./suites/transport-retries.mjs";
import { supplierFailures } from "./suites/transport-supplier-failures.mjs";

describe("the npm package without a service", { timeout: 300_000 }, () => {
  retries();
  aborts();
  suppliedSecrets();
  supplierFailures();
  inconsistentPages();
  fetches();
  options();
  invalidValues();

  test("there were no unhandled rejections, and `fetch` was always called correctly", expectCorrectFetchCalls);
});
