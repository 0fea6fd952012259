// Runs every example of the package's README in a project with the installed package: Node programs print the documented output
// against the service on the real runtime, pages are built and used, TypeScript compiles. A mark after the language of each example
// says how it is tested; an example without a mark is an error.
import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { after, before, describe, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import * as vite from "vite";
import { nodeBin, openapiDirectory, root } from "../../scripts/lib/paths.mjs";
import { run } from "../../scripts/lib/run.mjs";
import { launch, open } from "./support/browser.mjs";
import { button, openWindow } from "./support/connect.mjs";
import { secrets } from "./support/http.mjs";
import { key, store } from "./support/keys.mjs";
import { connectionNumber } from "./support/seed.mjs";
import { PLATFORMS, SESSION_SECRET, Server, freePort } from "./support/server.mjs";
import { seed } from "./support/vault.mjs";
import { State, build, cli, folder } from "./support/workspace.mjs";

const PACKAGE = join(root, "npm");
const PROJECT = join(folder, "readme");
const DOCUMENTS = [
  join(root, "tests", "fixtures", "openapi", "good"),
  join(openapiDirectory, "api", "github.com", "api.github.com.json"),
];
/** The connections; half of them are to GitHub. */
const CONNECTIONS = Array.from({ length: 250 }, (_, n) =>
  n % 2 ? connectionNumber(n) : { ...connectionNumber(n), platform: "github", identity: `user-${n}@example.com` },
);
/** The connections of the user of the browser app: more than one page. */
const ANN_CONNECTIONS = Array.from({ length: 130 }, (_, n) => ({
  ...connectionNumber(n),
  identity: "ann@example.com",
  label: `anns-${n}`,
  tags: [],
  active: true,
}));
/** The maximum number of lines of the browser app. */
const MAX_APP_LINES = 60;
const TIMEOUT_MS = 60_000;
const POLL_MS = 50;
/** The code of a page after it has loaded the module of /slim. */
const PAGE_CODE_AFTER_SLIM = `
const { VITE_VAULT_URL: baseUrl, VITE_VAULT_KEY: secret } = import.meta.env;
const { total } = await new ConnectorVault({ baseUrl, secret, allowSecretInBrowser: true }).connections.list();
document.querySelector("#app")!.textContent = \`\${total} connections\`;
`;

const README = readFileSync(join(PACKAGE, "README.md"), "utf8");
/** The examples: { language, mark, code }. */
const EXAMPLES = [...README.matchAll(/^```(\w+)(?: (\w+))?\n(.*?)^```$/gms)].map(([, language, mark, code]) => ({
  language,
  mark,
  code,
}));

/** The examples with a mark. There must be at least one. */
function marked(mark) {
  const found = EXAMPLES.filter((example) => example.mark === mark).map(({ code }) => code);
  assert.ok(found.length > 0, `the README has no example with the mark \`${mark}\``);
  return found;
}

/** The documented output of an example: the text after `// →` in each line. */
const expectedOutput = (code) => [...code.matchAll(/\/\/ → (.*)$/gm)].map(([, text]) => text);

/** Writes a file of the project. */
function write(name, text) {
  const path = join(PROJECT, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return path;
}

/** Creates a project with the installed package and Vite. */
function install() {
  const installed = join(PROJECT, "node_modules", "connector-vault");
  mkdirSync(installed, { recursive: true });
  for (const name of ["package.json", "dist"]) cpSync(join(PACKAGE, name), join(installed, name), { recursive: true });
  symlinkSync(join(root, "node_modules", "vite"), join(PROJECT, "node_modules", "vite"));
  write("package.json", '{ "type": "module" }');
}

/** Waits until a started server responds. */
async function untilReady(url, isAlive) {
  const until = Date.now() + TIMEOUT_MS;
  while (isAlive() && Date.now() < until) {
    if (await fetch(url).catch(() => undefined)) return;
    await pause(POLL_MS);
  }
  assert.fail(`${url} does not respond`);
}

/** Compiler options that are stricter than those of `npm create vite`. */
const TYPESCRIPT = {
  include: ["src"],
  compilerOptions: {
    target: "es2023",
    lib: ["es2023", "dom"],
    types: ["vite/client"],
    module: "esnext",
    moduleResolution: "bundler",
    noEmit: true,
    strict: true,
    noUnusedLocals: true,
    noUnusedParameters: true,
    verbatimModuleSyntax: true,
    exactOptionalPropertyTypes: true,
  },
};

describe("the package's README", () => {
  const caller = key({
    scopes:
      "catalog:read connections:read connections:write sessions:create connections:connect connections:call credentials:read credentials:write clients:read clients:write events:read webhooks:read webhooks:write keys:read keys:write audit:read usage:read",
  });
  const env = {};
  let server;
  let pagePort;
  let appPort;
  let connectPort;

  /** Runs a program of the project. Returns its output lines. */
  async function outputOf(name) {
    const options = { cwd: PROJECT, env: { ...process.env, ...env }, timeout: TIMEOUT_MS };
    const { stdout } = await promisify(execFile)(process.execPath, [name], options);
    return stdout.trim().split("\n");
  }

  before(async () => {
    await build();
    await run("npm", ["run", "--silent", "build:package"], { timeout: 900_000 });
    install();
    const [catalog, state] = [{ path: join(folder, "readme-catalog") }, new State("readme-state")];
    await cli("catalog", "import", ...DOCUMENTS, "--licence", "any", "--out", catalog.path);
    await state.prepare(catalog);
    await state.use(async ({ vault }) => {
      await store(vault, [caller]);
      await seed(vault, caller.row.account, [...CONNECTIONS, ...ANN_CONNECTIONS]);
    });
    [pagePort, appPort, connectPort] = [await freePort(), await freePort(), await freePort()];
    const origins = [`http://127.0.0.1:${pagePort}`, `http://localhost:${appPort}`, `http://localhost:${connectPort}`];
    const VAULT_KEYS = `readme:${randomBytes(32).toString("base64")}`;
    server = await Server.start(state, {
      name: "readme",
      variables: { ALLOWED_ORIGINS: origins.join() },
      secrets: { SESSION_SECRET, VAULT_KEYS },
      platforms: PLATFORMS,
    });
    Object.assign(env, { VAULT_URL: `http://127.0.0.1:${server.port}`, VAULT_KEY: caller.secret });
  });

  after(() => server?.stop());

  test("every example has a known mark", () => {
    const marks = {
      // lab/tests/frameworks.test.mjs runs the examples marked `vitest`.
      js: ["setup", "server", "connectserver", "node", "commonjs", "worker", "vitest"],
      ts: ["vite", "slim"],
      html: ["page", "connectpage"],
      // package-react.test.mjs runs the examples for React, Vue and Svelte.
      jsx: ["react"],
      vue: ["vue"],
      svelte: ["svelte"],
      sh: [undefined],
    };
    for (const { language, mark, code } of EXAMPLES)
      assert.ok(marks[language]?.includes(mark), `\`\`\`${language} ${mark}\n${code}`);
    assert.ok(EXAMPLES.length > 10);
  });

  test("the stated sizes of the package's files are right", () => {
    for (const [row, name] of [
      ["the default entry, all of it", "index.mjs"],
      ["`connector-vault.wasm`", "connector-vault.wasm"],
      ["`/connect`, without WebAssembly", "connect.mjs"],
      ["`/react`, in addition to `/connect`", "react.mjs"],
    ]) {
      const kilobytes = gzipSync(readFileSync(join(PACKAGE, "dist", name)), { level: 9 }).length / 1000;
      const stated = Number(README.match(new RegExp(`^\\| ${row} \\| (\\d+) KB \\|$`, "m"))?.[1]);
      assert.ok(
        Math.abs(stated - kilobytes) < 1.5,
        `${name}: the README states ${stated} KB, the actual size is ${kilobytes.toFixed(1)} KB`,
      );
    }
  });

  describe("examples for Node print the stated output", () => {
    const [setup] = marked("setup");
    for (const [at, code] of marked("node").entries()) {
      const heading = README.slice(0, README.indexOf(code))
        .match(/^## .*$/gm)
        .at(-1);
      test(heading, async () => {
        write(`${at}.mjs`, setup + code);
        assert.ok(expectedOutput(code).length > 0);
        assert.deepEqual(await outputOf(`${at}.mjs`), expectedOutput(code));
      });
    }

    test("the example for CommonJS runs", async () => {
      const [code] = marked("commonjs");
      write("main.cjs", code);
      assert.ok(expectedOutput(code).length > 0);
      assert.deepEqual(await outputOf("main.cjs"), expectedOutput(code));
    });

    test("the example for Workers runs", async () => {
      const [code] = marked("worker");
      const { default: worker } = await import(pathToFileURL(write("worker.mjs", code)).href);
      const response = await worker.fetch(new Request("https://worker.example/"), env);
      const rows = await response.json();
      assert.equal(rows.length, 20);
      assert.ok(rows.every(({ platform }) => platform === "github"));
    });

    test("the examples for /slim load the module", async () => {
      const [, code] = README.match(/^\| Node \| `(.*)` \|$/m);
      const imports =
        'import { readFileSync } from "node:fs";\nimport { ConnectorVault, initSync } from "connector-vault/slim";\n';
      const call =
        "const vault = new ConnectorVault({ baseUrl: process.env.VAULT_URL, secret: process.env.VAULT_KEY });\nconsole.log((await vault.whoami()).account);\n";
      write("slim.mjs", `${imports}${code};\n${call}`);
      assert.deepEqual(await outputOf("slim.mjs"), ["acme"]);
    });
  });

  describe("pages", () => {
    let site;
    let browser;
    let total;
    before(async () => {
      // The page of Vite's template.
      const html = (script) =>
        `<!doctype html><link rel="icon" href="data:,"><div id="app"></div><script type="module" src="/src/${script}"></script>`;
      for (const [name, mark, more] of [
        ["index", "vite", ""],
        ["slim", "slim", PAGE_CODE_AFTER_SLIM],
      ]) {
        const [code] = marked(mark);
        write(`src/${name}.ts`, code + more);
        write(`${name}.html`, html(`${name}.ts`));
      }
      write(".env.local", `VITE_VAULT_URL=${env.VAULT_URL}\nVITE_VAULT_KEY=${env.VAULT_KEY}\n`);
      write("tsconfig.json", JSON.stringify(TYPESCRIPT));
      site = await vite.createServer({
        root: PROJECT,
        configFile: false,
        logLevel: "error",
        server: { host: "127.0.0.1", port: pagePort, strictPort: true },
      });
      await site.listen();
      browser = await launch();
      ({ total } = (await server.send("/v1/vault/connections", { secret: caller.secret })).json);
    });

    after(async () => {
      await browser?.close();
      await site?.close();
    });

    /** Opens a page, uses it, and asserts that it has no errors. */
    async function visitPage(path, use) {
      const { page: shown, faults, close } = await open(browser, `http://127.0.0.1:${pagePort}${path}`);
      try {
        await use(shown).catch(({ message }) => assert.fail([message, ...faults].join("\n")));
        assert.deepEqual(faults, []);
      } finally {
        await close();
      }
    }

    test("README's pages compile", () => run(join(nodeBin, "tsc"), ["--project", PROJECT], { timeout: TIMEOUT_MS }));

    test("the first page example lists connections page by page", () =>
      visitPage("/", async (shown) => {
        const status = (number) =>
          shown
            .getByText(`${total} connections, page ${number} of ${Math.ceil(total / 10)}`, { exact: true })
            .waitFor();
        await status(1);
        const first = await shown.locator("li").allTextContents();
        await shown.getByRole("button", { name: "Next page" }).click();
        await status(2);
        const second = await shown.locator("li").allTextContents();
        assert.deepEqual([first.length, second.length], [10, 10]);
        for (const line of [...first, ...second])
          assert.match(line, /^.+ is connected to .+: (operational|degraded|failed|unknown)$/);
        assert.notDeepEqual(first, second);
      }));

    /** Writes an app of the README and starts it: { output(), stop() }. `change` modifies its page. */
    async function startApp(folder, server, page, port, change = (html) => html) {
      const [[code], [html]] = [marked(server), marked(page)];
      assert.ok(`${code}${html}`.trimEnd().split("\n").length < MAX_APP_LINES, "it is a small app");
      const [address] = html.match(/https:\/\/vault\.example\.com/g);
      write(`${folder}/page.html`, change(html.replace(address, env.VAULT_URL)));
      const app = spawn(process.execPath, [write(`${folder}/server.mjs`, code)], {
        env: { ...process.env, ...env, PORT: String(port) },
        stdio: ["ignore", "pipe", "pipe"],
      });
      let printed = "";
      for (const stream of [app.stdout, app.stderr]) stream.setEncoding("utf8").on("data", (text) => (printed += text));
      await untilReady(`http://localhost:${port}/`, () => app.exitCode === null);
      const stop = async () => {
        if (app.exitCode !== null) return;
        app.kill();
        await once(app, "exit");
      };
      return { output: () => printed, stop };
    }

    describe("for users who connect accounts", () => {
      let app;
      before(async () => {
        // A platform of a test document, whose auth methods need no network.
        const change = (html) => html.replace("vault.connect()", 'vault.connect({ platform: "acme-store" })');
        app = await startApp("connect", "connectserver", "connectpage", connectPort, change);
      });
      after(() => app?.stop());

      test("a click connects an account, and the page is notified", async () => {
        const { page: shown, faults, close } = await open(browser, `http://localhost:${connectPort}/`);
        try {
          const popup = await openWindow(shown, () => button(shown, "Connect an account").click());
          await popup.getByRole("heading", { name: /^Connect Acme/ }).waitFor();
          // Without an OAuth client, the window only offers the API key.
          await popup.getByRole("textbox", { name: "API key" }).fill("k-1");
          await button(popup, "Connect").click();
          await shown.getByText("acme-store is connected for ann@example.com.", { exact: true }).waitFor();
          assert.deepEqual(faults, []);
          for (const text of [await shown.content(), app.output()]) assert.ok(!/sk_test_|st_test_/.test(text));
        } finally {
          await close();
        }
        // Deleted, because other apps count the connections.
        const mine = "/v1/vault/connections?platform=acme-store&identity=ann%40example.com&limit=1";
        const [{ id }] = (await server.send(mine, { secret: caller.secret })).json.rows;
        const deleted = await server.send(`/v1/vault/connections/${id}`, { secret: caller.secret, method: "DELETE" });
        assert.equal(deleted.status, 204);
      });
    });

    describe("for the users of an app", () => {
      let app;
      before(async () => {
        app = await startApp("app", "server", "page", appPort);
      });
      after(() => app?.stop());

      test("a page lists and tags only the connections of its user, without an API key", async () => {
        const { page: shown, faults, close } = await open(browser, `http://localhost:${appPort}/`);
        try {
          await shown
            .getByText(`Connections: ${ANN_CONNECTIONS.length}`, { exact: true })
            .waitFor()
            .catch(({ message }) => assert.fail([message, app.output(), ...faults].join("\n")));
          const platforms = await shown.getByRole("button").allTextContents();
          assert.deepEqual(platforms.sort(), ANN_CONNECTIONS.map(({ platform }) => platform).sort());
          const tagged = shown.getByRole("button").nth(120);
          await tagged.click();
          await shown.getByRole("button", { name: / favourite$/ }).waitFor();
          assert.match(await tagged.textContent(), / favourite$/);
          assert.deepEqual(faults, []);
          for (const text of [await shown.content(), app.output()]) assert.ok(!/sk_test_|st_test_/.test(text));
        } finally {
          await close();
        }
        const { json } = await server.send("/v1/vault/connections?tags=favourite", { secret: caller.secret });
        assert.deepEqual(
          json.rows.map(({ identity }) => identity),
          ["ann@example.com"],
        );
      });

      test("the app's token is rejected on a page of another origin", async () => {
        const { token } = await (await fetch(`http://localhost:${appPort}/token`, { method: "POST" })).json();
        secrets.add(token);
        const from = async (origin) =>
          (await server.send("/v1/vault/connections", { secret: token, headers: [["origin", origin]] })).status;
        assert.deepEqual(
          [await from(`http://localhost:${appPort}`), await from(`http://127.0.0.1:${pagePort}`)],
          [200, 401],
        );
      });
    });

    test("the browser app runs with /slim", () =>
      visitPage("/slim.html", (shown) => shown.getByText(`${total} connections`, { exact: true }).waitFor()));
  });
});
