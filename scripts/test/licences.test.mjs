// Checks the licences of all dependencies: only permissive ones are allowed in distributed code. Works offline,
// with the metadata of installed packages.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { root } from "../lib/paths.mjs";
import { run } from "../lib/run.mjs";
import { BUNDLED, crates, spdx } from "../release/components.mjs";

const PERMISSIVE = new Set([
  ...["MIT", "Apache-2.0", "Apache-2.0 WITH LLVM-exception", "ISC", "BSD-2-Clause", "BSD-3-Clause", "0BSD", "Zlib"],
  ...["Unlicense", "CC0-1.0", "Unicode-3.0", "BlueOak-1.0.0"],
]);
/** Licences that are allowed for tools that run on a developer's machine and are not distributed. */
const ALLOWED_FOR_TOOLS = new Set([...PERMISSIVE, "MPL-2.0", "LGPL-3.0-or-later", "CC-BY-4.0", "Python-2.0"]);

/** The licences of packages whose metadata has no licence expression, but a file or a list, an old format of npm. */
const LICENCES_WITHOUT_EXPRESSION = {
  "@figma/rest-api-spec": "MIT",
  "@modelcontextprotocol/inspector": "Apache-2.0 AND MIT",
  "compute-gcd": "MIT",
  "compute-lcm": "MIT",
  "validate.io-function": "MIT",
  "validate.io-integer": "MIT",
  "validate.io-integer-array": "MIT",
  "validate.io-number": "MIT",
};

/** Whether a licence expression is satisfied by these licences. */
function isSatisfied(expression, allowed) {
  const plain = spdx(expression).replaceAll(/ WITH /g, "_WITH_");
  const tokens = plain.match(/[()]|[^\s()]+/g);
  const operand = () => {
    const token = tokens.shift();
    if (token !== "(") return allowed.has(token.replace("_WITH_", " WITH "));
    const inner = alternatives();
    assert.equal(tokens.shift(), ")", expression);
    return inner;
  };
  const conjunction = () => {
    let isAllowed = operand();
    while (tokens[0] === "AND" && tokens.shift()) isAllowed = operand() && isAllowed;
    return isAllowed;
  };
  const alternatives = () => {
    let isAllowed = conjunction();
    while (tokens[0] === "OR" && tokens.shift()) isAllowed = conjunction() || isAllowed;
    return isAllowed;
  };
  const isAllowed = alternatives();
  assert.deepEqual(tokens, [], expression);
  return isAllowed;
}

const packagesNotAllowed = (packages, allowed) =>
  packages
    .filter(({ license }) => !license || !isSatisfied(license, allowed))
    .map(({ name, license }) => `${name}: ${license ?? "none"}`);

test("licence expressions follow SPDX", () => {
  for (const [expression, expected] of [
    ["MIT", true],
    ["GPL-3.0", false],
    ["GPL-3.0 OR MIT", true],
    ["GPL-3.0 AND MIT", false],
    ["MIT/GPL-3.0", true],
    ["(MIT OR GPL-3.0) AND Unicode-3.0", true],
    ["(MIT OR GPL-3.0) AND GPL-3.0", false],
    ["MIT OR GPL-3.0 AND GPL-2.0", true],
    ["Apache-2.0 WITH LLVM-exception", true],
    ["GPL-3.0 WITH LLVM-exception", false],
  ])
    assert.equal(isSatisfied(expression, PERMISSIVE), expected, expression);
});

for (const folder of [".", join("tools", "bindgen")]) {
  test(`every crate of ${folder} has a permissive licence and comes from crates.io`, async () => {
    const args = ["metadata", "--format-version", "1", "--locked"];
    const { packages, workspace_members: ownIds } = JSON.parse(await run("cargo", args, { cwd: join(root, folder) }));
    const otherPackages = packages.filter(({ id }) => !ownIds.includes(id));
    assert.ok(otherPackages.length > 20);
    assert.deepEqual(packagesNotAllowed(otherPackages, PERMISSIVE), []);
    assert.deepEqual(
      otherPackages.filter(({ source }) => !source?.includes("crates.io-index")).map(({ name }) => name),
      [],
    );
  });
}

/** Allowed duplicate crates, with the reason. */
const ALLOWED_DUPLICATES = {
  worker: {
    syn: "some macros have not moved to 3 yet; they run while the Worker is built, and none of it is in the Worker",
  },
  client: {},
};

for (const [part, allowed] of Object.entries(ALLOWED_DUPLICATES)) {
  test(`the ${part} has no duplicate crates`, async () => {
    const names = (await crates(part)).map(({ name }) => name);
    assert.ok(names.length > 20);
    const repeated = names.filter((name, at) => names.indexOf(name) !== at);
    assert.deepEqual(repeated, Object.keys(allowed));
  });
}

test("every npm package has an integrity hash and an allowed licence; bundled ones have a permissive licence", () => {
  const { packages } = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8"));
  const all = Object.entries(packages)
    .filter(([path, { link }]) => path.includes("node_modules/") && !link)
    .map(([path, one]) => ({ name: path.split("node_modules/").at(-1), ...one }))
    .map((npmPackage) => ({
      ...npmPackage,
      license: LICENCES_WITHOUT_EXPRESSION[npmPackage.name] ?? npmPackage.license,
    }));
  assert.ok(all.length > 100);
  assert.deepEqual(packagesNotAllowed(all, ALLOWED_FOR_TOOLS), []);
  assert.deepEqual(
    all.filter(({ resolved = "" }) => !/^(https:\/\/registry\.npmjs\.org\/|$)/.test(resolved)).map(({ name }) => name),
    [],
  );
  // Optional packages of other systems are not installed.
  const installable = all.filter(({ os }) => !os || os.includes(process.platform));
  const unchecked = installable.filter(({ integrity, cpu }) => !integrity && (!cpu || cpu.includes(process.arch)));
  assert.deepEqual(
    unchecked.filter(({ libc }) => !libc?.includes("musl")).map(({ name }) => name),
    [],
  );
  const bundled = all.filter(({ name }) => BUNDLED.includes(name));
  assert.deepEqual([...new Set(bundled.map(({ name }) => name))].sort(), [...BUNDLED].sort());
  assert.deepEqual(packagesNotAllowed(bundled, PERMISSIVE), []);
});
