// The package rejects invalid arguments, responses and WebAssembly modules.
import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { pathToFileURL } from "node:url";
import {
  ConnectorVault,
  Recorder,
  dist,
  expectError,
  expectInvalid,
  expectNoSecret,
  failure,
} from "../support/package.mjs";
import { BASE_URL, CONNECTION, ID, OWN_SECRET, WHOAMI, INPUT, idle, json } from "../support/transport.mjs";

export function invalidValues() {
  describe("invalid values", () => {
    const client = (response) => {
      const recorder = new Recorder(response);
      return {
        recorder,
        vault: new ConnectorVault({ baseUrl: BASE_URL, secret: OWN_SECRET, maxRetries: 0, fetch: recorder.fetch }),
      };
    };
    const page = { rows: [{ id: "1" }], total: 1, pages: 1, page: 1 };

    test("a value other than a plain object is rejected, not treated as empty", async () => {
      class Filters {
        get platform() {
          return "github";
        }
      }
      const { recorder, vault } = client(() => json(page));
      for (const filters of [
        new Map([["platform", "github"]]),
        new URLSearchParams({ platform: "github" }),
        new Filters(),
        new Date(),
        /x/,
        Promise.resolve({ platform: "github" }),
      ]) {
        for (const list of [() => vault.connectors.list(filters), () => vault.connections.list(filters).toArray()])
          expectInvalid(await failure(list()), "filters");
      }
      for (const body of [new Map([["tags", ["a"]]]), new Set(["a"]), new Filters()]) {
        expectInvalid(await failure(vault.connections.update(ID, body)), "changes");
        expectInvalid(await failure(vault.connections.create(body)), "connection");
      }
      assert.equal(recorder.requests.length, 0);
      class Input {
        platform = "github";
        get() {
          return this.platform;
        }
      }
      for (const filters of [Object.assign(Object.create(null), { platform: "github" }), new Input()]) {
        assert.equal((await vault.connectors.list(filters)).total, 1);
        assert.equal(new URL(recorder.requests.at(-1).url).search, "?platform=github");
      }
    });

    test("filters that can't be read are rejected when the list is awaited", async () => {
      const { recorder, vault } = client(() => json(page));
      const throwing = {
        get platform() {
          throw new Error("boo");
        },
      };
      const list = vault.connections.list(throwing);
      assert.equal(expectInvalid(await failure(list), "filters").cause.message, "boo");
      expectInvalid(await failure(list.toArray()), "filters");
      assert.equal(recorder.requests.length, 0);
    });

    test("a validation returns errors synchronously, and sends nothing", async () => {
      const { recorder, vault } = client(() => json(page));
      const throwing = {
        get platform() {
          throw new Error("boo");
        },
      };
      for (const [faults, places] of [
        [vault.connections.validateUpdate({ tags: ["eu"] }), []],
        [vault.connections.validateUpdate({ tags: ["eu", ",", ""], name: "Ann" }), ["/name", "/tags/1", "/tags/2"]],
        [vault.connections.validateUpdate(throwing), ["changes"]],
        [vault.connections.validateUpdate({ tags: ["x".repeat(70_000)] }), [undefined]],
        [vault.connections.validateCreate(INPUT), []],
        [vault.connections.validateCreate({}), ["/platform", "/identity", "/identityType"]],
        [vault.connections.validateCreate(), ["connection"]],
        [vault.sessions.validateCreate({ identity: "ann", ttlSeconds: 60 }), []],
        [
          vault.sessions.validateCreate({ ttlSeconds: 59, scopes: ["sessions:create"], ttl: 60 }),
          ["/identity", "/ttlSeconds", "/scopes/0", "/ttl"],
        ],
        [vault.sessions.validateCreate(), ["session"]],
        [vault.connections.validateList(), []],
        [vault.connections.validateList({ limit: 0, tagz: "eu", key: [5] }), ["key"]],
        [vault.connections.validateList(throwing), ["filters"]],
        [vault.connectors.validateList({ q: "git" }), []],
        [vault.connectors.validateList({ q: "", limit: 501, tags: "eu" }), ["tags", "q", "limit"]],
        [vault.actions.validateList("github"), []],
        [vault.actions.validateList("github", { method: "", page: 0 }), ["method", "page"]],
        [vault.actions.validateList(), ["platform"]],
        [vault.actions.validateList(".."), [undefined]],
      ]) {
        assert.deepEqual(faults.map(({ pointer, parameter }) => pointer ?? parameter).sort(), places.sort());
        for (const { detail } of faults) assert.ok(detail.length > 10, detail);
      }
      await idle();
      assert.equal(recorder.calls, 0);
    });

    test("a validation does not leak memory", async () => {
      // A separate instance of the module, to observe its memory.
      const { Instance } = WebAssembly;
      let memory;
      // biome-ignore lint/complexity/useArrowFunction: it is called with `new`
      WebAssembly.Instance = function (...args) {
        const instance = new Instance(...args);
        ({ memory } = instance.exports);
        return instance;
      };
      const slim = await import(`${pathToFileURL(join(dist, "slim.mjs"))}?memory`);
      try {
        slim.initSync(readFileSync(join(dist, "connector-vault.wasm")));
      } finally {
        WebAssembly.Instance = Instance;
      }
      const vault = new slim.ConnectorVault({ baseUrl: BASE_URL, secret: OWN_SECRET });
      const tags = Array(50).fill("😀".repeat(128));
      const validate = () => [
        vault.connections.validateUpdate({ tags }),
        vault.connections.validateCreate({ ...INPUT, tags }),
        vault.connections.validateList({ tags: tags.slice(0, 20) }),
        vault.connections.validateUpdate({ tags: [...tags, ","] }),
      ];
      assert.deepEqual(
        validate().map(({ length }) => length > 0),
        [false, false, false, true],
      );
      const before = memory.buffer.byteLength;
      // Synchronously, so that the garbage collector does not run in between.
      for (let i = 0; i < 500; i += 1) validate();
      assert.ok(memory.buffer.byteLength < before + 2 ** 20, `${before} → ${memory.buffer.byteLength} bytes`);
    });

    test("later changes of filters and their arrays have no effect", async () => {
      const { recorder, vault } = client((_, n) => json({ ...page, total: 2, pages: 2, page: n }));
      const filters = { tags: ["a"], limit: 1 };
      const first = await vault.connections.list(filters);
      filters.tags.push("b");
      filters.limit = 9;
      await first.next();
      assert.deepEqual(
        recorder.requests.map(({ url }) => new URL(url).search),
        ["?tags=a&limit=1", "?tags=a&limit=1&page=2"],
      );
    });

    test("only own properties of options count", async () => {
      const { recorder, vault } = client(() => json(CONNECTION));
      Object.assign(Object.prototype, { ifMatch: "*", signal: AbortSignal.abort() });
      try {
        await vault.connections.update(ID, { tags: [] }, {});
      } finally {
        delete Object.prototype.ifMatch;
        delete Object.prototype.signal;
      }
      assert.equal(recorder.requests[0].headers.get("if-match"), null);
    });

    test("a long Link header is parsed in linear time", async () => {
      for (const link of ["<".repeat(2_000_000), `${"<>;".repeat(500_000)} rel="next"`, `<${" ".repeat(1_000_000)}>`]) {
        const { vault } = client(() => ({
          status: 200,
          ok: true,
          headers: { get: (name) => (name === "link" ? link : null) },
          json: async () => page,
        }));
        assert.equal((await vault.connections.list().toArray()).length, 1);
      }
    });

    test("an invalid page is rejected", async () => {
      for (const invalidPage of [
        { page: 0 },
        { page: -1 },
        { page: 1.5 },
        { total: "1" },
        { pages: null },
        { rows: {} },
      ]) {
        const { vault } = client(() => json({ ...page, ...invalidPage }));
        for (const list of [() => vault.connectors.list(), () => vault.connectors.list().toArray()]) {
          expectError(await failure(list()), "ServerError", { status: 200, code: "unexpected_response" });
        }
      }
    });

    test("an echoed secret is in no error", async () => {
      const echo = {
        type: "x",
        title: "T",
        status: 400,
        detail: `What is ${OWN_SECRET}?`,
        code: "invalid_body",
        requestId: OWN_SECRET,
        errors: [{ pointer: "", detail: OWN_SECRET }],
      };
      const { vault } = client(() => json(echo, 400));
      const error = await failure(vault.connections.create(INPUT));
      expectNoSecret(error);
      assert.equal(error.message, "What is …?");
    });

    test("/slim starts only its own module, and can retry after a wrong one", async () => {
      const slim = await import(pathToFileURL(join(dist, "slim.mjs")).href);
      const expectRejected = async (call) => {
        const error = await failure(call);
        assert.ok(error instanceof slim.VaultError, String(error));
        assert.equal(error.code, "no_webassembly");
      };
      await expectRejected(() => slim.parseConnectorKey("api::github::v1"));
      const empty = Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0);
      for (const invalidModule of [
        empty,
        new WebAssembly.Module(empty),
        new Uint8Array(9),
        undefined,
        "not a URL",
        new Response("", { status: 404 }),
      ])
        await expectRejected(slim.init(invalidModule));
      await expectRejected(slim.init(Promise.reject(new Error("no"))));
      for (const invalidModule of [undefined, empty, new Uint8Array(9)])
        await expectRejected(() => slim.initSync(invalidModule));
      await slim.init(readFileSync(join(dist, "connector-vault.wasm")));
      assert.deepEqual(slim.parseConnectorKey("api::github::v1"), { platform: "github", platformVersion: "v1" });
    });

    test("concurrent calls add one listener to a shared signal", async () => {
      const warnings = [];
      const note = (warning) => warnings.push(warning);
      process.on("warning", note);
      const { signal } = new AbortController();
      const { vault } = client(() => json(WHOAMI));
      const calls = Array.from({ length: 50 }, () => vault.whoami({ signal }));
      assert.equal(getEventListeners(signal, "abort").length, 1);
      await Promise.all(calls);
      assert.equal(getEventListeners(signal, "abort").length, 0);
      process.off("warning", note);
      assert.deepEqual(warnings, []);
    });
  });
}
