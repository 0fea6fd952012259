// Calls to the platforms of connections: actions that run, and requests that are passed on.
import { text } from "./arguments.js";
import { ConnectionError, ValidationError } from "./errors.js";
import type { Client } from "./options.js";
import { problemOf } from "./problem.js";
import { isOf } from "./realm.js";
import { SECRET_HEADER } from "./secret.js";

/** The input of an action, as the `input` of its detail says. */
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
  /** Only these parts of the answer's body: up to 20 JSON Pointers, in which `*` stands for every item. */
  select?: string[] | undefined;
  /** The most bytes of the answer: 500–8388608. `omitted` names what does not fit. */
  maxBytes?: number | undefined;
}

/** A part of an answer of which something is left out. */
export interface OmittedPart {
  /** A JSON Pointer: `/body/items`. */
  pointer: string;
  /** What is left out. */
  unit: "items" | "characters" | "members" | "bytes";
  /** How many of them are left out. */
  omitted: number;
  /** How many there are. */
  total: number;
}

/** What a platform answers to an action. */
export interface ActionAnswer {
  /** The HTTP status that the platform answers. */
  status: number;
  /** Its headers, with names in lower case. */
  headers: Record<string, string>;
  /** JSON as it is, text as a string, anything else as `{ base64, contentType }`; null if there is none. */
  body: unknown;
  /** True if the body has more than 8 MiB, and is therefore null. */
  bodyTooLarge?: true;
  /** What does not fit into `maxBytes`, and how to get it. */
  omitted?: { parts: OmittedPart[]; hint: string };
}

/** A request to a platform: what `fetch` takes, except what the service itself decides. */
export type PlatformRequestInit = Omit<
  RequestInit,
  "cache" | "credentials" | "mode" | "redirect" | "referrer" | "referrerPolicy"
> & {
  /** The address of another one of the platform's servers than the first. */
  server?: string | undefined;
  /**
   * How often to repeat a `GET`, a `HEAD` or a request with `Idempotency-Key` when the platform refuses it for now and says
   * to wait at most 20 seconds: 0–3, default 0.
   */
  retries?: number | undefined;
};

const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;

/** @internal */
export async function proxy(
  client: Client,
  id: string,
  path: string,
  { server, retries, ...init }: PlatformRequestInit = {},
): Promise<Response> {
  const address = addressOf(client.base, text(id, "id"), text(path, "path"));
  const headers = new Headers(client.headers);
  headers.delete("accept");
  new Headers(init.headers).forEach((value, name) => headers.set(name, value));
  if (server !== undefined) headers.set("x-vault-server", server);
  if (retries !== undefined) headers.set("x-vault-retries", String(retries));
  const isStream = isOf("ReadableStream", init.body);
  // Only streams need it, and not every platform's types know it.
  const duplex = isStream ? { duplex: "half" } : {};
  for (let renewed = false; ; renewed = true) {
    const held = client.secret.held ?? (await client.secret.renew());
    headers.set(SECRET_HEADER, held.text);
    let response: Response;
    try {
      response = await (client.fetch ?? globalThis.fetch)(
        new Request(address, { ...init, ...duplex, headers, redirect: "manual" }),
      );
    } catch (cause) {
      if (init.signal?.aborted) throw cause;
      const message = "The service could not be reached. Is `baseUrl` right, and is there a network?";
      throw new ConnectionError(message, { code: "no_response", cause });
    }
    if (response.headers.get("x-vault-source") === "platform") return response;
    // What the service itself answers is a problem. A request with a rejected secret has gone no further.
    const problem = await problemOf(response, held.text);
    const again = response.status === 401 && client.secret.drop(held) && !renewed && !isStream;
    if (!again) throw problem;
  }
}

/** The answers to a call and to those for the pages that follow. @internal */
export async function* pages(
  client: Client,
  id: string,
  path: string,
  request?: PlatformRequestInit,
): AsyncGenerator<Response> {
  const seen = new Set<string>();
  // A platform that names the same page again and again must not keep anybody busy for ever.
  for (let next: string | null = path; next !== null && !seen.has(next); ) {
    seen.add(next);
    const response: Response = await proxy(client, id, next, request);
    next = response.headers.get("x-vault-next");
    yield response;
    if (!response.ok) return;
  }
}

/** The address of a call. A path that leads elsewhere, such as `../x`, is refused: the secret would open what is there. */
function addressOf(base: string, id: string, path: string): string {
  const refuse = (
    parameter: string,
    code: "connection_not_found" | "invalid_parameter",
    status: number,
    what: string,
  ) => {
    const detail = `\`${parameter}\` ${what}`;
    throw new ValidationError(detail, { code, status, errors: [{ parameter, detail }] });
  };
  if (!UUID.test(id)) refuse("id", "connection_not_found", 404, "must be the id of a connection");
  const place = `${base}/v1/vault/connections/${id}/proxy/`;
  const address = new URL(place + path.replace(/^\//, ""));
  if (!address.href.startsWith(new URL(place).href) || address.hash !== "")
    refuse("path", "invalid_parameter", 400, "must be a path below the platform's server, without `..` and `#`");
  return address.href;
}
