// Valid and invalid options of a client.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { ConnectorVault, Recorder, expectError, expectInvalid, failure } from "../support/package.mjs";
import { BASE_URL, CONNECTION, OWN_SECRET, WHOAMI, INPUT, json } from "../support/transport.mjs";

export function options() {
  describe("options", () => {
    const createClient = (options) => () => new ConnectorVault({ baseUrl: BASE_URL, secret: OWN_SECRET, ...options });
    const urlOf = async (baseUrl, call = (client) => client.whoami()) => {
      const recorder = new Recorder(() => json(WHOAMI));
      await call(new ConnectorVault({ baseUrl, secret: OWN_SECRET, fetch: recorder.fetch })).catch(() => {});
      return recorder.requests[0].url;
    };

    test("baseUrl can have a path and a trailing slash", async () => {
      for (const [baseUrl, url] of [
        [BASE_URL, `${BASE_URL}/v1/whoami`],
        [`${BASE_URL}/`, `${BASE_URL}/v1/whoami`],
        [`${BASE_URL}//`, `${BASE_URL}/v1/whoami`],
        ["http://127.0.0.1:8787", "http://127.0.0.1:8787/v1/whoami"],
        [`${BASE_URL}/a/b`, `${BASE_URL}/a/b/v1/whoami`],
        [`${BASE_URL}/a/b/`, `${BASE_URL}/a/b/v1/whoami`],
        [new URL(`${BASE_URL}/a`), `${BASE_URL}/a/v1/whoami`],
        [new URL(BASE_URL), `${BASE_URL}/v1/whoami`],
        ["HTTPS://Vault.Example:443", `${BASE_URL}/v1/whoami`],
        ["https://[::1]:8443/", "https://[::1]:8443/v1/whoami"],
        ["https://bücher.example", "https://xn--bcher-kva.example/v1/whoami"],
      ])
        assert.equal(await urlOf(baseUrl), url, String(baseUrl));
      assert.equal(
        await urlOf(`${BASE_URL}/a/`, async (client) => client.connections.list({ tags: ["a b", "c&d"], limit: 2 })),
        `${BASE_URL}/a/v1/vault/connections?tags=a%20b%2Cc%26d&limit=2`,
      );
    });

    test("baseUrl: an invalid address is rejected", async () => {
      for (const baseUrl of [
        "",
        " ",
        "/",
        "/api",
        "vault.example",
        "//vault.example",
        "ftp://vault.example",
        "file:///etc",
        "javascript:alert(1)",
        "data:,x",
        `${BASE_URL}?a=1`,
        `${BASE_URL}/#x`,
        `${BASE_URL}/v?x`,
        "https://user:pass@vault.example",
        "https://user@vault.example",
        "https://",
        "http://a b",
        undefined,
        null,
        5,
        {},
        [],
        true,
      ]) {
        const error = expectInvalid(await failure(createClient({ baseUrl })), "baseUrl");
        assert.deepEqual(
          error.errors.map(({ parameter }) => parameter),
          ["baseUrl"],
          String(baseUrl),
        );
      }
    });

    test("an unknown option is rejected with a suggestion", async () => {
      for (const [options, name, meant] of [
        [{ timeout: 5 }, "timeout", "timeoutMs"],
        [{ baseURL: BASE_URL }, "baseURL", "baseUrl"],
        [{ retries: 1 }, "retries", "maxRetries"],
        [{ nearRead: true }, "nearRead", "nearReads"],
        [{ header: {} }, "header", "headers"],
        [{ apiKey: "x" }, "apiKey"],
        [{ allowSecretInBrowsers: true }, "allowSecretInBrowsers", "allowSecretInBrowser"],
        [{ Fetch: fetch }, "Fetch", "fetch"],
      ])
        expectInvalid(await failure(createClient(options)), name, meant);
      assert.ok(
        createClient({
          fetch: undefined,
          timeoutMs: undefined,
          maxRetries: undefined,
          nearReads: undefined,
          headers: undefined,
          allowSecretInBrowser: undefined,
        })(),
      );
      assert.ok(createClient({ timeout: undefined })(), "undefined is as good as left out");
    });

    test("all options of a wrong type or out of range are reported together", async () => {
      for (const [name, values] of Object.entries({
        timeoutMs: [0, -1, 1.5, "5", Number.NaN, Number.POSITIVE_INFINITY, null, {}, 2 ** 31, 10n],
        maxRetries: [-1, 1.5, "2", Number.NaN, Number.POSITIVE_INFINITY, null],
        fetch: [5, "fetch", {}, null],
        headers: [5, "x", null, { "a b": "c" }, { "": "x" }, { a: "b\nc" }, { a: "é😀" }],
        nearReads: ["yes", 1, null, {}],
        allowSecretInBrowser: ["yes", 1, null, {}],
      })) {
        for (const value of values) expectInvalid(await failure(createClient({ [name]: value })), name);
      }
      const { errors } = await failure(
        createClient({ baseUrl: "x", timeoutMs: 0, maxRetries: -1, fetch: 1, wrong: 1 }),
      );
      assert.deepEqual(errors.map(({ parameter }) => parameter).sort(), [
        "baseUrl",
        "fetch",
        "maxRetries",
        "timeoutMs",
        "wrong",
      ]);
      for (const options of [undefined, null, 5, "x", []]) {
        const error = expectError(await failure(() => new ConnectorVault(options)), "ValidationError", {
          status: undefined,
          code: "invalid_argument",
        });
        assert.ok(error.errors.length > 0);
      }
    });

    test("replicas are requested with the newest bookmark of any response", async () => {
      const bookmarksSent = [];
      const bookmarks = ["02-a", null, "01-b", "03-c", "01.01-d", "01.00-e"];
      const fetch = async ({ headers }) => {
        bookmarksSent.push(headers.get("x-vault-bookmark"));
        const bookmark = bookmarks[bookmarksSent.length - 1];
        return json(WHOAMI, 200, bookmark ? { "x-vault-bookmark": bookmark } : {});
      };
      const near = new ConnectorVault({ baseUrl: BASE_URL, secret: OWN_SECRET, fetch, nearReads: true });
      for (let call = 0; call < 7; call += 1) await near.whoami();
      assert.deepEqual(bookmarksSent, ["first-unconstrained", "02-a", "02-a", "02-a", "03-c", "01.01-d", "01.01-d"]);
      bookmarksSent.length = 0;
      for (const nearReads of [false, undefined])
        await new ConnectorVault({ baseUrl: BASE_URL, secret: OWN_SECRET, fetch, nearReads }).whoami();
      assert.deepEqual(bookmarksSent, [null, null]);
    });

    test("headers are sent with every request, and cannot contain the secret", async () => {
      for (const headers of [
        { "X-Trace": "1", "x-more": "a, b" },
        new Headers([
          ["x-trace", "1"],
          ["x-more", "a"],
          ["x-more", "b"],
        ]),
      ]) {
        const recorder = new Recorder(() => json(WHOAMI));
        const client = new ConnectorVault({ baseUrl: BASE_URL, secret: OWN_SECRET, fetch: recorder.fetch, headers });
        await client.whoami();
        await failure(client.connections.create(INPUT));
        // Changes the options after the call, which must not affect the client.
        if (headers instanceof Headers) headers.set("x-trace", "2");
        else headers["X-Trace"] = "2";
        await client.whoami();
        for (const { headers: sent } of recorder.requests)
          assert.deepEqual(
            [sent.get("x-trace"), sent.get("x-more"), sent.get("x-service-secret")],
            ["1", "a, b", OWN_SECRET],
          );
      }
      for (const headers of [
        { "x-service-secret": "x" },
        { "X-Service-Secret": OWN_SECRET },
        new Headers({ "x-service-secret": "x" }),
      ])
        expectInvalid(await failure(createClient({ headers })), "headers");
      const recorder = new Recorder(() => json(CONNECTION, 201));
      await new ConnectorVault({
        baseUrl: BASE_URL,
        secret: OWN_SECRET,
        fetch: recorder.fetch,
        headers: { "content-type": "text/plain", "if-match": "*" },
      }).connections.create(INPUT);
      assert.equal(recorder.requests[0].headers.get("content-type"), "application/json");
    });

    test("a client requires `new`", async () => {
      assert.throws(() => ConnectorVault({ baseUrl: BASE_URL, secret: OWN_SECRET }), TypeError);
    });
  });
}
