// What the console does for connecting: OAuth clients, connecting an account, the health of a connection, and webhooks; with the
// real service and a real authorization server.
import { after, before, describe } from "node:test";
import { consoleConnecting } from "../suites/console-connecting.mjs";
import { consoleHealth } from "../suites/console-health.mjs";
import { consoleIntegrations } from "../suites/console-integrations.mjs";
import { consoleWebhooks } from "../suites/console-webhooks.mjs";
import { Connecting } from "../support/connect.mjs";

const world = {};

describe("the console: connecting", () => {
  before(async () => {
    world.connect = await Connecting.start("console-connecting");
  });
  after(() => world.connect?.stop());

  consoleIntegrations(world);
  consoleConnecting(world);
  consoleHealth(world);
  consoleWebhooks(world);
});
