// A client of the service that connections are imported into.
import { setTimeout as wait } from "node:timers/promises";
import { Problem } from "../lib/problem.mjs";

const MAX_TRIES = 6;
const TIMEOUT_MS = 60_000;
const MAX_WAIT_S = 60;

const TEMPORARY_STATUSES = [429, 500, 502, 503, 504];

export class Service {
  #url;
  #key;
  #connectors = new Map();
  #clients = new Map();

  /**
   * @param {string} url
   * @param {string} key an API key
   */
  constructor(url, key) {
    const parsedUrl = URL.canParse(url) ? new URL(url) : undefined;
    const isLoopback = ["localhost", "127.0.0.1", "[::1]"].includes(parsedUrl?.hostname ?? "");
    if (!parsedUrl || !(parsedUrl.protocol === "https:" || (parsedUrl.protocol === "http:" && isLoopback)))
      throw new Problem("The address of the service must begin with https://, or with http:// on this machine.", {
        code: 2,
      });
    this.#url = parsedUrl.href.replace(/\/$/, "");
    this.#key = key;
  }

  /** Sends a request, and retries it after temporary failures. All requests of an import are idempotent. */
  async #send(method, path, body) {
    for (let tries = 1; ; tries += 1) {
      const { response, json } = await this.#try(method, path, body);
      if (response?.ok && json !== undefined) return { status: response.status, json };
      const isTemporary = response === undefined || TEMPORARY_STATUSES.includes(response.status);
      if (!isTemporary || tries === MAX_TRIES) {
        if (response === undefined)
          throw new Problem(`The service at ${this.#url} can't be reached.`, {
            hint: "Start it, then run the import again: connections that were imported stay.",
          });
        if (json === undefined || json.code === undefined)
          throw new Problem(`The server at ${this.#url} is not this service (HTTP status ${response.status}).`);
        return { status: response.status, json };
      }
      const retryAfterSeconds = Number(response?.headers.get("retry-after"));
      await wait(Math.min(retryAfterSeconds > 0 ? retryAfterSeconds : 2 ** (tries - 1), MAX_WAIT_S) * 1000);
    }
  }

  async #try(method, path, body) {
    try {
      const response = await fetch(`${this.#url}${path}`, {
        method,
        headers: {
          "x-service-secret": this.#key,
          ...(body === undefined ? {} : { "content-type": "application/json" }),
        },
        body,
        // Following a redirect would send the key and the credentials to another URL.
        redirect: "manual",
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      return { response, json: await response.json().catch(() => undefined) };
    } catch {
      return { response: undefined, json: undefined };
    }
  }

  /** Throws a problem with the service's explanation. */
  static #throwProblem({ status, json }) {
    const scopes = "The key needs the scopes `credentials:write` and `catalog:read`.";
    throw new Problem(`The service rejects the import: ${json.detail}`, status === 403 ? { hint: scopes } : {});
  }

  /** The platform's connector; undefined for an unknown platform. */
  async connector(platform) {
    if (!this.#connectors.has(platform)) {
      const response = await this.#send("GET", `/v1/available-connectors/${encodeURIComponent(platform)}`);
      if (response.status !== 200 && response.json.code !== "platform_not_found") Service.#throwProblem(response);
      this.#connectors.set(platform, response.status === 200 ? response.json : undefined);
    }
    return this.#connectors.get(platform);
  }

  /** The OAuth client of a platform; null if there is none, undefined if the key must not read it. */
  async oauthClient(platform, name = "default") {
    const path = `/v1/oauth-clients/${encodeURIComponent(platform)}?name=${encodeURIComponent(name)}`;
    if (!this.#clients.has(path)) {
      const { status, json } = await this.#send("GET", path);
      if (![200, 403, 404].includes(status)) Service.#throwProblem({ status, json });
      this.#clients.set(path, status === 200 ? json : status === 404 ? null : undefined);
    }
    return this.#clients.get(path);
  }

  /** Imports connections, given as JSON. Returns the result of each. */
  async import(connections, cutOver) {
    const body = `{"connections":[${connections.join(",")}],"cutOver":${cutOver}}`;
    const response = await this.#send("POST", "/v1/vault/connections/import", body);
    if (response.status !== 200) Service.#throwProblem(response);
    return response.json.results;
  }
}
