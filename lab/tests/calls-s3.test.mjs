// Signed calls against a server of Amazon's protocols, which verifies the signature of each request.
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { App, SCOPES, VAULT_KEY } from "../../tests/e2e/support/connecting.mjs";
import { key, store } from "../../tests/e2e/support/keys.mjs";
import { Moto } from "../../tests/e2e/support/moto.mjs";
import { SESSION_SECRET, Server } from "../../tests/e2e/support/server.mjs";
import { State, build, folder, importPlatforms } from "../../tests/e2e/support/workspace.mjs";

const BUCKET = "odd-characters";
const KEYS = [
  "plain.txt",
  "!'()*",
  "a b+c",
  "$&,;=:@",
  "~-._",
  "100%",
  "%41%2F",
  "a?b#c",
  '[x]{y}|^`"<>',
  "back\\slash",
  "é名🦀",
  "a/b//c/",
  ".hidden/..x",
];
/** A body above the size that is buffered for signing: it is streamed unsigned. */
const LONG_BODY = Buffer.alloc(3 << 20, "long");

const parameter = (name, place) => ({ name, in: place, required: place === "path", schema: { type: "string" } });
const ok = { responses: { 200: { description: "Done" } } };
/** An OpenAPI document of the called S3 operations. */
const openApiOf = (origin) => ({
  openapi: "3.0.3",
  info: {
    title: "S3",
    version: "1",
    "x-providerName": "amazonaws.com",
    "x-serviceName": "s3",
    license: { name: "MIT" },
  },
  servers: [{ url: origin }],
  paths: {
    "/{bucket}": {
      get: {
        operationId: "list",
        parameters: [parameter("bucket", "path"), parameter("prefix", "query"), parameter("list-type", "query")],
        ...ok,
      },
    },
    "/{bucket}/{key}": {
      parameters: [parameter("bucket", "path"), parameter("key", "path")],
      get: { operationId: "get", ...ok },
      delete: { operationId: "delete", ...ok },
      put: {
        operationId: "put",
        requestBody: {
          required: true,
          content: { "application/octet-stream": { schema: { type: "string", format: "binary" } } },
        },
        ...ok,
      },
    },
  },
  components: { securitySchemes: { hmac: { type: "apiKey", name: "Authorization", in: "header" } } },
  security: [{ hmac: [] }],
});

describe("signed calls", () => {
  let [moto, state, server, opened, app, id] = [];
  const apiKey = key({ scopes: `${SCOPES} connections:call`, account: "signing" });

  before(async () => {
    await build();
    moto = await Moto.start();
    const sources = join(folder, "s3-documents");
    mkdirSync(sources, { recursive: true });
    writeFileSync(join(sources, "s3.json"), JSON.stringify(openApiOf(moto.origin)));
    const providers = join(folder, "s3-providers.toml");
    writeFileSync(providers, "");
    const catalog = await importPlatforms("s3", sources, providers);
    state = new State("calls-s3");
    await state.prepare(catalog);
    server = await Server.start(state, {
      name: "calls-s3",
      variables: { LOCAL_TARGETS: "allow" },
      secrets: { SESSION_SECRET, VAULT_KEYS: `tests:${VAULT_KEY}` },
    });
    opened = await state.open();
    await store(opened.vault, [apiKey]);
    app = new App(() => server, apiKey);
    const connection = { platform: "amazonaws-s3", identity: "ann", identityType: "user" };
    id = (await app.expect(201, "POST", "/v1/vault/connections", connection)).id;
    await hold(moto.keys);
    assert.equal((await call(BUCKET, { method: "PUT" })).status, 200);
  });

  after(async () => {
    await Promise.all([server?.stop(), moto?.stop()]);
    await opened?.close();
  });

  const hold = (keys) =>
    app.expect(204, "PUT", `/v1/vault/connections/${id}/credentials`, {
      type: "aws_sigv4",
      region: "us-east-1",
      ...keys,
    });

  /** A proxied call, with the runtime's `fetch`. */
  const call = (path, { headers, ...init } = {}) =>
    fetch(`http://127.0.0.1:${server.port}/v1/vault/connections/${id}/proxy/${path}`, {
      ...init,
      headers: { "x-service-secret": apiKey.secret, ...headers },
    });
  const run = async (action, path, more) => {
    const input = { path: { bucket: BUCKET, ...path }, ...more };
    const response = await app.expect(200, "POST", `/v1/vault/connections/${id}/actions/${action}`, input);
    return [response.status, response.body?.base64 === undefined ? response.body : atob(response.body.base64)];
  };
  /** The keys in the XML of a list. */
  const listed = (xml) => [...xml.matchAll(/<Key>(.*?)<\/Key>/gs)].map(([, key]) => unescaped(key));
  const unescaped = (text) =>
    text.replace(
      /&(lt|gt|amp|quot|#39|#34);/g,
      (_, name) => ({ lt: "<", gt: ">", amp: "&", quot: '"' })[name] ?? String.fromCharCode(name.slice(1)),
    );

  test("the server verifies signatures", async () => {
    await hold({ ...moto.keys, secretAccessKey: "another" });
    const refused = await call(`${BUCKET}/x`);
    assert.deepEqual([refused.status, /SignatureDoesNotMatch/.test(await refused.text())], [403, true]);
    await hold(moto.keys);
    assert.equal((await call(`${BUCKET}/x`)).status, 404);
  });

  for (const name of KEYS) {
    const quoted = JSON.stringify(name);
    const segments = (encode) => name.split("/").map(encode).join("/");
    // Characters that encodeURIComponent does not escape can also be escaped.
    for (const [how, path] of [
      ["as a client writes it", segments(encodeURIComponent)],
      [
        "with every octet escaped",
        [...Buffer.from(name)].map((octet) => `%${octet.toString(16).padStart(2, "0")}`).join(""),
      ],
    ])
      test(`the proxy signs calls for an object ${quoted}, ${how}`, async () => {
        const body = `content of ${name}`;
        const put = await call(`${BUCKET}/${path}`, { method: "PUT", body });
        assert.equal(put.status, 200, await put.text());
        const response = await call(`${BUCKET}/${path}`);
        assert.deepEqual([response.status, await response.text()], [200, body]);
        const all = await call(`${BUCKET}?prefix=${encodeURIComponent(name)}&list-type=2`);
        assert.deepEqual([all.status, listed(await all.text())], [200, [name]]);
        assert.equal((await call(`${BUCKET}/${path}`, { method: "DELETE" })).status, 204);
        assert.equal((await call(`${BUCKET}/${path}`)).status, 404);
      });

    test(`actions sign calls for an object ${quoted}`, async () => {
      const content = `content of ${name.length}`;
      assert.deepEqual(await run("put", { key: name }, { body: btoa(content) }), [200, null]);
      assert.deepEqual(await run("get", { key: name }), [200, content]);
      const [status, xml] = await run("list", {}, { query: { prefix: name, "list-type": "2" } });
      assert.deepEqual([status, listed(xml)], [200, [name]]);
      assert.deepEqual(await run("delete", { key: name }), [204, null]);
      assert.equal((await run("get", { key: name }))[0], 404);
    });
  }

  test("a large object is streamed unsigned", async () => {
    const put = await call(`${BUCKET}/long`, { method: "PUT", body: LONG_BODY });
    assert.equal(put.status, 200, await put.text());
    const response = await call(`${BUCKET}/long`);
    assert.ok(LONG_BODY.equals(Buffer.from(await response.arrayBuffer())));
  });
});
