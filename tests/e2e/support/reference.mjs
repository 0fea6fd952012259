// A service for the tests of the API reference and the problem pages, and a project that runs their samples.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { cpSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { openapiDirectory, root } from "../../../scripts/lib/paths.mjs";
import { ConsolePeople } from "./access.mjs";
import { agree } from "./connecting.mjs";
import { HttpResponse } from "./http.mjs";
import { Agents, BASE_URL } from "./agents.mjs";
import { ALL_SCOPES, key, store } from "./keys.mjs";
import { Description } from "./openapi.mjs";
import { PLATFORMS, SESSION_SECRET, Server, VAULT_KEYS } from "./server.mjs";
import { CONNECTIONS } from "./vault.mjs";
import { Visitor } from "./visitor.mjs";
import { State, build, folder, importCatalog } from "./workspace.mjs";

export const PROJECT = join(folder, "reference");
const DOCUMENTS = [
  join(root, "tests", "fixtures", "openapi", "good"),
  // Platforms that `npm start` also serves: their documents have an open licence.
  ...["github.com/api.github.com.json", "atlassian.com/jira.json"].map((name) => join(openapiDirectory, "api", name)),
];
const TIMEOUT_MS = 30_000;
export const JSON_TYPE = ["content-type", "application/json"];

/** The accounts of the sample responses, of the example connections, and of the browser. */
export const keys = {
  problems: key({ account: "problems", scopes: ALL_SCOPES }),
  samples: key({ account: "samples", scopes: ALL_SCOPES }),
  examples: key({ account: "examples", scopes: ALL_SCOPES }),
  reader: key({ account: "reader" }),
  scopeless: key({ account: "samples", scopes: "catalog:read" }),
};

const PROBLEMS = join(root, "www", "public", "problems");
export const PROBLEM_CODES = [
  ...readFileSync(join(PROBLEMS, "index.html"), "utf8").matchAll(/<a href="\/problems\/(\w+)">/g),
].map(([, code]) => code);
/** The content of the elements with a class, by error code. */
export const EXAMPLES = Object.fromEntries(
  PROBLEM_CODES.flatMap((code) => {
    const page = readFileSync(join(PROBLEMS, `${code}.html`), "utf8");
    const contentsOf = (name) =>
      page
        .match(new RegExp(`<pre class="${name}"[^>]*><code>(.*?)</code></pre>`, "s"))?.[1]
        .replaceAll("&lt;", "<")
        .replaceAll("&gt;", ">")
        .replaceAll("&amp;", "&");
    const example = { request: contentsOf("request"), answer: contentsOf("answer"), right: contentsOf("right") };
    return example.request === undefined ? [] : [[code, example]];
  }),
);

export class Reference {
  #made = 0;

  /** @param {string} [platforms] the module with their responses */
  static async start(platforms = PLATFORMS) {
    await build();
    const installed = join(PROJECT, "node_modules", "connector-vault");
    mkdirSync(installed, { recursive: true });
    for (const name of ["package.json", "dist"])
      cpSync(join(root, "npm", name), join(installed, name), { recursive: true });
    const state = new State("reference-state");
    await state.prepare(await importCatalog("reference", ...DOCUMENTS, "--licence", "any"));
    await state.use(({ vault }) => store(vault, Object.values(keys)));
    const copy = state.copy("reference-strict");
    const reference = new Reference();
    reference.server = await Server.start(state, {
      name: "reference",
      variables: { ALLOWED_ORIGINS: "https://app.example.com", BASE_URL },
      secrets: { SESSION_SECRET, VAULT_KEYS },
      platforms,
    });
    /**
     * A second service on a copy of the storage, whose limit for a list is so low that the small vault of the example
     * exceeds it.
     */
    reference.strict = await Server.start(copy, { name: "strict", variables: { MAX_ROWS_READ: "100" } });
    reference.description = new Description((await reference.server.send("/v1/openapi.json")).json);
    return reference;
  }

  stop() {
    return Promise.all([this.server?.stop(), this.strict?.stop()]);
  }

  get address() {
    return `http://127.0.0.1:${this.server.port}`;
  }

  /** Sends requests with a key. */
  as(caller) {
    return (path, { headers = [], ...options } = {}) =>
      this.server.send(path, {
        secret: caller.secret,
        headers: options.body === undefined ? headers : [JSON_TYPE, ...headers],
        ...options,
      });
  }

  /** Creates a connection, and returns its id and entity tag under the names of the samples' environment variables. */
  async connection(caller, more = {}) {
    const input = {
      platform: "github",
      identity: `reference-${(this.#made += 1)}`,
      identityType: "user",
      tags: ["eu"],
      ...more,
    };
    const response = await this.as(caller)(CONNECTIONS, { method: "POST", body: JSON.stringify(input) });
    assert.equal(response.status, 201, response.text);
    return { ID: response.json.id, ETAG: response.header("etag") };
  }

  /** Stores an OAuth client for GitHub, and credentials of a connection. */
  async connect(caller, id) {
    const send = this.as(caller);
    const client = { clientId: "example-client", clientSecret: "example-secret" };
    const token = { type: "bearer", token: "example-token" };
    for (const [path, body] of [
      ["/v1/oauth-clients/github", client],
      [`${CONNECTIONS}/${id}/credentials`, token],
    ]) {
      const response = await send(path, { method: "PUT", body: JSON.stringify(body) });
      assert.ok(response.status < 300, response.text);
    }
  }

  /**
   * Starts a connect attempt, for which an OAuth client must exist, and returns its id under the name of the samples'
   * environment variable, and its link.
   */
  async attempt(caller) {
    const input = { platform: "github", authMethod: "oauth2", identityType: "user" };
    const body = JSON.stringify({ ...input, identity: `attempt-${(this.#made += 1)}` });
    const response = await this.as(caller)("/v1/vault/connect", { method: "POST", body });
    assert.equal(response.status, 202, response.text);
    return { ATTEMPT: response.json.id, link: response.json.authorizationUrl };
  }

  /** Starts an attempt to connect a GitHub account, and declines it as the user. */
  async declined(caller) {
    const { link } = await this.attempt(caller);
    const visitor = new Visitor();
    const state = new URL(await agree(visitor, link)).searchParams.get("state");
    await visitor.get(`${this.address}/connect/callback?${new URLSearchParams({ error: "access_denied", state })}`);
  }

  /** Creates a webhook, replacing all existing ones. */
  async webhook(caller) {
    const send = this.as(caller);
    for (const { id } of (await send("/v1/webhooks")).json.rows) await send(`/v1/webhooks/${id}`, { method: "DELETE" });
    const body = JSON.stringify({ url: "https://app.example.com/webhooks" });
    const response = await send("/v1/webhooks", { method: "POST", body });
    assert.equal(response.status, 201, response.text);
    return { WEBHOOK: response.json.id };
  }

  async key(caller) {
    const body = JSON.stringify({ scopes: ["connections:read"] });
    const response = await this.as(caller)("/v1/keys", { method: "POST", body });
    assert.equal(response.status, 201, response.text);
    return { API_KEY: response.json.id };
  }

  /** The environment variables that a sample of an operation needs. */
  async environment(id, caller) {
    const webhook = /Webhook|Deliveries|replayEvents/.test(id) ? await this.webhook(caller) : {};
    if (/^(rotate|revoke)Key$/.test(id)) return this.key(caller);
    const agents = new Agents(this.server, caller.secret);
    if (/^(get|delete)AgentSignIn$/.test(id)) return agents.signIn().then(() => ({}));
    if (id === "createAgentGrant") return { REQUEST: (await agents.request()).request };
    if (/AgentGrants?$/.test(id)) return { GRANT: await agents.grant() };
    const people = new ConsolePeople(this.server, caller.secret);
    if (/^(get|delete)ConsoleSignIn$/.test(id)) return people.configure().then(() => ({}));
    if (id === "signOut") return { VAULT_KEY: await people.signIn() };
    if (/ConsoleSessions?$/.test(id)) return { SESSION: await people.session() };
    const connection = await this.connection(caller);
    // A state can only be reported for a connection whose credentials are stored elsewhere.
    if (id === "setConnectionState") return connection;
    await this.connect(caller, connection.ID);
    if (id === "listAttempts") await this.declined(caller);
    if (id === "listAudit") await this.as(caller)(`${CONNECTIONS}/${connection.ID}/credentials`);
    // Storing credentials changes the connection.
    const { etag } = Object.fromEntries((await this.as(caller)(`${CONNECTIONS}/${connection.ID}`)).headers);
    const { ATTEMPT } = await this.attempt(caller);
    return { ...connection, ETAG: etag, ATTEMPT, ...webhook };
  }

  /** Runs a program in the project, and returns its exact output. */
  async printed(program, args, env) {
    const options = {
      cwd: PROJECT,
      timeout: TIMEOUT_MS,
      encoding: "buffer",
      env: { PATH: process.env.PATH, VAULT_URL: this.address, ...env },
    };
    const { stdout, stderr } = await promisify(execFile)(program, args, options);
    assert.equal(stderr.toString(), "");
    return stdout;
  }

  /** Runs shell commands without user settings. */
  shell(source, env) {
    return this.printed("bash", ["--norc", "-c", source], env);
  }

  /** Runs a shell sample. Its `curl` prints the unmodified response. */
  async responseTo(source, env) {
    const curl = 'curl() { command curl -i --raw -H "connection: close" "$@"; }';
    return new HttpResponse(await this.shell(`${curl}\n${source}`, env), this.server.port);
  }
}
