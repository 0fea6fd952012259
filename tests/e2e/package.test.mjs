// The npm package against the service on the real runtime: results are the responses of the service, and errors found before a
// request equal those of the service. Run with `node --test tests/e2e/package.test.mjs`; `--test-name-pattern` selects tests.
import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { secrets } from "./support/http.mjs";
import { key, secret, store } from "./support/keys.mjs";
import { ConnectorVault, expectCorrectFetchCalls } from "./support/package.mjs";
import { insertConnections } from "./support/seed.mjs";
import { Server, outputs, wranglerLogs } from "./support/server.mjs";
import { Site } from "./support/site.mjs";
import { State, build, folder, wideCatalog } from "./support/workspace.mjs";
import { bodies } from "./suites/package-bodies.mjs";
import { browser } from "./suites/package-browser.mjs";
import { calls } from "./suites/package-calls.mjs";
import { errors } from "./suites/package-errors.mjs";
import { filters } from "./suites/package-filters.mjs";
import { lists } from "./suites/package-lists.mjs";
import { sessions } from "./suites/package-sessions.mjs";
import { withoutService } from "./suites/package-no-service.mjs";
import { validation } from "./suites/package-validation.mjs";
import { iteration } from "./suites/package-iteration.mjs";

/** Requests per minute and key on the server with a rate limit. */
const LIMIT = 3;
const SEEDED_COUNT = 3000;
const SESSIONS_CREATE_SCOPE = "sessions:create";
const ALL = `catalog:read connections:read connections:write ${SESSIONS_CREATE_SCOPE}`;

/** The context of the suites. */
const fixture = {
  /** Creates a client of the package for the server. */
  vault: (apiKey, options) => new ConnectorVault({ baseUrl: fixture.baseUrl, secret: apiKey.secret, ...options }),
  /** Sends a request over plain HTTP, without the package. */
  plain: (apiKey, path, options) => fixture.server.send(path, { secret: apiKey.secret, ...options }),
};
let opened;

describe("the npm package and the service", { timeout: 300_000 }, () => {
  before(async () => {
    await build();
    const state = new State("package");
    await state.prepare(await wideCatalog());
    fixture.keys = {
      full: key({ scopes: ALL }),
      many: key({ account: "many" }),
      manyAgain: key({ account: "many" }),
      live: key({ environment: "live" }),
      other: key({ account: "other" }),
      reader: key({ scopes: "catalog:read connections:read" }),
      catalogOnly: key({ scopes: "catalog:read" }),
      noCatalog: key({ scopes: "connections:read connections:write" }),
      expiring: key({ expires_at: Date.UTC(2999, 0, 2, 3, 4, 5, 678) }),
      expired: key({ expires_at: Date.now() - 1 }),
      revoked: key({ revoked_at: 1 }),
      unknown: { secret: secret() },
      limited: key(),
      page: key({ account: "page" }),
      outage: key({ account: "outage" }),
      maker: key({ account: "sessions", scopes: ALL }),
      readingMaker: key({ account: "sessions", scopes: `connections:read ${SESSIONS_CREATE_SCOPE}` }),
    };
    const rows = Object.values(fixture.keys).filter((apiKey) => apiKey.row);
    await state.use(({ vault }) => store(vault, rows));
    const limited = state.copy("package-limited");
    opened = await state.open();
    fixture.database = opened.vault;
    fixture.seeded = await insertConnections(fixture.database, "many", SEEDED_COUNT);
    const pages = join(folder, "pages");
    mkdirSync(pages);
    // Two origins; only the first is in ALLOWED_ORIGINS.
    [fixture.site, fixture.stranger] = [await Site.start(pages), await Site.start(pages)];
    fixture.pages = pages;
    const bindings = `[[ratelimits]]\nname = "RATE_LIMITER"\nnamespace_id = "1001"\nsimple = { limit = ${LIMIT}, period = 60 }\n`;
    [fixture.server, fixture.limited] = await Promise.all([
      Server.start(state, { name: "package", variables: { ALLOWED_ORIGINS: fixture.site.origin } }),
      Server.start(limited, { name: "package-limited", bindings }),
    ]);
    fixture.baseUrl = `http://127.0.0.1:${fixture.server.port}`;
  });

  after(async () => {
    await Promise.all([
      fixture.server?.stop(),
      fixture.limited?.stop(),
      fixture.site?.stop(),
      fixture.stranger?.stop(),
    ]);
    await opened?.close();
  });

  lists(fixture);
  iteration(fixture);
  calls(fixture);
  errors(fixture);
  withoutService(fixture);
  filters(fixture);
  bodies(fixture);
  validation(fixture);
  browser(fixture);
  sessions(fixture);

  test("there were no unhandled rejections, and `fetch` was always called correctly", expectCorrectFetchCalls);

  test("no log contains a secret", async () => {
    await fixture.server.stop();
    const logged = [...outputs, ...wranglerLogs()].join("\n");
    assert.ok(logged.includes("/v1/whoami"), "the log is the service's");
    for (const text of secrets) assert.ok(!logged.includes(text), "a secret was logged");
    assert.ok(!/panicked|RuntimeError|internal request=| 500 /.test(logged));
  });
});
