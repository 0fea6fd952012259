// The API reference at /docs and the pages about problems, on the real runtime: every code sample and every example is
// run, and what a browser shows is looked at in both themes.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { promisify } from "node:util";
import { openapiDirectory, root } from "../../scripts/lib/paths.mjs";
import { launch, open } from "./support/browser.mjs";
import { Answer } from "./support/http.mjs";
import { key, store } from "./support/keys.mjs";
import { Description } from "./support/openapi.mjs";
import { Server } from "./support/server.mjs";
import { CONNECTIONS, one, query } from "./support/vault.mjs";
import { State, build, cli, folder } from "./support/workspace.mjs";

const PROJECT = join(folder, "reference");
const DOCUMENTS = [
  join(root, "tests", "fixtures", "openapi", "good"),
  // Platforms that `npm start` serves, too: their documents have an open licence.
  ...["github.com/api.github.com.json", "atlassian.com/jira.json"].map((name) => join(openapiDirectory, "api", name)),
];
const TIMEOUT_MS = 30_000;
const JSON_TYPE = ["content-type", "application/json"];
const AXE = readFileSync(join(root, "node_modules", "axe-core", "axe.min.js"), "utf8");
const THEMES = { light: "rgb(255, 255, 255)", dark: "rgb(17, 19, 26)" };
const PHONE = { width: 390, height: 844 };
const DESK = { width: 1280, height: 900 };

const ALL = "catalog:read connections:read connections:write sessions:create";
/** Whose answers the samples show, whose connections the examples are, and who asks in the browser. */
const keys = {
  problems: key({ account: "problems" }),
  samples: key({ account: "samples", scopes: ALL }),
  examples: key({ account: "examples", scopes: ALL }),
  reader: key({ account: "reader" }),
  scopeless: key({ account: "samples", scopes: "catalog:read" }),
};

const PROBLEMS = join(root, "www", "public", "problems");
const CODES = [...readFileSync(join(PROBLEMS, "index.html"), "utf8").matchAll(/<a href="\/problems\/(\w+)">/g)].map(
  ([, code]) => code,
);
/** What a page shows in elements of a class, by code. */
const EXAMPLES = Object.fromEntries(
  CODES.flatMap((code) => {
    const page = readFileSync(join(PROBLEMS, `${code}.html`), "utf8");
    const shown = (name) =>
      page
        .match(new RegExp(`<pre class="${name}"[^>]*><code>(.*?)</code></pre>`, "s"))?.[1]
        .replaceAll("&lt;", "<")
        .replaceAll("&gt;", ">")
        .replaceAll("&amp;", "&");
    const example = { request: shown("request"), answer: shown("answer"), right: shown("right") };
    return example.request === undefined ? [] : [[code, example]];
  }),
);

let server;
let description;
/** The same storage behind a service that reads few rows for a list: only there is an example's small vault too large. */
let strict;

const address = () => `http://127.0.0.1:${server.port}`;
const as =
  (caller) =>
  (path, { headers = [], ...options } = {}) =>
    server.send(path, {
      secret: caller.secret,
      headers: options.body === undefined ? headers : [JSON_TYPE, ...headers],
      ...options,
    });

/** Creates a connection; gives its id and its entity tag, as the samples have them in their environment. */
let made = 0;
async function connection(caller, more = {}) {
  const wish = {
    platform: "github",
    identity: `reference-${(made += 1)}`,
    identityType: "user",
    tags: ["eu"],
    ...more,
  };
  const answer = await as(caller)(CONNECTIONS, { method: "POST", body: JSON.stringify(wish) });
  assert.equal(answer.status, 201, answer.text);
  return { ID: answer.json.id, ETAG: answer.header("etag") };
}

/** Runs a program in the project; gives what it prints, byte for byte. */
async function printed(program, args, env) {
  const options = {
    cwd: PROJECT,
    timeout: TIMEOUT_MS,
    encoding: "buffer",
    env: { PATH: process.env.PATH, VAULT_URL: address(), ...env },
  };
  const { stdout, stderr } = await promisify(execFile)(program, args, options);
  assert.equal(stderr.toString(), "");
  return stdout;
}

/** Runs a shell's commands, with nobody's settings. */
const shell = (source, env) => printed("bash", ["--norc", "-c", source], env);

/** Runs a shell sample; its `curl` prints the answer as it came. */
const answered = async (source, env) =>
  new Answer(await shell(`curl() { command curl -i --raw -H "connection: close" "$@"; }\n${source}`, env), server.port);

before(async () => {
  await build();
  const installed = join(PROJECT, "node_modules", "connector-vault");
  mkdirSync(installed, { recursive: true });
  for (const name of ["package.json", "dist"])
    cpSync(join(root, "npm", name), join(installed, name), { recursive: true });
  const [catalog, state] = [{ path: join(folder, "reference-catalog") }, new State("reference-state")];
  await cli("catalog", "import", ...DOCUMENTS, "--licence", "any", "--out", catalog.path);
  await state.migrate();
  await state.publish(catalog);
  const database = await state.open();
  try {
    await store(database.vault, Object.values(keys));
  } finally {
    await database.close();
  }
  const copy = state.copy("reference-strict");
  server = await Server.start(state);
  strict = await Server.start(copy, { name: "strict", variables: { MAX_ROWS_READ: "100" } });
  description = new Description((await server.send("/v1/openapi.json")).json);
});

after(() => Promise.all([server?.stop(), strict?.stop()]));

describe("the OpenAPI document's samples and examples", () => {
  test("curl gets what the operation describes", async () => {
    for (const [id, operation] of description.operations) {
      const [sample] = operation["x-codeSamples"].filter(({ label }) => label === "curl");
      const env = { VAULT_KEY: keys.samples.secret, ...(await connection(keys.samples)) };
      const answer = await answered(sample.source, env);
      assert.ok(answer.status < 300, `${id}: ${answer.text}`);
      description.expect(id, answer);
      if (answer.status !== 204 && answer.json.rows)
        assert.ok(answer.json.rows.length > 0, `${id} shows a list with something in it`);
    }
  });

  test("JavaScript runs, and prints something", async () => {
    for (const [id, operation] of description.operations) {
      const [sample] = operation["x-codeSamples"].filter(({ lang }) => lang === "JavaScript");
      const env = { VAULT_KEY: keys.samples.secret, ...(await connection(keys.samples)) };
      writeFileSync(join(PROJECT, `${id}.mjs`), sample.source);
      const lines = (await printed(process.execPath, [`${id}.mjs`], env)).toString().split("\n").slice(0, -1);
      assert.ok(
        lines.every((line) => line.length > 1 && !/undefined|\[object/.test(line)),
        `${id}: ${lines}`,
      );
      if (id === "deleteConnection") assert.equal((await as(keys.samples)(one(env.ID))).status, 404);
      else assert.ok(lines.length > 0, id);
    }
  });

  test("the walk over all pages meets every connection once", async () => {
    const [sample] = description.operations
      .get("listConnections")
      ["x-codeSamples"].filter(({ label }) => label === "curl, every page");
    const caller = keys.examples;
    for (let n = 0; n < 5; n += 1) await connection(caller);
    const source = sample.source.replace("limit=100", "limit=2");
    assert.notEqual(source, sample.source);
    const text = (await shell(source, { VAULT_KEY: caller.secret })).toString();
    const pages = text
      .replaceAll('}{"rows"', '}\n{"rows"')
      .split("\n")
      .map((page) => JSON.parse(page));
    assert.equal(pages.length, 3);
    assert.equal(new Set(pages.flatMap(({ rows }) => rows.map(({ id }) => id))).size, 5);
  });

  test("the introduction's commands work", async () => {
    const blocks = [...description.document.info.description.matchAll(/^```(\w*)\n(.*?)^```$/gms)];
    assert.ok(blocks.length > 0);
    for (const [, language, source] of blocks) {
      assert.equal(language, "sh");
      assert.equal((await answered(source, { VAULT_KEY: keys.samples.secret })).status, 200, source);
    }
  });

  test("every example of a body is taken, and of a parameter finds something", async () => {
    const send = as(keys.examples);
    let bodies = 0;
    for (const [id, { path, method, requestBody }] of description.operations) {
      for (const { value } of Object.values(requestBody?.content["application/json"].examples ?? {})) {
        const { ID } = await connection(keys.examples);
        const answer = await send(path.replace("{id}", ID), { method, body: JSON.stringify(value) });
        assert.ok(answer.status < 300, `${id}: ${answer.text}`);
        description.expect(id, answer);
        bodies += 1;
      }
    }
    assert.equal(bodies, 9);
    await connection(keys.examples, {
      identity: "ann@example.com",
      label: "tagged",
      name: "Payments team",
      tags: ["eu", "billing"],
    });
    let examples = 0;
    for (const [id, { path, parameters = [] }] of description.operations) {
      const [platform] = parameters.find(({ name }) => name === "platform")?.schema.examples ?? [];
      for (const parameter of parameters) {
        const [example] = parameter.schema?.examples ?? [];
        if (example === undefined) continue;
        const filter = parameter.in === "query" ? `?${query({ [parameter.name]: example })}` : "";
        const answer = await send(path.replace("{platform}", platform) + filter);
        assert.equal(answer.status, 200, `${id} ${parameter.name}: ${answer.text}`);
        assert.ok(answer.json.rows.length > 0, `${id} ${parameter.name}=${example} finds nothing`);
        examples += 1;
      }
    }
    assert.equal(examples, 5 + 5 + 7);
  });
});

describe("in a browser", () => {
  let browser;
  before(async () => {
    browser = await launch();
  });
  after(() => browser?.close());

  /** Opens a page, uses it, and asserts that nothing went wrong in it and nobody else was asked. */
  async function look(path, use, script) {
    const { page, faults, close } = await open(browser, `${address()}${path}`, script);
    try {
      await page.setViewportSize(DESK);
      await use(page).catch(({ message }) => assert.fail([message, ...faults].join("\n")));
      const asked = await page.evaluate(() =>
        performance
          .getEntriesByType("resource")
          .map(({ name }) => new URL(name))
          .filter(({ protocol }) => protocol !== "data:")
          .map(({ origin }) => origin),
      );
      assert.deepEqual([...new Set(asked)], [address()]);
      assert.deepEqual(faults, []);
    } finally {
      await close();
    }
  }

  /** Asserts that the page, or these parts of it, is accessible in both themes, and that it is no wider than a phone. */
  async function expectFit(page, what, parts) {
    for (const [colorScheme, background] of Object.entries(THEMES)) {
      await page.emulateMedia({ colorScheme });
      assert.equal(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), background);
      await page.evaluate(AXE);
      const { violations } = await page.evaluate(
        (parts) => globalThis.axe.run(parts ?? document, { resultTypes: ["violations"] }),
        parts,
      );
      const told = violations.map(
        ({ id, nodes }) =>
          `${id}: ${nodes
            .slice(0, 5)
            .map(({ html, any }) => `${html.slice(0, 150)} ${any[0]?.message ?? ""}`)
            .join("\n  ")}`,
      );
      assert.deepEqual(told, [], `${what}, ${colorScheme}`);
    }
    await page.setViewportSize(PHONE);
    assert.ok(
      (await page.evaluate(() => document.documentElement.scrollWidth)) <= PHONE.width,
      `${what} is wider than a phone`,
    );
    await page.setViewportSize(DESK);
  }

  /** Before a page's own scripts: what its policy forbids becomes an error in the console. */
  const tellViolations = () =>
    document.addEventListener("securitypolicyviolation", (event) =>
      console.error("policy", event.violatedDirective, event.blockedURI),
    );

  const block = (page, id) => page.locator(`#operations-${description.operations.get(id).tags[0]}-${id}`);
  const opened = async (page, id) => {
    await block(page, id).locator(".opblock-summary-control").click();
    await block(page, id).locator(".responses-table").waitFor();
  };

  test("/docs shows every operation and every schema, accessibly in both themes", () =>
    look(
      "/docs",
      async (page) => {
        await page.getByRole("heading", { name: "Schemas" }).waitFor();
        await expectFit(page, "the list");
        for (const [
          id,
          { path, method, summary, parameters = [], responses, requestBody, "x-codeSamples": samples },
        ] of description.operations) {
          await opened(page, id);
          const text = await block(page, id).innerText();
          for (const part of [path, method, summary, ...samples.map(({ source }) => source.trim())])
            assert.ok(text.replaceAll("\u200b", "").includes(part), `${id}: ${part}`);
          const told = (selector, name) =>
            block(page, id)
              .locator(selector)
              .evaluateAll((elements, name) => elements.map((element) => element.dataset[name]), name);
          assert.deepEqual(
            (await told("[data-param-name]", "paramName")).sort(),
            parameters.map((parameter) => description.resolve(parameter).name).sort(),
            id,
          );
          assert.deepEqual(await told("tr.response[data-code]", "code"), Object.keys(responses), id);
          const options = await block(page, id)
            .locator(".examples-select option")
            .evaluateAll((all) => all.map(({ value }) => value));
          const contents = [
            requestBody,
            ...Object.values(responses).map((response) => description.resolve(response)),
          ].flatMap((thing) => Object.values(thing?.content ?? {}));
          assert.deepEqual(
            options,
            contents.flatMap(({ examples = {} }) => Object.keys(examples)),
            id,
          );
          // Each header once, with the statuses that have it.
          const having = new Map();
          for (const [status, response] of Object.entries(responses)) {
            for (const name of Object.keys(description.resolve(response).headers))
              having.set(name, [...(having.get(name) ?? []), status]);
          }
          const shown = await block(page, id)
            .locator(".answer-headers tbody tr")
            .evaluateAll((rows) => rows.map((row) => [row.cells[0].textContent, row.cells[2].textContent]));
          const statusesOf = (text) => {
            if (!text.startsWith("every response")) return text.split(", ");
            const others = text.replace(/every response( except )?/, "").split(", ");
            return Object.keys(responses).filter((status) => !others.includes(status));
          };
          assert.deepEqual(
            Object.fromEntries(shown.map(([name, text]) => [name, statusesOf(text)])),
            Object.fromEntries(having),
            id,
          );
          assert.equal(shown.length, having.size, id);
          assert.equal(await block(page, id).locator(".response .headers-wrapper, .response .headers").count(), 0, id);
        }
        await expectFit(page, "all operations");

        const schemas = page.locator("section.models article[data-json-schema-level='0']");
        const names = await schemas.evaluateAll((all) =>
          all.map((each) => each.querySelector(".json-schema-2020-12__title").textContent),
        );
        assert.deepEqual(names, Object.keys(description.document.components.schemas));
        for (const schema of await schemas.all()) {
          await schema.getByRole("button", { name: "Expand all" }).first().click();
          await schema.getByRole("button", { name: "Collapse all" }).first().waitFor();
        }
        const text = await page.locator("section.models").innerText();
        for (const [name, { properties }] of Object.entries(description.document.components.schemas)) {
          for (const [member, { description: said }] of Object.entries(properties)) {
            assert.ok(text.includes(member), `${name}.${member}`);
            if (said) assert.ok(text.includes(said.replaceAll("`", "")), `${name}.${member}: ${said}`);
          }
        }
        // All of them at once would be tens of thousands of elements.
        for (const tab of await block(page, "createConnection").locator(".tablinks[data-name=model]").all())
          await tab.click();
        await expectFit(page, "all schemas", ["section.models", "#operations-Vault-createConnection"]);
      },
      tellViolations,
    ));

  test("a key opens what is tried out, and stays nowhere", () =>
    look(
      "/docs",
      async (page) => {
        await page.getByLabel("API key", { exact: true }).fill(keys.reader.secret);
        await page.getByRole("button", { name: "Use the key" }).click();
        await page.getByText("Requests use your key.").waitFor();
        const tried = async (id) => {
          await opened(page, id);
          await block(page, id).getByRole("button", { name: "Try it out" }).click();
          await block(page, id).getByRole("button", { name: "Execute" }).click();
          await block(page, id).locator(".live-responses-table").waitFor();
          return block(page, id).locator(".live-responses-table").innerText();
        };
        assert.match(await tried("whoami"), /"account": "reader"/);
        assert.match(await tried("createConnection"), /"key": "test::github::default::ann@example.com"/);
        assert.match(await tried("listConnections"), /"total": 1/);
        await expectFit(page, "what was tried out");
        const kept = () =>
          page.evaluate(() =>
            [
              JSON.stringify(localStorage),
              JSON.stringify(sessionStorage),
              document.cookie,
              location.href,
              document.documentElement.outerHTML,
            ].join(),
          );
        assert.ok(!(await kept()).includes(keys.reader.secret));
        await page.getByRole("button", { name: "Forget the key" }).click();
        await page.getByLabel("API key", { exact: true }).waitFor();
        assert.equal(await page.getByLabel("API key", { exact: true }).inputValue(), "");
      },
      tellViolations,
    ));

  test("/docs has the console's frame, and tries things out with the key that one is signed in with", () =>
    look(
      "/problems/",
      async (page) => {
        await page.evaluate((secret) => sessionStorage.setItem("connector-vault.secret", secret), keys.reader.secret);
        // Logos come from other hosts, which may be out of reach.
        await page.route(/^https:/, (route) =>
          route.fulfill({ contentType: "image/svg+xml", body: '<svg xmlns="http://www.w3.org/2000/svg"/>' }),
        );
        await page.goto(`${address()}/docs`);
        const frame = page.getByRole("banner");
        await frame.getByText("reader", { exact: true }).waitFor();
        assert.deepEqual(await frame.getByRole("navigation").getByRole("link").allTextContents(), [
          "Overview",
          "Connectors",
          "Connections",
          "API",
        ]);
        assert.equal(await frame.getByRole("link", { name: "API", exact: true }).getAttribute("aria-current"), "page");
        await page.getByText("Requests use the key that you are signed in with.").waitFor();
        await opened(page, "whoami");
        await block(page, "whoami").getByRole("button", { name: "Try it out" }).click();
        await block(page, "whoami").getByRole("button", { name: "Execute" }).click();
        assert.match(await block(page, "whoami").locator(".live-responses-table").innerText(), /"account": "reader"/);
        assert.ok(
          !(
            await page.evaluate(() =>
              [JSON.stringify(localStorage), document.cookie, location.href, document.documentElement.outerHTML].join(),
            )
          ).includes(keys.reader.secret),
        );
        await expectFit(page, "the frame");
        await frame.getByRole("button", { name: "Use the dark theme" }).click();
        assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), "dark");
        await page.evaluate(() => localStorage.clear());
        await page.reload();
        await page.getByText("Requests use the key that you are signed in with.").waitFor();
        // Another key, and back.
        await page.getByRole("button", { name: "Use another key" }).click();
        await page.getByLabel("API key", { exact: true }).waitFor();
        await page.getByRole("button", { name: "Use the key that you are signed in with" }).click();
        await page.getByText("Requests use the key that you are signed in with.").waitFor();
        // The console is where it was, and so is the session.
        await frame.getByRole("link", { name: "Connectors" }).click();
        await page.getByRole("heading", { level: 1, name: "Connectors" }).waitFor();
        await page.getByRole("link", { name: "API", exact: true }).click();
        await page.getByText("Requests use the key that you are signed in with.").waitFor();
        await frame.getByRole("button", { name: "Sign out" }).click();
        await page.getByLabel("API key", { exact: true }).waitFor();
        await frame.getByRole("link", { name: "Sign in" }).waitFor();
        assert.equal(await page.evaluate(() => sessionStorage.length), 0);
        await expectFit(page, "the frame without a session");
      },
      tellViolations,
    ));

  test("a path that is none shows a page with the way back", async () => {
    const { page, faults, close } = await open(browser, `${address()}/nothere`, tellViolations);
    try {
      await page.getByRole("heading", { level: 1, name: "There is no such page" }).waitFor();
      await expectFit(page, "the page");
      await page.getByRole("link", { name: "your connections" }).click();
      await page.getByRole("heading", { level: 1, name: "Sign in" }).waitFor();
      assert.deepEqual(
        faults.filter((fault) => !/404/.test(fault)),
        [],
      );
      for (const path of [
        "/connectors/github/nothere",
        "/connections/some/nothere",
        "/problems/nothere",
        "/assets/nothere.js",
      ]) {
        const answer = await server.send(path, { headers: [["accept", "text/html"]] });
        assert.deepEqual([answer.status, answer.header("content-type")], [404, "text/html; charset=utf-8"], path);
      }
      const answer = await server.send("/nothere");
      assert.deepEqual(
        [answer.status, answer.header("content-type"), answer.json.code],
        [404, "application/problem+json", "route_not_found"],
      );
    } finally {
      await close();
    }
  });

  test("the keyboard opens an operation, and the address tells which", () =>
    look(
      "/docs",
      async (page) => {
        await block(page, "listActions").locator(".opblock-summary-control").focus();
        await page.keyboard.press("Enter");
        await block(page, "listActions").locator(".responses-table").waitFor();
        assert.equal(new URL(page.url()).hash, "#/Catalog/listActions");
        await page.reload();
        await block(page, "listActions").locator(".responses-table").waitFor();
      },
      tellViolations,
    ));

  for (const [choice, background] of Object.entries(THEMES)) {
    test(`a reader who chose ${choice} gets it, whatever the system has`, () =>
      look(
        "/docs",
        async (page) => {
          // What has not been answered would fail when the page goes.
          const drawn = () => page.locator(".opblock").first().waitFor();
          await drawn();
          await page.emulateMedia({ colorScheme: choice === "light" ? "dark" : "light" });
          await page.evaluate((theme) => localStorage.setItem("theme", theme), choice);
          await page.reload();
          await drawn();
          await page.locator(`html[data-theme=${choice}]`).waitFor();
          assert.equal(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), background);
        },
        tellViolations,
      ));
  }

  test("/problems/ has a page for every code, accessible in both themes", () =>
    look(
      "/problems/",
      async (page) => {
        await expectFit(page, "the list of problems");
        const links = await page.locator("td a").evaluateAll((all) => all.map(({ pathname }) => pathname));
        assert.deepEqual(
          links,
          CODES.map((code) => `/problems/${code}`),
        );
        for (const code of CODES) {
          await page.goto(`${address()}/problems/${code}`);
          await expectFit(page, code);
          assert.deepEqual(await page.locator("h2").allTextContents(), [
            "Meaning",
            "Cause",
            "Solution",
            ...(code in EXAMPLES ? ["Example"] : []),
          ]);
        }
        await page.evaluate(() => localStorage.setItem("theme", "dark"));
        await page.emulateMedia({ colorScheme: "light" });
        await page.reload();
        assert.equal(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), THEMES.dark);
      },
      tellViolations,
    ));
});

describe("the examples of the pages about problems", () => {
  /** Whether an answer has what a page shows of it: `…` stands for any text, and a list of texts may go on. */
  function shows(shown, answer) {
    if (typeof shown === "string")
      return new RegExp(
        `^${shown
          .split("…")
          .map((part) => part.replace(/[$^*+?.()|{}[\]\\]/g, "\\$&"))
          .join(".+")}$`,
        "s",
      ).test(answer);
    if (Array.isArray(shown))
      return (
        (typeof shown[0] === "string" || shown.length === answer.length) &&
        shown.every((item, at) => shows(item, answer[at]))
      );
    return Object.entries(shown).every(([name, value]) => shows(value, answer[name]));
  }

  for (const [code, { request, answer, right }] of Object.entries(EXAMPLES)) {
    test(code, async () => {
      const caller = keys.problems;
      const env = { VAULT_KEY: caller.secret, CATALOG_KEY: keys.scopeless.secret, ...(await connection(caller)) };
      if (code === "query_too_broad") {
        env.VAULT_URL = `http://127.0.0.1:${strict.port}`;
        for (const identity of Array.from({ length: 60 }, (_, nth) => `broad-${nth}`)) {
          const body = JSON.stringify({ platform: "github", identity, identityType: "user", tags: ["eu", "billing"] });
          const made = await strict.send(CONNECTIONS, {
            method: "POST",
            secret: caller.secret,
            headers: [JSON_TYPE],
            body,
          });
          assert.equal(made.status, 201, made.text);
        }
      }
      if (code === "connection_exists") await connection(caller, { identity: "eve@example.com" });
      const refused = await answered(request, env);
      assert.equal(refused.header("content-type"), "application/problem+json");
      assert.ok(shows(JSON.parse(answer), refused.json), `${answer}\n${refused.text}`);
      assert.equal(refused.json.code, code);
      const taken = await answered(right, env);
      assert.ok(taken.status < 300, taken.text);
    });
  }

  test("are there for what can be provoked with one request", () => {
    const without = CODES.filter((code) => !(code in EXAMPLES));
    assert.deepEqual(without, ["body_too_large", "too_many_requests", "internal", "unavailable"]);
  });
});
