// A client of the connect API, as an app uses it, and a record of all responses, which are searched for secrets.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { secrets } from "./http.mjs";
import { key } from "./keys.mjs";
import { Visitor, readPage } from "./visitor.mjs";

export const SCOPES =
  "catalog:read connections:read connections:write connections:connect credentials:read credentials:write clients:read clients:write sessions:create";
/** The key that encrypts credentials in these tests. */
export const VAULT_KEY = randomBytes(32).toString("base64");
secrets.add(VAULT_KEY);
/** The variables that connecting requires. */
export const VARIABLES = { APP_NAME: "Sample <b>App</b>", ALLOWED_ORIGINS: "https://app.example" };

/** A key that can connect and read credentials. */
export const connectingKey = (row = {}) => key({ scopes: SCOPES, ...row });

/** Secrets that some responses must contain: tokens, codes, states, links, cookies. */
export const issuedSecrets = new Set();
/** The responses that must not contain `issuedSecrets`. */
export const recordedResponses = [];

/** An app that calls the API with one key. */
export class App {
  /** @param {() => import("./server.mjs").Server} server @param {{ secret: string }} apiKey */
  constructor(server, apiKey) {
    this.server = server;
    this.secret = apiKey.secret;
  }

  async call(method, path, value, headers = []) {
    const body = value === undefined ? undefined : JSON.stringify(value);
    const allHeaders = body === undefined ? headers : [["content-type", "application/json"], ...headers];
    const response = await this.server().send(path, { method, secret: this.secret, headers: allHeaders, body });
    const containsSecrets = /\/credentials\b|^\/v1\/sessions$/.test(path) || response.status === 202;
    if (!containsSecrets) recordedResponses.push(`${method} ${path}\n${response.text}`);
    return response;
  }

  /** Asserts the status, and returns the document. */
  async expect(status, method, path, value, headers) {
    const response = await this.call(method, path, value, headers);
    assert.equal(response.status, status, `${method} ${path}: ${response.text.slice(0, 500)}`);
    return response.body.length > 0 ? response.json : undefined;
  }

  setClient(platform, client) {
    if (client.clientSecret) secrets.add(client.clientSecret);
    return this.expect(201, "PUT", `/v1/oauth-clients/${platform}`, client);
  }

  connect = (input) => this.call("POST", "/v1/vault/connect", { identityType: "user", ...input });

  /** Starts an attempt: { id, link }. */
  async begin(input) {
    const type = input.connection === undefined ? { identityType: "user" } : {};
    const attempt = await this.expect(202, "POST", "/v1/vault/connect", { ...type, ...input });
    assert.equal(attempt.status, "pending");
    const link = attempt.authorizationUrl;
    assert.match(link, /^http:\/\/127\.0\.0\.1:\d+\/connect\/go\/[\w-]{43}$/);
    issuedSecrets.add(link.split("/").at(-1));
    return { id: attempt.id, link };
  }

  attempt = (id) => this.expect(200, "GET", `/v1/vault/connect/${id}`);
  status = (id) => this.expect(200, "GET", `/v1/vault/connections/${id}/status`);
  requestCredentials = (id, query = "") => this.call("GET", `/v1/vault/connections/${id}/credentials${query}`);

  async credentials(id, query) {
    const response = await this.requestCredentials(id, query);
    assert.equal(response.status, 200, response.text.slice(0, 500));
    if (response.json.accessToken) issuedSecrets.add(response.json.accessToken);
    return response.json;
  }

  /** Asserts that an attempt has succeeded, and returns its connection. */
  async expectConnected(id) {
    const attempt = await this.attempt(id);
    assert.deepEqual([attempt.status, attempt.error], ["succeeded", null], JSON.stringify(attempt));
    return attempt.connection;
  }

  /** Asserts that an attempt has failed for a reason, and returns its detail. */
  async expectFailed(id, code) {
    const attempt = await this.attempt(id);
    assert.deepEqual(
      [attempt.status, attempt.error?.code, attempt.connection],
      ["failed", code, null],
      JSON.stringify(attempt),
    );
    return attempt.error.detail;
  }
}

/** Confirms a link. Returns the address at the platform to which it redirects. */
export async function agree(visitor, link) {
  const question = readPage(await visitor.get(link));
  assert.deepEqual([question.status, question.paragraphs[1]?.startsWith("Did you start this in ")], [200, true]);
  return confirmLink(visitor, link);
}

/** Confirms a link without viewing its page first. */
export async function confirmLink(visitor, link) {
  const response = await visitor.submit(link);
  assert.equal(response.status, 303, response.text);
  const { port } = new URL(link);
  // The secret whose hash is the state.
  issuedSecrets.add(visitor.cookie(port, "__Host-connect").split(".")[0]);
  const address = response.header("location");
  issuedSecrets.add(new URL(address).searchParams.get("state"));
  return address;
}

/** Confirms a link, and lets the stub send a code. Returns the callback address with it. */
export async function obtainCallback(visitor, link, code) {
  const address = new URL(await agree(visitor, link));
  address.searchParams.set("pick", new URLSearchParams({ code }).toString());
  const { url } = await visitor.follow(await visitor.get(address.href), address.href, isCallback);
  return url;
}

/** A callback address at the port of a restarted service, with the browser's cookie copied to that port. */
export function callbackAtPort(port, visitor, url) {
  const { origin, port: previousPort } = new URL(url);
  visitor.setCookie(port, "__Host-connect", visitor.cookie(previousPort, "__Host-connect"));
  return url.replace(origin, `http://127.0.0.1:${port}`);
}

/** Opens a callback address. Returns the content of the page. */
export async function openCallback(visitor, url) {
  const response = await visitor.get(url);
  recordedResponses.push(response.text);
  return readPage(response);
}

/** Whether an address is the service's callback. */
export const isCallback = (url) => new URL(url).pathname === "/connect/callback";

export { Visitor, readPage };
