// Tests of the demo platform: authorization server, pages and API.
import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { createServer, request as httpRequest } from "node:http";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, beforeEach, describe, test } from "node:test";
import { CLIENT } from "../demo-notes/oauth.mjs";
import { DemoNotes } from "../demo-notes/server.mjs";

const SERVICE = "http://localhost:8787";
const REDIRECT_URI = `${SERVICE}/connect/callback`;
const ACCESS_SECONDS = 300;
const ADA = { "x-api-key": "demo-notes-key-ada" };

describe("the demo platform", () => {
  const folder = mkdtempSync(join(tmpdir(), "connector-vault-demo-test-"));
  const file = join(folder, "state", "demo-notes.json");
  let demo;
  let now = Date.parse("2026-11-27T00:00:00Z");
  const start = async () => {
    demo = await DemoNotes.start({ file, ports: [0], accessSeconds: ACCESS_SECONDS, now: () => now });
    demo.register(SERVICE);
  };
  before(start);
  after(async () => {
    await demo.close();
    rmSync(folder, { recursive: true });
  });
  beforeEach(() => {
    now += 60_000;
  });

  const sendRequest = (path, options) => fetch(`${demo.origin}${path}`, { redirect: "manual", ...options });
  const api = async (method, path, { headers = ADA, body } = {}) => {
    const response = await sendRequest(`/api${path}`, { method, headers, body: body && JSON.stringify(body) });
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: text ? JSON.parse(text) : undefined };
  };
  const bearer = (token) => ({ headers: { authorization: `Bearer ${token}` } });
  const send = async (path, parameters) => {
    const response = await sendRequest(path, { method: "POST", body: new URLSearchParams(parameters) });
    const text = await response.text();
    return { status: response.status, body: text ? JSON.parse(text) : undefined };
  };
  const expectRejected = async (response, code, status = 400) => {
    const { status: actualStatus, body } = await response;
    assert.deepEqual([actualStatus, body.error], [status, code], JSON.stringify(body));
  };

  /** The query of an authorization request; `changes` replaces parameters; undefined removes one. */
  const query = (changes = {}) => {
    const all = {
      response_type: "code",
      client_id: CLIENT.id,
      redirect_uri: REDIRECT_URI,
      state: "s",
      code_challenge_method: "S256",
      ...changes,
    };
    return new URLSearchParams(Object.entries(all).filter(([, value]) => value !== undefined));
  };
  const pkce = () => {
    const verifier = randomBytes(32).toString("base64url");
    return { verifier, challenge: createHash("sha256").update(verifier).digest("base64url") };
  };
  /** Submits the consent form. */
  const submitConsent = (parameters, form, origin = demo.origin) =>
    sendRequest(`/oauth/authorize?${parameters}`, {
      method: "POST",
      headers: { origin },
      body: new URLSearchParams(form),
    });
  const CONSENT = [
    ["answer", "allow"],
    ["person", "ada"],
    ["scope", "notes:read"],
    ["scope", "notes:write"],
  ];
  /** Gets a code for Ada's notes, with the parameters for its exchange. */
  const authorize = async (form = CONSENT) => {
    const { verifier, challenge } = pkce();
    const response = await submitConsent(query({ code_challenge: challenge }), form);
    assert.equal(response.status, 303);
    const returnUrl = new URL(response.headers.get("location"));
    assert.equal(`${returnUrl.origin}${returnUrl.pathname}`, REDIRECT_URI);
    assert.deepEqual([returnUrl.searchParams.get("state"), returnUrl.searchParams.get("iss")], ["s", demo.origin]);
    const code = returnUrl.searchParams.get("code");
    const client_id = CLIENT.id;
    return { grant_type: "authorization_code", client_id, redirect_uri: REDIRECT_URI, code, code_verifier: verifier };
  };
  const connect = async (form) => {
    const { status, body } = await send("/oauth/token", await authorize(form));
    assert.equal(status, 200, JSON.stringify(body));
    return body;
  };
  const refresh = (refresh_token, more = {}) =>
    send("/oauth/token", { grant_type: "refresh_token", client_id: CLIENT.id, refresh_token, ...more });
  const isAccepted = async (token) => (await api("GET", "/me", bearer(token))).status === 200;

  test("redirects only to an exact redirect URI of the app", async () => {
    const { challenge } = pkce();
    for (const changes of [
      { redirect_uri: `${REDIRECT_URI}/` },
      { redirect_uri: `${REDIRECT_URI}?a=1` },
      { redirect_uri: "http://localhost:8788/connect/callback" },
      { redirect_uri: "https://evil.example/connect/callback" },
      { redirect_uri: undefined },
      { client_id: "another" },
      { client_id: undefined },
    ]) {
      const parameters = query({ code_challenge: challenge, ...changes });
      for (const response of [
        await sendRequest(`/oauth/authorize?${parameters}`),
        await submitConsent(parameters, CONSENT),
      ]) {
        assert.equal(response.status, 400, JSON.stringify(changes));
        assert.equal(response.headers.get("location"), null);
      }
    }
    const aliased = query({ code_challenge: challenge, redirect_uri: "http://127.0.0.1:8787/connect/callback" });
    assert.equal((await sendRequest(`/oauth/authorize?${aliased}`)).status, 200);
  });

  test("rejects an authorization request without PKCE, without state, or with unknown scopes", async () => {
    const { challenge } = pkce();
    for (const [changes, error] of [
      [{}, "invalid_request"],
      [{ code_challenge: challenge, code_challenge_method: "plain" }, "invalid_request"],
      [{ code_challenge: challenge, code_challenge_method: undefined }, "invalid_request"],
      [{ code_challenge: "short" }, "invalid_request"],
      [{ code_challenge: challenge, state: undefined }, "invalid_request"],
      [{ code_challenge: challenge, response_type: "token" }, "unsupported_response_type"],
      [{ code_challenge: challenge, scope: "notes:read admin" }, "invalid_scope"],
    ]) {
      const response = await sendRequest(`/oauth/authorize?${query(changes)}`);
      const returnUrl = new URL(response.headers.get("location"));
      assert.deepEqual([response.status, returnUrl.searchParams.get("error")], [303, error], JSON.stringify(changes));
    }
    const repeated = query({ code_challenge: challenge });
    repeated.append("state", "other");
    const returnUrl = new URL((await sendRequest(`/oauth/authorize?${repeated}`)).headers.get("location"));
    assert.equal(returnUrl.searchParams.get("error"), "invalid_request");
  });

  test("the person chooses the account and the scopes, or denies", async () => {
    const { challenge } = pkce();
    const parameters = query({ code_challenge: challenge, scope: "notes:read" });
    const page = await (await sendRequest(`/oauth/authorize?${parameters}`)).text();
    assert.ok(page.includes("Ada Example") && page.includes("Ben Example"));
    assert.ok(page.includes('value="notes:read"') && !page.includes('value="notes:write"'));
    const denied = new URL((await submitConsent(parameters, [["answer", "deny"]])).headers.get("location"));
    assert.equal(denied.searchParams.get("error"), "access_denied");
    // Scopes that were not requested cannot be granted, and the account must be Ada or Ben.
    for (const form of [
      [CONSENT[0], CONSENT[1], ["scope", "notes:write"]],
      [CONSENT[0], ["person", "eve"], CONSENT[2]],
      [CONSENT[0], CONSENT[2]],
    ])
      assert.equal((await submitConsent(parameters, form)).status, 400, JSON.stringify(form));
    const { access_token, scope } = await connect([CONSENT[0], ["person", "ben"], CONSENT[2]]);
    assert.equal(scope, "notes:read");
    assert.equal((await api("GET", "/me", bearer(access_token))).body.id, "ben");
  });

  test("rejects forms of other origins", async () => {
    const parameters = query({ code_challenge: pkce().challenge });
    for (const origin of ["https://evil.example", "null", "http://localhost:8787"])
      assert.equal((await submitConsent(parameters, CONSENT, origin)).status, 403, origin);
    assert.equal((await sendRequest("/people/ada/key", { method: "POST" })).status, 403);
  });

  test("exchanges a code once, within a minute, with the same redirect URI and its verifier", async () => {
    for (const [changes, code, status] of [
      [{ code_verifier: randomBytes(32).toString("base64url") }, "invalid_grant"],
      [{ redirect_uri: "http://127.0.0.1:8787/connect/callback" }, "invalid_grant"],
      [{ code: "unknown" }, "invalid_grant"],
      [{ code_verifier: "" }, "invalid_request"],
      [{ grant_type: "password" }, "unsupported_grant_type"],
      [{ client_id: "another" }, "invalid_client", 401],
    ])
      await expectRejected(send("/oauth/token", { ...(await authorize()), ...changes }), code, status);
    const missed = await authorize();
    await expectRejected(send("/oauth/token", { ...missed, code_verifier: "x".repeat(43) }), "invalid_grant");
    await expectRejected(send("/oauth/token", missed), "invalid_grant");
    const lateCode = await authorize();
    now += 60_000;
    await expectRejected(send("/oauth/token", lateCode), "invalid_grant");
    const once = await authorize();
    const { body } = await send("/oauth/token", once);
    assert.ok(await isAccepted(body.access_token));
    await expectRejected(send("/oauth/token", once), "invalid_grant");
    // Reuse revokes the tokens.
    assert.ok(!(await isAccepted(body.access_token)));
    await expectRejected(refresh(body.refresh_token), "invalid_grant");
    const jsonResponse = await sendRequest("/oauth/token", { method: "POST", body: JSON.stringify(await authorize()) });
    assert.equal(jsonResponse.status, 400);
  });

  test("access tokens expire, refresh tokens rotate, and reuse of a refresh token revokes the grant", async () => {
    const first = await connect();
    assert.deepEqual([first.token_type, first.expires_in], ["Bearer", ACCESS_SECONDS]);
    now += ACCESS_SECONDS * 1000;
    const expired = await api("GET", "/notes", bearer(first.access_token));
    assert.equal(expired.status, 401);
    assert.match(expired.headers.get("www-authenticate"), /error="invalid_token"/);
    const { body: second } = await refresh(first.refresh_token);
    assert.notEqual(second.refresh_token, first.refresh_token);
    assert.ok(await isAccepted(second.access_token));
    await expectRejected(refresh(second.refresh_token, { scope: "admin" }), "invalid_scope");
    const { body: third } = await refresh(second.refresh_token, { scope: "notes:read" });
    assert.equal(third.scope, "notes:read");
    assert.equal((await api("POST", "/notes", { ...bearer(third.access_token), body: { title: "x" } })).status, 403);
    await expectRejected(refresh(first.refresh_token), "invalid_grant");
    assert.ok(!(await isAccepted(third.access_token)));
    await expectRejected(refresh(third.refresh_token), "invalid_grant");
  });

  test("the app can revoke either token, and the person can revoke the app's access", async () => {
    const revoke = (token) => send("/oauth/revoke", { token, client_id: CLIENT.id });
    for (const kind of ["access_token", "refresh_token"]) {
      const tokens = await connect();
      assert.equal((await revoke(tokens[kind])).status, 200);
      assert.ok(!(await isAccepted(tokens.access_token)), kind);
      await expectRejected(refresh(tokens.refresh_token), "invalid_grant");
    }
    assert.equal((await revoke("unknown")).status, 200);
    await expectRejected(send("/oauth/revoke", { token: "t", client_id: "another" }), "invalid_client", 401);
    const { access_token } = await connect();
    const page = await (await sendRequest("/people/ada")).text();
    const grant = page.match(/name="grant" value="([^"]+)"/)[1];
    const press = (person) =>
      sendRequest(`/people/${person}/revoke`, {
        method: "POST",
        headers: { origin: demo.origin },
        body: new URLSearchParams({ grant }),
      });
    await press("ben");
    assert.ok(await isAccepted(access_token), "a person revokes only their own");
    assert.equal((await press("ada")).status, 303);
    assert.ok(!(await isAccepted(access_token)));
  });

  test("lists, searches, creates, changes and deletes notes", async () => {
    const ids = [];
    for (let cursor; cursor !== null; ) {
      const { body } = await api("GET", `/notes?limit=5${cursor ? `&cursor=${cursor}` : ""}`);
      ids.push(...body.notes.map(({ id }) => id));
      cursor = body.next;
    }
    assert.equal(ids.length, 12);
    assert.equal(new Set(ids).size, ids.length);
    const { status, body: note } = await api("POST", "/notes", { body: { title: "Quince jam" } });
    assert.deepEqual([status, note.title, note.body], [201, "Quince jam", ""]);
    const changed = await api("PATCH", `/notes/${note.id}`, { body: { body: "Boil for an hour" } });
    assert.deepEqual([changed.body.title, changed.body.body], ["Quince jam", "Boil for an hour"]);
    const results = await api("GET", "/notes/search?q=QUINCE+hour");
    assert.deepEqual(results.body, { notes: [changed.body], next: null });
    // Ben has no access to Ada's notes.
    const ben = { headers: { "x-api-key": "demo-notes-key-ben" } };
    assert.equal((await api("GET", `/notes/${note.id}`, ben)).status, 404);
    assert.equal((await api("DELETE", `/notes/${note.id}`)).status, 204);
    assert.equal((await api("GET", `/notes/${note.id}`)).status, 404);
  });

  test("the `Link` header names the next page, with the query of the request", async () => {
    const ids = [];
    for (let path = "/notes/search?q=the&limit=1"; path !== undefined; ) {
      const { headers, body } = await api("GET", path);
      ids.push(...body.notes.map(({ id }) => id));
      const next = headers.get("link")?.match(/^<(.+)>; rel="next"$/)[1];
      assert.equal(next === undefined, body.next === null);
      if (next) assert.ok(next.startsWith(`${demo.origin}/api/notes/search?q=the&limit=1&cursor=`), next);
      path = next?.slice(`${demo.origin}/api`.length);
    }
    assert.ok(ids.length > 1);
    assert.equal(new Set(ids).size, ids.length);
  });

  test("responds to `busy=1` with 429, and accepts the next request", async () => {
    const sendRequest = async () => {
      const { status, headers } = await api("GET", "/notes?busy=1");
      return [status, headers.get("retry-after")];
    };
    assert.deepEqual(
      [await sendRequest(), await sendRequest()],
      [
        [429, "1"],
        [200, null],
      ],
    );
    now += 60_000;
    assert.equal((await sendRequest())[0], 429);
  });

  test("describes the error of an invalid request", async () => {
    for (const [method, path, body, status] of [
      ["GET", "/notes?limit=0", undefined, 400],
      ["GET", "/notes?limit=51", undefined, 400],
      ["GET", "/notes?limit=", undefined, 400],
      ["GET", "/notes?cursor=x", undefined, 400],
      ["GET", "/notes/search", undefined, 400],
      ["POST", "/notes", {}, 400],
      ["POST", "/notes", [], 400],
      ["POST", "/notes", { title: " " }, 400],
      ["POST", "/notes", { title: "a", other: 1 }, 400],
      ["POST", "/notes", { title: "a", body: 1 }, 400],
      ["POST", "/notes", { title: "a".repeat(201) }, 400],
      ["POST", "/notes", { title: "a", body: "b".repeat(70_000) }, 413],
      ["PATCH", "/notes/unknown", { title: "a" }, 404],
      ["PUT", "/notes", {}, 405],
      ["GET", "/other", undefined, 404],
    ]) {
      const response = await api(method, path, { body });
      assert.deepEqual([response.status, typeof response.body.error.message], [status, "string"], `${method} ${path}`);
    }
    for (const headers of [{}, { "x-api-key": "wrong" }, { authorization: "Bearer wrong" }])
      assert.equal((await api("GET", "/me", { headers })).status, 401);
  });

  test("a token without the scope gets a 403 with the scope", async () => {
    const { access_token } = await connect([CONSENT[0], CONSENT[1], ["scope", "notes:read"]]);
    assert.equal((await api("GET", "/notes", bearer(access_token))).status, 200);
    const { status, headers, body } = await api("POST", "/notes", { ...bearer(access_token), body: { title: "a" } });
    assert.deepEqual([status, body.error.code], [403, "insufficient_scope"]);
    assert.match(headers.get("www-authenticate"), /error="insufficient_scope", scope="notes:write"/);
  });

  test("a restart keeps notes, grants and keys; the file contains no tokens", async () => {
    const { body } = await api("POST", "/notes", { body: { title: "Kept" } });
    const { access_token, refresh_token } = await connect();
    await sendRequest("/people/ben/key", { method: "POST", headers: { origin: demo.origin } });
    await demo.close();
    const savedState = readFileSync(file, "utf8");
    assert.ok(!savedState.includes(access_token) && !savedState.includes(refresh_token));
    await start();
    assert.equal((await api("GET", `/notes/${body.id}`)).body.title, "Kept");
    assert.ok(await isAccepted(access_token));
    assert.equal((await refresh(refresh_token)).status, 200);
    assert.equal((await api("GET", "/me", { headers: { "x-api-key": "demo-notes-key-ben" } })).status, 401);
  });

  test("users of the demo account sign in for their agents", async () => {
    const requests = [];
    const service = createServer(async (request, response) => {
      const chunks = [];
      for await (const chunk of request) chunks.push(chunk);
      const body = JSON.parse(Buffer.concat(chunks));
      requests.push([request.method, request.url, request.headers["x-service-secret"], body]);
      const isKnown = body.request === "ar_1";
      const reply = isKnown
        ? { continueUrl: "http://localhost:8787/mcp/e/continue?grant=g" }
        : { detail: "No such <request>." };
      response.writeHead(isKnown ? 201 : 400, { "content-type": "application/json" }).end(JSON.stringify(reply));
    });
    await new Promise((done) => service.listen(0, "127.0.0.1", done));
    const post = (path, identity, origin = demo.origin) =>
      sendRequest(path, { method: "POST", headers: { origin }, body: new URLSearchParams({ identity }) });
    try {
      assert.equal((await sendRequest("/sign-in?request=ar_1")).status, 404, "without a key, there is no sign-in");
      demo.register(`http://127.0.0.1:${service.address().port}`, "sk_test_demo");
      assert.equal((await sendRequest("/sign-in")).status, 400);
      const page = await sendRequest("/sign-in?request=ar_1");
      assert.equal(page.status, 200);
      assert.match(page.headers.get("content-security-policy"), /frame-ancestors 'none'/);
      assert.match(await page.text(), /action="\/sign-in\?request=ar_1"/);
      const redirection = await post("/sign-in?request=ar_1", " you@example.com ");
      assert.deepEqual(
        [redirection.status, redirection.headers.get("location")],
        [303, "http://localhost:8787/mcp/e/continue?grant=g"],
      );
      const refusal = await post("/sign-in?request=other", "you@example.com");
      assert.equal(refusal.status, 400);
      assert.match(await refusal.text(), /No such &lt;request&gt;\./);
      assert.equal((await post("/sign-in?request=ar_1", " ")).status, 400);
      assert.equal((await post("/sign-in?request=ar_1", "you@example.com", "https://evil.example")).status, 403);
      const bodyFor = (request) => ({ request, identity: "you@example.com", identityType: "user" });
      assert.deepEqual(requests, [
        ["POST", "/v1/agent-grants", "sk_test_demo", bodyFor("ar_1")],
        ["POST", "/v1/agent-grants", "sk_test_demo", bodyFor("other")],
      ]);
    } finally {
      service.close();
      demo.register(SERVICE);
    }
  });

  test("ignores a damaged file", async () => {
    await demo.close();
    for (const content of [
      "{",
      "null",
      "[]",
      '{"notes":{}}',
      '{"notes":{"ada":[],"ben":[]},"keys":{"ada":"a","ben":"b"}}',
    ]) {
      writeFileSync(file, content);
      await start();
      assert.equal((await api("GET", "/me")).status, 200, content);
      await demo.close();
    }
    await start();
  });

  test("listens on loopback only, on its last port if that is free", async () => {
    assert.equal(demo.server.address().address, "127.0.0.1");
    const secondDemo = await DemoNotes.start({
      file: join(folder, "other.json"),
      ports: [demo.state.port, 0],
      now: () => now,
    });
    assert.notEqual(secondDemo.origin, demo.origin);
    await secondDemo.close();
    const restartedDemo = await DemoNotes.start({ file: join(folder, "other.json"), now: () => now });
    assert.equal(restartedDemo.origin, secondDemo.origin);
    await restartedDemo.close();
  });

  test("rejects requests to another host name", async () => {
    const status = await new Promise((done, fail) => {
      const options = { host: "127.0.0.1", port: demo.state.port, headers: { host: "evil.example", ...ADA } };
      httpRequest({ ...options, path: "/api/me" }, (response) => done(response.resume().statusCode))
        .once("error", fail)
        .end();
    });
    assert.equal(status, 421);
  });

  test("pages escape the content of notes", async () => {
    await api("POST", "/notes", { body: { title: "<script>alert(1)</script>" } });
    const page = await (await sendRequest("/people/ada")).text();
    assert.ok(page.includes("&lt;script&gt;alert(1)&lt;/script&gt;") && !page.includes("<script"));
    const errorPage = await (await sendRequest(`/oauth/authorize?${query({ redirect_uri: "<script>" })}`)).text();
    assert.ok(!errorPage.includes("<script"));
  });
});
