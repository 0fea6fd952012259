// Sign-in of agents through the account's app: the requests of the agent, the app and the user's browser. The service's public URL
// differs from the one that it listens on here.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { Visitor } from "./visitor.mjs";

/** The service's `BASE_URL`. */
export const BASE_URL = "https://vault.example.com";
const APP = "https://app.example.com/agents/sign-in";
const CALLBACK = "http://localhost:3334/oauth/callback";
const VERIFIER = "a".repeat(43);
const JSON_TYPE = ["content-type", "application/json"];

export class Agents {
  /** @param {import("./server.mjs").Server} server @param {string} secret a key with the scopes for sign-in and grants */
  constructor(server, secret) {
    this.server = server;
    this.secret = secret;
  }

  async #expect(status, method, path, body) {
    const options = { method, secret: this.secret, headers: [JSON_TYPE], body: JSON.stringify(body) };
    const response = await this.server.send(path, options);
    assert.equal(response.status, status, response.text);
    return response.json;
  }

  /** Configures sign-in with the app. Returns the path of the endpoint. */
  async signIn() {
    const options = { method: "PUT", secret: this.secret, headers: [JSON_TYPE] };
    const response = await this.server.send("/v1/agent-sign-in", {
      ...options,
      body: JSON.stringify({ type: "app", url: APP }),
    });
    assert.ok(response.status < 300, response.text);
    return new URL(response.json.endpoint).pathname;
  }

  #local = (url) => {
    const { pathname, search } = new URL(url, BASE_URL);
    return `http://127.0.0.1:${this.server.port}${pathname}${search}`;
  };

  /** Registers an agent, and redirects its user to the app. Returns the request, and the browser. */
  async request() {
    const endpoint = await this.signIn();
    const visitor = new Visitor();
    const metadata = { client_name: "Sample Agent", redirect_uris: [CALLBACK], token_endpoint_auth_method: "none" };
    const options = { method: "POST", headers: [JSON_TYPE], body: JSON.stringify(metadata) };
    const registration = await this.server.send(`${endpoint}/register`, options);
    assert.equal(registration.status, 201, registration.text);
    const client = registration.json.client_id;
    const query = new URLSearchParams({
      response_type: "code",
      client_id: client,
      redirect_uri: CALLBACK,
      code_challenge: createHash("sha256").update(VERIFIER).digest("base64url"),
      code_challenge_method: "S256",
      scope: "read write",
    });
    const away = await visitor.get(this.#local(`${endpoint}/authorize?${query}`));
    assert.equal(away.status, 303, away.text);
    const request = new URL(away.header("location")).searchParams.get("request");
    return { endpoint, visitor, client, request };
  }

  /** The app identifies the user, the user agrees, and the agent gets its tokens. Returns the id of the grant. */
  async grant(identity = "ann@example.com") {
    const { endpoint, visitor, client, request } = await this.request();
    const { continueUrl } = await this.#expect(201, "POST", "/v1/agent-grants", { request, identity });
    const page = await visitor.get(this.#local(continueUrl));
    const [, grant] = /name="grant" value="([^"]+)"/.exec(page.text) ?? assert.fail(page.text);
    const fields = { grant, decision: "allow", access: "write", accounts: "all" };
    const consentResponse = await visitor.submit(this.#local(`${endpoint}/consent`), fields);
    assert.equal(consentResponse.status, 303, consentResponse.text);
    const code = new URL(consentResponse.header("location")).searchParams.get("code");
    const exchange = { grant_type: "authorization_code", client_id: client, code, code_verifier: VERIFIER };
    const token = await visitor.submit(this.#local(`${endpoint}/token`), { ...exchange, redirect_uri: CALLBACK });
    assert.equal(token.status, 200, token.text);
    const [row] = (await this.server.send(`/v1/agent-grants?limit=1`, { secret: this.secret })).json.rows;
    return row.id;
  }
}
