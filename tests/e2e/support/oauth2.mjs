// A second authorization server, independent of the first: `@jmondi/oauth2-server`, whose codes and tokens are JSON Web
// Tokens, and which keeps what it issues in memory. Each refresh token works once.
import { randomBytes, randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { AuthorizationServer, DateInterval } from "@jmondi/oauth2-server";
import { handleVanillaError } from "@jmondi/oauth2-server/vanilla";
import { handedOut } from "./connecting.mjs";
import { secrets } from "./http.mjs";
import { listen, readBody } from "./listening.mjs";

const CLIENT_SECRET = "a-secret_of.the~second-app-7Qx";
secrets.add(CLIENT_SECRET);
export const SECOND_CLIENT = { clientId: "second.app", clientSecret: CLIENT_SECRET, scopes: ["read", "write"] };

/** The platforms that speak to this server: by Basic authentication and PKCE, as most do, and for the app itself. */
export function secondPlatforms(origin) {
  const ends = { tokenUrl: `${origin}/token`, revocationUrl: `${origin}/revoke` };
  const users = { ...ends, authorizationUrl: `${origin}/authorize` };
  const methods = {
    "second-basic": { ...users, tokenAuth: "client_secret_basic", pkce: "S256" },
    "second-post": users,
    "second-app": { ...ends, grant: "client_credentials" },
  };
  return Object.fromEntries(Object.entries(methods).map(([name, auth]) => [name, { servers: [origin], auth }]));
}

const GRANTS = ["authorization_code", "refresh_token", "client_credentials"];
const inAnHour = () => new DateInterval("1h").getEndDate();

/** What the server keeps: codes and tokens by their ids, which are within what it hands out. */
class Kept {
  #codes = new Map();
  #tokens = [];
  client = {
    id: SECOND_CLIENT.clientId,
    name: "The second app",
    secret: CLIENT_SECRET,
    redirectUris: [],
    allowedGrants: GRANTS,
    scopes: SECOND_CLIENT.scopes.map((name) => ({ name })),
  };

  #found = (what) => {
    if (!what) throw new Error("The server has issued no such thing.");
    return what;
  };

  clients = {
    getByIdentifier: async (id) => this.#found(id === this.client.id && this.client),
    isClientValid: async (_, __, secret) => secret === CLIENT_SECRET,
  };
  scopes = {
    getAllByIdentifiers: async (names) => this.client.scopes.filter(({ name }) => names.includes(name)),
    finalize: async (scopes) => scopes,
  };
  users = { getUserByCredentials: async (id) => ({ id }) };
  codes = {
    getByIdentifier: async (code) => this.#found(this.#codes.get(code)),
    issueAuthCode: (client, user, scopes) => ({ code: randomUUID(), client, user, scopes, expiresAt: inAnHour() }),
    persist: async (code) => void this.#codes.set(code.code, code),
    isRevoked: async (code) => !this.#codes.has(code),
    revoke: async (code) => void this.#codes.delete(code),
  };
  tokens = {
    issueToken: async (client, scopes, user) => ({
      accessToken: randomUUID(),
      accessTokenExpiresAt: inAnHour(),
      client,
      scopes,
      user,
    }),
    issueRefreshToken: async (token) =>
      Object.assign(token, { refreshToken: randomUUID(), refreshTokenExpiresAt: inAnHour() }),
    persist: async (token) => void this.#tokens.push(token),
    revoke: async (token) => void this.#tokens.splice(this.#tokens.indexOf(token), 1),
    isRefreshTokenRevoked: async (token) => !this.#tokens.includes(token),
    getByRefreshToken: async (id) => this.#found(this.#tokens.find(({ refreshToken }) => refreshToken === id)),
    getByAccessToken: async (id) => this.#found(this.#tokens.find(({ accessToken }) => accessToken === id)),
  };
}

export class SecondServer {
  /** Every token that it was asked to revoke: its kind. */
  revoked = [];
  #kept = new Kept();
  #oauth;

  static async start() {
    const second = new SecondServer();
    const { clients, tokens, scopes, codes, users } = second.#kept;
    const key = randomBytes(32).toString("base64url");
    // Only some of its clients have heard of PKCE.
    second.#oauth = new AuthorizationServer(clients, tokens, scopes, key, { requiresPKCE: false });
    second.#oauth.enableGrantTypes(
      { grant: "authorization_code", authCodeRepository: codes, userRepository: users },
      "refresh_token",
      "client_credentials",
    );
    second.http = createServer((request, response) => second.#answer(request, response));
    second.origin = `http://127.0.0.1:${await listen(second.http)}`;
    return second;
  }

  /** Users may be sent back to this address only. */
  open(redirectUri) {
    this.#kept.client.redirectUris = [redirectUri];
  }

  async #answer(incoming, outgoing) {
    const { pathname, searchParams } = new URL(incoming.url, this.origin);
    const body = Object.fromEntries(new URLSearchParams(await readBody(incoming)));
    const request = { headers: incoming.headers, query: Object.fromEntries(searchParams), body };
    const pages = { "/authorize": this.#authorize, "/token": this.#token, "/revoke": this.#revoke, "/me": this.#me };
    const answer = await pages[pathname].call(this, request).catch(handleVanillaError);
    outgoing.writeHead(answer.status, { ...answer.headers, "content-type": "application/json" });
    outgoing.end(JSON.stringify(answer.body));
  }

  /** The person there says who they are, and whether they agree. */
  async #authorize(request) {
    const asked = await this.#oauth.validateAuthorizationRequest(request);
    asked.user = { id: request.query.user };
    asked.isAuthorizationApproved = request.query.allowed !== "false";
    if (asked.isAuthorizationApproved) {
      const answer = await this.#oauth.completeAuthorizationRequest(asked);
      handedOut.add(new URL(answer.headers.location).searchParams.get("code"));
      return answer;
    }
    const refusal = new URLSearchParams({ error: "access_denied", state: asked.state });
    return { status: 302, headers: { location: `${asked.redirectUri}?${refusal}` } };
  }

  async #token(request) {
    const answer = await this.#oauth.respondToAccessTokenRequest(request);
    for (const token of [answer.body.access_token, answer.body.refresh_token]) if (token) handedOut.add(token);
    return answer;
  }

  #revoke(request) {
    this.revoked.push(request.body.token_type_hint);
    return this.#oauth.revoke(request);
  }

  /** Whose token it is, as the server itself says of it. */
  async #me({ headers }) {
    const authorization = `Basic ${Buffer.from(`${SECOND_CLIENT.clientId}:${CLIENT_SECRET}`).toString("base64")}`;
    const token = headers.authorization?.replace(/^Bearer /, "");
    const { body } = await this.#oauth.introspect({ headers: { authorization }, query: {}, body: { token } });
    return body.active ? { status: 200, body: { name: body.sub ?? body.client_id } } : { status: 401, body: {} };
  }

  /** Whose access token it is, by what is to be sent with requests; undefined when the server does not accept it. */
  async whose(headers) {
    const answer = await fetch(`${this.origin}/me`, { headers });
    return answer.status === 200 ? (await answer.json()).name : undefined;
  }

  stop() {
    this.http.closeAllConnections();
    return new Promise((done) => this.http.close(done));
  }
}
