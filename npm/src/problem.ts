// The errors that responses of the service tell. Nothing here needs WebAssembly.
import {
  AuthenticationError,
  ConflictError,
  type ErrorCode,
  type Facts,
  type Fault,
  NotFoundError,
  PermissionError,
  PreconditionError,
  RateLimitError,
  ServerError,
  ValidationError,
  type VaultError,
} from "./errors.js";

/** The error that a response of the service itself tells. @internal */
export async function problemOf(response: Response, secret: string): Promise<VaultError> {
  return errorOf(response.status, response.headers, without(secret, await jsonOf(response).catch(() => undefined)));
}

/** The JSON of a response; undefined if it is not JSON. Fails if the response breaks off. @internal */
export async function jsonOf(response: Response): Promise<unknown> {
  if (typeof response?.json !== "function") return undefined;
  try {
    return await response.json();
  } catch (error) {
    // By its name: it may be of another realm.
    if ((error as Error | undefined)?.name === "SyntaxError") return undefined;
    throw error;
  }
}

const BY_STATUS: Record<number, typeof VaultError> = {
  401: AuthenticationError,
  403: PermissionError,
  404: NotFoundError,
  409: ConflictError,
  412: PreconditionError,
  429: RateLimitError,
};

/** The class of errors with a status. */
function ofStatus(status: number): typeof VaultError {
  return BY_STATUS[status] ?? (status < 500 ? ValidationError : ServerError);
}

/** The error of a response. @internal */
export function errorOf(status: number, headers: Headers, json: unknown): VaultError {
  const { code, detail, errors, suggestions, connectionId, requestId } = (json ?? {}) as Record<string, unknown>;
  const facts: Facts = {
    status,
    headers,
    requestId: textOf(headers.get("x-request-id") ?? requestId),
    retryAfter: retryAfter(headers),
  };
  if (status >= 400) {
    const type = ofStatus(status);
    if (typeof code !== "string" || typeof detail !== "string")
      return unexpected(type, `The answer has the status ${status} and tells no problem.`, facts);
    return new type(detail, {
      ...facts,
      code: code as ErrorCode,
      errors: listOf<Fault>(errors),
      suggestions: listOf<string>(suggestions),
      connectionId: textOf(connectionId),
    });
  }
  const what =
    status === 0 || status >= 300
      ? "The answer is a redirect, which is not followed."
      : "The answer is not what the service gives.";
  return unexpected(ServerError, what, facts);
}

/** JSON without the secret: a service or a proxy may repeat what it was sent. @internal */
export function without(secret: string, json: unknown): unknown {
  const text = JSON.stringify(json) ?? "";
  return text.includes(secret) ? JSON.parse(text.replaceAll(secret, "…")) : json;
}

const listOf = <Item>(value: unknown): Item[] => (Array.isArray(value) ? value : []);
const textOf = (value: unknown) => (typeof value === "string" ? value : undefined);

/** @internal */
export function unexpected(type: typeof VaultError, what: string, facts: Facts): VaultError {
  return new type(`${what} Is \`baseUrl\` the address of a connector-vault?`, {
    ...facts,
    code: "unexpected_response",
  });
}

/** The seconds of `Retry-After`, which contains a number of them or a date. */
function retryAfter(headers: Headers): number | undefined {
  const value = headers.get("retry-after");
  if (value === null || value === undefined) return undefined;
  // A date contains the name of a month; anything else that is not a number is ignored.
  const isDate = /[a-z]{3}/i.test(value);
  const seconds = /^\s*\d+\s*$/.test(value) ? Number(value) : isDate ? (Date.parse(value) - Date.now()) / 1000 : NaN;
  return Number.isFinite(seconds) ? Math.max(seconds, 0) : undefined;
}
