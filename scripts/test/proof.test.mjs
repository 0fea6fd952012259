// Tests of `npm run proof` and its list of experiments.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { resultOf, withResults } from "../../lab/proof.mjs";
import { EXPERIMENTS } from "../../lab/experiments.mjs";
import { root } from "../lib/paths.mjs";

const PAGE = `# Proof
<!-- results: written by npm run proof -->
| proof | command | result | took | date |
|---|---|---|---|---|
| load | \`npm run lab -- load\` | old | 10 min | 2026-01-01 |
<!-- /results -->
more
`;

test("a result is the match of the pattern, else the last line", () => {
  assert.equal(resultOf("1 of 2 done\nend\n", /\d+ of \d+/g), "1 of 2");
  assert.equal(resultOf("begin\nend\n\n", undefined), "end");
  assert.equal(resultOf("begin\na | b\n", /nothing/g), "a \\| b");
  assert.ok(resultOf("x".repeat(1000), undefined).length < 200);
});

test("a new result replaces only the row of its proof, and rows keep the order of the proofs", () => {
  const row = "| tenants | `cargo test` | ok | 1 s | 2026-02-02 |";
  const page = withResults(PAGE, [["tenants", row]]);
  const rows = page.split("\n").filter((line) => line.startsWith("| "));
  assert.deepEqual(rows.slice(1), [row, PAGE.split("\n")[4]]);
  assert.ok(page.startsWith("# Proof\n") && page.endsWith("<!-- /results -->\nmore\n"));
  const updated = withResults(page, [["tenants", row.replace("ok", "better")]]);
  assert.equal(updated, page.replace("| ok |", "| better |"));
  assert.throws(() => withResults("# Proof\n", []), /no section/);
});

test("docs/proof.md has a section for results, and each experiment has a file", () => {
  assert.doesNotThrow(() => withResults(readFileSync(join(root, "docs", "proof.md"), "utf8"), []));
  for (const name of Object.keys(EXPERIMENTS)) assert.ok(existsSync(join(root, "lab", `${name}.mjs`)), name);
});
