// Support for agents that sign in with their SDK's own OAuth client: an address of the service that is known in advance, and
// storage for that client.
import { createServer, request as httpRequest } from "node:http";
import { listen } from "./listening.mjs";

/**
 * A proxy whose address is known before the service has a port, for `BASE_URL`. Forwards requests to the port `to`, with
 * these headers in addition to their own.
 */
export async function startProxy(more = {}) {
  const proxy = createServer((request, response) => {
    const { method, url: path } = request;
    const headers = { ...request.headers, ...more };
    const forwarded = httpRequest({ host: "127.0.0.1", port: proxy.to, method, path, headers }, (reply) => {
      response.writeHead(reply.statusCode, reply.rawHeaders);
      reply.pipe(response);
    });
    forwarded.on("error", () => response.destroy());
    request.pipe(forwarded);
  });
  proxy.port = await listen(proxy);
  return proxy;
}

/** The storage of an agent's OAuth client: its registration, tokens and code verifier. */
export class OAuthStorage {
  constructor(redirectUrl, name = "Sample Agent") {
    this.redirectUrl = redirectUrl;
    this.clientMetadata = {
      client_name: name,
      redirect_uris: [redirectUrl],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: "none",
    };
  }
  state = () => "a state";
  clientInformation = () => this.client;
  saveClientInformation = (client) => {
    this.client = client;
  };
  tokens = () => this.saved;
  saveTokens = (tokens) => {
    this.saved = tokens;
  };
  redirectToAuthorization = (url) => {
    this.url = url.href;
  };
  /** Discards tokens that the service rejected, so that the user signs in again. */
  invalidateCredentials = () => {
    this.saved = undefined;
  };
  saveCodeVerifier = (verifier) => {
    this.verifier = verifier;
  };
  codeVerifier = () => this.verifier;
}
