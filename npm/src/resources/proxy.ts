// Calls to the platforms of connections: `run` and `proxy`.
import { stringArgument } from "../core/arguments.js";
import { ConnectionError, ValidationError } from "../core/errors.js";
import type { ClientConfig } from "../core/client-options.js";
import { problemError } from "../core/problem.js";
import { isOf } from "../core/realm.js";
import { SECRET_HEADER } from "../core/secret.js";

/** The input of an action, as described by the `input` of its detail. */
export interface ActionInput {
  /** The parameters of the path, by name. */
  path?: Record<string, unknown> | undefined;
  /** The parameters of the query, by name. */
  query?: Record<string, unknown> | undefined;
  /** The parameters that are headers, by name. */
  header?: Record<string, unknown> | undefined;
  /** The parameters that are cookies, by name. */
  cookie?: Record<string, unknown> | undefined;
  /** The request's body. Files are strings in base64, or objects with `content`, `filename` and `contentType`. */
  body?: unknown;
  /** Instead of these: the input as one flat object, as the action's detail describes it with `for: "model"`. */
  arguments?: Record<string, unknown> | undefined;
  /** Only these parts of the response body: up to 20 JSON Pointers, in which `*` stands for every item. */
  select?: string[] | undefined;
  /** The maximum size of the response in bytes: 500–8388608. `omitted` names what does not fit. */
  maxBytes?: number | undefined;
}

/** A part of a response that was shortened. */
export interface OmittedPart {
  /** A JSON Pointer: `/body/items`. */
  pointer: string;
  /** The unit of `omitted` and `total`. */
  unit: "items" | "characters" | "members" | "bytes";
  /** The number that is left out. */
  omitted: number;
  /** The number in the complete response. */
  total: number;
}

/** A platform's response to an action. */
export interface ActionAnswer {
  /** The HTTP status of the platform's response. */
  status: number;
  /** Its headers, with names in lower case. */
  headers: Record<string, string>;
  /** JSON as a value, text as a string, anything else as `{ base64, contentType }`; null if there is none. */
  body: unknown;
  /** True if the body is larger than 8 MiB, and therefore null. */
  bodyTooLarge?: true;
  /** True if a GraphQL API reports `errors` in the body, which it can also do with status 200. */
  failed?: true;
  /** The parts that did not fit into `maxBytes`, and a hint on how to get them. */
  omitted?: { parts: OmittedPart[]; hint: string };
}

/** A request to a platform: the options of `fetch`, without those that the service sets itself. */
export type PlatformRequestInit = Omit<
  RequestInit,
  "cache" | "credentials" | "mode" | "redirect" | "referrer" | "referrerPolicy"
> & {
  /** The URL of one of the platform's servers. Default: the first. */
  server?: string | undefined;
  /**
   * How many times to retry a `GET`, a `HEAD` or a request with `Idempotency-Key` if the platform rejects it temporarily and
   * asks to wait at most 20 seconds: 0–3, default 0.
   */
  retries?: number | undefined;
};

const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;

/** @internal */
export async function proxy(
  config: ClientConfig,
  id: string,
  path: string,
  { server, retries, ...init }: PlatformRequestInit = {},
): Promise<Response> {
  const url = proxyUrl(config.base, stringArgument(id, "id"), stringArgument(path, "path"));
  const headers = new Headers(config.headers);
  headers.delete("accept");
  new Headers(init.headers).forEach((value, name) => headers.set(name, value));
  if (server !== undefined) headers.set("x-vault-server", server);
  if (retries !== undefined) headers.set("x-vault-retries", String(retries));
  const isStream = isOf("ReadableStream", init.body);
  // Required for streams; not in the types of every platform.
  const duplex = isStream ? { duplex: "half" } : {};
  for (let hasRefreshed = false; ; hasRefreshed = true) {
    const secret = config.secret.current ?? (await config.secret.refresh());
    headers.set(SECRET_HEADER, secret.value);
    let response: Response;
    try {
      response = await (config.fetch ?? globalThis.fetch)(
        new Request(url, { ...init, ...duplex, headers, redirect: "manual" }),
      );
    } catch (cause) {
      if (init.signal?.aborted) throw cause;
      const message = "The service could not be reached. Is `baseUrl` right, and is there a network?";
      throw new ConnectionError(message, { code: "no_response", cause });
    }
    if (response.headers.get("x-vault-source") === "platform") return response;
    // Without this header, the service itself responds with a problem. If it rejected the secret, the platform was not called.
    const problem = await problemError(response, secret.value);
    const canRetry = response.status === 401 && config.secret.invalidate(secret) && !hasRefreshed && !isStream;
    if (!canRetry) throw problem;
  }
}

/** Iterates over the responses to a request and to the requests for the following pages. @internal */
export async function* pages(
  config: ClientConfig,
  id: string,
  path: string,
  request?: PlatformRequestInit,
): AsyncGenerator<Response> {
  const requestedPaths = new Set<string>();
  // Platforms can link to a page that was already returned.
  for (let next: string | null = path; next !== null && !requestedPaths.has(next); ) {
    requestedPaths.add(next);
    const response: Response = await proxy(config, id, next, request);
    next = response.headers.get("x-vault-next");
    yield response;
    if (!response.ok) return;
  }
}

/** The URL of a call. Rejects paths such as `../x`: they would send the secret to another endpoint. */
function proxyUrl(base: string, id: string, path: string): string {
  const reject = (
    parameter: string,
    code: "connection_not_found" | "invalid_parameter",
    status: number,
    predicate: string,
  ) => {
    const detail = `\`${parameter}\` ${predicate}`;
    throw new ValidationError(detail, { code, status, errors: [{ parameter, detail }] });
  };
  if (!UUID.test(id)) reject("id", "connection_not_found", 404, "must be the id of a connection");
  const prefix = `${base}/v1/vault/connections/${id}/proxy/`;
  const url = new URL(prefix + path.replace(/^\//, ""));
  if (!url.href.startsWith(new URL(prefix).href) || url.hash !== "")
    reject("path", "invalid_parameter", 400, "must be a path below the platform's server, without `..` and `#`");
  return url.href;
}
