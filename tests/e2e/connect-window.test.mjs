// The connect window and the package's `vault.connect`, which opens it: in a browser, with the real service and a real
// authorization server.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { ConnectConsole } from "./support/connect.mjs";
import { issuedSecrets } from "./support/connecting.mjs";
import { secrets } from "./support/http.mjs";
import { bytesBelow, leaks } from "./support/leaks.mjs";
import { outputs } from "./support/server.mjs";
import { connectEnteredCredentials } from "./suites/connect-entered-credentials.mjs";
import { connectForwarded } from "./suites/connect-forwarded.mjs";
import { connectLanguages } from "./suites/connect-languages.mjs";
import { connectPackage } from "./suites/connect-package.mjs";
import { connectPagePopupFrame } from "./suites/connect-page-popup-frame.mjs";
import { connectReadme } from "./suites/connect-readme.mjs";
import { connectTabs } from "./suites/connect-tabs.mjs";
import { connectFailures } from "./suites/connect-failures.mjs";
import { connectVariables } from "./suites/connect-variables.mjs";

const fixture = {};

describe("the connect window", () => {
  before(async () => {
    fixture.connect = await ConnectConsole.start("connect-window");
  });
  after(() => fixture.connect?.stop());

  connectEnteredCredentials(fixture);
  connectForwarded(fixture);
  connectPagePopupFrame(fixture);
  connectTabs(fixture);
  connectVariables(fixture);
  connectFailures(fixture);
  connectLanguages(fixture);
  connectPackage(fixture);
  connectReadme(fixture);

  test("logs, storage and addresses contain no secret", async () => {
    await fixture.connect.server.stop();
    const [log, stored] = [outputs.join("\n"), bytesBelow(fixture.connect.state.path)];
    assert.ok(log.includes("/v1/vault/connect"), "the log is the service's");
    assert.ok(stored.includes("connect_attempts"), "the storage is the service's");
    const { visited } = fixture.connect;
    assert.ok(
      visited.some((address) => address.includes("/connect/callback?")),
      "the addresses are the browser's",
    );
    const all = new Set([...secrets, ...issuedSecrets]);
    assert.ok(all.size > 50, `${all.size}`);
    const places = [
      ["the log", log],
      ["storage", stored],
    ];
    assert.deepEqual(leaks(all, places), []);
    // Authorization codes are excluded: RFC 6749 puts them into an address.
    assert.deepEqual(leaks(secrets, [["an address", visited.join("\n")]]), []);
  });
});
