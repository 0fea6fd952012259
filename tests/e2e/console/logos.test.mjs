// The console with the platforms of providers.toml.
import { after, before, describe } from "node:test";
import { join } from "node:path";
import { root } from "../../../scripts/lib/paths.mjs";
import { Console } from "../support/console.mjs";
import { consoleLogos } from "../suites/console-logos.mjs";

const fixture = {};

describe("the console: logos", () => {
  before(async () => {
    const providers = ["--providers", join(root, "providers.toml")];
    fixture.console = await Console.start({ name: "console-logos", connections: [], providers });
  });
  after(() => fixture.console?.stop());

  consoleLogos(fixture);
});
