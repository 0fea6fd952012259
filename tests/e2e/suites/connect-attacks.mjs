// Attacks on connecting an account, each with the exact response.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import {
  App,
  Visitor,
  agree,
  openCallback,
  connectingKey,
  isCallback,
  confirmLink,
  readPage,
} from "../support/connecting.mjs";
import { secrets } from "../support/http.mjs";
import { store } from "../support/keys.mjs";
import { Server } from "../support/server.mjs";
import { freshTokens, reply } from "../support/stub.mjs";

const OTHER_BROWSER = [403, "This was started in another browser"];
const LINK_EXPIRED = [410, "This link is no longer valid"];
const INCOMPLETE = [400, "This address is incomplete"];
const CROSS_SITE = [403, "Open the link itself"];
const MARKUP = `"><script>alert(1)</script><img src=x onerror='alert(1)'>`;
/** Markup in an error text. Its words are shorter than secrets, which the service would remove. */
const ERROR_TEXT = `"> <script> alert(1) </script> <img src=x onerror='x'>`;
const statusAndHeading = ({ status, heading }) => [status, heading];

export function connectAttacks(fixture) {
  const [testKey, liveKey, otherKey] = [
    connectingKey({ account: "attacked" }),
    connectingKey({ account: "attacked", environment: "live" }),
    connectingKey({ account: "other" }),
  ];
  const [app, liveApp, otherApp] = [testKey, liveKey, otherKey].map((key) => new App(() => fixture.server, key));
  let people = 0;

  /** Follows a connect link to the platform. Returns the callback address to which the platform would redirect. */
  async function userAtPlatform({ platform = "plain", visitor = new Visitor(), of = app, pick = {}, ...input } = {}) {
    const index = (people += 1);
    const attempt = await of.begin({ platform, identity: `user ${index}`, ...input });
    const address = new URL(await agree(visitor, attempt.link));
    const code = fixture.stub.on(`attacked-code-${index}-Qx7`, (it) => reply(it, freshTokens({ scope: "read" })));
    address.searchParams.set("pick", new URLSearchParams({ code, ...pick }).toString());
    const { url: back } = await visitor.follow(await visitor.get(address.href), address.href, isCallback);
    return { ...attempt, visitor, address, back, code };
  }

  /** A URL with changed query parameters; undefined removes a parameter. */
  function changed(url, parameters) {
    const address = new URL(url);
    for (const [name, value] of Object.entries(parameters))
      if (value === undefined) address.searchParams.delete(name);
      else address.searchParams.set(name, value);
    return address.href;
  }

  describe("attacks", { concurrency: 16 }, () => {
    before(async () => {
      await store(fixture.database, [testKey, liveKey, otherKey]);
      for (const of of [app, liveApp, otherApp])
        for (const platform of ["plain", "issuing", "labelled", "in-path"])
          await of.setClient(platform, {
            clientId: "app",
            clientSecret: "the attacked app's secret",
            scopes: ["read"],
          });
    });

    test("an OAuth state can be used only once", async () => {
      const { id, visitor, back, code } = await userAtPlatform();
      assert.deepEqual(statusAndHeading(await openCallback(visitor, back)), [200, "plain is connected"]);
      const connection = await app.expectConnected(id);
      const secondCallback = changed(back, {
        code: fixture.stub.on("a second code Qx7", (it) => reply(it, freshTokens())),
      });
      assert.deepEqual(statusAndHeading(await openCallback(visitor, secondCallback)), [200, "plain is connected"]);
      assert.deepEqual([fixture.stub.requestCount(code), fixture.stub.requestCount("a second code Qx7")], [1, 0]);
      assert.deepEqual(await app.expectConnected(id), connection);
      assert.deepEqual(statusAndHeading(await openCallback(new Visitor(), back)), OTHER_BROWSER);
    });

    test("ten concurrent callbacks cause one exchange", async () => {
      const { id, visitor, back, code } = await userAtPlatform();
      const pages = await Promise.all(Array.from({ length: 10 }, () => openCallback(visitor, back)));
      for (const page of pages)
        assert.ok(
          ["200 plain is connected", "409 One moment"].includes(statusAndHeading(page).join(" ")),
          statusAndHeading(page).join(" "),
        );
      assert.equal(fixture.stub.requestCount(code), 1);
      await app.expectConnected(id);
    });

    test("guessed states and malformed callbacks are rejected", async () => {
      const { id, visitor, back } = await userAtPlatform();
      const { searchParams } = new URL(back);
      const [state, code] = [searchParams.get("state"), searchParams.get("code")];
      for (const guess of ["x", state.slice(1), `${state}x`, state.toLowerCase(), "%27 OR 1=1", "A".repeat(2000)])
        assert.deepEqual(
          statusAndHeading(await openCallback(visitor, changed(back, { state: guess }))),
          LINK_EXPIRED,
          guess,
        );
      const base = back.split("?")[0];
      for (const query of [
        "",
        "code=c",
        `state=${state}`,
        `code=${code}&state=`,
        `code=${code}&code=${code}&state=${state}`,
        `code=${code}&state=${state}&state=${state}`,
        `code=${code}&error=x&state=${state}`,
        `code=${code}%00&state=${state}`,
        `code=${code}&state=${state}&iss=a&iss=b`,
        `code=${"c".repeat(17_000)}&state=${state}`,
      ])
        assert.deepEqual(
          statusAndHeading(await openCallback(visitor, `${base}?${query}`)),
          INCOMPLETE,
          query.slice(0, 100),
        );
      assert.equal((await app.attempt(id)).status, "pending");
      assert.deepEqual(statusAndHeading(await openCallback(visitor, back)), [200, "plain is connected"]);
    });

    test("a callback as a cross-site form, which has no cookie, is redirected to a GET", async () => {
      const { id, visitor, back, code } = await userAtPlatform();
      const { origin, pathname, search } = new URL(back);
      const headers = [
        ["Origin", "https://id.example"],
        ["Content-Type", "application/x-www-form-urlencoded"],
      ];
      const posted = { headers, body: `${search.slice(1)}&id_token=secret` };
      const response = await new Visitor().request("POST", origin + pathname, posted);
      assert.deepEqual([response.status, response.header("location")], [303, back]);
      assert.deepEqual([(await app.attempt(id)).status, fixture.stub.requestCount(code)], ["pending", 0]);
      assert.deepEqual(statusAndHeading(await openCallback(visitor, back)), [200, "plain is connected"]);
      await app.expectConnected(id);
    });

    test("a denial without a state ends only the attempt of its own browser", async () => {
      const { id, visitor, back, code } = await userAtPlatform();
      const base = back.split("?")[0];
      for (const stranger of [new Visitor(), (await userAtPlatform()).visitor])
        await openCallback(stranger, `${base}?error=access_denied`);
      assert.equal((await app.attempt(id)).status, "pending");
      assert.deepEqual(statusAndHeading(await openCallback(visitor, `${base}?error=access_denied`)), [
        200,
        "plain was not connected",
      ]);
      assert.equal((await app.attempt(id)).error.code, "denied");
      await openCallback(visitor, back);
      assert.equal(fixture.stub.requestCount(code), 0);
    });

    test("a state from another browser is rejected, with and without a cookie", async () => {
      const { id, visitor, back, code, link } = await userAtPlatform();
      const { port } = new URL(back);
      const [withoutCookie, busy, withForgedCookie] = [new Visitor(), (await userAtPlatform()).visitor, new Visitor()];
      withForgedCookie.setCookie(port, "__Host-connect", "A".repeat(43));
      for (const stranger of [withoutCookie, busy, withForgedCookie]) {
        assert.deepEqual(statusAndHeading(await openCallback(stranger, back)), OTHER_BROWSER);
        // Like the state, the link is bound to the visitor's browser.
        assert.deepEqual(statusAndHeading(readPage(await stranger.get(link))), OTHER_BROWSER);
        assert.deepEqual(statusAndHeading(readPage(await stranger.submit(link))), OTHER_BROWSER);
      }
      assert.deepEqual([(await app.attempt(id)).status, fixture.stub.requestCount(code)], ["pending", 0]);
      assert.deepEqual(statusAndHeading(await openCallback(visitor, back)), [200, "plain is connected"]);
      await app.expectConnected(id);
    });

    test("an attempt is visible only in its own account and environment", async () => {
      const visitor = new Visitor();
      const [testAttempt, otherAccountAttempt, liveAttempt] = [
        await userAtPlatform({ visitor }),
        await userAtPlatform({ visitor, of: otherApp }),
        await userAtPlatform({ visitor, of: liveApp }),
      ];
      for (const [one, owner] of [
        [testAttempt, app],
        [otherAccountAttempt, otherApp],
        [liveAttempt, liveApp],
      ])
        for (const reader of [app, otherApp, liveApp]) {
          const response = await reader.call("GET", `/v1/vault/connect/${one.id}`);
          if (reader === owner) assert.equal(response.status, 200);
          else assert.deepEqual([response.status, response.json.code], [404, "attempt_not_found"]);
        }
      // Even in one browser, a state continues only the attempt that it was issued for, regardless of the code.
      const states = [testAttempt, otherAccountAttempt, liveAttempt].map(({ back }) =>
        new URL(back).searchParams.get("state"),
      );
      await openCallback(visitor, changed(testAttempt.back, { state: states[1] }));
      const connection = await otherApp.expectConnected(otherAccountAttempt.id);
      assert.equal((await app.call("GET", `/v1/vault/connections/${connection.id}`)).status, 404);
      assert.equal((await app.requestCredentials(connection.id)).status, 404);
      assert.equal((await liveApp.requestCredentials(connection.id)).status, 404);
      assert.equal((await app.attempt(testAttempt.id)).status, "pending");
      assert.equal((await app.call("POST", "/v1/vault/connect", { connection: connection.id })).status, 404);
      await openCallback(visitor, liveAttempt.back);
      assert.equal((await liveApp.expectConnected(liveAttempt.id)).environment, "live");
    });

    test("rejects a response of another authorization server", async () => {
      for (const [platform, iss, fits] of [
        ["issuing", "https://evil.example", false],
        ["issuing", `${fixture.stub.origin}/issuer/`, false],
        ["issuing", fixture.stub.origin, false],
        ["issuing", `${fixture.stub.origin}/issuer`, true],
        ["issuing", undefined, true],
        ["plain", "https://evil.example", false],
        ["plain", fixture.stub.origin.replace("127.0.0.1", "localhost"), false],
        ["plain", MARKUP, false],
        ["plain", `${fixture.stub.origin}/any`, true],
      ]) {
        const { id, visitor, back, code } = await userAtPlatform({ platform, pick: iss === undefined ? {} : { iss } });
        const page = await openCallback(visitor, back);
        if (fits) {
          assert.deepEqual(statusAndHeading(page), [200, `${platform} is connected`], `${iss}`);
          continue;
        }
        assert.deepEqual(statusAndHeading(page), [200, `${platform} could not be connected`], `${iss}`);
        assert.equal(
          await app.expectFailed(id, "issuer_mismatch"),
          `The response did not come from ${platform}, so it was not used.`,
        );
        assert.equal(fixture.stub.requestCount(code), 0, "the code is not sent to any server");
      }
    });

    test("only return URLs of allowed origins are accepted", async () => {
      for (const returnUrl of [
        "https://evil.example/",
        "https://app.example.evil.example/",
        "https://app.example@evil.example/",
        "https://app.example:8443/",
        "https://evil.example\\@app.example/",
        "https://evil.example#@app.example/",
        "http://app.example/",
        "//evil.example/",
        "//app.example/",
        "/done",
        "app.example",
        "javascript:alert(1)//https://app.example",
        "data:text/html,x",
        " https://app.example/",
        "https://app.example/\u0000",
        "https://app.example/<script>",
        "https://app.example./",
        "https://аpp.example/",
        "https:app.example",
        "https:///app.example",
        "http://localhost.evil.example/",
        "http://127.0.0.1:1/",
        `https://app.example/${"a".repeat(3000)}`,
        "",
        7,
        ["https://app.example/"],
      ]) {
        const response = await app.connect({ platform: "plain", identity: "returning", returnUrl });
        assert.deepEqual(
          [response.status, response.json.code],
          [400, "invalid_body"],
          `${returnUrl}: ${response.text}`,
        );
        assert.deepEqual(
          response.json.errors.map(({ pointer }) => pointer),
          ["/returnUrl"],
        );
      }
      for (const [returnUrl, expected] of [
        ["https://app.example/done?x=1#top", (id) => `https://app.example/done?x=1&connect=${id}#top`],
        ["https://APP.example:443", (id) => `https://APP.example:443?connect=${id}`],
        ["https://app.example/?a='b'&amp;", (id) => `https://app.example/?a='b'&amp;&connect=${id}`],
      ]) {
        const { id, visitor, back } = await userAtPlatform({ returnUrl });
        const page = await openCallback(visitor, back);
        assert.deepEqual(page.data, {
          attempt: id,
          status: "succeeded",
          origin: "https://app.example",
          return: expected(id),
        });
        assert.deepEqual(page.links, ["Go back to the app"]);
      }
    });

    test("markup in requests and in platforms' responses is escaped", async () => {
      const input = { platform: "plain", identity: `${MARKUP}&amp;`, label: "label", name: MARKUP, tags: ["<b>"] };
      const { link } = await app.begin(input);
      const visitor = new Visitor();
      const question = readPage(await visitor.get(link));
      assert.equal(question.heading, "Connect plain to Sample <b>App</b>?");
      assert.equal(
        question.paragraphs[0],
        `This link connects an account at plain to Sample <b>App</b>, for the user “${MARKUP}&amp;”.`,
      );
      const address = new URL(await confirmLink(visitor, link));
      const back = `http://127.0.0.1:${fixture.server.port}/connect/callback`;
      const state = encodeURIComponent(address.searchParams.get("state"));
      const script = encodeURIComponent(MARKUP);
      // Neither value was issued by the service.
      for (const query of [
        `state=${script}&code=${script}`,
        `state=${script}&error=${script}&error_description=${script}`,
      ])
        assert.deepEqual(statusAndHeading(await openCallback(visitor, `${back}?${query}`)), LINK_EXPIRED);
      for (const path of [`/connect/go/${script}`, `/connect/go/${script}?x=${script}`])
        assert.deepEqual(
          statusAndHeading(readPage(await visitor.get(`http://127.0.0.1:${fixture.server.port}${path}`))),
          LINK_EXPIRED,
        );
      assert.deepEqual(statusAndHeading(await openCallback(visitor, `${back}?${script}=${script}`)), INCOMPLETE);
      // The page shows the platform's error text.
      const page = await openCallback(
        visitor,
        `${back}?state=${state}&error=${script}&error_description=${encodeURIComponent(ERROR_TEXT)}&error_uri=${script}&${script}=${script}`,
      );
      assert.deepEqual(statusAndHeading(page), [200, "plain could not be connected"]);
      assert.equal(page.small, `plain rejects the app's request: ${ERROR_TEXT}.`);

      const words = { error: "invalid_grant", error_description: ERROR_TEXT, error_uri: ERROR_TEXT };
      const rejected = await userAtPlatform();
      fixture.stub.on(rejected.code, (it) => reply(it, words, { status: 400 }));
      const refused = await openCallback(rejected.visitor, rejected.back);
      assert.equal(refused.small, `plain no longer accepts its own code (invalid_grant): ${ERROR_TEXT}.`);
      assert.equal(await app.expectFailed(rejected.id, "code_rejected"), refused.small);
    });

    test("field values cannot lead to another host", async () => {
      const values = [
        "evil.example#",
        "evil.example/",
        "evil.example?",
        "evil.example\\",
        "a@b",
        "a:b@evil.example",
        "..",
        ".",
        "shop.",
        ".shop",
        "shop:8443",
        "evil.example%2f",
        "evil。example",
        "ⓔvil",
        "ｅvil",
        "evil\u0000",
        "evil example",
        "{shop}",
        "127.0.0.1/#",
      ];
      for (const shop of values) {
        const response = await app.connect({ platform: "labelled", identity: "shopper", fields: { shop } });
        assert.deepEqual([response.status, response.json.code], [400, "invalid_body"], `${shop}: ${response.text}`);
        assert.deepEqual(
          response.json.errors.map(({ pointer }) => pointer),
          ["/fields/shop"],
          shop,
        );
      }
      // A value in a path must remain one segment.
      for (const [shop, path] of [
        ["a/evil", "/a%2Fevil/authorize"],
        ["@evil.example", "/%40evil.example/authorize"],
        ["x?y#z", "/x%3Fy%23z/authorize"],
      ]) {
        const { link } = await app.begin({ platform: "in-path", identity: `path ${shop}`, fields: { shop } });
        const address = new URL(await agree(new Visitor(), link));
        assert.deepEqual([address.origin, address.pathname], [fixture.stub.origin, path]);
      }
      for (const shop of ["..", ".", "a/../../evil"])
        assert.equal((await app.connect({ platform: "in-path", identity: "p", fields: { shop } })).status, 400);
    });

    test("a user's fields can't choose the host that receives the app's secret", async () => {
      const client = { clientId: "app", clientSecret: "the attacked app's secret" };
      await app.setClient("hosted", client);
      const input = { platform: "hosted", identity: "chooser", fields: { shop: "evil.example" } };
      const refused = await app.connect(input);
      assert.deepEqual([refused.status, refused.json.code], [409, "oauth_client_missing"]);
      assert.match(refused.json.detail, /must set its `variables` `shop`/);
      const set = await app.call("PUT", "/v1/oauth-clients/hosted", { ...client, variables: { shop: "good.example" } });
      assert.equal(set.status, 200, set.text);
      const { link } = await app.begin(input);
      assert.equal(new URL(await agree(new Visitor(), link)).host, "good.example");
    });

    test("a token can't connect an account for another identity", async () => {
      const { token } = await app.expect(201, "POST", "/v1/sessions", {
        identity: "ann",
        identityType: "user",
        scopes: ["connections:connect", "connections:read"],
        platforms: ["plain"],
      });
      secrets.add(token);
      const holder = new App(() => fixture.server, { secret: token });
      const bobsAttempt = await userAtPlatform({ identity: "bob" });
      await openCallback(bobsAttempt.visitor, bobsAttempt.back);
      const bob = await app.expectConnected(bobsAttempt.id);
      for (const [input, status, code] of [
        [{ platform: "plain", identity: "bob" }, 403, "insufficient_scope"],
        [{ platform: "plain", identity: "Ann" }, 403, "insufficient_scope"],
        [{ platform: "plain", identityType: "team" }, 403, "insufficient_scope"],
        [{ platform: "issuing" }, 403, "insufficient_scope"],
        [{ connection: bob.id }, 404, "connection_not_found"],
      ]) {
        const response = await holder.call("POST", "/v1/vault/connect", input);
        assert.deepEqual([response.status, response.json.code], [status, code], JSON.stringify(input));
      }
      for (const [method, path] of [
        ["GET", `/v1/vault/connect/${bobsAttempt.id}`],
        ["GET", `/v1/vault/connections/${bob.id}`],
      ])
        assert.equal((await holder.call(method, path)).status, 404, path);
      for (const [method, path] of [
        ["GET", `/v1/vault/connections/${bob.id}/credentials`],
        ["GET", "/v1/oauth-clients"],
        ["PUT", "/v1/oauth-clients/plain"],
      ]) {
        const response = await holder.call(method, path, method === "PUT" ? { clientId: "x" } : undefined);
        assert.deepEqual([response.status, response.json.code], [403, "insufficient_scope"], path);
      }
      const own = await holder.call("POST", "/v1/vault/connect", { platform: "plain" });
      assert.equal(own.status, 202, own.text);
    });

    test("another site can't confirm for the user", async () => {
      const { id, link } = await app.begin({ platform: "plain", identity: "asked" });
      const visitor = new Visitor();
      const { origin } = new URL(link);
      for (const headers of [
        [],
        [["Origin", "https://evil.example"]],
        [["Origin", "null"]],
        [["Origin", origin.replace(/\d+$/, "1")]],
        [["Sec-Fetch-Site", "same-origin"]],
        ...["cross-site", "same-site", "none"].map((site) => [
          ["Origin", origin],
          ["Sec-Fetch-Site", site],
        ]),
      ]) {
        const response = await visitor.request("POST", link, { headers });
        assert.deepEqual(statusAndHeading(readPage(response)), CROSS_SITE, JSON.stringify(headers));
        assert.deepEqual(response.all("set-cookie"), []);
      }
      assert.equal((await app.attempt(id)).status, "pending");
      await agree(visitor, link);
    });

    test("a forwarded link asks first, and belongs to the first browser that confirms", async () => {
      const { link } = await app.begin({ platform: "plain", identity: "forwarded" });
      const [first, second] = [new Visitor(), new Visitor()];
      assert.deepEqual(statusAndHeading(readPage(await first.get(link))), [200, "Connect plain to Sample <b>App</b>?"]);
      // A HEAD request binds nothing, since chat programs send one for a preview.
      assert.equal((await first.request("HEAD", link)).body.length, 0);
      const address = await agree(second, link);
      assert.deepEqual(statusAndHeading(readPage(await first.get(link))), OTHER_BROWSER);
      assert.deepEqual(statusAndHeading(readPage(await first.submit(link))), OTHER_BROWSER);
      // The browser that opened the link may follow it again.
      assert.equal((await second.get(link)).header("location"), address);
    });
  });

  describe("without LOCAL_TARGETS", () => {
    let server;
    const strict = connectingKey({ account: "strict" });
    const strictApp = new App(() => server, strict);

    before(async () => {
      await store(fixture.database, [strict]);
      const configuration = fixture.configuration("connect-strict");
      delete configuration.variables.LOCAL_TARGETS;
      server = await Server.start(fixture.state, configuration);
      for (const platform of ["plain", "hosted"]) {
        const variables = platform === "hosted" ? { shop: "127.0.0.1" } : {};
        await strictApp.setClient(platform, { clientId: "app", clientSecret: "the strict app's secret", variables });
      }
    });

    after(() => server?.stop());

    test("no request is sent to this machine, and the response gives the reason", async () => {
      const before = fixture.stub.requests.length;
      const plain = await strictApp.connect({ platform: "plain", identity: "ann" });
      assert.deepEqual([plain.status, plain.json.code], [400, "invalid_body"]);
      assert.deepEqual(plain.json.errors, [
        { pointer: "/fields", detail: "`fields` can't be used: the address does not begin with `https://`" },
      ]);
      const hosted = await strictApp.connect({ platform: "hosted", identity: "ann" });
      assert.deepEqual(hosted.json.errors, [
        {
          pointer: "/fields/shop",
          detail: "`fields/shop` can't be used: `shop` must lead to a public host name and the usual port",
        },
      ]);
      assert.equal(fixture.stub.requests.length, before);
    });
  });
}
