// The way into the console, its overview, and the frame around every view.
import { after, before, describe } from "node:test";
import { Console } from "../support/console.mjs";
import { key } from "../support/keys.mjs";
import { nth } from "../support/seed.mjs";
import { seed } from "../support/vault.mjs";
import { consoleFrame } from "../suites/console-frame.mjs";
import { COUNTED, consoleOverview } from "../suites/console-overview.mjs";
import { consoleSignIn } from "../suites/console-sign-in.mjs";

/** One platform more than the overview shows at first, and all of them active. */
const THIRTEEN = Array.from({ length: 13 }, (_, n) => ({ ...nth(n), platform: `p-${n}`, active: true }));
const world = {};

describe("the console", () => {
  const keys = {
    nobody: key({ account: "nobody" }),
    nobodyReads: key({ account: "nobody", scopes: "connections:read" }),
    live: key({ environment: "live" }),
    thirteen: key({ account: "thirteen" }),
    vaultOnly: key({ scopes: "connections:read" }),
  };
  before(async () => {
    world.console = await Console.start({ name: "console-overview", connections: COUNTED, keys });
    await seed(world.console.database, "thirteen", THIRTEEN);
  });
  after(() => world.console?.stop());

  consoleOverview(world);
  consoleSignIn(world);
  consoleFrame(world);
});
