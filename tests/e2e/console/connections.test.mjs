// The console's view of connections: what it shows is what the API answers, and what is done in it arrives there. One
// process and one server for all suites; `--test-name-pattern` picks.
import { after, before, describe } from "node:test";
import { Console, SEVERAL_DOCUMENTS } from "../support/console.mjs";
import { changedInConsole } from "../suites/console-changes.mjs";
import { createdInConsole } from "../suites/console-creation.mjs";
import { editedInConsole } from "../suites/console-editing.mjs";
import { consoleFailures } from "../suites/console-failures.mjs";
import { hastyInConsole } from "../suites/console-haste.mjs";
import { consoleHistory } from "../suites/console-history.mjs";
import { consoleList } from "../suites/console-list.mjs";
import { consolePanel } from "../suites/console-panel.mjs";
import { platformInConsole } from "../suites/console-platform.mjs";

const world = {};

describe("the console: connections", () => {
  before(async () => {
    world.console = await Console.start({ name: "console-connections", documents: SEVERAL_DOCUMENTS });
  });
  after(() => world.console?.stop());

  consoleList(world);
  consolePanel(world);
  consoleHistory(world);
  platformInConsole(world);
  changedInConsole(world);
  editedInConsole(world);
  createdInConsole(world);
  hastyInConsole(world);
  consoleFailures(world);
});
