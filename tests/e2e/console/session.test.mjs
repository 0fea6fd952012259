// Who is signed in to the console: by a link, in several tabs, and what an end user then sees.
import { after, before, describe } from "node:test";
import { Console } from "../support/console.mjs";
import { ALL, key } from "../support/keys.mjs";
import { nth } from "../support/seed.mjs";
import { consoleAccount } from "../suites/console-account.mjs";
import { consoleLinks } from "../suites/console-links.mjs";
import { consoleOwn } from "../suites/console-own.mjs";
import { consoleTabs } from "../suites/console-tabs.mjs";

const MANY = Array.from({ length: 60 }, (_, n) => ({
  ...nth(n),
  platform: `p-${n}`,
  identity: "many@example.com",
  identityType: "user",
  active: true,
}));
// An account of its own, with a key for each of its environments.
const accountKeys = {
  everything: key({ account: "whole", scopes: ALL }),
  live: key({ account: "whole", scopes: ALL, environment: "live" }),
};
const world = { accountKeys };

describe("the console: sessions", () => {
  before(async () => {
    world.console = await Console.start({
      name: "console-session",
      connections: MANY,
      keys: {
        other: key({ account: "other", scopes: "catalog:read connections:read connections:write sessions:create" }),
        connector: key({ scopes: ALL }),
        ...accountKeys,
      },
    });
  });
  after(() => world.console?.stop());

  consoleAccount(world);
  consoleLinks(world);
  consoleOwn(world);
  consoleTabs(world);
});
