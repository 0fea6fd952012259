// Tests of the lint of comments, documentation and messages.
import assert from "node:assert/strict";
import { test } from "node:test";
import { allowedOf, findings } from "./language.mjs";

const findingsIn = (name, text) => findings(name, text).map(({ line, phrase }) => `${line} ${phrase}`);

test("finds banned constructions in comments and messages, with their lines", () => {
  for (const [name, text, expected] of [
    ["a.md", "One line.\nWhoever reads it\nis told.", ["2 whoever", "3 told"]],
    ["a.rs", "/// Nobody calls it.\nfn f() {}\n", ["1 nobody"]],
    ["a.rs", 'const A: &str = "It is\n told so.";', ["2 told"]],
    ["a.ts", "const a = `was told`; // made up", ["1 told", "1 made up"]],
    ["a.sql", "-- As a rule\nSELECT 1;", ["1 as a rule"]],
    ["a.rs", "/// There is no key: a path that is no key is none.", ["1 is no ", "1 is none"]],
    ["a.md", "A row is not what it should be. There is none.", ["1 what it should be"]],
  ])
    assert.deepEqual(findingsIn(name, text), expected, text);
});

test("ignores names, values, inline code and examples", () => {
  for (const [name, text] of [
    ["a.md", "`nobody`\n\n```sh run\necho told\n```\n"],
    ["a.rs", 'let told = Actor::Nobody;\nlet value = "nobody"; let quote = \'"\'; // `told`'],
    ["a.mjs", 'const told = /["\'\\`]/;\nlet nobody = "nobody";'],
    ["a.toml", 'told = "nobody"'],
  ])
    assert.deepEqual(findingsIn(name, text), [], text);
});

test("an entry of the allow list needs a reason", () => {
  assert.deepEqual(allowedOf("# comment\n\na.md: told # a quotation\n"), ["a.md: told"]);
  assert.throws(() => allowedOf("a.md: told\n"), /no file, phrase and reason/);
});
