// `catalog add` adds documents to the current catalog.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { before, describe, test } from "node:test";
import { buildNativeCli, program } from "../../scripts/lib/native-cli.mjs";
import { root } from "../../scripts/lib/paths.mjs";
import { environment } from "../../scripts/lib/run.mjs";
import { folder, wranglerEnvironment } from "./support/workspace.mjs";

/** Runs `catalog …`: { status, output }. */
function catalog(...args) {
  const options = { cwd: root, env: environment(wranglerEnvironment), encoding: "utf8" };
  const done = spawnSync(program, ["catalog", ...args], options);
  return { status: done.status, output: done.stdout + done.stderr };
}

/** Writes a document of a platform. Returns its path. */
function document(name, title, operations, host = name) {
  const path = join(folder, `${name}.json`);
  const operation = (id) => ({ get: { operationId: id, summary: id, responses: { 200: { description: "Done." } } } });
  const paths = Object.fromEntries(operations.map((id) => [`/${id}`, operation(id)]));
  const servers = [{ url: `https://${host}.example` }];
  writeFileSync(path, JSON.stringify({ openapi: "3.1.0", info: { title, version: "1" }, servers, paths }));
  return path;
}

describe("catalog add", { timeout: 300_000 }, () => {
  const out = join(folder, "added-catalog");
  const add = (...args) => catalog("add", ...args, "--catalog", out);
  const find = (word) => catalog("find", word, "--catalog", out).output;
  const current = () => readFileSync(join(out, "current.json"), "utf8");

  before(async () => {
    await buildNativeCli();
    const first = document("first", "First", ["listFirst"]);
    const done = catalog("import", first, "--licence", "any", "--no-providers", "--out", out);
    assert.equal(done.status, 0, done.output);
  });

  test("a dry run reports the import, and changes nothing", () => {
    const before = current();
    const { status, output } = add(document("second", "Second", ["listSecond", "getSecond"]), "--dry-run");
    assert.equal(status, 0, output);
    assert.match(output, /second\.json: second, 2 actions/);
    assert.equal(current(), before);
  });

  test("added documents extend the catalog, and the next addition keeps them", () => {
    const done = add(join(folder, "second.json"));
    assert.equal(done.status, 0, done.output);
    const next = add(document("third", "Third", ["listThird"]));
    assert.equal(next.status, 0, next.output);
    for (const [word, actions] of [
      ["first", "1 action"],
      ["second", "2 actions"],
      ["third", "1 action"],
    ])
      assert.match(find(word), new RegExp(`${word} +${actions}`));
  });

  test("an existing platform is a conflict, unless it may be replaced", () => {
    const before = current();
    const newer = document("newer", "Second", ["listSecond"], "second");
    const refused = add(newer);
    assert.equal(refused.status, 1, refused.output);
    assert.match(refused.output, /the catalog has second: its 2 actions would be replaced[^]*nothing was changed/);
    assert.equal(current(), before);
    const done = add(newer, "--replace");
    assert.equal(done.status, 0, done.output);
    assert.match(find("second"), /second +1 action /);
    assert.match(find("first"), /first +1 action /);
  });

  test("an invalid document changes nothing", () => {
    const before = current();
    const broken = join(folder, "broken.json");
    writeFileSync(broken, "{");
    const { status, output } = add(broken, document("fourth", "Fourth", ["listFourth"]));
    assert.equal(status, 1);
    assert.match(output, /not imported: [^]*broken\.json[^]*nothing was changed/);
    assert.equal(current(), before);
  });

  test("without the documents of the import, as in the npm package, the catalog is extended as it is", () => {
    rmSync(join(folder, "first.json"));
    const done = add(document("fifth", "Fifth", ["listFifth", "getFifth"]));
    assert.equal(done.status, 0, done.output);
    assert.match(done.output, /^4 connectors, 5 actions in /m);
    const replaced = add(document("newer", "Fifth", ["listFifth"], "fifth"), "--replace");
    assert.equal(replaced.status, 0, replaced.output);
    for (const [word, actions] of [
      ["first", "1 action"],
      ["second", "1 action"],
      ["third", "1 action"],
      ["fifth", "1 action"],
    ])
      assert.match(find(word), new RegExp(`${word} +${actions} `));
    const { status, output } = catalog("check", out);
    assert.equal(status, 0, output);
  });

  test("a platform whose name differs from its title is a conflict, too", () => {
    const file = document("tickets-1", "My Tickets API", ["listTickets"], "tickets");
    const added = add(file);
    assert.equal(added.status, 0, added.output);
    const platform = added.output.match(/tickets-1\.json: (\S+), 1 action/)[1];
    const before = current();
    const other = document("tickets-2", "My Tickets API", ["listTickets", "getTicket"], "tickets");
    for (const [args, status] of [
      [[other], 1],
      [[file], 1],
      [[other, "--dry-run"], 1],
      [[other, "--replace", "--dry-run"], 0],
    ]) {
      const done = add(...args);
      assert.equal(done.status, status, done.output);
      assert.match(done.output, new RegExp(`the catalog has ${platform}: its 1 action (?:would be|are) replaced`));
      assert.equal(current(), before);
    }
    const replaced = add(other, "--replace");
    assert.equal(replaced.status, 0, replaced.output);
    assert.match(find(platform), new RegExp(`${platform} +2 actions`));
  });
});
