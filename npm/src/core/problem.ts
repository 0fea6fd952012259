// Creates errors from responses of the service. Must not use WebAssembly, because `connector-vault/connect` imports it.
import {
  AuthenticationError,
  ConflictError,
  type ErrorCode,
  type ErrorDetails,
  type Fault,
  NotFoundError,
  PermissionError,
  PreconditionError,
  RateLimitError,
  ServerError,
  ValidationError,
  type VaultError,
} from "./errors.js";

/** Creates the error for an unsuccessful response. @internal */
export async function problemError(response: Response, secret: string): Promise<VaultError> {
  return responseError(
    response.status,
    response.headers,
    redact(secret, await parseJson(response).catch(() => undefined)),
  );
}

/** Parses the body of a response. Returns undefined if it is not JSON; rejects if it is incomplete. @internal */
export async function parseJson(response: Response): Promise<unknown> {
  if (typeof response?.json !== "function") return undefined;
  try {
    return await response.json();
  } catch (error) {
    // Compared by name, because the error can come from another realm.
    if ((error as Error | undefined)?.name === "SyntaxError") return undefined;
    throw error;
  }
}

const ERROR_BY_STATUS: Record<number, typeof VaultError> = {
  401: AuthenticationError,
  403: PermissionError,
  404: NotFoundError,
  409: ConflictError,
  412: PreconditionError,
  429: RateLimitError,
};

function classForStatus(status: number): typeof VaultError {
  return ERROR_BY_STATUS[status] ?? (status < 500 ? ValidationError : ServerError);
}

/** @internal */
export function responseError(status: number, headers: Headers, json: unknown): VaultError {
  const { code, detail, errors, suggestions, connectionId, redirectUri, requestId } = (json ?? {}) as Record<
    string,
    unknown
  >;
  const details: ErrorDetails = {
    status,
    headers,
    requestId: stringOrUndefined(headers.get("x-request-id") ?? requestId),
    retryAfter: retryAfter(headers),
  };
  if (status >= 400) {
    const type = classForStatus(status);
    if (typeof code !== "string" || typeof detail !== "string")
      return unexpectedResponseError(type, `The response has the status ${status} and no problem document.`, details);
    return new type(detail, {
      ...details,
      code: code as ErrorCode,
      errors: arrayOrEmpty<Fault>(errors),
      suggestions: arrayOrEmpty<string>(suggestions),
      connectionId: stringOrUndefined(connectionId),
      redirectUri: stringOrUndefined(redirectUri),
    });
  }
  const message =
    status === 0 || status >= 300
      ? "The response is a redirect, which is not followed."
      : "The response does not come from a connector-vault.";
  return unexpectedResponseError(ServerError, message, details);
}

/** Removes the secret from a response, because a proxy may echo the request. @internal */
export function redact(secret: string, json: unknown): unknown {
  const text = JSON.stringify(json) ?? "";
  return text.includes(secret) ? JSON.parse(text.replaceAll(secret, "…")) : json;
}

const arrayOrEmpty = <Item>(value: unknown): Item[] => (Array.isArray(value) ? value : []);
const stringOrUndefined = (value: unknown) => (typeof value === "string" ? value : undefined);

/** @internal */
export function unexpectedResponseError(type: typeof VaultError, message: string, details: ErrorDetails): VaultError {
  return new type(`${message} Is \`baseUrl\` the address of a connector-vault?`, {
    ...details,
    code: "unexpected_response",
  });
}

/** Parses `Retry-After`, a number of seconds or a date, to seconds. */
function retryAfter(headers: Headers): number | undefined {
  const value = headers.get("retry-after");
  if (value === null || value === undefined) return undefined;
  // An HTTP date contains the name of a month. `Date.parse` would also accept other values.
  const isDate = /[a-z]{3}/i.test(value);
  const seconds = /^\s*\d+\s*$/.test(value) ? Number(value) : isDate ? (Date.parse(value) - Date.now()) / 1000 : NaN;
  return Number.isFinite(seconds) ? Math.max(seconds, 0) : undefined;
}
