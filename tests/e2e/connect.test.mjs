// Connecting accounts on the real runtime: with two real authorization servers, with a failing platform, and with attackers.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { SecondServer, secondPlatforms } from "./support/authlib.mjs";
import { VARIABLES, VAULT_KEY, issuedSecrets, recordedResponses } from "./support/connecting.mjs";
import { secrets } from "./support/http.mjs";
import { bytesBelow, leaks } from "./support/leaks.mjs";
import { Idp, idpPlatforms } from "./support/oidc.mjs";
import { platformCatalog } from "./support/platforms.mjs";
import { SESSION_SECRET, Server, outputs, wranglerLogs } from "./support/server.mjs";
import { Stub, stubDocuments, stubPlatforms } from "./support/stub.mjs";
import { State, build, folder } from "./support/workspace.mjs";
import { connectLifecycle } from "./suites/connect-lifecycle.mjs";
import { connectNonstandardResponses } from "./suites/connect-nonstandard-responses.mjs";
import { connectAttacks } from "./suites/connect-attacks.mjs";
import { connectIdp } from "./suites/connect-idp.mjs";
import { connectInterrupted } from "./suites/connect-interrupted.mjs";
import { connectOperator } from "./suites/connect-operator.mjs";
import { connectProcesses } from "./suites/connect-processes.mjs";
import { connectRace } from "./suites/connect-race.mjs";
import { connectSchedule } from "./suites/connect-schedule.mjs";
import { connectSecondServer } from "./suites/connect-second-server.mjs";
import { connectStates } from "./suites/connect-states.mjs";
import { connectWebhooks } from "./suites/connect-webhooks.mjs";

/** The context of the suites: servers, platforms, and `database`, which all servers share, opened directly. */
const fixture = {
  configuration: (name) => ({
    name,
    variables: { ...VARIABLES, LOCAL_TARGETS: "allow" },
    secrets: { SESSION_SECRET, VAULT_KEYS: `tests:${VAULT_KEY}` },
  }),
};
let opened;

describe("connecting accounts", () => {
  before(async () => {
    await build();
    [fixture.idp, fixture.second, fixture.stub] = [await Idp.start(), await SecondServer.start(), await Stub.start()];
    const { origin } = fixture.stub;
    fixture.catalog = await platformCatalog("connecting", folder, {
      documents: stubDocuments(origin),
      providers: {
        ...idpPlatforms(fixture.idp.issuer),
        ...secondPlatforms(fixture.second.origin),
        ...stubPlatforms(origin),
      },
    });
    fixture.state = new State("connecting");
    await fixture.state.prepare(fixture.catalog);
    fixture.server = await Server.start(fixture.state, fixture.configuration("connect"));
    const redirectUri = `http://127.0.0.1:${fixture.server.port}/connect/callback`;
    fixture.idp.open(redirectUri);
    await fixture.second.open(redirectUri);
    opened = await fixture.state.open();
    fixture.database = opened.vault;
  });

  after(async () => {
    await Promise.all([fixture.server, fixture.idp, fixture.second, fixture.stub].map((server) => server?.stop()));
    await opened?.close();
  });

  connectIdp(fixture);
  connectLifecycle(fixture);
  connectSecondServer(fixture);
  connectNonstandardResponses(fixture);
  connectAttacks(fixture);
  connectInterrupted(fixture);
  connectProcesses(fixture);
  connectRace(fixture);
  connectOperator(fixture);
  connectSchedule(fixture);
  connectStates(fixture);
  connectWebhooks(fixture);

  test("no secret is in logs, responses, pages or storage", async () => {
    await fixture.server.stop();
    const printed = [...outputs, ...wranglerLogs()].join("\n");
    assert.ok(printed.includes("/v1/vault/connect"), "the log is the service's");
    // Miniflare logs request paths, including links. That is harmless, because a link is bound to the browser that opens it first.
    const logged = printed.replaceAll(/\/connect\/go\/\S+/g, "");
    const stored = bytesBelow(fixture.state.path);
    assert.ok(stored.includes("connect_attempts"), "the storage is the service's");
    const all = new Set([...secrets, ...issuedSecrets]);
    assert.ok(all.size > 300, `${all.size}`);
    const places = [["the log", logged], ["storage", stored], ...recordedResponses.map((text) => [text, text])];
    assert.deepEqual(leaks(all, places), []);
    assert.doesNotMatch(printed, /panicked|RuntimeError|internal request=| 500 /);
  });
});
