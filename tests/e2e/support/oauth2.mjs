// A second authorization server, independent of the first: `@node-oauth/oauth2-server`, which keeps what it issues in
// memory. Each refresh token works once.
import { createServer } from "node:http";
import OAuth2Server from "@node-oauth/oauth2-server";
import { handedOut } from "./connecting.mjs";
import { secrets } from "./http.mjs";
import { listen, readBody } from "./listening.mjs";

const CLIENT_SECRET = "a-secret_of.the~second-app-7Qx";
secrets.add(CLIENT_SECRET);
export const SECOND_CLIENT = { clientId: "second.app", clientSecret: CLIENT_SECRET, scopes: ["read", "write"] };

/** The platforms that speak to this server, one by Basic authentication and PKCE, one as most platforms do. */
export const secondPlatforms = (origin) =>
  Object.fromEntries(
    [
      ["second-basic", { tokenAuth: "client_secret_basic", pkce: "S256" }],
      ["second-post", {}],
    ].map(([name, auth]) => [
      name,
      { servers: [origin], auth: { authorizationUrl: `${origin}/authorize`, tokenUrl: `${origin}/token`, ...auth } },
    ]),
  );

/** What the server keeps. */
class Model {
  #codes = new Map();
  #tokens = [];
  client = { id: SECOND_CLIENT.clientId, grants: ["authorization_code", "refresh_token"] };

  getClient = (id, secret) => id === this.client.id && (secret === null || secret === CLIENT_SECRET) && this.client;
  validateScope = (_, __, scope) => scope;
  verifyScope = () => true;

  saveAuthorizationCode(code, client, user) {
    handedOut.add(code.authorizationCode);
    const saved = { ...code, client, user };
    this.#codes.set(code.authorizationCode, saved);
    return saved;
  }

  getAuthorizationCode = (code) => this.#codes.get(code);
  revokeAuthorizationCode = ({ authorizationCode }) => this.#codes.delete(authorizationCode);

  saveToken(token, client, user) {
    handedOut.add(token.accessToken).add(token.refreshToken);
    const saved = { ...token, client, user };
    this.#tokens.push(saved);
    return saved;
  }

  getAccessToken = (text) => this.#tokens.find(({ accessToken }) => accessToken === text);
  getRefreshToken = (text) => this.#tokens.find(({ refreshToken }) => refreshToken === text);

  revokeToken({ refreshToken }) {
    const at = this.#tokens.findIndex((token) => token.refreshToken === refreshToken);
    return at >= 0 && this.#tokens.splice(at, 1).length === 1;
  }
}

export class SecondServer {
  #model = new Model();
  #oauth = new OAuth2Server({ model: this.#model, accessTokenLifetime: 3600 });

  static async start() {
    const second = new SecondServer();
    second.http = createServer((request, response) => second.#answer(request, response));
    second.origin = `http://127.0.0.1:${await listen(second.http)}`;
    return second;
  }

  /** Users may be sent back to this address only. */
  open(redirectUri) {
    this.#model.client.redirectUris = [redirectUri];
  }

  async #answer(incoming, outgoing) {
    const { pathname, searchParams } = new URL(incoming.url, this.origin);
    const { method, headers } = incoming;
    const body = Object.fromEntries(new URLSearchParams(await readBody(incoming)));
    const query = Object.fromEntries(searchParams);
    const [request, response] = [
      new OAuth2Server.Request({ method, headers, query, body }),
      new OAuth2Server.Response(),
    ];
    // The person there says who they are.
    const authenticateHandler = { handle: () => ({ name: query.user }) };
    try {
      if (pathname === "/authorize") await this.#oauth.authorize(request, response, { authenticateHandler });
      else if (pathname === "/token") await this.#oauth.token(request, response);
      else response.body = { name: (await this.#oauth.authenticate(request, response)).user.name };
    } catch (error) {
      if (response.status === 200) response.status = error.code;
    }
    outgoing.writeHead(response.status, { ...response.headers, "content-type": "application/json" });
    outgoing.end(JSON.stringify(response.body));
  }

  /** Whose access token it is, by what is to be sent with requests. */
  async whose(headers) {
    const answer = await fetch(`${this.origin}/me`, { headers });
    return answer.status === 200 ? (await answer.json()).name : undefined;
  }

  stop() {
    this.http.closeAllConnections();
    return new Promise((done) => this.http.close(done));
  }
}
