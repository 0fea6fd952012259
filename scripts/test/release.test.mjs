// Tests of `npm run release`: its preconditions, notes, components and packages.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createRequire } from "node:module";
import { test } from "node:test";
import Ajv from "ajv";
import formats from "ajv-formats";
import { root } from "../lib/paths.mjs";
import { checksums } from "../release/checksums.mjs";
import { notes } from "../release/notes.mjs";
import { unmetPreconditions } from "../release/preconditions.mjs";
import { bundled, crates } from "../release/components.mjs";
import { licences } from "../release/sample-catalog.mjs";
import { sbom } from "../release/sbom.mjs";
import { configuration } from "../release/server-package.mjs";

test("a release needs equal versions, a section in the changelog, a clean tree and a tag", () => {
  const ready = {
    version: "1.2.0",
    crate: "1.2.0",
    scripts: "1.2.0",
    server: "1.2.0",
    python: "1.2.0",
    changelog: "# Changelog\n\n## 1.2.0 - 2026-11-23\n\n### Added\n",
    changes: "",
    tags: ["v1.2.0"],
  };
  assert.deepEqual(unmetPreconditions(ready), []);
  for (const [change, output] of [
    [{ crate: "1.1.0" }, "Cargo.toml has version 1.1.0, npm/package.json 1.2.0."],
    [{ python: "1.1.0" }, "The Python package has version 1.1.0, npm/package.json 1.2.0."],
    [{ scripts: "1.1.0" }, "package.json has version 1.1.0, npm/package.json 1.2.0."],
    [{ server: "1.1.0" }, "server/package.json has version 1.1.0, npm/package.json 1.2.0."],
    [{ changelog: "## Unreleased\n\n## 1.1.0 - 2026-11-01\n" }, 'CHANGELOG.md has no section "## 1.2.0 - YYYY-MM-DD".'],
    [{ changelog: "## 1x2.0 - 2026-11-23\n" }, 'CHANGELOG.md has no section "## 1.2.0 - YYYY-MM-DD".'],
    [{ changes: " M README.md" }, "There are changes that are not committed."],
    [{ tags: [""] }, "The commit has no tag v1.2.0."],
  ])
    assert.deepEqual(unmetPreconditions({ ...ready, ...change }), [output]);
});

test("a bill of materials lists every crate and bundled package once, and is valid CycloneDX", async () => {
  const of = createRequire(import.meta.url);
  const schemas = join(dirname(of.resolve("@cyclonedx/cyclonedx-library/package.json")), "res", "schema");
  const schema = (name) => JSON.parse(readFileSync(join(schemas, `${name}.SNAPSHOT.schema.json`), "utf8"));
  const ajv = formats(new Ajv({ strict: false, formats: { "iri-reference": true, "idn-email": true } }));
  for (const name of ["spdx", "jsf-0.82", "cryptography-defs"]) {
    const { $id: _, ...rest } = schema(name);
    ajv.addSchema(rest, `http://cyclonedx.org/schema/${name}.SNAPSHOT.schema.json`);
  }
  const isValid = ajv.compile(schema("bom-1.6"));
  for (const [feature, packages] of [
    ["worker", bundled()],
    ["client", []],
    ["cli", []],
  ]) {
    const all = await crates(feature);
    const text = sbom({ name: feature, version: "0.1.0", crates: all, packages });
    assert.equal(text, sbom({ name: feature, version: "0.1.0", crates: all, packages }));
    const bom = JSON.parse(text);
    assert.ok(isValid(bom), JSON.stringify(isValid.errors, null, 2));
    assert.equal(isValid({ ...bom, components: [{ type: "library" }] }), false);
    assert.equal(bom.components.length, all.length + packages.length);
    assert.equal(new Set(bom.components.map(({ purl }) => purl)).size, bom.components.length);
    for (const { name, hashes, licenses } of bom.components) {
      assert.ok(hashes?.length === 1 && licenses?.length === 1, name);
    }
    const names = new Set(bom.components.map(({ name }) => name));
    const expected = {
      worker: ["worker", "aes-gcm", "jiff", "preact"],
      client: ["serde-wasm-bindgen", "js-sys"],
      cli: ["clap", "mimalloc"],
    };
    for (const name of expected[feature]) assert.ok(names.has(name), name);
    // Development dependencies must not be listed.
    for (const name of ["proptest", "rusqlite", "standardwebhooks"]) assert.ok(!names.has(name), name);
  }
  const lock = readFileSync(join(root, "Cargo.lock"), "utf8");
  assert.ok(lock.includes('name = "proptest"'));
});

test("the sample catalog has no document without a licence", () => {
  const line = (platform, tools, license) =>
    JSON.stringify({ connector: { platform, tools, license, documentationUrl: "https://docs.example" } });
  const [open, own] = [line("open", 2, { name: "MIT\tor\nISC", url: null }), line("own", 0, null)];
  assert.equal(
    licences(`${open}\n${own}\n`),
    "platform\tlicence\tlicence URL\tdocumentation\nopen\tMIT or ISC\t\thttps://docs.example\n",
  );
  assert.throws(() => licences(`${open}\n${line("closed", 1, null)}\n`), /name no licence: closed/);
});

test("the configuration of a project with the package has no build, and every path through the link", () => {
  const text = readFileSync(join(root, "wrangler.toml"), "utf8");
  const config = configuration(text);
  assert.doesNotMatch(config, /^\[build\]|npm run|watch_dir/m);
  assert.equal(config.match(/"\.wrangler\/connector-vault\/(build\/index\.js|schema|www\/dist)"/g).length, 3);
  // Bindings, variables and comments must stay unchanged.
  const keptLines = text.split("\n").filter((line) => /^#|^\[\[|^binding|^crons/.test(line));
  for (const line of keptLines) assert.ok(config.includes(line), line);
  assert.throws(() => configuration(text.replace('"www/dist"', '"elsewhere"')), /does not name www\/dist/);
});

test("the hashes of a release name files as seen from the folder where they are checked", () => {
  const files = [{ path: "target/release-files/a.tgz", sha256: "ab12" }];
  assert.equal(checksums(files, join(root, "target", "release-files")), "ab12  a.tgz\n");
  assert.equal(checksums([{ path: "build/index.js", sha256: "cd34" }], root), "cd34  build/index.js\n");
});

test("the notes of a release have its changes and the hashes of the Worker", () => {
  const changelog = "# Changelog\n\n## 1.2.0 - 2026-11-23\n\n- New.\n\n## 1.1.0 - 2026-11-01\n\n- Old.\n";
  const releaseNotes = notes({ version: "1.2.0", changelog, worker: [{ path: "build/index.js", sha256: "ab12" }] });
  assert.match(releaseNotes, /- New\.[\s\S]*ab12 {2}build\/index\.js[\s\S]*npm run reproducible/);
  assert.doesNotMatch(releaseNotes, /Old/);
});
