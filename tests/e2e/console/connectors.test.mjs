// The console's views of the catalog, compared with the API's responses.
import { after, before, describe } from "node:test";
import { Console, MANY_DOCUMENTS } from "../support/console.mjs";
import { consoleAction } from "../suites/console-action.mjs";
import { consoleConnector } from "../suites/console-connector.mjs";
import { consoleConnectors } from "../suites/console-connectors.mjs";

const fixture = {};

describe("the console: connectors", () => {
  before(async () => {
    fixture.console = await Console.start({ name: "console-connectors", documents: MANY_DOCUMENTS });
  });
  after(() => fixture.console?.stop());

  consoleConnectors(fixture);
  consoleConnector(fixture);
  consoleAction(fixture);
});
