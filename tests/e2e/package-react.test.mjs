// The React button: rendered on a server, and used in a browser with the real connect window, on a page whose
// Content-Security-Policy forbids WebAssembly. Also the README's examples for React, Vue and Svelte.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { promisify } from "node:util";
import * as esbuild from "esbuild";
import { compile } from "svelte/compiler";
import ts from "typescript";
import { compileScript, parse } from "vue/compiler-sfc";
import { root } from "../../scripts/lib/paths.mjs";
import { ConnectConsole, consent, button, confirm, openWindow, declineAtProvider } from "./support/connect.mjs";
import { folder } from "./support/workspace.mjs";

const PROJECT = join(folder, "react");
const SERVER = `
  const { createElement } = require("react");
  const { renderToString } = require("react-dom/server");
  const { ConnectButton, VaultProvider, useConnect, useConnections } = require("connector-vault/react");
  function Own() {
    const { isConnecting, error } = useConnect({ platform: "github" });
    const { connections } = useConnections();
    return createElement("p", null, String([isConnecting, error, connections]));
  }
  const calls = [];
  const props = { baseUrl: "https://vault.example", token: () => calls.push("token") };
  const children = [createElement(ConnectButton, { key: 1, platform: "github", className: "x" }, "Go"), createElement(Own, { key: 2 })];
  console.log(renderToString(createElement(VaultProvider, props, children)), calls.length);
  try {
    renderToString(createElement(ConnectButton));
  } catch ({ message }) {
    console.log(message);
  }
`;
const APP = `
  import { StrictMode, useState } from "react";
  import { createRoot } from "react-dom/client";
  import { ConnectButton, VaultProvider, useConnect, useConnections } from "connector-vault/react";

  // Stored in the session, because the browser leaves the page and returns to it.
  const given = Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
  if (given.tokens) sessionStorage.given = JSON.stringify(given);
  const { base, tokens, platform, ui } = JSON.parse(sessionStorage.given);
  history.replaceState(null, "", location.pathname + location.search);
  const left = tokens.split(" ");
  const token = async () => (left.length > 1 ? left.shift() : left[0]);

  function Accounts() {
    const { connections, error } = useConnections();
    return <ul>{error ? error.code : connections?.map(({ id, platform, identity }) => <li key={id}>{platform} of {identity}</li>)}</ul>;
  }

  function Own() {
    const { connect, isConnecting, error, errorText } = useConnect({ platform: "keyed" });
    return <p><button onClick={() => connect()}>Own</button> {isConnecting ? "open" : (error?.code ?? "none")} {errorText}</p>;
  }

  function App() {
    const [notes, setNotes] = useState([]);
    const note = (text) => setNotes((before) => [...before, text]);
    return (
      <VaultProvider baseUrl={base} token={() => token()}>
        <ConnectButton platform={platform} ui={ui} title="t" errorTexts={{ closed: notes.includes("error closed") ? "Own words" : "" }}
          onConnect={({ identity }) => note("connected " + identity)} onError={({ code }) => note("error " + code)} />
        <ConnectButton platform="simple" onError={({ code }) => note("simple " + code)}>Simple</ConnectButton>
        <Own />
        <Accounts />
        <output>{notes.join(", ")}</output>
      </VaultProvider>
    );
  }
  createRoot(document.querySelector("#app")).render(<StrictMode><App /></StrictMode>);
`;
const PAGE = (script) => `<!doctype html><html lang="en"><meta charset="utf-8"><title>An app</title>
<meta http-equiv="Content-Security-Policy" content="script-src 'self'">
<link rel="icon" href="data:,"><div id="app"></div><script type="module" src="/${script}.js"></script>`;
const ENTRIES = {
  react: `import { createElement } from "react"; import { createRoot } from "react-dom/client"; import App from "./example.jsx";
    createRoot(document.querySelector("#app")).render(createElement(App));`,
  vue: `import { createApp } from "vue"; import App from "./example.vue"; createApp(App).mount("#app");`,
  svelte: `import { mount } from "svelte"; import App from "./example.svelte"; mount(App, { target: document.querySelector("#app") });`,
};

/** Compiles Vue and Svelte components. */
const components = {
  name: "components",
  setup({ onLoad }) {
    onLoad({ filter: /\.vue$/ }, ({ path }) => {
      const { descriptor } = parse(readFileSync(path, "utf8"));
      return { contents: compileScript(descriptor, { id: "app", inlineTemplate: true }).content, resolveDir: PROJECT };
    });
    onLoad({ filter: /\.svelte$/ }, ({ path }) => {
      const { js } = compile(readFileSync(path, "utf8"), { generate: "client", filename: path });
      return { contents: js.code, resolveDir: PROJECT };
    });
  },
};

function write(name, text) {
  const path = join(PROJECT, name);
  writeFileSync(path, text);
  return path;
}

function install() {
  mkdirSync(join(PROJECT, "node_modules"), { recursive: true });
  symlinkSync(join(root, "npm"), join(PROJECT, "node_modules", "connector-vault"));
  for (const name of ["react", "react-dom", "scheduler"])
    symlinkSync(join(root, "node_modules", name), join(PROJECT, "node_modules", name));
}

describe("connecting from React", () => {
  let fixture;
  let pages;

  /** Bundles a program for a page of the app. */
  async function bundle(name, entry) {
    const result = await esbuild.build({
      entryPoints: [entry],
      bundle: true,
      format: "esm",
      outfile: join(pages, `${name}.js`),
      jsx: "automatic",
      // The package is a symbolic link, so its imports must resolve from the app.
      preserveSymlinks: true,
      nodePaths: [join(root, "node_modules")],
      define: {
        "process.env.NODE_ENV": '"development"',
        __VUE_OPTIONS_API__: "true",
        __VUE_PROD_DEVTOOLS__: "false",
        __VUE_PROD_HYDRATION_MISMATCH_DETAILS__: "false",
      },
      conditions: ["browser", "development"],
      plugins: [components],
      logLevel: "silent",
      metafile: true,
    });
    writeFileSync(join(pages, `${name}.html`), PAGE(name));
    return Object.keys(result.metafile.inputs);
  }

  before(async () => {
    install();
    fixture = await ConnectConsole.start("package-react");
    pages = join(folder, "package-react-pages");
    writeFileSync(join(pages, "blank.html"), '<!doctype html><title>Blank</title><link rel="icon" href="data:,">');
  });
  after(() => fixture?.stop());

  const visit = (address, use, options) => fixture.visit(address, use, { as: null, ...options });

  async function appUrl(identity, { rejected = false, ...options } = {}) {
    const token = await fixture.token(identity);
    const tokens = rejected ? `${token.slice(0, -3)}AAA ${token}` : token;
    return `${fixture.app.origin}/app.html#${new URLSearchParams({ base: fixture.baseUrl, tokens, ...options })}`;
  }

  const expectNote = (page, text) => page.locator("output").getByText(text, { exact: true }).waitFor();
  /** Presses a button that closes the window, possibly before the click has completed. */
  const cancel = (popup) =>
    Promise.all([
      popup.waitForEvent("close"),
      button(popup, "Cancel")
        .click()
        .catch(() => {}),
    ]);
  const alerted = (page, text) => page.getByRole("alert").getByText(text).waitFor();

  for (const [kind, program] of [
    ["CommonJS", ["server.cjs", SERVER]],
    [
      "an ES module",
      ["server.mjs", SERVER.replace(/const (\{[^}]*\}) = require\(("[^"]*")\);/g, "import $1 from $2;")],
    ],
  ])
    test(`renders on a server without requests: as ${kind}`, async () => {
      const [name, code] = program;
      const { stdout, stderr } = await promisify(execFile)(
        process.execPath,
        ["--preserve-symlinks", "--preserve-symlinks-main", write(name, code)],
        { cwd: PROJECT },
      );
      assert.equal(stderr, "");
      assert.deepEqual(stdout.trim().split("\n"), [
        '<span><button class="x" type="button" aria-busy="false">Go</button></span><p>false,,</p> 0',
        "Components that connect accounts need a <VaultProvider> around them.",
      ]);
    });

  test("the type of platforms completes well-known ones", () => {
    const file = join(PROJECT, "editor.tsx");
    const code = 'import { ConnectButton } from "connector-vault/react";\n<ConnectButton platform="" />;\n';
    const options = { jsx: ts.JsxEmit.ReactJSX, module: ts.ModuleKind.ESNext, strict: true, preserveSymlinks: true };
    options.moduleResolution = ts.ModuleResolutionKind.Bundler;
    options.typeRoots = [join(root, "node_modules", "@types")];
    symlinkSync(join(root, "node_modules", "@types"), join(PROJECT, "node_modules", "@types"));
    const service = ts.createLanguageService({
      ...ts.sys,
      useCaseSensitiveFileNames: () => true,
      getScriptFileNames: () => [write("editor.tsx", code)],
      getScriptVersion: () => "1",
      getScriptSnapshot: (name) =>
        ts.sys.fileExists(name) ? ts.ScriptSnapshot.fromString(ts.sys.readFile(name)) : undefined,
      getCompilationSettings: () => options,
      getDefaultLibFileName: ts.getDefaultLibFilePath,
    });
    const found = service.getCompletionsAtPosition(file, code.indexOf('platform="') + 10, {});
    const names = found?.entries.map(({ name }) => name) ?? [];
    assert.ok(names.length > 300, `${names.length}`);
    for (const name of ["github", "slack", "notion"]) assert.ok(names.includes(name), name);
  });

  describe("in a browser", () => {
    before(async () => {
      const inputs = await bundle("app", write("app.jsx", APP));
      assert.ok(
        inputs.some((name) => name.endsWith("dist/react.mjs")) &&
          inputs.some((name) => name.endsWith("dist/connect.mjs")),
      );
      assert.ok(!inputs.some((name) => /index\.mjs|slim\.mjs/.test(name) && name.includes("connector-vault")));
    });

    test("a click connects an account, which the list then contains", async () =>
      visit(await appUrl("r1@example.com", { platform: "keyed" }), async (page) => {
        const popup = await openWindow(page, () => button(page, "Connect an account").click());
        assert.equal(await page.getByTitle("t").isDisabled(), true);
        await popup.getByLabel("API key", { exact: true }).fill("k");
        await button(popup, "Connect").click();
        await page.getByText("keyed of r1@example.com", { exact: true }).waitFor();
        await expectNote(page, "connected r1@example.com");
        assert.equal(await page.getByTitle("t").isDisabled(), false);
        assert.equal(await page.getByRole("alert").count(), 0);
      }));

    test("a user who declines sees an explanation", async () =>
      visit(await appUrl("r2@example.com", { platform: "login" }), async (page) => {
        const popup = await openWindow(page, () => button(page, "Connect an account").click());
        await button(popup, "Continue to Login").click();
        await declineAtProvider(popup);
        await popup.getByRole("heading", { name: "You did not allow access" }).waitFor();
        await popup.close();
        await alerted(page, "You did not allow access, so nothing was connected.");
        await expectNote(page, "error denied");
      }));

    test("a user who closes the window sees no message, unless the app has one", async () =>
      visit(await appUrl("r3@example.com", { platform: "keyed" }), async (page) => {
        const popup = await openWindow(page, () => button(page, "Own").click());
        await page.getByText("open", { exact: false }).first().waitFor();
        await cancel(popup);
        await page.getByText("closed You closed the window before the account was connected.").waitFor();
        assert.equal(await page.getByRole("alert").count(), 0);
        const next = await openWindow(page, () => button(page, "Connect an account").click());
        await cancel(next);
        await expectNote(page, "error closed");
        await alerted(page, "Own words");
      }));

    test("a blocked popup is reported", async () =>
      visit(await appUrl("r4@example.com", { platform: "keyed" }), async (page) => {
        await page.evaluate(() => (window.open = () => null));
        await button(page, "Connect an account").click();
        await alerted(page, "Your browser has blocked the window. Allow windows of this site, and try again.");
      }));

    /** Leaves the page for the connect window, up to the consent page of the platform. */
    async function leave(page) {
      await button(page, "Connect an account").click();
      await page.waitForURL(`${fixture.baseUrl}/connect`);
      await confirm(page);
      await button(page, "Continue to Login").click();
    }

    test("the return from a page without a popup is reported once", async () =>
      visit(await appUrl("r5@example.com", { platform: "login", ui: "page" }), async (page) => {
        await leave(page);
        await consent(page);
        await page.waitForURL(`${fixture.app.origin}/app.html**`);
        await expectNote(page, "connected r5@example.com");
        await page.getByText("login of r5@example.com", { exact: true }).waitFor();
        assert.equal(page.url(), `${fixture.app.origin}/app.html`);
        await page.reload();
        await page.getByText("login of r5@example.com", { exact: true }).waitFor();
        assert.equal(await page.locator("output").textContent(), "");
      }));

    test("the button of its platform shows a failure", async () =>
      visit(await appUrl("r6@example.com", { platform: "login", ui: "page" }), async (page) => {
        await leave(page);
        await declineAtProvider(page);
        const back = page.getByRole("link", { name: /Acme Planner/ }).or(page.getByRole("alert"));
        await back.first().waitFor();
        if (!page.url().startsWith(fixture.app.origin)) await back.first().click();
        await alerted(page, "You did not allow access, so nothing was connected.");
        await expectNote(page, "error denied");
        assert.equal(await page.getByRole("alert").count(), 1);
      }));

    test("a rejected token is requested again", async () => {
      await fixture.caller().create({ platform: "keyed", identity: "r7@example.com", identityType: "user" });
      const address = await appUrl("r7@example.com", { platform: "keyed", rejected: true });
      await visit(address, (page) => page.getByText("keyed of r7@example.com", { exact: true }).waitFor(), {
        // The browser logs the rejected request.
        expects: [401],
      });
    });

    test("an API key is rejected without a request", async () => {
      const requests = [];
      const members = { base: fixture.baseUrl, tokens: fixture.keys.full.secret, platform: "keyed" };
      await visit(`${fixture.app.origin}/app.html#${new URLSearchParams(members)}`, async (page) => {
        page.on("request", (request) => requests.push(request.url()));
        await page.getByText("secret_in_browser", { exact: true }).waitFor();
        await openWindow(page, () => button(page, "Connect an account").click());
        await alerted(page, "This app is not set up correctly for this platform.");
        assert.ok(!requests.some((url) => url.startsWith(fixture.baseUrl)), requests.join());
      });
    });
  });

  describe("the README's example runs", () => {
    const README = readFileSync(join(root, "npm", "README.md"), "utf8");
    for (const [kind, language] of [
      ["react", "jsx"],
      ["vue", "vue"],
      ["svelte", "svelte"],
    ])
      test(kind, async () => {
        const [, code] = new RegExp(`^\`\`\`${language} ${kind}\\n(.*?)^\`\`\`$`, "ms").exec(README);
        const adapted = code.replace("https://vault.example.com", fixture.baseUrl).replace('"github"', '"keyed"');
        assert.notEqual(adapted, code);
        write(`example.${language}`, adapted);
        await bundle(kind, write(`${kind}.js`, ENTRIES[kind]));
        const identity = `${kind}@example.com`;
        const token = await fixture.token(identity);
        const body = JSON.stringify({ token, expiresAt: new Date(Date.now() + 900_000).toISOString() });
        await visit(`${fixture.app.origin}/blank.html`, async (page) => {
          await page.route("**/token", (route) => route.fulfill({ contentType: "application/json", body }));
          await page.goto(`${fixture.app.origin}/${kind}.html`);
          const popup = await openWindow(page, () => button(page, "Connect GitHub").click());
          await popup.getByLabel("API key", { exact: true }).fill("k");
          await button(popup, "Connect").click();
          await page.getByText(`keyed of ${identity}`, { exact: true }).waitFor();
        });
      });
  });
});
