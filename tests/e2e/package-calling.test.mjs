// Calls to platforms with the npm package on the real runtime: from Node, and from a cross-origin page in Chromium. Both run the
// same code, with the same results.
import assert from "node:assert/strict";
import { copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { launch, open } from "./support/browser.mjs";
import { Platform, documentAt } from "./support/called.mjs";
import { App, SCOPES, VAULT_KEY } from "./support/connecting.mjs";
import { key, store } from "./support/keys.mjs";
import { dist, library } from "./support/package.mjs";
import { SESSION_SECRET, Server } from "./support/server.mjs";
import { Site } from "./support/site.mjs";
import { State, build, folder, importPlatforms } from "./support/workspace.mjs";

const PAGE = `<!doctype html><html lang="en"><meta charset="utf-8"><title>A page</title><link rel="icon" href="data:,">
<script type="module">globalThis.library = await import("./connector-vault.mjs"); globalThis.isReady = true;</script>`;
const UNKNOWN = "aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa";
const INPUT = { path: { owner: "a b" }, query: { tags: ["x", "y"] }, body: { name: "é", size: 3 } };

/** The program that Node and the page run. It is passed to the page as source, so it can't use variables of this module. */
async function program({ ConnectorVault }, { baseUrl, token, reader, id, other, input, unknown }) {
  const vault = new ConnectorVault({ baseUrl, secret: async () => token, maxRetries: 0 });
  const outcome = async (promise) => {
    try {
      return await promise;
    } catch (error) {
      const { name, code, status, errors } = error;
      return { name, code, status, pointers: errors?.map((error) => error.pointer ?? error.parameter).sort() };
    }
  };
  const read = async (response) => {
    const source = response.headers.get("x-vault-source");
    return {
      status: response.status,
      source,
      own: response.headers.get("x-platform-request-id"),
      ...(await response.json()),
    };
  };
  const headers = { "x-own": "1", "content-type": "text/plain" };
  const [first, second] = [new AbortController(), new AbortController()];
  const events = await vault.proxy(id, "events", { signal: first.signal });
  const chunk = await events.body.pipeThrough(new TextDecoderStream()).getReader().read();
  first.abort();
  second.abort();
  const refused = new ConnectorVault({ baseUrl, secret: async () => reader, maxRetries: 0 });
  return {
    got: await read(await vault.proxy(id, "/users/a%2Fb?x=%20&y")),
    sent: await read(await vault.proxy(id, "things", { method: "PUT", headers, body: "sent" })),
    other: await read(await vault.proxy(id, "x", { server: other })),
    none: (await vault.proxy(id, "none", { method: "DELETE" })).status,
    chunk: chunk.value,
    ran: await vault.actions.run(id, "createThing", input),
    errors: {
      aborted: (await outcome(vault.proxy(id, "x", { signal: second.signal }))).name,
      path: await outcome(vault.proxy(id, "../x")),
      server: await outcome(vault.proxy(id, "x", { server: "https://example.com" })),
      connection: await outcome(vault.proxy(unknown, "x")),
      scope: await outcome(refused.proxy(id, "x")),
      input: await outcome(vault.actions.run(id, "createThing", { query: { tags: ["X"] }, body: { nme: "x" } })),
      action: await outcome(vault.actions.run(id, "createThin", {})),
      runScope: await outcome(refused.actions.run(id, "createThing", input)),
    },
  };
}

describe("calls to platforms by the package", () => {
  let [platform, state, server, site, chromium, opened, app, input] = [];
  const apiKey = key({ scopes: `${SCOPES} connections:call`, account: "package-calling" });

  before(async () => {
    await build();
    platform = await Platform.start();
    const [sources, pages] = ["package-calling-documents", "package-calling-pages"].map((name) => join(folder, name));
    for (const path of [sources, pages]) mkdirSync(path, { recursive: true });
    writeFileSync(join(sources, "called.json"), JSON.stringify(documentAt(platform.origin)));
    const providers = join(folder, "package-calling-providers.toml");
    writeFileSync(providers, "");
    copyFileSync(join(dist, "index.mjs"), join(pages, "connector-vault.mjs"));
    writeFileSync(join(pages, "index.html"), PAGE);
    site = await Site.start(pages);
    state = new State("package-calling");
    await state.prepare();
    await state.publish(await importPlatforms("package-calling", sources, providers));
    server = await Server.start(state, {
      name: "package-calling",
      variables: { LOCAL_TARGETS: "allow", ALLOWED_ORIGINS: site.origin },
      secrets: { SESSION_SECRET, VAULT_KEYS: `tests:${VAULT_KEY}` },
    });
    opened = await state.open();
    await store(opened.vault, [apiKey]);
    app = new App(() => server, apiKey);
    const connection = { platform: "called", identity: "ann", identityType: "user" };
    const { id } = await app.expect(201, "POST", "/v1/vault/connections", connection);
    await app.expect(204, "PUT", `/v1/vault/connections/${id}/credentials`, { type: "bearer", token: "good" });
    const session = async (...scopes) =>
      (await app.expect(201, "POST", "/v1/sessions", { identity: "ann", identityType: "user", scopes })).token;
    const [token, reader] = [await session("connections:call"), await session("connections:read")];
    const baseUrl = `http://127.0.0.1:${server.port}`;
    input = { baseUrl, token, reader, id, other: `${platform.origin}/other`, input: INPUT, unknown: UNKNOWN };
  });

  after(async () => {
    await chromium?.close();
    await Promise.all([server?.stop(), platform?.stop(), site?.stop()]);
    await opened?.close();
  });

  function expectAll({ got, sent, other, none, chunk, ran, errors }) {
    const seen = ({ status, source, own, method, url, body }) => [status, source, own, method, url, body];
    assert.deepEqual(seen(got), [200, "platform", "theirs", "GET", "/api/users/a%2Fb?x=%20&y", ""]);
    assert.deepEqual(seen(sent), [200, "platform", "theirs", "PUT", "/api/things", "sent"]);
    assert.deepEqual([sent.headers["x-own"], sent.headers.authorization], ["1", "Bearer good"]);
    assert.deepEqual([other.url, none, chunk], ["/other/x", 204, "data: first\n\n"]);
    assert.deepEqual(
      [ran.status, ran.body.method, ran.body.url],
      [200, "POST", "/api/owners/a%20b/things?tags=x&tags=y"],
    );
    assert.deepEqual(JSON.parse(ran.body.body), INPUT.body);
    const scope = { name: "PermissionError", code: "insufficient_scope", status: 403, pointers: [] };
    const { aborted, connection, action, ...others } = errors;
    assert.equal(aborted, "AbortError");
    assert.deepEqual(
      [connection.name, connection.code, connection.status, action.name, action.code, action.status],
      ["NotFoundError", "connection_not_found", 404, "NotFoundError", "action_not_found", 404],
    );
    assert.deepEqual(others, {
      path: { name: "ValidationError", code: "invalid_parameter", status: 400, pointers: ["path"] },
      server: { name: "ValidationError", code: "invalid_parameter", status: 400, pointers: ["x-vault-server"] },
      scope,
      input: {
        name: "ValidationError",
        code: "invalid_body",
        status: 400,
        pointers: ["/body/name", "/body/nme", "/path/owner", "/query/tags/0"],
      },
      runScope: scope,
    });
  }

  test("a program in Node calls platforms", async () => expectAll(await program(library, input)));

  test("a program in a cross-origin page calls platforms", async () => {
    chromium = await launch();
    const { page, close } = await open(chromium, site.origin);
    await page.waitForFunction(() => globalThis.isReady);
    const run = ([text, values]) => new Function(`return ${text}`)()(globalThis.library, values);
    expectAll(await page.evaluate(run, [program.toString(), input]));
    await close();
  });

  test("an unreachable platform is reported as an error", async () => {
    await platform.stop();
    const vault = new library.ConnectorVault({
      baseUrl: input.baseUrl,
      secret: async () => input.token,
      maxRetries: 0,
    });
    const expected = { name: "ServerError", code: "platform_unreachable", status: 502 };
    await assert.rejects(vault.proxy(input.id, "x"), expected);
    await assert.rejects(vault.actions.run(input.id, "createThing", INPUT), expected);
  });
});
