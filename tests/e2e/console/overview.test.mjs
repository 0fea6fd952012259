// The console's sign-in, overview, and the frame around every view.
import { randomUUID } from "node:crypto";
import { after, before, describe } from "node:test";
import { Console } from "../support/console.mjs";
import { DEFAULT_SCOPES, key } from "../support/keys.mjs";
import { connectionNumber } from "../support/seed.mjs";
import { seed } from "../support/vault.mjs";
import { consoleFrame } from "../suites/console-frame.mjs";
import { COUNTED_CONNECTIONS, consoleOverview } from "../suites/console-overview.mjs";
import { consoleSignIn } from "../suites/console-sign-in.mjs";

/** Active connections to thirteen platforms, one more than the overview shows at first. */
const THIRTEEN_PLATFORMS = Array.from({ length: 13 }, (_, n) => ({
  ...connectionNumber(n),
  platform: `p-${n}`,
  active: true,
}));
/** Connections on which each actor must act, and one that needs no action. */
const CONNECTIONS_BY_ACTOR = ["operational", "degraded", "degraded", "failed"].map((state, n) => ({
  ...connectionNumber(n),
  ...{ platform: "github", identity: `acting-${n}`, state, active: state !== "failed" },
}));
const fixture = {};

/** Changes storage as if GitHub had rejected the OAuth client, and a webhook's receiver had returned 410. */
function degrade(database) {
  const then = Date.now() - 3 * 3_600_000;
  return database.batch([
    database
      .prepare(
        "INSERT INTO oauth_clients (account, environment, platform, client_id, scopes, authorization_parameters, variables, created_at, updated_at, rejected_since, probe_at) VALUES ('acting', 'test', 'github', 'app', '[]', '{}', '{}', 0, 0, ?1, ?1)",
      )
      .bind(then),
    database
      .prepare(
        "INSERT INTO webhooks (account, environment, id, url, types, active, sealed, failing_since, disabled_code, disabled_status, created_at, updated_at, written_by) VALUES ('acting', 'test', 'wh_' || ?2, 'https://app.example/hook', '[]', 0, 'k.AAAA', ?1, 'gone', 410, ?1, ?1, 'test')",
      )
      .bind(then, randomUUID()),
  ]);
}

describe("the console", () => {
  const keys = {
    nobody: key({ account: "nobody" }),
    nobodyReads: key({ account: "nobody", scopes: "connections:read" }),
    live: key({ environment: "live" }),
    thirteen: key({ account: "thirteen" }),
    vaultOnly: key({ scopes: "connections:read" }),
    acting: key({ account: "acting", scopes: `${DEFAULT_SCOPES} clients:read webhooks:read` }),
    quiet: key({ account: "quiet", scopes: `${DEFAULT_SCOPES} clients:read webhooks:read` }),
  };
  before(async () => {
    fixture.console = await Console.start({ name: "console-overview", connections: COUNTED_CONNECTIONS, keys });
    await seed(fixture.console.database, "thirteen", THIRTEEN_PLATFORMS);
    await seed(fixture.console.database, "acting", CONNECTIONS_BY_ACTOR);
    await seed(fixture.console.database, "quiet", [{ ...connectionNumber(0), state: "operational" }]);
    await degrade(fixture.console.database);
  });
  after(() => fixture.console?.stop());

  consoleOverview(fixture);
  consoleSignIn(fixture);
  consoleFrame(fixture);
});
