// The console's list of connections. The tests compare it with the API's responses, and check changes through the API.
// All suites share one process and server; `--test-name-pattern` selects.
import { after, before, describe } from "node:test";
import { Console, SEVERAL_DOCUMENTS } from "../support/console.mjs";
import { consoleChanges } from "../suites/console-changes.mjs";
import { consoleCreation } from "../suites/console-creation.mjs";
import { consoleEditing } from "../suites/console-editing.mjs";
import { consoleFailures } from "../suites/console-failures.mjs";
import { consoleLateResponses } from "../suites/console-late-responses.mjs";
import { consoleHistory } from "../suites/console-history.mjs";
import { consoleList } from "../suites/console-list.mjs";
import { consolePanel } from "../suites/console-panel.mjs";
import { consolePlatform } from "../suites/console-platform.mjs";

const fixture = {};

describe("the console: connections", () => {
  before(async () => {
    fixture.console = await Console.start({ name: "console-connections", documents: SEVERAL_DOCUMENTS });
  });
  after(() => fixture.console?.stop());

  consoleList(fixture);
  consolePanel(fixture);
  consoleHistory(fixture);
  consolePlatform(fixture);
  consoleChanges(fixture);
  consoleEditing(fixture);
  consoleCreation(fixture);
  consoleLateResponses(fixture);
  consoleFailures(fixture);
});
