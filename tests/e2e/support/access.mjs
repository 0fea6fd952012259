// A Cloudflare Access team: its signing keys, and people whom it authenticates in front of the service.
import assert from "node:assert/strict";
import { createECDH, createHash, createPrivateKey, sign } from "node:crypto";
import { Visitor } from "./visitor.mjs";

const TEAM = "acme.cloudflareaccess.com";
const AUDIENCE = "0123456789abcdef";
/** The address of the team's public keys. */
export const KEYS_URL = `https://${TEAM}/cdn-cgi/access/certs`;

// Derived from a constant, because the simulated team and the tests run in different processes.
const curve = createECDH("prime256v1");
const secret = createHash("sha256").update("the signing key of a test's Access team").digest();
curve.setPrivateKey(secret);
const point = curve.getPublicKey();
const jwk = {
  kty: "EC",
  crv: "P-256",
  x: point.subarray(1, 33).toString("base64url"),
  y: point.subarray(33).toString("base64url"),
};
export const KEYS = { keys: [{ ...jwk, kid: "one", use: "sig", alg: "ES256" }] };

const encode = (value) => Buffer.from(JSON.stringify(value)).toString("base64url");

/** The signed header that Access adds to the requests of a person. */
function signedAssertion(email) {
  const now = Math.floor(Date.now() / 1000);
  const claims = { iss: `https://${TEAM}`, aud: [AUDIENCE], sub: email, email, iat: now, nbf: now, exp: now + 300 };
  const signingInput = `${encode({ alg: "ES256", kid: "one", typ: "JWT" })}.${encode(claims)}`;
  const key = createPrivateKey({ format: "jwk", key: { ...jwk, d: secret.toString("base64url") } });
  return `${signingInput}.${sign("sha256", Buffer.from(signingInput), { key, dsaEncoding: "ieee-p1363" }).toString("base64url")}`;
}

export class ConsolePeople {
  /** @param {import("./server.mjs").Server} server @param {string} secret a key with the scopes of the console */
  constructor(server, secret) {
    this.server = server;
    this.secret = secret;
  }

  async #expect(statuses, path, options) {
    const response = await this.server.send(path, options);
    assert.ok(statuses.includes(response.status), `${response.status} ${response.text}`);
    return response;
  }

  /** Configures the sign-in through Access. Returns its path. */
  async configure(email = "ann@example.com", scopes = ["catalog:read", "connections:read"]) {
    const sent = { type: "access", teamDomain: TEAM, audience: AUDIENCE, claim: "email", roles: { [email]: scopes } };
    const { json } = await this.#expect([200, 201], "/v1/console-sign-in", {
      method: "PUT",
      secret: this.secret,
      headers: [["content-type", "application/json"]],
      body: JSON.stringify(sent),
    });
    return new URL(json.signInUrl).pathname;
  }

  /** Signs a person in. Returns the token with which the console acts for them. */
  async signIn(email = "ann@example.com") {
    const origin = `http://127.0.0.1:${this.server.port}`;
    const address = origin + (await this.configure(email));
    const visitor = new Visitor();
    const cookies = [
      ["origin", origin],
      ["sec-fetch-site", "same-origin"],
    ];
    const headers = [...cookies, ["cf-access-jwt-assertion", signedAssertion(email)]];
    const signedIn = await visitor.request("POST", address, { headers });
    assert.equal(signedIn.status, 303, signedIn.text);
    const [, code] = /#sign-in=[^.]+\.(.+)$/.exec(signedIn.header("location")) ?? assert.fail(signedIn.text);
    const tokenResponse = await visitor.request("POST", `${address}/token`, {
      headers: [...cookies, ["content-type", "application/json"]],
      body: JSON.stringify({ code }),
    });
    assert.equal(tokenResponse.status, 200, tokenResponse.text);
    return tokenResponse.json.token;
  }

  /** The id of the session of a person who just signed in. */
  async session() {
    await this.signIn();
    const { json } = await this.#expect([200], "/v1/console-sessions", { secret: this.secret });
    return json.rows[0].id;
  }
}
