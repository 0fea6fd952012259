// The console's views of OAuth clients, connecting an account, health, and webhooks, with the real service and a
// real authorization server.
import { after, before, describe } from "node:test";
import { consoleConnecting } from "../suites/console-connecting.mjs";
import { consoleHealth } from "../suites/console-health.mjs";
import { consoleIntegrations } from "../suites/console-integrations.mjs";
import { consoleWebhooks } from "../suites/console-webhooks.mjs";
import { ConnectConsole } from "../support/connect.mjs";

const fixture = {};

describe("the console: connecting accounts", () => {
  before(async () => {
    fixture.connect = await ConnectConsole.start("console-connecting");
  });
  after(() => fixture.connect?.stop());

  consoleIntegrations(fixture);
  consoleConnecting(fixture);
  consoleHealth(fixture);
  consoleWebhooks(fixture);
});
