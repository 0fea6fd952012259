// The responses of platforms in tests. GitHub accepts every token except one.
import { KEYS, KEYS_URL } from "./access.mjs";

const json = (Response, status, value, headers = {}) =>
  new Response(JSON.stringify(value), { status, headers: { "content-type": "application/json", ...headers } });

/** The names of a user's repositories, two per page. */
const REPOSITORIES = [
  ["app", "docs"],
  ["site", "tools"],
];

/** Returns the response to a request, as an instance of the runtime's `Response`. */
export default async function answer(request, Response) {
  const { host, pathname, searchParams } = new URL(request.url);
  // The identity provider in the example of `setAgentSignIn`.
  if (request.url === "https://id.example.com/.well-known/openid-configuration") {
    const issuer = "https://id.example.com";
    const endpoints = {
      authorization_endpoint: `${issuer}/auth`,
      token_endpoint: `${issuer}/token`,
      jwks_uri: `${issuer}/jwks`,
    };
    return json(Response, 200, { issuer, ...endpoints });
  }
  if (request.url === KEYS_URL) return json(Response, 200, KEYS);
  if (host !== "api.github.com") throw new Error(`no platform for ${request.url}`);
  if (request.headers.get("authorization") === "Bearer wrong-token") return new Response("{}", { status: 401 });
  const what = `${request.method} ${pathname}`;
  if (what === "GET /user") return json(Response, 200, { id: 583231, login: "octocat" });
  if (what === "GET /user/repos") {
    const page = Number(searchParams.get("page") ?? 1);
    const next = `<https://api.github.com/user/repos?per_page=2&page=${page + 1}>; rel="next"`;
    const names = REPOSITORIES[page - 1].map((name) => ({ name }));
    return json(Response, 200, names, page < REPOSITORIES.length ? { link: next } : {});
  }
  if (/^POST \/repos\/[^/]+\/[^/]+\/(issues|labels)$/.test(what))
    return json(Response, 201, { number: 7, state: "open", ...(await request.json()) });
  throw new Error(`no platform for ${what}`);
}
