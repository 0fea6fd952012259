// Custom `fetch` functions, which can return anything.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  ConnectorVault,
  Recorder,
  VaultError,
  expectNoSecret,
  expectNoResponse,
  failure,
} from "../support/package.mjs";
import { ALL, BASE_URL, CONNECTION, ID, OWN_SECRET, WHOAMI, json } from "../support/transport.mjs";

export function fetches() {
  describe("a custom fetch", () => {
    const vault = (fetch, options) =>
      new ConnectorVault({ baseUrl: BASE_URL, secret: OWN_SECRET, maxRetries: 0, fetch, ...options });

    test("gets one argument, a complete Request", async () => {
      const recorder = new Recorder((request) => (request.method === "GET" ? json(WHOAMI) : json(CONNECTION)));
      const client = vault(recorder.fetch, { headers: { "x-trace": "t1" } });
      await client.whoami();
      await client.connections.update(ID.toUpperCase(), { tags: ["é,".slice(0, 1)] }, { ifMatch: CONNECTION });
      const [get, patch] = recorder.requests;
      assert.deepEqual([get.method, get.url, get.body], ["GET", `${BASE_URL}/v1/whoami`, ""]);
      assert.deepEqual(Object.fromEntries(get.headers), {
        accept: "application/json",
        "x-service-secret": OWN_SECRET,
        "x-trace": "t1",
      });
      assert.equal(get.request.redirect, "manual");
      assert.equal(patch.method, "PATCH");
      assert.equal(patch.url.toLowerCase(), `${BASE_URL}/v1/vault/connections/${ID}`);
      assert.deepEqual(
        [patch.body, patch.headers.get("content-type"), patch.headers.get("if-match"), patch.headers.get("x-trace")],
        ['{"tags":["é"]}', "application/json", `"${ID}-1"`, "t1"],
      );
    });

    test("can throw, or reject with anything: ConnectionError with that cause", async () => {
      for (const reason of [new TypeError("mine"), "a text", undefined, null, 5, { a: 1 }, Symbol("x")]) {
        for (const fails of [
          () => {
            throw reason;
          },
          () => Promise.reject(reason),
          async () => {
            throw reason;
          },
          () => ({ then: (_, reject) => reject(reason) }),
        ]) {
          for (const [call] of Object.values(ALL)) {
            const error = expectNoResponse(await failure(call(vault(fails))), "ConnectionError", {
              status: undefined,
              code: "no_response",
              errors: [],
            });
            assert.equal(error.cause, reason);
          }
        }
      }
    });

    test("a return value that is not a response is reported", async () => {
      for (const junk of [
        undefined,
        null,
        {},
        "text",
        5,
        [],
        true,
        () => {},
        { status: 200 },
        { status: "200", headers: new Headers() },
        { status: 200, headers: new Headers() },
        { status: 200, headers: new Headers(), json: () => "no promise" },
        {
          status: 200,
          headers: new Headers(),
          json: () => {
            throw new Error("mine");
          },
        },
        {
          get status() {
            throw new Error("mine");
          },
        },
        new Proxy(
          {},
          {
            get: () => {
              throw new Error("mine");
            },
          },
        ),
      ]) {
        for (const gives of [
          () => junk,
          async () => (junk && typeof junk === "object" && "then" in junk ? undefined : junk),
        ]) {
          const error = await failure(() => vault(gives).whoami());
          assert.ok(error instanceof VaultError, `${typeof junk}: ${error?.stack}`);
          assert.ok(["unexpected_response", "no_response"].includes(error.code), error.code);
          expectNoSecret(error);
        }
      }
    });

    test("can return a response of another realm or library", async () => {
      const headers = { get: (name) => ({ "x-request-id": "other" })[name.toLowerCase()] ?? null };
      assert.deepEqual(
        await vault(async () => ({
          status: 200,
          ok: true,
          headers,
          json: async () => WHOAMI,
          text: async () => JSON.stringify(WHOAMI),
        })).whoami(),
        WHOAMI,
      );
    });

    test("can return a value that is not a promise", async () => {
      assert.deepEqual(await vault(() => json(WHOAMI)).whoami(), WHOAMI);
    });

    test("defaults to the global one at the time of the call", async () => {
      const client = new ConnectorVault({ baseUrl: BASE_URL, secret: OWN_SECRET, maxRetries: 0 });
      const recorder = new Recorder(() => json(WHOAMI));
      const before = globalThis.fetch;
      try {
        globalThis.fetch = recorder.fetch;
        assert.deepEqual(await client.whoami(), WHOAMI);
      } finally {
        globalThis.fetch = before;
      }
      assert.equal(recorder.calls, 1);
    });
  });
}
