// The npm package where no real server can be made to show it: failures in a row, waits, and a `fetch` of the caller's own
// that does what it likes. Time is the tests' own, and passes when everything is idle: so these are alone in their
// process. What the service itself answers is in package.test.mjs.
import { describe, test } from "node:test";
import { expectNothingBeside } from "./support/package.mjs";
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

  test("no promise was left to fail on its own, and `fetch` was always called as it should be", expectNothingBeside);
});
