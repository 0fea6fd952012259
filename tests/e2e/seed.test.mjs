// `npm run seed` and the demo account of `npm start`, on the local D1 of the real runtime.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { before, describe, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { buildNativeCli } from "../../scripts/lib/native-cli.mjs";
import { root } from "../../scripts/lib/paths.mjs";
import { environment } from "../../scripts/lib/run.mjs";
import { seedDemoAccount } from "../../scripts/start/demo-connections.mjs";
import { State, smallCatalog, wranglerEnvironment } from "./support/workspace.mjs";
import { proof, isProof } from "./support/proof.mjs";

const options = { cwd: root, env: environment(wranglerEnvironment), encoding: "utf8" };

/** Runs a program. Returns the exit code and the output. */
function runProgram(...command) {
  const [program, ...args] = command;
  const done = spawnSync(program, args, options);
  return { code: done.status, output: done.stdout + done.stderr };
}

/** Runs the seed command as a user does. */
const npmSeed = (...args) => runProgram("npm", "run", "--silent", "seed", "--", ...args);

/** The rows of a query in a storage folder. */
async function query(state, sql) {
  const { results } = await state.use(({ vault }) => vault.prepare(sql).all());
  return results;
}

/** The expected rows of `connection_counts`, as strings. */
function expectedCounts(connections) {
  const counts = new Map();
  const count = (...row) => counts.set(row.join(" | "), (counts.get(row.join(" | ")) ?? 0) + 1);
  for (const {
    account,
    environment: fixture,
    active,
    platform,
    platform_version: version,
    identity_type: type,
    ...row
  } of connections) {
    count(account, fixture, active, "all", "");
    count(account, fixture, active, "platform", platform);
    count(account, fixture, active, "platformVersion", version);
    count(account, fixture, active, "platform/platformVersion", `${platform}/${version}`);
    count(account, fixture, active, "identityType", type);
    count(account, fixture, active, "platform/identityType", `${platform}/${type}`);
    count(account, fixture, active, "identityType/state", `${type}/${row.state}`);
    count(account, fixture, active, "platform/identityType/state", `${platform}/${type}/${row.state}`);
    count(account, fixture, active, "platformVersion/identityType/state", `${version}/${type}/${row.state}`);
    count(
      account,
      fixture,
      active,
      "platform/platformVersion/identityType/state",
      `${platform}/${version}/${type}/${row.state}`,
    );
    count(account, fixture, 2, "platform", platform);
    count(account, fixture, 2, "state", row.state);
    for (const tag of JSON.parse(row.tags)) count(account, fixture, active, "tag", tag);
  }
  return [...counts].map((entry) => entry.join(" | ")).sort();
}

/** Folds case as the service does: to lower case, with a final sigma as an ordinary one. */
const foldCase = (text) => text.toLowerCase().replaceAll("ς", "σ");

const COUNT = isProof ? 3000 : 600;
const formatted = (count) => count.toLocaleString("en");

describe("seed", () => {
  /** The command of `npm run seed`. */
  let program;
  let path;
  before(async () => {
    ({ path } = await smallCatalog());
    program = await buildNativeCli();
  });
  const seedArgs = (state, ...args) => ["--catalog", path, "--persist-to", state.path, "--account", "acme", ...args];
  const seed = (state, ...args) => runProgram(program, "seed", ...seedArgs(state, ...args));

  describe(`${formatted(COUNT)} connections through each of the two ways to write`, () => {
    const state = new State("seeded");
    let connections;
    before(async () => {
      const input = ["--connections", String(COUNT), "--seed", "1"];
      for (const [{ code, output }, had] of [
        [npmSeed(...seedArgs(state, ...input)), "0"],
        [seed(state, ...input, "--by-wrangler"), formatted(COUNT)],
      ]) {
        assert.equal(code, 0, output);
        assert.match(output, new RegExp(`Created ${formatted(COUNT)} connections in .* which had ${had} before`));
      }
      connections = await query(state, "SELECT * FROM connections ORDER BY seq");
    });

    test("creates all connections with unique keys and ids", () => {
      assert.equal(connections.length, 2 * COUNT);
      const keys = connections.map(({ platform, label, identity }) => JSON.stringify([platform, label, identity]));
      assert.equal(new Set(keys).size, 2 * COUNT);
      assert.equal(new Set(connections.map(({ id }) => id)).size, 2 * COUNT);
      assert.deepEqual(
        [...new Set(connections.map((row) => `${row.account} ${row.environment} ${row.version}`))],
        ["acme test 1"],
      );
    });

    test("preserves all characters, and folds case as the service does", () => {
      for (const row of connections) {
        assert.equal(row.identity_folded, foldCase(row.identity));
        assert.equal(row.name_folded, row.name === null ? null : foldCase(row.name));
        assert.ok(!`${row.name} ${row.identity} ${row.tags}`.includes("\ufffd"), row.name);
      }
      const names = connections.map(({ name }) => name).join();
      for (const letter of ["é", "ł", "Σ", "ж", "ن", "ו", "र", "ส", "部", "さ", "팀", "O'Hara"])
        assert.ok(names.includes(letter), letter);
    });

    test("updates the counters of connections and tags", async () => {
      const counts = await query(
        state,
        "SELECT account, environment, active, dimension, value, n FROM connection_counts",
      );
      assert.deepEqual(counts.map((row) => Object.values(row).join(" | ")).sort(), expectedCounts(connections));
      const tags = await query(
        state,
        "SELECT account, environment, active, tag, created_at, id, seq FROM connection_tags",
      );
      const expected = connections.flatMap((row) =>
        JSON.parse(row.tags).map((tag) =>
          [row.account, row.environment, row.active, tag, row.created_at, row.id, row.seq].join(" | "),
        ),
      );
      assert.deepEqual(tags.map((row) => Object.values(row).join(" | ")).sort(), expected.sort());
    });

    test("with --only-if-none, adds nothing to an environment that has connections", async () => {
      const { code, output } = seed(state, "--connections", "10", "--only-if-none");
      assert.equal(code, 0, output);
      assert.match(output, new RegExp(`Nothing to do: .* has ${formatted(2 * COUNT)} connections`));
      const live = seed(state, "--connections", "1", "--only-if-none", "--environment", "live");
      assert.match(live.output, /Created 1 connection in/);
      assert.deepEqual(await query(state, "SELECT environment, count(*) AS n FROM connections GROUP BY 1 ORDER BY 1"), [
        { environment: "live", n: 1 },
        { environment: "test", n: 2 * COUNT },
      ]);
    });
  });

  proof("stops after a complete batch on Ctrl-C, and reports the number of connections", async () => {
    const state = new State("interrupted");
    await state.prepare();
    const child = spawn(
      program,
      ["seed", "--catalog", path, "--persist-to", state.path, "--account", "acme", "--connections", "10000000"],
      { ...options, stdio: ["ignore", "inherit", "pipe"] },
    );
    let output = "";
    child.stderr.setEncoding("utf8").on("data", (text) => {
      output += text;
    });
    const closed = once(child, "close");
    // This process has the storage open, as `npm start` would.
    const [code, n] = await state.use(async ({ vault }) => {
      const count = async () => (await vault.prepare("SELECT count(*) AS n FROM connections").first()).n;
      try {
        while ((await count()) === 0 && child.exitCode === null) await pause(20);
      } finally {
        child.kill("SIGINT");
      }
      const [code] = await closed;
      return [code, await count()];
    });
    assert.equal(code, 130, output);
    assert.ok(n > 0 && n % 5000 === 0, `${n}`);
    assert.ok(output.includes(`Stopped: created ${n.toLocaleString("en")} connections`), output);
    assert.ok(output.includes(`--connections ${10_000_000 - n}`), output);
  });

  test("explains an invalid option, and an invalid folder", () => {
    const state = new State("untouched");
    const throughNpm = npmSeed("--connections", "5");
    assert.deepEqual(throughNpm, runProgram(program, "seed", "--connections", "5"));
    for (const [args, code, expected] of [
      [["--connections", "5"], 2, "--account <ACCOUNT>"],
      [["--account", "acme"], 2, "--connections <N>"],
      [["--account", "acme", "--connections", "0"], 2, "a whole number from 1 to 10,000,000"],
      [["--account", "acme", "--connections", "ten"], 2, "a whole number from 1 to 10,000,000"],
      [["--account", "a'b", "--connections", "5"], 2, "1 to 64 characters of A-Z a-z 0-9 . _ -"],
      [["--account", "acme", "--connections", "5", "--environment", "prod"], 2, "expected test, live"],
      [["--account", "acme", "--connections", "5", "--rows", "6"], 2, "unexpected argument '--rows'"],
      [["--account", "acme", "--connections", "5", "--local", "--remote"], 2, "cannot be used with"],
      [
        ["--account", "acme", "--connections", "5", "--persist-to", state.path, "--catalog", state.path],
        1,
        "npm run catalog -- import",
      ],
    ]) {
      const done = runProgram(program, "seed", ...args);
      assert.equal(done.code, code, done.output);
      assert.ok(done.output.includes(expected), done.output);
    }
  });
});

describe("the demo account", () => {
  const state = new State("demo");
  const count = async () => (await query(state, "SELECT count(*) AS n FROM connections WHERE account = 'demo'"))[0].n;
  let start;
  before(async () => {
    const { path } = await smallCatalog();
    // `npm start` stores its catalog in the default folder.
    const storageArgs = ["--local", "--persist-to", state.path, "--catalog", path];
    const program = await buildNativeCli();
    start = () => seedDemoAccount(program, { state: state.path, storageArgs });
    await state.prepare();
  });

  test("the demo account gets 200 connections once, and not again after they were deleted", async () => {
    await start();
    assert.equal(await count(), 200);
    await start();
    assert.equal(await count(), 200);
    await query(state, "DELETE FROM connections");
    await start();
    assert.equal(await count(), 0);
  });
});
