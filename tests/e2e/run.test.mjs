// The service on the real runtime, with local KV and D1, and catalogs and keys that the real commands create. Suites share one server,
// unless they need another configuration or break storage. Run with `node --test tests/e2e/run.test.mjs`; `--test-name-pattern` selects
// tests.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { BASE_URL } from "./support/agents.mjs";
import { secrets } from "./support/http.mjs";
import { key, secret, store } from "./support/keys.mjs";
import { PLATFORMS, SESSION_SECRET, Server, VAULT_KEYS, outputs, wranglerLogs } from "./support/server.mjs";
import { State, build, largeCatalog, otherCatalog, smallCatalog } from "./support/workspace.mjs";
import { actionDetails } from "./suites/action-details.mjs";
import { bodies } from "./suites/bodies.mjs";
import { catalogLists } from "./suites/catalog.mjs";
import { changes } from "./suites/changes.mjs";
import { concurrency } from "./suites/concurrency.mjs";
import { configuration } from "./suites/configured.mjs";
import { connections } from "./suites/connections.mjs";
import { hostileRequests } from "./suites/hostile.mjs";
import { keys } from "./suites/keys.mjs";
import { largestPlatform } from "./suites/largest.mjs";
import { migrations } from "./suites/migrations.mjs";
import { openapi } from "./suites/openapi.mjs";
import { outage } from "./suites/outage.mjs";
import { refusals } from "./suites/refusals.mjs";
import { requests } from "./suites/requests.mjs";
import { sessions } from "./suites/sessions.mjs";
import { storage } from "./suites/storage.mjs";
import { vaultCost } from "./suites/vault-cost.mjs";

/** The context of the suites: `server`, `keys`, `catalogs`, `states`, and `database`, which is opened directly. */
const fixture = {};
let opened;

describe("the service on the real runtime", () => {
  before(async () => {
    await build();
    const [small, large, other] = [await smallCatalog(), await largeCatalog(), await otherCatalog()];
    fixture.keys = {
      full: key(),
      live: key({ environment: "live" }),
      catalogOnly: key({ scopes: "catalog:read" }),
      noCatalog: key({ scopes: "connections:read connections:write" }),
      expired: key({ expires_at: Date.now() - 1 }),
      expiring: key({ expires_at: Date.UTC(2999, 0, 2, 3, 4, 5, 678) }),
      revoked: key({ revoked_at: 1 }),
      otherWorld: key({ environment: "live" }),
      damaged: key({ scopes: "catalog:read everything" }),
      unknown: { secret: secret() },
    };
    // A live key with a row of the test environment.
    fixture.keys.otherWorld.row.environment = "test";
    const rows = Object.values(fixture.keys).filter((apiKey) => apiKey.row);
    const [smallState, largeState] = [new State("small-state"), new State("large-state")];
    await smallState.prepare(small);
    await largeState.prepare(large);
    for (const state of [smallState, largeState]) await state.use(({ vault }) => store(vault, rows));
    fixture.catalogs = { small, large, other };
    fixture.states = { small: smallState, large: largeState };
    const secrets = { SESSION_SECRET, VAULT_KEYS };
    const variables = { BASE_URL };
    fixture.server = await Server.start(largeState, { name: "plain", variables, secrets, platforms: PLATFORMS });
    opened = await largeState.open();
    fixture.database = opened.vault;
  });

  after(async () => {
    await fixture.server?.stop();
    await opened?.close();
  });

  migrations(fixture);
  requests(fixture);
  keys(fixture);
  catalogLists(fixture);
  largestPlatform(fixture);
  actionDetails(fixture);
  hostileRequests(fixture);
  connections(fixture);
  changes(fixture);
  refusals(fixture);
  bodies(fixture);
  concurrency(fixture);
  openapi(fixture);
  sessions(fixture);
  vaultCost(fixture);
  outage(fixture);
  configuration(fixture);
  storage(fixture);

  test("no log contains a secret", async () => {
    await fixture.server.stop();
    const logged = [...outputs, ...wranglerLogs()].join("\n");
    assert.ok(logged.includes("/v1/whoami"), "the log is the service's");
    assert.ok(secrets.size > 10);
    for (const text of secrets) assert.ok(!logged.includes(text), "a secret was logged");
  });

  test("there were no traps and no internal errors", () => {
    const lines = [...outputs, fixture.server.output].join("\n").split("\n");
    assert.ok(lines.length > 100);
    assert.deepEqual(
      lines.filter((line) => /panicked|RuntimeError|internal request=| 500 /.test(line)),
      [],
    );
    // A starting isolate has no randomness, so the ids of rehearsed requests consist of zeros.
    assert.deepEqual(
      lines.filter((line) => line.includes("request=00000000-0000-4000-8000-000000000000")),
      [],
    );
  });
});
