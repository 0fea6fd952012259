// Runs `oidc-provider`, a certified authorization server. PKCE is required, refresh tokens rotate, and reuse revokes the grant.
import { generateKeyPairSync, randomBytes } from "node:crypto";
import { createServer } from "node:http";
import Provider from "oidc-provider";
import { listen, readBody } from "./listening.mjs";
import { issuedSecrets } from "./connecting.mjs";
import { secrets } from "./http.mjs";

const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });

/** A client for each kind of client authentication, each a platform of the catalog. Ids and secrets need URL encoding. */
export const CLIENTS = {
  "idp-basic": {
    token_endpoint_auth_method: "client_secret_basic",
    client_id: "an app: 100% +&=",
    client_secret: "a secret: 100% +&=/ of the app with Basic",
  },
  "idp-post": {
    token_endpoint_auth_method: "client_secret_post",
    client_id: "posting app",
    client_secret: "a secret: 50% +&=/ of the app that posts",
  },
  "idp-none": { token_endpoint_auth_method: "none", client_id: "public-app" },
};
for (const { client_secret: secret } of Object.values(CLIENTS)) if (secret) secrets.add(secret);

/** Scopes that include a refresh token, so the server asks for consent each time. */
export const IDP_SCOPES = ["openid", "offline_access"];

/** The platforms of this server. */
export const idpPlatforms = (issuer) =>
  Object.fromEntries(
    Object.entries(CLIENTS).map(([name, client]) => [
      name,
      {
        servers: [issuer],
        account: { request: "GET /me", id: "/sub" },
        auth: {
          issuer,
          authorizationUrl: `${issuer}/auth`,
          tokenUrl: `${issuer}/token`,
          revocationUrl: `${issuer}/token/revocation`,
          pkce: "S256",
          tokenAuth: client.token_endpoint_auth_method,
          authorizationParameters: { prompt: "consent" },
        },
      },
    ]),
  );

/** Delays a finished response by this many milliseconds. */
function delayResponse(response, milliseconds) {
  const end = response.end.bind(response);
  response.end = (...args) => {
    setTimeout(() => end(...args), milliseconds);
    return response;
  };
}

/** The authorization server. It has a port from the start, but responds only after `open` has set the redirect URI. */
export class Idp {
  /** Every processed token request: { grant, error }. */
  requests = [];
  /** Internal errors of the server. */
  faults = [];
  /** The lifetime of access tokens in seconds. */
  lifetime = 3600;
  /** The delay of token responses in milliseconds, after they were processed. */
  responseDelayMs = 0;

  static async start() {
    const idp = new Idp();
    await idp.restart();
    idp.issuer = `http://127.0.0.1:${idp.port}`;
    return idp;
  }

  /** Starts again after `stop`, at the same address and with all grants. */
  async restart() {
    this.http = createServer((request, response) => this.#answer(request, response));
    this.port = await listen(this.http, this.port);
  }

  /** Creates the server with clients that have this redirect URI. */
  open(redirectUri) {
    const defaults = {
      redirect_uris: [redirectUri],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
    };
    this.provider = new Provider(this.issuer, {
      clients: Object.values(CLIENTS).map((client) => ({ ...defaults, ...client })),
      jwks: { keys: [{ ...privateKey.export({ format: "jwk" }), use: "sig", alg: "RS256", kid: "one" }] },
      cookies: { keys: [randomBytes(16).toString("hex")] },
      pkce: { required: () => true },
      rotateRefreshToken: () => true,
      clockTolerance: 0,
      features: { devInteractions: { enabled: false }, revocation: { enabled: true } },
      interactions: { url: (_, { uid }) => `/interaction/${uid}` },
      findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
      ttl: {
        AccessToken: () => this.lifetime,
        ...{ AuthorizationCode: 60, Grant: 3600, IdToken: 3600, Interaction: 600, RefreshToken: 3600, Session: 3600 },
      },
    });
    this.provider.on("grant.success", (context) => this.requests.push({ grant: context.oidc.params.grant_type }));
    this.provider.on("grant.error", (context, error) =>
      this.requests.push({ grant: context.oidc.params?.grant_type, error: error.message }),
    );
    this.provider.on("server_error", (_, error) => this.faults.push(error));
    for (const kind of ["authorization_code", "access_token", "refresh_token"])
      this.provider.on(`${kind}.saved`, (token) => issuedSecrets.add(token.jti));
    this.callback = this.provider.callback();
  }

  #answer(request, response) {
    if (this.responseDelayMs > 0 && request.url === "/token") delayResponse(response, this.responseDelayMs);
    if (!request.url.startsWith("/interaction/")) return this.callback(request, response);
    this.#interact(request, response).catch((error) => {
      this.faults.push(error);
      response.writeHead(500).end();
    });
  }

  /** Handles requests to the sign-in and consent pages. */
  async #interact(request, response) {
    const { provider } = this;
    const { prompt, params, session, grantId } = await provider.interactionDetails(request, response);
    if (request.method === "GET") {
      const field = prompt.name === "login" ? '<input name="login">' : "";
      // Browsers request an icon by default.
      const head = `<!doctype html><title>${prompt.name}</title><link rel="icon" href="data:,">`;
      const page = `${head}<form method="post">${field}<button>Go on</button></form>`;
      return response.setHeader("content-type", "text/html").end(page);
    }
    const form = new URLSearchParams(await readBody(request));
    if (form.has("deny")) {
      const refusal = { error: "access_denied", error_description: form.get("deny") };
      return provider.interactionFinished(request, response, refusal);
    }
    if (prompt.name === "login")
      return provider.interactionFinished(request, response, { login: { accountId: form.get("login") } });
    const grant =
      (grantId && (await provider.Grant.find(grantId))) ||
      new provider.Grant({ accountId: session.accountId, clientId: params.client_id });
    grant.addOIDCScope(params.scope);
    const consent = { grantId: await grant.save() };
    return provider.interactionFinished(request, response, { consent }, { mergeWithLastSubmission: true });
  }

  /** Signs in with a name and consents, or declines. Returns the redirect URL. */
  async visit(visitor, url, { login, deny }, isBack) {
    let { url: at, response } = await visitor.follow(await visitor.get(url), url, isBack);
    while (response?.status === 200) {
      const form = response.text.includes("<title>login<")
        ? { login }
        : deny === undefined
          ? { agree: "yes" }
          : { deny };
      ({ url: at, response } = await visitor.follow(await visitor.submit(at, form), at, isBack));
    }
    if (response) throw new Error(`${response.status} at ${at}: ${response.text.slice(0, 1000)}`);
    return at;
  }

  /** The user of an access token, by the headers of requests; undefined if the server does not accept it. */
  async userOf(headers) {
    const response = await fetch(`${this.issuer}/me`, { headers });
    return response.status === 200 ? (await response.json()).sub : undefined;
  }

  /** Revokes the grant of an access token, as its user can. */
  async revoke(accessToken) {
    const { grantId } = await this.provider.AccessToken.find(accessToken);
    await this.provider.AccessToken.revokeByGrantId(grantId);
    await this.provider.RefreshToken.revokeByGrantId(grantId);
  }

  stop() {
    this.http.closeAllConnections();
    return new Promise((done) => this.http.close(done));
  }
}
