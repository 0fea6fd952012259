// The packed package in new projects, one for each supported environment. Each project installs only the tarball, and lists the
// connectors of the running service.
import assert from "node:assert/strict";
import { execFile, spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, readFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { after, afterEach, before, describe, test } from "node:test";
import { promisify } from "node:util";
import { nodeResolve } from "@rollup/plugin-node-resolve";
import * as esbuild from "esbuild";
import { publint } from "publint";
import { rollup } from "rollup";
import ts from "typescript";
import * as vite from "vite";
import webpack from "webpack";
import { nodeBin, root } from "../../scripts/lib/paths.mjs";
import { run, tryRun } from "../../scripts/lib/run.mjs";
import { launch, open } from "./support/browser.mjs";
import { key, store } from "./support/keys.mjs";
import { install, pack, write } from "./support/project.mjs";
import { Server } from "./support/server.mjs";
import { Site } from "./support/site.mjs";
import { State, build, smallCatalog } from "./support/workspace.mjs";
import { proof } from "./support/proof.mjs";

const caller = key({ scopes: "catalog:read" });
let service;
let origin;
let tarball;
let browser;
/** The names of the connectors that each project must list. */
let names;
const config = () => ({ baseUrl: origin, secret: caller.secret });

/** Reads a page that lists connectors: { names, paragraphs, faults, violations }. `script` runs before those of the page. */
async function read(url, script) {
  const { page, faults, close } = await open(browser, url, script);
  try {
    await page
      .locator("body[data-done]")
      .waitFor()
      .catch(({ message }) => assert.fail([message, ...faults].join("\n")));
    const violations = await page.evaluate("globalThis.violations");
    return {
      names: await page.locator("li").allTextContents(),
      paragraphs: await page.locator("p").allTextContents(),
      faults,
      violations,
    };
  } finally {
    await close();
  }
}

/** Serves a folder, and asserts that its page lists the connectors. */
async function expectPage(folder) {
  write(folder, "config.json", config());
  const site = await Site.start(folder);
  try {
    const { names: shown, faults } = await read(`${site.origin}/`);
    assert.deepEqual(faults, []);
    assert.deepEqual(shown, names);
  } finally {
    await site.stop();
  }
}

/** Installs an app for a bundler: { project, input, output }. */
async function bundledApp(name) {
  const project = await install(tarball, "app", name);
  const output = join(project, "dist");
  mkdirSync(output);
  copyFileSync(join(project, "index.html"), join(output, "index.html"));
  return { project, input: join(project, "main.js"), output };
}

/** Runs a program of a project with this version of Node, and asserts that it prints only the connectors. */
async function expectPrinted(node, project, ...args) {
  const env = { ...process.env, VAULT_URL: origin, VAULT_KEY: caller.secret };
  const { stdout, stderr } = await promisify(execFile)(node, args, { cwd: project, env, timeout: 60_000 });
  assert.equal(stderr, "");
  assert.deepEqual(JSON.parse(stdout), names);
}

/** Programs by version of Node: this project's, and the system's if its version differs. */
function nodes() {
  const PATH = (process.env.PATH ?? "")
    .split(delimiter)
    .filter((entry) => entry !== nodeBin)
    .join(delimiter);
  const print = ["-p", "[process.version, process.execPath].join()"];
  const found = [tryRun("node", print), tryRun("node", print, { PATH })].filter(({ ok }) => ok);
  return new Map(found.map(({ out }) => out.split(",")));
}

describe("the packed package", () => {
  before(async () => {
    await build();
    const state = new State("projects-state");
    await state.prepare(await smallCatalog());
    await state.use(({ vault }) => store(vault, [caller]));
    tarball = await pack();
    browser = await launch();
    service = await Server.start(state, { name: "projects", variables: { ALLOWED_ORIGINS: "*" } });
    origin = `http://127.0.0.1:${service.port}`;
    names = (await service.send("/v1/available-connectors?limit=500", { secret: caller.secret })).json.rows.map(
      ({ name }) => name,
    );
    assert.ok(names.length > 2, "the connectors fill more than one page of a project");
  });

  after(async () => {
    await browser?.close();
    await service?.stop();
  });

  test("publint reports no problems", async () => {
    const { messages } = await publint({
      pack: { tarball: new Uint8Array(readFileSync(tarball)).buffer },
      strict: true,
    });
    assert.deepEqual(messages, []);
  });

  proof("attw reports no problems for any resolution", () => run(join(nodeBin, "attw"), [tarball]));

  test("the package works in a page without a bundler", async () => expectPage(await install(tarball, "page")));

  describe("Vite", () => {
    const messages = [];
    const customLogger = vite.createLogger("warn");
    for (const level of ["warn", "warnOnce", "error"]) customLogger[level] = (message) => messages.push(message);
    const { NODE_ENV } = process.env;

    afterEach(() => {
      // Restores NODE_ENV, which Vite sets for the whole process.
      if (NODE_ENV === undefined) delete process.env.NODE_ENV;
      else process.env.NODE_ENV = NODE_ENV;
      assert.deepEqual(messages.splice(0), []);
    });

    for (const name of ["app", "slim-vite"]) {
      describe(name, () => {
        let project;
        let options;
        before(async () => {
          project = await install(tarball, name, `vite-${name}`);
          mkdirSync(join(project, "public"));
          write(project, "public/config.json", config());
          options = {
            root: project,
            configFile: false,
            customLogger,
            logLevel: "warn",
            server: { host: "127.0.0.1", port: 0 },
          };
        });

        test("Vite's development server serves the package", async () => {
          const server = await (await vite.createServer(options)).listen();
          try {
            const { names: shown, faults } = await read(server.resolvedUrls.local[0]);
            assert.deepEqual(faults, []);
            assert.deepEqual(shown, names);
          } finally {
            await server.close();
          }
        });

        test("an app that Vite builds works", async () => {
          await vite.build(options);
          await expectPage(join(project, "dist"));
        });
      });
    }
  });

  test("the package works with webpack", async () => {
    const { project, input, output } = await bundledApp("webpack");
    const compiler = webpack({ mode: "production", context: project, entry: input, output: { path: output } });
    const stats = await promisify(compiler.run.bind(compiler))();
    await promisify(compiler.close.bind(compiler))();
    const { errors, warnings } = stats.toJson({ all: false, errors: true, warnings: true });
    assert.deepEqual([errors, warnings], [[], []]);
    await expectPage(output);
  });

  test("the package works with esbuild", async () => {
    const { input, output } = await bundledApp("esbuild");
    const { warnings } = await esbuild.build({
      entryPoints: [input],
      bundle: true,
      minify: true,
      outdir: output,
      logLevel: "silent",
    });
    assert.deepEqual(warnings, []);
    await expectPage(output);
  });

  proof("the package works with Rollup", async () => {
    const { input, output } = await bundledApp("rollup");
    const warnings = [];
    const bundle = await rollup({
      input,
      plugins: [nodeResolve({ browser: true })],
      onwarn: ({ message }) => warnings.push(message),
    });
    await bundle.write({ file: join(output, "main.js"), format: "iife" });
    await bundle.close();
    assert.deepEqual(warnings, []);
    await expectPage(output);
  });

  describe("Node", () => {
    for (const name of ["node", "slim-node"]) {
      let project;
      before(async () => {
        project = await install(tarball, name);
      });
      for (const [version, node] of nodes()) {
        test(`${name}, ESM, ${version}`, () => expectPrinted(node, project, "main.mjs"));
        test(`${name}, CommonJS, ${version}`, () => expectPrinted(node, project, "main.cjs"));
      }
    }

    // Node prints the source line of an uncaught error, even if it is long.
    test("an uncaught error prints a short message", async () => {
      const project = await install(tarball, "node", "uncaught");
      const { status, stderr } = spawnSync(process.execPath, ["uncaught.mjs"], { cwd: project, encoding: "utf8" });
      assert.equal(status, 1);
      assert.match(stderr, /^AuthenticationError: The API key is malformed/m);
      assert.ok(stderr.length < 2500, stderr.slice(0, 5000));
    });
  });

  for (const name of ["worker", "slim-worker"]) {
    test(`wrangler dev: ${name}`, async () => {
      const project = await install(tarball, name);
      write(project, ".dev.vars", `VAULT_URL=${origin}\nVAULT_KEY=${caller.secret}\n`);
      const worker = await Server.dev(project);
      try {
        const response = await worker.send("/");
        assert.equal(response.status, 200, `${response.text}\n${worker.output}`);
        assert.deepEqual(response.json, names);
        assert.doesNotMatch(worker.output, /warning|error/i);
      } finally {
        await worker.stop();
      }
    });
  }

  describe("a strict Content-Security-Policy", () => {
    const watch = () => {
      globalThis.violations = [];
      document.addEventListener("securitypolicyviolation", ({ violatedDirective, blockedURI }) =>
        globalThis.violations.push(`${violatedDirective} ${blockedURI}`),
      );
    };
    let project;
    before(async () => {
      project = await install(tarball, "strict-csp");
      write(project, "config.json", config());
    });

    /** Reads the page with a policy that allows these scripts. */
    async function readUnderPolicy(scripts) {
      const policy = `default-src 'none'; script-src ${scripts}; connect-src 'self' ${origin}`;
      const site = await Site.start(project, { headers: { "content-security-policy": policy } });
      try {
        return await read(`${site.origin}/`, watch);
      } finally {
        await site.stop();
      }
    }

    test("the package only needs 'wasm-unsafe-eval' in the policy", async () => {
      const expected = { names, paragraphs: [""], faults: [], violations: [] };
      assert.deepEqual(await readUnderPolicy("'self' 'wasm-unsafe-eval'"), expected);
    });

    test("without 'wasm-unsafe-eval', the error explains the policy", async () => {
      const { names: shown, paragraphs, violations } = await readUnderPolicy("'self'");
      assert.deepEqual(shown, []);
      assert.deepEqual(violations, ["script-src wasm-eval"]);
      const { isVaultError, message } = JSON.parse(paragraphs[0]);
      assert.ok(isVaultError, paragraphs[0]);
      assert.match(message, /wasm-unsafe-eval/);
    });
  });

  describe("TypeScript", () => {
    const STRICT_OPTIONS = {
      strict: true,
      noUncheckedIndexedAccess: true,
      exactOptionalPropertyTypes: true,
      skipLibCheck: false,
      target: "es2022",
    };
    // Compiler options with Node's types, but without the browser's.
    const NODE_OPTIONS = {
      module: "node16",
      lib: ["es2022"],
      types: ["node"],
      typeRoots: [join(root, "node_modules", "@types")],
    };
    const BROWSER_OPTIONS = {
      module: "esnext",
      moduleResolution: "bundler",
      lib: ["es2022", "dom", "dom.iterable"],
      types: [],
    };
    const SOURCES = ["program", "slim", "wrong"];
    let project;

    before(async () => {
      project = await install(tarball, "typescript");
      for (const name of SOURCES)
        for (const kind of ["mts", "cts"]) copyFileSync(join(project, `${name}.ts`), join(project, `${name}.${kind}`));
    });

    test("valid programs compile, and invalid ones do not: in both module systems of Node, and for a bundler", async () => {
      const configs = [
        ["node", NODE_OPTIONS, ["mts", "cts"]],
        ["browser", BROWSER_OPTIONS, ["ts"]],
      ].map(([name, options, kinds]) => {
        const compilerOptions = { ...STRICT_OPTIONS, ...options, outDir: `out-${name}` };
        const files = kinds.flatMap((kind) => SOURCES.map((source) => `${source}.${kind}`));
        write(project, `tsconfig.${name}.json`, { compilerOptions, files });
        return `tsconfig.${name}.json`;
      });
      await run(join(nodeBin, "tsc"), ["--build", ...configs], { cwd: project, timeout: 120_000 });
    });

    for (const [what, compiled] of [
      ["node16, ESM", "out-node/program.mjs"],
      ["node16, CommonJS", "out-node/program.cjs"],
      ["bundler", "out-browser/program.js"],
    ])
      test(`${what}: the compiled program runs`, () =>
        expectPrinted(process.execPath, project, "run.mjs", `./${compiled}`));

    proof("an editor shows the documentation", () => {
      const file = join(project, "program.ts");
      const text = readFileSync(file, "utf8");
      const { options } = ts.convertCompilerOptionsFromJson({ ...STRICT_OPTIONS, ...BROWSER_OPTIONS }, project);
      const service = ts.createLanguageService({
        ...ts.sys,
        useCaseSensitiveFileNames: () => ts.sys.useCaseSensitiveFileNames,
        getCompilationSettings: () => options,
        getScriptFileNames: () => [file],
        getScriptVersion: () => "1",
        getScriptSnapshot: (name) =>
          ts.sys.fileExists(name) ? ts.ScriptSnapshot.fromString(ts.sys.readFile(name)) : undefined,
        getDefaultLibFileName: ts.getDefaultLibFilePath,
      });
      const quickInfo = (word) => {
        const { displayParts, documentation } = service.getQuickInfoAtPosition(
          file,
          text.indexOf(word) + word.lastIndexOf(".") + 1,
        );
        return [displayParts, documentation].map((parts) => ts.displayPartsToString(parts));
      };
      assert.deepEqual(quickInfo(".connections.list"), [
        "(method) Connections.list(filters?: ConnectionFilters, options?: CallOptions): List<Connection> (+1 overload)",
        "Lists connections, newest first.",
      ]);
      assert.deepEqual(quickInfo("tagsMatch"), [
        '(property) ConnectionFilters.tagsMatch?: "all" | "any" | undefined',
        "Whether a connection must have `all` of `tags` (the default) or `any` of them.",
      ]);
      assert.match(
        quickInfo("error.retryAfter")[1],
        /^How many seconds to wait before a retry; undefined if the service did not say\.$/,
      );
    });
  });
});
