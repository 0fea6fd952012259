// The npm package in situations that no real server can reproduce: series of failures, delays, and custom `fetch` functions. Uses
// simulated time, which advances when everything is idle, so these tests need their own process. package.test.mjs tests against the
// service.
import { describe, test } from "node:test";
import { expectNoMisuse } from "./support/package.mjs";
import { endings } from "./suites/transport-endings.mjs";
import { fetches } from "./suites/transport-fetch.mjs";
import { misreports } from "./suites/transport-misreports.mjs";
import { oddities } from "./suites/transport-oddities.mjs";
import { options } from "./suites/transport-options.mjs";
import { renewal } from "./suites/transport-renewal.mjs";
import { retries } from "./suites/transport-retries.mjs";
import { supply } from "./suites/transport-supply.mjs";

describe("the npm package without a service", { timeout: 300_000 }, () => {
  retries();
  endings();
  renewal();
  supply();
  misreports();
  fetches();
  options();
  oddities();

  test("there were no unhandled rejections, and `fetch` was always called correctly", expectNoMisuse);
});
