// The demo platform that `npm start` runs beside the service, to which users can connect without registering an app. It listens on
// the loopback address only, and is not part of the Worker. Its people, notes and keys are generated.
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { dirname } from "node:path";
import { ApiError, PEOPLE, handleApi, initialState, replaceKey } from "./notes.mjs";
import { Grants, OAuthError, SCOPES, readAuthorization, readClient } from "./oauth.mjs";
import { consentPage, faultPage, homePage, personPage, signInPage } from "./pages.mjs";

const HOST = "127.0.0.1";
const PORT = 8789;
const ACCESS_SECONDS = 300;
const MAX_BYTES = 65_536;
/** The path where users of agents sign in. */
export const SIGN_IN = "/sign-in";
const PAGE_HEADERS = {
  "content-type": "text/html; charset=utf-8",
  "content-security-policy":
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'; base-uri 'none'",
  // With `no-referrer`, browsers would submit the forms with `Origin: null`.
  "referrer-policy": "same-origin",
  "cache-control": "no-store",
};

const isValidState = (state) =>
  [state?.notes, state?.keys].every((each) => Object.keys(PEOPLE).every((person) => each?.[person])) &&
  Array.isArray(state.grants);

/** Reads the state. Replaces a damaged file, or one of another version, with new data, because all of it is generated. */
function read(file, now) {
  try {
    const state = JSON.parse(readFileSync(file, "utf8"));
    if (isValidState(state)) return state;
  } catch {}
  return initialState(now);
}

/** Listens on the first free one of these ports, and returns it. */
async function listen(server, [port, ...others]) {
  try {
    await new Promise((done, fail) => {
      server.once("error", fail);
      server.listen({ port, host: HOST, exclusive: true }, () => done(server.off("error", fail)));
    });
    return server.address().port;
  } catch (error) {
    if (others.length === 0) throw error;
    return listen(server, others);
  }
}

async function bodyOf(request) {
  const chunks = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += chunk.length;
    if (bytes > MAX_BYTES) throw new ApiError(413, "too_large", `A body has at most ${MAX_BYTES} bytes.`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

export class DemoNotes {
  #redirectUris = new Set();
  /** The URL of the service, and an API key of the account whose users sign in here for their agents. */
  #service;
  /** The time of each person's last 429 response. */
  #busy = new Map();

  /**
   * Starts the demo platform.
   * @param {{ file: string, ports?: number[], accessSeconds?: number, now?: () => number }} options `file` stores its state.
   *   Without `ports`, it listens on its last port, else on the default port, else on any free one.
   */
  static async start({ file, ports, accessSeconds = ACCESS_SECONDS, now = Date.now }) {
    const demo = new DemoNotes();
    Object.assign(demo, { file, now, state: read(file, now()) });
    demo.grants = new Grants({ state: demo.state, save: () => demo.#save(), now, accessSeconds });
    demo.server = createServer((request, response) => {
      demo.#handle(request).then(
        ([status, headers, body]) =>
          response.writeHead(status, headers).end(request.method === "HEAD" ? undefined : body),
        // An error here must not end `npm start`.
        (error) => response.writeHead(500, { "content-type": "text/plain" }).end(`${error.stack}\n`),
      );
    });
    demo.state.port = await listen(demo.server, ports ?? [demo.state.port ?? PORT, PORT, 0]);
    demo.origin = `http://${HOST}:${demo.state.port}`;
    demo.#save();
    return demo;
  }

  /**
   * Replaces the registered redirect URIs with those of a service at a URL. With a key, users of its account can sign in here for
   * their agents: this platform acts as the account's own app, which authenticates them.
   */
  register(address, key) {
    this.#service = key && { address, key };
    const { protocol, port } = new URL(address);
    const names = [new URL(address).host, ...["localhost", HOST].map((name) => (port ? `${name}:${port}` : name))];
    this.#redirectUris = new Set(names.map((name) => `${protocol}//${name}/connect/callback`));
  }

  async close() {
    const closed = new Promise((done) => this.server.close(done));
    this.server.closeAllConnections();
    await closed;
  }

  #save() {
    mkdirSync(dirname(this.file), { recursive: true });
    writeFileSync(`${this.file}.new`, JSON.stringify(this.state, null, 1), { mode: 0o600 });
    renameSync(`${this.file}.new`, this.file);
  }

  /** Handles a request. Returns [status, headers, body]. */
  async #handle(request) {
    const { host } = request.headers;
    // Prevents DNS rebinding: another site could make its host name resolve to this address.
    if (![HOST, "localhost"].some((name) => host === `${name}:${this.state.port}`))
      return json(421, failure("wrong_host", `This is ${this.origin}.`));
    const url = new URL(request.url, this.origin);
    const method = request.method === "HEAD" ? "GET" : request.method;
    try {
      const body = await bodyOf(request);
      if (url.pathname.startsWith("/api/")) return this.#handleApi(request, method, url, body);
      if (url.pathname.startsWith("/.well-known/") || ["/oauth/token", "/oauth/revoke"].includes(url.pathname))
        return this.#handleApp(request, method, url.pathname, body);
      return this.#handleBrowser(request, method, url, body);
    } catch (error) {
      if (error instanceof ApiError) return json(error.status, failure(error.code, error.message), error.headers);
      throw error;
    }
  }

  #handleApi({ headers }, method, { pathname, searchParams }, body) {
    const { state, grants } = this;
    const path = pathname.slice("/api".length);
    const [status, value, responseHeaders] = handleApi({
      method,
      path,
      query: searchParams,
      headers,
      body,
      state,
      grants,
      now: this.now(),
      address: this.origin + pathname,
      busy: this.#busy,
    });
    if (method !== "GET") this.#save();
    return value === undefined ? [status, {}] : json(status, value, responseHeaders);
  }

  /** Handles the app's requests to the authorization server. */
  #handleApp({ headers }, method, path, body) {
    if (path === "/.well-known/oauth-authorization-server") return json(200, this.#metadata());
    if (path.startsWith("/.well-known/")) throw new ApiError(404, "not_found", `There is no ${path} here.`);
    if (method !== "POST") throw new ApiError(405, "method_not_allowed", `${path} takes POST.`, { allow: "POST" });
    try {
      if (!/^application\/x-www-form-urlencoded\b/i.test(headers["content-type"] ?? ""))
        throw new OAuthError("invalid_request", "The body must be application/x-www-form-urlencoded.");
      const parameters = new URLSearchParams(body);
      if (path === "/oauth/token") return json(200, this.grants.exchange(parameters));
      this.grants.revoke(parameters);
      return [200, { "cache-control": "no-store" }];
    } catch (error) {
      if (!(error instanceof OAuthError)) throw error;
      const status = error.code === "invalid_client" ? 401 : 400;
      return json(status, { error: error.code, error_description: error.message });
    }
  }

  #metadata() {
    return {
      issuer: this.origin,
      authorization_endpoint: `${this.origin}/oauth/authorize`,
      token_endpoint: `${this.origin}/oauth/token`,
      revocation_endpoint: `${this.origin}/oauth/revoke`,
      scopes_supported: Object.keys(SCOPES),
      response_types_supported: ["code"],
      grant_types_supported: ["authorization_code", "refresh_token"],
      token_endpoint_auth_methods_supported: ["none"],
      revocation_endpoint_auth_methods_supported: ["none"],
      code_challenge_methods_supported: ["S256"],
      authorization_response_iss_parameter_supported: true,
    };
  }

  /** Handles page loads and form submissions. Rejects forms that were sent from another origin. */
  #handleBrowser({ headers }, method, url, body) {
    if (method !== "GET" && method !== "POST")
      return html(405, faultPage(`There is no ${method} here.`), { allow: "GET, POST" });
    if (method === "POST" && headers.origin !== `http://${headers.host}`)
      return html(403, faultPage("Only this site's own pages may send this form."));
    if (url.pathname === SIGN_IN && this.#service) return this.#signIn(method, url, new URLSearchParams(body));
    if (url.pathname === "/oauth/authorize") return this.#authorize(method, url, new URLSearchParams(body));
    if (url.pathname === "/" && method === "GET") return html(200, homePage());
    const [, person, action] = url.pathname.match(/^\/people\/([a-z]+)(?:\/(revoke|key))?$/) ?? [];
    if (!Object.hasOwn(PEOPLE, person ?? "") || (action === undefined) !== (method === "GET"))
      return html(404, faultPage(`There is no page ${url.pathname}.`));
    if (action === undefined) {
      const [grants, key, notes] = [this.grants.forPerson(person), this.state.keys[person], this.state.notes[person]];
      return html(200, personPage({ person, grants, key, notes, now: this.now() }));
    }
    if (action === "revoke") {
      const id = new URLSearchParams(body).get("grant");
      if (this.grants.forPerson(person).some((grant) => grant.id === id)) this.grants.revokeGrant(id);
    } else {
      replaceKey(this.state, person);
      this.#save();
    }
    return redirect(`/people/${person}`);
  }

  /** Acts as the account's app in the sign-in of agents: authenticates the user, and reports the identity to the service. */
  async #signIn(method, url, form) {
    const request = url.searchParams.get("request") ?? "";
    const ask = (status, fault) => html(status, signInPage({ address: url.pathname + url.search, fault }));
    if (method === "GET") return request ? ask(200) : html(400, faultPage("Connect an agent: it sends you here."));
    const identity = form.get("identity")?.trim();
    if (!identity) return ask(400, "Say who you are.");
    const { address, key } = this.#service;
    const response = await fetch(`${address}/v1/agent-grants`, {
      method: "POST",
      headers: { "x-service-secret": key, "content-type": "application/json" },
      body: JSON.stringify({ request, identity, identityType: "user" }),
    });
    const { continueUrl, detail } = await response.json();
    return response.ok ? redirect(continueUrl) : ask(400, detail);
  }

  #authorize(method, url, form) {
    let redirectUri;
    try {
      redirectUri = readClient(url.searchParams, this.#redirectUris);
    } catch (error) {
      if (error instanceof OAuthError) return html(400, faultPage(error.message));
      throw error;
    }
    const redirectBack = (parameters) => {
      const address = new URL(redirectUri);
      const state = url.searchParams.get("state");
      const all = { ...parameters, ...(state !== null && { state }), iss: this.origin };
      for (const [name, value] of Object.entries(all)) address.searchParams.set(name, value);
      return redirect(address.href);
    };
    try {
      const { scopes, challenge } = readAuthorization(url.searchParams);
      const ask = (fault) =>
        html(fault ? 400 : 200, consentPage({ address: url.pathname + url.search, scopes, fault }));
      if (method === "GET") return ask();
      if (form.get("answer") === "deny") throw new OAuthError("access_denied", "The user denied access.");
      const person = form.get("person");
      if (!Object.hasOwn(PEOPLE, person ?? "")) return ask("Choose whose account it is.");
      const grantedScopes = scopes.filter((scope) => form.getAll("scope").includes(scope));
      if (grantedScopes.length === 0) return ask("Choose something that it may do, or deny.");
      return redirectBack({ code: this.grants.issueCode({ person, scopes: grantedScopes, challenge, redirectUri }) });
    } catch (error) {
      if (!(error instanceof OAuthError)) throw error;
      return redirectBack({ error: error.code, error_description: error.message });
    }
  }
}

const failure = (code, message) => ({ error: { code, message } });
const json = (status, value, headers = {}) => [
  status,
  { "content-type": "application/json", "cache-control": "no-store", ...headers },
  JSON.stringify(value),
];
const html = (status, text, headers = {}) => [status, { ...PAGE_HEADERS, ...headers }, text];
const redirect = (location) => [303, { location, "cache-control": "no-store", "referrer-policy": "no-referrer" }];
