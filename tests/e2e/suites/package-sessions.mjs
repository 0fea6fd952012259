// Short-lived tokens with the package and the service: created on a server, used and refreshed in cross-origin pages.
import assert from "node:assert/strict";
import { copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { launch } from "../support/browser.mjs";
import { secrets } from "../support/http.mjs";
import { token } from "../support/keys.mjs";
import { Recorder, dist, expectServiceError, expectError, expectNoResponse, failure } from "../support/package.mjs";
import { connectionNumber } from "../support/seed.mjs";
import { SESSION_SECRET } from "../support/server.mjs";
import { CONNECTIONS, connectionPath, seed } from "../support/vault.mjs";

/** Ann's connections: more than two pages. */
const ANN_CONNECTIONS = Array.from({ length: 260 }, (_, n) => ({
  ...connectionNumber(n),
  identity: "ann",
  identityType: n % 4 ? "user" : "team",
  label: `l-${n}`,
  active: true,
}));
const BOB_CONNECTIONS = Array.from({ length: 20 }, (_, n) => ({
  ...connectionNumber(n),
  identity: "bob",
  active: true,
}));
const JSON_TYPE = [["content-type", "application/json"]];
const PAGE = `<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><script type="module">
import * as library from "../connector-vault.mjs";
globalThis.run = async (body, ...given) => {
  try {
    return { value: await new Function("library", "given", \`return (async () => { \${body} })()\`)(library, given) };
  } catch ({ name, code, message, status }) {
    return { error: { name, code, message, status } };
  }
};
</script>`;

export function sessions(fixture) {
  const { vault } = fixture;
  const maker = () => fixture.keys.maker;
  /** Signs a token of the key as the service does. */
  const forgeToken = (claims, signer = SESSION_SECRET) => token(signer, maker(), claims);
  const ids = (rows) => rows.map(({ id }) => id).sort();

  describe("sessions", () => {
    before(async () => {
      for (const rows of [ANN_CONNECTIONS, BOB_CONNECTIONS]) await seed(fixture.database, maker().row.account, rows);
    });

    describe("on a server", () => {
      test("a session equals plain HTTP, and grants the stated access", async () => {
        const { sessions } = vault(maker());
        for (const expected of [
          { identity: "ann" },
          { identity: "名前 %_ 😀", identityType: undefined, ttlSeconds: 60 },
          {
            identity: "ann",
            identityType: "team",
            scopes: ["connections:read", "connections:write"],
            platforms: ["github", "acme-store"],
            origins: [fixture.site.origin, "https://app.example"],
            ttlSeconds: 3600,
          },
        ]) {
          assert.deepEqual(sessions.validateCreate(expected), []);
          const { json } = await fixture.plain(maker(), "/v1/sessions", {
            method: "POST",
            headers: JSON_TYPE,
            body: JSON.stringify(expected),
          });
          const session = await sessions.create(expected);
          for (const each of [json, session]) secrets.add(each.token);
          const facts = ({ token: text, expiresAt, ...rest }) => ({ ...rest, prefix: text.slice(0, 8) });
          assert.deepEqual(facts(session), facts(json));
          const life = Date.parse(session.expiresAt) - Date.now();
          assert.ok(Math.abs(life - (expected.ttlSeconds ?? 900) * 1000) < 30_000, `${life} ms`);
          if (expected.origins) continue;
          const { account, environment, scopes, expiresAt, ...restrictions } = await vault({
            secret: session.token,
          }).whoami();
          assert.deepEqual(
            [account, environment, scopes, expiresAt],
            [maker().row.account, "test", session.scopes, session.expiresAt],
          );
          const presets = { fields: null, fixedFields: null, lang: null };
          const unrestricted = {
            platforms: null,
            access: "write",
            actions: null,
            connections: null,
            confirm: null,
            client: null,
            origins: null,
            ...presets,
          };
          assert.deepEqual(restrictions, { identity: session.identity, identityType: null, ...unrestricted });
        }
      });

      test("a session needs the scope sessions:create, and only grants the key's scopes", async () => {
        const body = { identity: "ann", scopes: ["connections:write"] };
        for (const apiKey of [fixture.keys.reader, fixture.keys.readingMaker]) {
          const response = await fixture.plain(apiKey, "/v1/sessions", {
            method: "POST",
            headers: JSON_TYPE,
            body: JSON.stringify(body),
          });
          expectServiceError(await failure(vault(apiKey).sessions.create(body)), "PermissionError", response, {
            status: 403,
            code: "insufficient_scope",
          });
        }
        expectError(
          await failure(vault({ secret: forgeToken({}) }).sessions.create({ identity: "ann" })),
          "PermissionError",
          { status: 403 },
        );
      });

      test("a token only shows connections of its identity", async () => {
        const client = vault({ secret: async () => ({ token: forgeToken({ s: 7 }) }) });
        assert.deepEqual(ids(await client.connections.list().toArray()), ids(ANN_CONNECTIONS));
        assert.deepEqual((await client.connections.list({ identity: "bob" })).rows, []);
        expectError(await failure(client.connections.get(BOB_CONNECTIONS[0].id)), "NotFoundError", {
          status: 404,
          code: "connection_not_found",
        });
        const connection = await client.connections.create({
          platform: "github",
          identity: "ann",
          identityType: "user",
          label: "mine",
        });
        assert.equal(
          (await client.connections.update(connection.id, { tags: ["x"] }, { ifMatch: connection })).version,
          "2",
        );
        await client.connections.delete(connection.id);
      });

      test("a rejected token is refreshed: expired, altered, with another signature, or of a revoked key", async () => {
        const good = forgeToken({});
        for (const bad of [
          forgeToken({ e: Date.now() - 1 }),
          forgeToken({ e: 0 }),
          forgeToken({}, "another secret, as long as one is"),
          `${good}x`,
          good.replace("st_test_", "st_live_"),
          token(SESSION_SECRET, fixture.keys.revoked, {}),
          token(SESSION_SECRET, fixture.keys.expired, {}),
          forgeToken({ o: "https://app.example" }),
        ]) {
          secrets.add(bad);
          const calls = [];
          const secret = async () => (calls.push(1) === 1 ? bad : good);
          const recorder = new Recorder();
          const client = vault({ secret }, { fetch: recorder.fetch });
          assert.equal((await client.connections.list({ limit: 1 })).total, ANN_CONNECTIONS.length);
          assert.deepEqual([calls.length, recorder.requests.length], [2, 2]);
          const stuck = await failure(vault({ secret: () => bad }).connections.get(ANN_CONNECTIONS[0].id));
          expectServiceError(
            stuck,
            "AuthenticationError",
            await fixture.plain({ secret: bad }, connectionPath(ANN_CONNECTIONS[0].id)),
            {
              status: 401,
              code: "invalid_key",
            },
          );
        }
      });

      test("a malformed token has the error of the service", async () => {
        for (const secret of ["st_test_a b", `st_test_${"x".repeat(8200)}`]) {
          const { status, code, detail } = (await fixture.server.send("/v1/whoami", { secret })).json;
          expectNoResponse(await failure(() => vault({ secret })), "AuthenticationError", {
            status,
            code,
            message: detail,
          });
        }
      });
    });

    describe("on pages", () => {
      let chromium;
      let page;
      let backend;
      let address;
      /** The backend's response to the nth request for a token. */
      let give;
      let suppliedCount;

      before(async () => {
        copyFileSync(join(dist, "index.mjs"), join(fixture.pages, "connector-vault.mjs"));
        mkdirSync(join(fixture.pages, "sessions"), { recursive: true });
        writeFileSync(join(fixture.pages, "sessions", "index.html"), PAGE);
        // Only the backend has the key.
        backend = createServer((_request, response) => {
          suppliedCount += 1;
          Promise.resolve(give(suppliedCount)).then(
            (session) => {
              response.writeHead(200, {
                "content-type": "application/json",
                "access-control-allow-origin": fixture.site.origin,
              });
              response.end(JSON.stringify(session));
            },
            () => response.writeHead(500, { "access-control-allow-origin": fixture.site.origin }).end(),
          );
        });
        await new Promise((done) => backend.listen(0, "127.0.0.1", done));
        address = `http://127.0.0.1:${backend.address().port}/token`;
        chromium = await launch();
        page = await (await chromium.newContext()).newPage();
        await page.goto(`${fixture.site.origin}/sessions/`);
        await page.waitForFunction(() => globalThis.run);
      });

      after(async () => {
        await chromium?.close();
        backend?.closeAllConnections();
        await new Promise((done) => backend.close(done));
      });

      /** Runs a function body in the page, with `baseUrl` and `supply`, which calls the backend. Returns its result and the responses of the service. */
      async function run(body, backendGives) {
        [give, suppliedCount] = [backendGives, 0];
        const responses = [];
        const listen = (response) => {
          const url = new URL(response.url());
          if (url.origin === fixture.baseUrl && response.request().method() !== "OPTIONS")
            responses.push({ status: response.status(), path: url.pathname, query: url.searchParams });
        };
        page.on("response", listen);
        const outcome = await page.evaluate(
          ([text, ...more]) => globalThis.run(text, ...more),
          [
            `const [baseUrl, address, ...more] = given; const supply = async () => (await fetch(address, { method: "POST" })).json(); ${body}`,
            fixture.baseUrl,
            address,
            fixture.keys.maker.secret,
          ],
        );
        page.off("response", listen);
        const content = JSON.stringify(outcome);
        for (const text of secrets) assert.ok(!content.includes(text), "a page reveals a secret");
        return { ...outcome, responses, suppliedCount };
      }
      const real = async (more) => {
        const session = await vault(maker()).sessions.create({
          identity: "ann",
          scopes: ["connections:read", "connections:write"],
          origins: [fixture.site.origin],
          ttlSeconds: 60,
          ...more,
        });
        secrets.add(session.token);
        return session;
      };
      const CONCURRENT_CALLS = 20;

      test("an iteration survives the expiry of its token, and returns each connection once", async () => {
        // The first token expires soon, and the iteration waits for that.
        const {
          value,
          error,
          responses,
          suppliedCount: times,
        } = await run(
          `
          let text;
          const vault = new library.ConnectorVault({ baseUrl, secret: async () => {
            const session = await supply();
            text ??= session.token;
            return session;
          } });
          const lists = await Promise.all(Array.from({ length: ${CONCURRENT_CALLS} }, () => vault.connections.list({ limit: 1 })));
          const walked = [];
          for await (const connection of vault.connections.list()) {
            walked.push(connection.id);
            if (walked.length !== 150) continue;
            while ((await fetch(baseUrl + "/v1/whoami", { headers: { "x-service-secret": text } })).status !== 401);
          }
          const tagged = await vault.connections.update(walked[0], { tags: ["seen"] });
          return { totals: lists.map(({ total }) => total), walked, tagged };
        `,
          (n) => (n === 1 ? { token: forgeToken({ e: Date.now() + 2500, o: fixture.site.origin }) } : real()),
        );
        assert.equal(error, undefined, JSON.stringify(error));
        assert.deepEqual(value.totals, Array(CONCURRENT_CALLS).fill(ANN_CONNECTIONS.length));
        assert.deepEqual([...value.walked].sort(), ids(ANN_CONNECTIONS));
        assert.deepEqual((await fixture.plain(maker(), connectionPath(value.walked[0]))).json, value.tagged);
        assert.deepEqual(value.tagged.tags, ["seen"]);
        assert.equal(times, 2, "the first token and its replacement");
        const walk = responses.filter(({ path, query }) => path === CONNECTIONS && query.get("limit") === "100");
        assert.equal(walk.filter(({ status }) => status === 200).length, 3);
        for (const { status } of responses) assert.ok([200, 401].includes(status));
      });

      test("a token is refreshed before it expires", async () => {
        const {
          value,
          error,
          responses,
          suppliedCount: times,
        } = await run(
          `
          const { now } = Date;
          try {
            const vault = new library.ConnectorVault({ baseUrl, secret: supply });
            const walked = [];
            for await (const connection of vault.connections.list()) {
              walked.push(connection.id);
              // Advances the time of the page.
              if (walked.length === 150) Date.now = () => now() + 56_000;
            }
            return walked;
          } finally {
            Date.now = now;
          }
        `,
          () => real(),
        );
        assert.equal(error, undefined, JSON.stringify(error));
        assert.deepEqual(
          [[...value].sort(), times, responses.map(({ status }) => status)],
          [ids(ANN_CONNECTIONS), 2, [200, 200, 200]],
        );
      });

      test("a page rejects a key from a function, too", async () => {
        const clientWith = (options) =>
          run(
            `return (await new library.ConnectorVault({ baseUrl, secret: async () => more[0], ...${JSON.stringify(options)} }).whoami()).account`,
            () => real(),
          );
        const { error, responses } = await clientWith({});
        assert.deepEqual([error.name, error.code, responses], ["ValidationError", "secret_in_browser", []]);
        assert.equal((await clientWith({ allowSecretInBrowser: true })).value, maker().row.account);
      });

      test("a failing backend is reported, and called again", async () => {
        const { value, error } = await run(
          `
          const vault = new library.ConnectorVault({ baseUrl, secret: supply });
          const { name, code, cause } = await vault.whoami().catch((reason) => reason);
          return [name, code, cause instanceof Error, (await vault.whoami()).identity];
        `,
          (n) => (n === 1 ? Promise.reject(new Error("mine")) : real()),
        );
        assert.equal(error, undefined, JSON.stringify(error));
        assert.deepEqual(value, ["VaultError", "secret_unavailable", true, "ann"]);
      });
    });
  });
}
