// Calls to platforms: the types of `actions.run`, and `proxy`.
import { stringArgument } from "../core/arguments.js";
import { ConnectionError, ValidationError } from "../core/errors.js";
import type { ClientConfig } from "../core/client-options.js";
import { problemError } from "../core/problem.js";
import { isInstanceOf } from "../core/realm.js";
import { SECRET_HEADER } from "../core/secret.js";

/** The input of an action, which `ActionDetail.input` describes. */
export interface ActionInput {
  /** The path parameters, by name. */
  path?: Record<string, unknown> | undefined;
  /** The query parameters, by name. */
  query?: Record<string, unknown> | undefined;
  /** The header parameters, by name. */
  header?: Record<string, unknown> | undefined;
  /** The cookie parameters, by name. */
  cookie?: Record<string, unknown> | undefined;
  /** The request body. A file is a base64 string, or an object with `content`, `filename` and `contentType`. */
  body?: unknown;
  /**
   * Replaces the members above: the input as one flat object, which `ActionDetail.input` describes with `for: "model"`.
   */
  arguments?: Record<string, unknown> | undefined;
  /** Returns only these parts of the response body: up to 20 JSON Pointers, with `*` for all items of an array. */
  select?: string[] | undefined;
  /** The maximum size of the response in bytes, 500–8388608. `omitted` lists the parts that do not fit. */
  maxBytes?: number | undefined;
}

/** A part of a response that exceeds `maxBytes` and was shortened. */
export interface OmittedPart {
  /** A JSON Pointer, such as `/body/items`. */
  pointer: string;
  /** The unit of `omitted` and `total`. */
  unit: "items" | "characters" | "members" | "bytes";
  /** How many were omitted. */
  omitted: number;
  /** How many the complete response has. */
  total: number;
}

/** A platform's response to an action. */
export interface ActionAnswer {
  status: number;
  /** Names are in lower case. */
  headers: Record<string, string>;
  /** A value for JSON, a string for text, `{ base64, contentType }` for anything else; null without a body. */
  body: unknown;
  /** True if the body is larger than 8 MiB, and therefore null. */
  bodyTooLarge?: true;
  /** True if the body of a GraphQL API contains `errors`, which can happen with status 200. */
  failed?: true;
  /** The parts that exceed `maxBytes`, and a hint on how to request them. */
  omitted?: { parts: OmittedPart[]; hint: string };
}

/** The options of `fetch`, without those that the service sets itself. */
export type PlatformRequestInit = Omit<
  RequestInit,
  "cache" | "credentials" | "mode" | "redirect" | "referrer" | "referrerPolicy"
> & {
  /** The URL of one of the platform's servers. Default: the first server. */
  server?: string | undefined;
  /**
   * The maximum number of retries of a `GET`, a `HEAD` or a request with `Idempotency-Key` that the platform rejects
   * temporarily, with a wait of at most 20 seconds: 0–3, default 0.
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
  const url = buildProxyUrl(config.base, stringArgument(id, "id"), stringArgument(path, "path"));
  const headers = new Headers(config.headers);
  headers.delete("accept");
  new Headers(init.headers).forEach((value, name) => headers.set(name, value));
  if (server !== undefined) headers.set("x-vault-server", server);
  if (retries !== undefined) headers.set("x-vault-retries", String(retries));
  const isStream = isInstanceOf("ReadableStream", init.body);
  // `fetch` requires `duplex` for streams, but not all type declarations contain it.
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
    // Without this header, the response is a problem of the service. With 401, the service did not call the platform.
    const problem = await problemError(response, secret.value);
    const canRetry = response.status === 401 && config.secret.invalidate(secret) && !hasRefreshed && !isStream;
    if (!canRetry) throw problem;
  }
}

/** Iterates over the responses for a page and all following pages. @internal */
export async function* pages(
  config: ClientConfig,
  id: string,
  path: string,
  request?: PlatformRequestInit,
): AsyncGenerator<Response> {
  const requestedPaths = new Set<string>();
  // Stop if the platform links to a page that was already requested.
  for (let next: string | null = path; next !== null && !requestedPaths.has(next); ) {
    requestedPaths.add(next);
    const response: Response = await proxy(config, id, next, request);
    next = response.headers.get("x-vault-next");
    yield response;
    if (!response.ok) return;
  }
}

/** Builds the URL of a call. Rejects paths such as `../x`, which would send the secret to another endpoint. */
function buildProxyUrl(base: string, id: string, path: string): string {
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
