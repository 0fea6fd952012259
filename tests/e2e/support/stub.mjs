// A platform with configurable responses, to simulate failures.
import { createServer } from "node:http";
import { issuedSecrets } from "./connecting.mjs";
import { listen, readBody } from "./listening.mjs";

export class Stub {
  /** The handlers by code, refresh token or API key: (response, parameters, request) => anything. */
  #answers = new Map();
  /** Every token request: { path, type, authorization, parameters }. */
  requests = [];
  unexpectedRequests = [];

  static async start() {
    const stub = new Stub();
    stub.http = createServer((request, response) => stub.#answer(request, response));
    stub.origin = `http://127.0.0.1:${await listen(stub.http)}`;
    return stub;
  }

  /** Sets the handler for a code, a refresh token or an API key. */
  on(grant, response) {
    issuedSecrets.add(grant);
    this.#answers.set(grant, response);
    return grant;
  }

  async #answer(request, response) {
    const { pathname, searchParams } = new URL(request.url, this.origin);
    if (pathname === "/authorize" || pathname === "/authorize-pkce") {
      // Like some platforms, requires a code challenge on one path, and rejects it on the other.
      if (searchParams.has("code_challenge") !== pathname.endsWith("pkce"))
        return response.writeHead(400).end("The code challenge is wrong here.");
      // The test sets the parameters of the redirect in `pick`.
      const back = new URL(searchParams.get("redirect_uri"));
      back.searchParams.set("state", searchParams.get("state"));
      for (const [name, value] of new URLSearchParams(searchParams.get("pick"))) back.searchParams.set(name, value);
      return response.writeHead(302, { location: back.href }).end();
    }
    if (pathname === "/api/checked") {
      const respond = this.#answers.get(request.headers["x-api-key"]) ?? ((it) => reply(it, {}, { status: 401 }));
      return respond(response);
    }
    if (pathname !== "/token") {
      this.unexpectedRequests.push(`${request.method} ${request.url}`);
      return response.writeHead(404).end("{}");
    }
    const text = await readBody(request);
    const { "content-type": type, authorization } = request.headers;
    const parameters = type === "application/json" ? JSON.parse(text) : Object.fromEntries(new URLSearchParams(text));
    this.requests.push({ type, authorization, parameters });
    const grant = parameters.code ?? parameters.refresh_token;
    const handler = this.#answers.get(grant) ?? ((it) => reply(it, { error: "invalid_grant" }, { status: 400 }));
    await handler(response, parameters, request);
  }

  /** The number of token requests with a code or a refresh token. */
  requestCount = (grant) =>
    this.requests.filter(({ parameters }) => [parameters.code, parameters.refresh_token].includes(grant)).length;

  stop() {
    this.http.closeAllConnections();
    return new Promise((done) => this.http.close(done));
  }
}

/** Responds with JSON, or with a string of another type. */
export function reply(response, body, { status = 200, type = "application/json", headers = {} } = {}) {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  response.writeHead(status, { "content-type": type, ...headers }).end(text);
}

let tokens = 0;

/** Unique tokens; `more` overrides members. */
export function freshTokens(more = {}) {
  tokens += 1;
  const made = { access_token: `access-${tokens}-Zx9Qw7`, refresh_token: `refresh-${tokens}-Zx9Qw7`, ...more };
  for (const token of [made.access_token, made.refresh_token]) if (token) issuedSecrets.add(token);
  return { token_type: "bearer", expires_in: 3600, ...made };
}

/** The platform of the stub with an OpenAPI document. */
export const stubDocuments = (origin) => ({
  documented: {
    server: `${origin}/api`,
    authorizationUrl: `${origin}/authorize`,
    tokenUrl: `${origin}/token`,
    scopes: { read: "Read" },
  },
});

/** The platforms of the stub, with different settings. */
export function stubPlatforms(origin) {
  const auth = { authorizationUrl: `${origin}/authorize`, tokenUrl: `${origin}/token` };
  const platform = (more = {}) => ({ servers: [`${origin}/api`], auth: { ...auth, ...more } });
  const host = { name: "shop" };
  const at = (place) => ({
    authorizationUrl: `https://${place}/authorize`,
    tokenUrl: `https://${place}/token`,
    fields: [host],
  });
  const keyed = (more = {}) => ({
    servers: [`${origin}/api`],
    auth: {
      ...{ id: "api-key", type: "api_key", in: "header", name: "x-api-key" },
      fields: [{ name: "apiKey", label: "API key", secret: true, required: true }],
    },
    ...more,
  });
  return {
    plain: platform(),
    checked: keyed({ verify: "GET /checked" }),
    unchecked: keyed(),
    "json-body": platform({
      authorizationUrl: `${origin}/authorize-pkce`,
      tokenBody: "json",
      scopeSeparator: ",",
      pkce: "S256",
    }),
    nested: platform({ tokenPointer: "/authed_user", tokenMembers: ["team", "/authed_user/id"] }),
    issuing: platform({ issuer: `${origin}/issuer` }),
    labelled: platform(at("{shop}.shops.example")),
    hosted: platform(at("{shop}")),
    "in-path": platform({ ...auth, authorizationUrl: `${origin}/{shop}/authorize`, fields: [host] }),
  };
}
