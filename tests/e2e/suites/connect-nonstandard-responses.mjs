// Responses of platforms that deviate from the RFCs. The service accepts each one, or fails the attempt with a specific reason.
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { App, Visitor, agree, openCallback, connectingKey, isCallback } from "../support/connecting.mjs";
import { store } from "../support/keys.mjs";
import { freshTokens, reply } from "../support/stub.mjs";

const HOUR_MS = 3_600_000;

const TOKENS = [
  ["a form", {}, (tokens) => [new URLSearchParams(tokens).toString(), { type: "application/x-www-form-urlencoded" }]],
  ["a form that calls itself HTML", {}, (tokens) => [new URLSearchParams(tokens).toString(), { type: "text/html" }]],
  ["JSON that calls itself text", {}, (tokens) => [tokens, { type: "text/plain" }]],
  ["`expires_in` as text", { expires_in: "3600" }, undefined, HOUR_MS],
  ["`expires_in` absent", { expires_in: undefined }, undefined, null],
  ["`expires_in` in the past", { expires_in: -60 }, undefined, null],
  ["`expires_in` of zero", { expires_in: 0 }, undefined, null],
  ["`expires_at` in the past", { expires_in: undefined, expires_at: 1_000_000_000 }, undefined, null],
  ["scopes with commas", { scope: "read,write" }],
  ["scopes as a list", { scope: ["read", "write"] }],
  ["no refresh token", { refresh_token: undefined }],
];

const ESCAPE = "<script>alert(1)</script>&\"'";

/** Responses that fail an attempt, each with the failure's code and a part of its detail. */
const FAILURES = [
  ["an error in a 200", "code_rejected", (it) => reply(it, { error: "invalid_grant", error_description: ESCAPE })],
  [
    "an error in a 200, as a form",
    "code_rejected",
    (it) => reply(it, "error=bad_verification_code&error_description=It+expired.", { type: "text/html" }),
  ],
  ["`ok: false` in a 200", "code_rejected", (it) => reply(it, { ok: false, error: "invalid_code" })],
  ["a client error", "client_rejected", (it) => reply(it, { error: "invalid_client" }, { status: 401 })],
  ["a scope error", "request_rejected", (it) => reply(it, { error: "invalid_scope" }, { status: 400 })],
  ["a page at 502", "platform_unavailable", (it) => reply(it, "<h1>Bad</h1>", { status: 502, type: "text/html" })],
  ["a page at 200", "invalid_answer", (it) => reply(it, "<h1>Hello</h1>", { type: "text/html" })],
  ["nothing at 204", "invalid_answer", (it) => it.writeHead(204).end()],
  ["tokens without an access token", "invalid_answer", (it) => reply(it, { refresh_token: "r", expires_in: 1 })],
  ["an access token that would break a header", "invalid_answer", (it) => reply(it, { access_token: "a\r\nx: y" })],
  ["broken JSON", "invalid_answer", (it) => reply(it, '{"access_token": "a')],
  ["too many requests", "platform_unavailable", (it) => reply(it, {}, { status: 429 })],
  ["a connection that is reset", "platform_unavailable", (it) => it.socket.resetAndDestroy()],
  [
    "half a response",
    "platform_unavailable",
    (it) => {
      it.writeHead(200, { "content-type": "application/json", "content-length": "1000" });
      it.write('{"access_token":"half', () => it.socket.resetAndDestroy());
    },
  ],
  ["2 MB", "invalid_answer", (it) => reply(it, { access_token: "a", more: "x".repeat(2 << 20) })],
  [
    "2 MB without their length",
    "invalid_answer",
    (it) => {
      it.writeHead(200, { "content-type": "application/json" });
      it.end(`{"access_token":"a","more":"${"x".repeat(2 << 20)}"}`);
    },
  ],
  [
    "a redirect",
    "invalid_answer",
    (it) => it.writeHead(302, { location: "/elsewhere", "content-type": "application/json" }).end("{}"),
  ],
  ["a redirect that keeps the method", "invalid_answer", (it) => it.writeHead(307, { location: "/elsewhere" }).end()],
];

export function connectNonstandardResponses(fixture) {
  const apiKey = connectingKey({ account: "answers" });
  const app = new App(() => fixture.server, apiKey);
  let people = 0;

  /** Connects an account; `response` sends the response of the token endpoint. */
  async function visit(platform, response, input = {}) {
    people += 1;
    const code = fixture.stub.on(`code-${people}-Zx9Qw7 +&`, response);
    const visitor = new Visitor();
    const { id, link } = await app.begin({ platform, identity: `person ${people}`, ...input });
    const url = new URL(await agree(visitor, link));
    url.searchParams.set("pick", new URLSearchParams({ code }).toString());
    const { url: back } = await visitor.follow(await visitor.get(url.href), url.href, isCallback);
    const page = await openCallback(visitor, back);
    assert.equal(fixture.stub.requestCount(code), 1, "a code is used once");
    // Reloading shows the same page without another request to the platform.
    assert.deepEqual((await openCallback(visitor, back)).data, page.data);
    assert.equal(fixture.stub.requestCount(code), 1);
    return { id, page, url, code };
  }

  describe("responses of platforms", { concurrency: 16 }, () => {
    before(async () => {
      await store(fixture.database, [apiKey]);
      for (const platform of ["plain", "json-body", "nested", "documented"])
        await app.setClient(platform, {
          clientId: "app",
          clientSecret: `the secret of ${platform} 9QwZx`,
          scopes: ["read", "write"],
        });
    });

    for (const [name, more, write, life = HOUR_MS] of TOKENS) {
      test(`tokens are accepted: ${name}`, async () => {
        const tokens = JSON.parse(JSON.stringify(freshTokens(more)));
        const [body, how] = write ? write(tokens) : [tokens];
        const { id, page } = await visit("plain", (it) => reply(it, body, how));
        assert.equal(page.heading, "plain is connected");
        const connection = await app.expectConnected(id);
        const credentials = await app.credentials(connection.id);
        assert.deepEqual(
          [credentials.accessToken, credentials.tokenType, credentials.scopes],
          [tokens.access_token, "Bearer", ["read", "write"]],
        );
        if (life === null) assert.equal(credentials.expiresAt, null);
        else assert.ok(Math.abs(Date.parse(credentials.expiresAt) - Date.now() - life) < 60_000, credentials.expiresAt);
      });
    }

    for (const [name, code, response] of FAILURES) {
      test(`a response without tokens fails the attempt: ${name}`, async () => {
        const { id, page } = await visit("plain", response);
        assert.deepEqual(
          [page.status, page.heading, page.data.status],
          [200, "plain could not be connected", "failed"],
        );
        const detail = await app.expectFailed(id, code);
        assert.equal(page.small ?? page.paragraphs[0], detail);
        assert.deepEqual(
          fixture.stub.unexpectedRequests.filter((path) => path.includes("elsewhere")),
          [],
        );
      });
    }

    test("a platform that only its OpenAPI document describes can be connected", async () => {
      const tokens = freshTokens();
      const { id } = await visit("documented", (it) => reply(it, tokens));
      const credentials = await app.credentials((await app.expectConnected(id)).id);
      assert.deepEqual([credentials.authMethod, credentials.accessToken], ["oauth", tokens.access_token]);
    });

    test("a token request can be sent as JSON, with comma-separated scopes", async () => {
      const tokens = freshTokens({ scope: "read,write" });
      const { id, url, code } = await visit("json-body", (it) => reply(it, tokens));
      assert.equal(url.searchParams.get("scope"), "read,write");
      await app.expectConnected(id);
      const { type, parameters } = fixture.stub.requests.find((request) => request.parameters.code === code);
      assert.equal(type, "application/json");
      const { code_verifier: verifier, ...rest } = parameters;
      assert.equal(verifier.length, 43);
      assert.deepEqual(rest, {
        grant_type: "authorization_code",
        code,
        redirect_uri: `http://127.0.0.1:${fixture.server.port}/connect/callback`,
        client_id: "app",
        client_secret: "the secret of json-body 9QwZx",
      });
    });

    test("tokens are read from a nested member, and additional members are stored", async () => {
      const response = { ok: true, team: { id: "T1" }, authed_user: { id: "U1", ...freshTokens() } };
      const { id } = await visit("nested", (it) => reply(it, response));
      const credentials = await app.credentials((await app.expectConnected(id)).id);
      assert.equal(credentials.accessToken, response.authed_user.access_token);
      assert.deepEqual(credentials.members, { team: { id: "T1" }, "/authed_user/id": "U1" });
    });

    test("missing scopes are reported", async () => {
      const { id } = await visit("plain", (it) => reply(it, freshTokens({ scope: "read" })));
      const status = await app.status((await app.expectConnected(id)).id);
      assert.deepEqual([status.scopes, status.missingScopes], [["read"], ["write"]]);
    });

    test("a refresh keeps members that the platform omits, and a failed one keeps the tokens", async () => {
      const first = freshTokens();
      const { id } = await visit("plain", (it) => reply(it, first));
      const connection = await app.expectConnected(id);
      // Without a new refresh token, the old one is used again.
      const [second, third] = [{ access_token: freshTokens().access_token, expires_in: "3600" }, freshTokens()];
      const responses = [
        (it) => reply(it, second),
        (it) => it.socket.resetAndDestroy(),
        (it) => reply(it, "<h1>Bad</h1>", { status: 503, type: "text/html", headers: { "retry-after": "600" } }),
        (it) => reply(it, third),
      ];
      fixture.stub.on(first.refresh_token, (it) => responses.shift()(it));
      assert.equal((await app.credentials(connection.id, "?refresh=true")).accessToken, second.access_token);
      // A forced refresh reports the failure; a read of credentials returns the valid ones.
      for (const least of [45, 590]) {
        const response = await app.requestCredentials(connection.id, "?refresh=true");
        assert.deepEqual([response.status, response.json.code], [503, "refresh_failed"], response.text);
        assert.ok(Number(response.header("retry-after")) >= least, response.header("retry-after"));
        assert.equal((await app.credentials(connection.id)).accessToken, second.access_token);
        const status = await app.status(connection.id);
        assert.deepEqual([status.state, status.reason.code], ["degraded", "platform_unavailable"]);
      }
      // The platform has sent `Retry-After`: until then, no refresh is sent.
      const status = await app.status(connection.id);
      const early = await app.requestCredentials(connection.id, "?refresh=true");
      assert.deepEqual([early.status, early.json.code], [503, "refresh_failed"], early.text);
      assert.deepEqual(await app.status(connection.id), status);
      await fixture.database
        .prepare("UPDATE credentials SET retry_at = 0 WHERE connection_id = ?")
        .bind(connection.id)
        .run();
      assert.equal((await app.credentials(connection.id, "?refresh=true")).accessToken, third.access_token);
      assert.equal((await app.status(connection.id)).state, "operational");
    });
  });
}
