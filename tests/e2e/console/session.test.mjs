// Sessions of the console: links, tabs, and the end user's page.
import { after, before, describe } from "node:test";
import { Console } from "../support/console.mjs";
import { ALL_SCOPES, key } from "../support/keys.mjs";
import { connectionNumber } from "../support/seed.mjs";
import { consoleAccount } from "../suites/console-account.mjs";
import { consoleLinks } from "../suites/console-links.mjs";
import { consoleOwn } from "../suites/console-own.mjs";
import { consoleTabs } from "../suites/console-tabs.mjs";

const MANY = Array.from({ length: 60 }, (_, n) => ({
  ...connectionNumber(n),
  platform: `p-${n}`,
  identity: "many@example.com",
  identityType: "user",
  active: true,
}));
// A separate account with a key for each environment.
const accountKeys = {
  everything: key({ account: "whole", scopes: ALL_SCOPES }),
  live: key({ account: "whole", scopes: ALL_SCOPES, environment: "live" }),
};
const fixture = { accountKeys };

describe("the console: sessions", () => {
  before(async () => {
    fixture.console = await Console.start({
      name: "console-session",
      connections: MANY,
      keys: {
        other: key({ account: "other", scopes: "catalog:read connections:read connections:write sessions:create" }),
        connector: key({ scopes: ALL_SCOPES }),
        ...accountKeys,
      },
    });
  });
  after(() => fixture.console?.stop());

  consoleAccount(fixture);
  consoleLinks(fixture);
  consoleOwn(fixture);
  consoleTabs(fixture);
});
