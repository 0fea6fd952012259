// A client with a private key gets a token from a real authorization server, on the real runtime, where WebCrypto signs.
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import Provider from "oidc-provider";
import { root } from "../../scripts/lib/paths.mjs";
import { App, SCOPES } from "./support/connecting.mjs";
import { secrets } from "./support/http.mjs";
import { key, store } from "./support/keys.mjs";
import { listen } from "./support/listening.mjs";
import { SESSION_SECRET, Server, VAULT_KEYS } from "./support/server.mjs";
import { State, build, folder, importPlatforms } from "./support/workspace.mjs";
import { createServer } from "node:http";

const KEYS = Object.fromEntries(
  ["rsa", "p256"].map((name) => [name, readFileSync(join(root, "tests", "fixtures", "keys", `${name}.jwk`), "utf8")]),
);
const ALGORITHMS = { rsa: "RS256", p256: "ES256" };

/** The public key of a private one, as registered at the platform. */
function publicKey(text) {
  const { kty, n, e, crv, x, y, kid } = JSON.parse(text);
  return { kty, n, e, crv, x, y, kid, use: "sig" };
}

const entry = (name, issuer) => `[platforms.${name}]
name = "${name}"
servers = ["${issuer}"]

[[platforms.${name}.auth]]
id = "service"
type = "oauth2"
grant = "client_credentials"
tokenUrl = "${issuer}/token"
tokenAuth = "private_key_jwt"
source = "these tests"
read = "2026-11-27"
`;

describe("a client with a private key", () => {
  const apiKey = key({ scopes: `${SCOPES} clients:read clients:write`, account: "keyed" });
  let [http, server, opened, app] = [];

  before(async () => {
    await build();
    for (const text of Object.values(KEYS)) secrets.add(JSON.parse(text).d);
    http = createServer((request, response) => reply(request, response));
    const issuer = `http://127.0.0.1:${await listen(http)}`;
    const provider = new Provider(issuer, {
      clients: Object.entries(KEYS).map(([name, text]) => ({
        client_id: name,
        token_endpoint_auth_method: "private_key_jwt",
        token_endpoint_auth_signing_alg: ALGORITHMS[name],
        jwks: { keys: [publicKey(text)] },
        grant_types: ["client_credentials"],
        redirect_uris: [],
        response_types: [],
      })),
      enabledJWA: { clientAuthSigningAlgValues: Object.values(ALGORITHMS) },
      clientAuthMethods: ["private_key_jwt"],
      features: { devInteractions: { enabled: false }, clientCredentials: { enabled: true } },
    });
    const reply = provider.callback();
    const sources = join(folder, "keyed-documents");
    mkdirSync(sources, { recursive: true });
    const nobody = { openapi: "3.0.0", info: { title: "Nobody", version: "1" }, paths: {} };
    writeFileSync(join(sources, "nobody.json"), JSON.stringify(nobody));
    const providers = join(folder, "keyed-providers.toml");
    writeFileSync(
      providers,
      Object.keys(KEYS)
        .map((name) => entry(name, issuer))
        .join("\n"),
    );
    const state = new State("keyed");
    await state.prepare();
    await state.publish(await importPlatforms("keyed", sources, providers));
    server = await Server.start(state, {
      name: "keyed",
      variables: { LOCAL_TARGETS: "allow" },
      secrets: { SESSION_SECRET, VAULT_KEYS },
    });
    opened = await state.open();
    await store(opened.vault, [apiKey]);
    app = new App(() => server, apiKey);
  });

  after(async () => {
    await server?.stop();
    http?.close();
    await opened?.close();
  });

  for (const name of Object.keys(KEYS)) {
    test(`is authenticated by a signature with ${ALGORITHMS[name]} only`, async () => {
      const other = Object.keys(KEYS).find((keyName) => keyName !== name);
      const client = { clientId: name, authMethod: "service" };
      const connection = { platform: name, identity: "ann", identityType: "user" };
      await app.expect(201, "PUT", `/v1/oauth-clients/${name}`, { ...client, clientSecret: KEYS[other] });
      const refused = await app.call("POST", "/v1/vault/connect", connection);
      assert.deepEqual([refused.status, refused.json.code], [422, "credentials_rejected"]);
      await app.expect(200, "PUT", `/v1/oauth-clients/${name}`, { ...client, clientSecret: KEYS[name] });
      const { id } = await app.expect(201, "POST", "/v1/vault/connect", connection);
      const credentials = await app.expect(200, "GET", `/v1/vault/connections/${id}/credentials`);
      assert.equal(credentials.type, "oauth2");
    });
  }
});
