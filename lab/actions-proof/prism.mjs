// Platforms that validate requests against their documents with npm's Prism.
import { once } from "node:events";
import { createServer } from "node:http";
import { buffer } from "node:stream/consumers";
import { createInstance, getHttpOperationsFromSpec } from "@stoplight/prism-http";
import { KEEP_ALIVE_MS } from "./recorder.mjs";

const silent = { success() {}, child: () => silent };
for (const level of ["trace", "debug", "info", "warn", "error", "fatal"]) silent[level] = () => {};

const CONFIG = {
  isProxy: false,
  checkSecurity: false,
  validateRequest: true,
  validateResponse: false,
  errors: false,
  upstreamProxy: undefined,
  mock: { dynamic: false },
};

export class Prism {
  #instance = createInstance(CONFIG, { logger: silent });
  #operations = [];
  /** The errors of the requests since the last `take()`, one entry per request. */
  #found = [];

  static async start() {
    const prism = new Prism();
    prism.http = createServer((request, response) => prism.#answer(request, response));
    prism.http.keepAliveTimeout = KEEP_ALIVE_MS;
    prism.http.listen(0, "127.0.0.1");
    await once(prism.http, "listening");
    prism.origin = `http://127.0.0.1:${prism.http.address().port}`;
    return prism;
  }

  /** Adds a document, whose platform is served at `/p<index>`. */
  async add(index, api) {
    this.#operations[index] = await getHttpOperationsFromSpec(adaptForPrism(structuredClone(api)));
  }

  /** Returns the errors of each request since the last call. */
  take() {
    const faults = this.#found;
    this.#found = [];
    return faults;
  }

  async #answer(request, response) {
    const { pathname, searchParams } = new URL(request.url, this.origin);
    const [address, index] = /^\/p(\d+)/.exec(pathname);
    const bytes = await buffer(request);
    const query = {};
    for (const name of searchParams.keys()) {
      const values = searchParams.getAll(name);
      query[name] = values.length === 1 ? values[0] : values;
    }
    const input = {
      method: request.method.toLowerCase(),
      url: { path: pathname.slice(address.length), baseUrl: undefined, query },
      headers: request.headers,
      body: body(request.headers["content-type"] ?? "", bytes),
    };
    const result = await this.#instance.request(input, this.#operations[index], CONFIG)();
    this.#found.push(errorsOf(result));
    response.writeHead(200, { "content-type": "application/json" }).end("{}");
  }

  stop() {
    this.http.closeAllConnections();
    return new Promise((done) => this.http.close(done));
  }
}

/**
 * Rewrites a document to work around deviations of Prism from OpenAPI: it uses the first matching media type of a body instead of
 * the most specific one, and does not explode query parameters of the style `form` by default.
 */
function adaptForPrism(api) {
  const sort = (holder) => {
    const all = Object.entries(holder?.content ?? {});
    const isRange = ([media]) => media.includes("*");
    if (all.some(isRange))
      holder.content = Object.fromEntries([...all.filter((one) => !isRange(one)), ...all.filter(isRange)]);
  };
  const explode = (parameters) => {
    for (const parameter of parameters ?? [])
      if (parameter.in === "query" && (parameter.style ?? "form") === "form") parameter.explode ??= true;
  };
  explode(Object.values(api.components?.parameters ?? {}));
  for (const shared of Object.values(api.components?.requestBodies ?? {})) sort(shared);
  for (const item of Object.values(api.paths ?? {})) {
    explode(item.parameters);
    for (const operation of Object.values(item)) {
      explode(operation?.parameters);
      sort(operation?.requestBody);
    }
  }
  return api;
}

function body(type, bytes) {
  if (bytes.length === 0) return undefined;
  if (!/json/i.test(type)) return bytes.toString();
  try {
    return JSON.parse(bytes);
  } catch {
    return bytes.toString();
  }
}

/** The errors of Prism for a request as strings; empty if it accepts the request. */
function errorsOf({ _tag, left, right }) {
  const texts = (list = []) =>
    list.map(({ location, path, message }) => `${(location ?? path ?? []).join(".")} ${message}`);
  if (_tag === "Right") return texts(right.validations.input);
  const { validation } = left.additional ?? left;
  if (validation) return texts(validation);
  // Prism could not generate a mock response, which says nothing about the request.
  return /NO_RESPONSE|NO_COMPLEX|NOT_ACCEPTABLE|NO_SUCCESS|SCHEMA/i.test(left.type ?? "")
    ? []
    : [`${left.title ?? left}: ${left.detail ?? ""}`];
}
