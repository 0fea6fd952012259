// The window in which users connect their accounts, and `vault.connect` of the package, which opens it: in a browser, with
// the real service and a real authorization server.
import { after, before, describe } from "node:test";
import { Connecting } from "./support/connect.mjs";
import { connectEntry } from "./suites/connect-entry.mjs";
import { connectPackage } from "./suites/connect-package.mjs";
import { connectPlaces } from "./suites/connect-places.mjs";
import { connectReadme } from "./suites/connect-readme.mjs";
import { connectTabs } from "./suites/connect-tabs.mjs";
import { connectTrouble } from "./suites/connect-trouble.mjs";
import { connectVariables } from "./suites/connect-variables.mjs";

const world = {};

describe("the window to connect", () => {
  before(async () => {
    world.connect = await Connecting.start("connect-window");
  });
  after(() => world.connect?.stop());

  connectEntry(world);
  connectPlaces(world);
  connectTabs(world);
  connectVariables(world);
  connectTrouble(world);
  connectPackage(world);
  connectReadme(world);
});
