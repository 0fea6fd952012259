import type { Names } from "../types/names.js";

/** An error code of the service. Each has a page at `<baseUrl>/problems/<code>`. */
export type ProblemCode = Names["ProblemCode"];

/** An error code of this package. */
export type ClientCode =
  /** An argument or an option does not have the declared type. */
  | "invalid_argument"
  /** A web page uses an API key. */
  | "secret_in_browser"
  /** The function in `secret` returned no secret, or failed. Its error is the `cause`. */
  | "secret_unavailable"
  /** No response: the network is down, the URL is wrong, or the service does not allow the page's origin. */
  | "no_response"
  /** No response within `timeoutMs`. */
  | "timeout"
  /** Your signal aborted the call. */
  | "aborted"
  /** The response does not come from a connector-vault: `baseUrl` is probably wrong. */
  | "unexpected_response"
  /** `verifyWebhook` received a request that the service did not sign. */
  | "invalid_signature"
  /** The WebAssembly module can't be loaded or compiled, for example because of the page's Content-Security-Policy. */
  | "no_webassembly";

/** Why an account was not connected: the error code of the attempt, or one of the connect window's own codes. */
export type ConnectCode =
  | Names["AttemptErrorCode"]
  /** The user did not finish in time, or the token has expired. */
  | "expired"
  /** The user closed the window. */
  | "closed"
  /** The browser blocked the window, for example because it was not opened in a click handler. */
  | "blocked"
  /** Any other failure. The window has shown its reason to the user. */
  | "failed";

/** A stable code that identifies the type of an error. */
export type ErrorCode = ProblemCode | ClientCode | ConnectCode;

/** One error in a request. Without `parameter` and `pointer`, it concerns the whole request. */
export interface Fault {
  /** The name of the query parameter, argument or option. */
  parameter?: string;
  /** The location of the error in the body: a JSON Pointer (RFC 6901). */
  pointer?: string;
  /** A human-readable description. */
  detail: string;
  /** A valid value that is similar to the rejected one. */
  suggestion?: string;
}

/** @internal */
export interface ErrorDetails {
  code?: ErrorCode | undefined;
  status?: number | undefined;
  requestId?: string | undefined;
  errors?: readonly Fault[] | undefined;
  headers?: Headers | undefined;
  cause?: unknown;
  retryAfter?: number | undefined;
  suggestions?: readonly string[] | undefined;
  redirectUri?: string | undefined;
  connectionId?: string | undefined;
  attempt?: string | undefined;
}

/** The base class of all errors of this package. */
export class VaultError extends Error {
  /**
   * The HTTP status of the response. For an error found without a request, the status that the service would return.
   */
  readonly status: number | undefined;
  /** A stable code that identifies the type of the error. */
  readonly code: ErrorCode;
  /** The request's id in the service's log; undefined without a response. */
  readonly requestId: string | undefined;
  readonly errors: readonly Fault[];
  /** The headers of the response; undefined without a response. */
  readonly headers: Headers | undefined;
  readonly cause?: unknown;

  /** @internal */
  constructor(
    message: string,
    { code = "internal", status, requestId, errors = [], headers, cause }: ErrorDetails = {},
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.status = status;
    this.code = code;
    this.requestId = requestId;
    this.errors = errors;
    this.headers = headers;
  }
}
// Sets `name` on the prototype, as built-in errors do, because `util.inspect` reads it there. `type.name` would not
// work: minifiers rename classes.
const setClassName = (name: string, type: typeof VaultError) => {
  for (const target of [type, type.prototype])
    Object.defineProperty(target, "name", { value: name, configurable: true, writable: true });
};
setClassName("VaultError", VaultError);

/** A failure that may be temporary. */
class TemporaryError extends VaultError {
  /** How many seconds to wait before a retry; undefined if the service did not say. */
  readonly retryAfter: number | undefined;

  /** @internal */
  constructor(message: string, details: ErrorDetails = {}) {
    super(message, details);
    this.retryAfter = details.retryAfter;
  }
}

/**
 * The request is invalid (400 and others). The package detects most invalid requests before it sends them. Then
 * `headers` is undefined, and `status` and `code` have the values that the service would return: for a malformed id,
 * 404 and `connection_not_found`.
 */
export class ValidationError extends VaultError {}
/**
 * The key or the token is malformed, unknown, revoked or expired (401). If a function supplies the secret, the service
 * has rejected two secrets in a row.
 */
export class AuthenticationError extends VaultError {}
/** The key or the token lacks a scope (403). */
export class PermissionError extends VaultError {}
/** The connection, the platform or the action does not exist (404). */
export class NotFoundError extends VaultError {
  /** For an unknown platform or action: similar names that exist. */
  readonly suggestions: readonly string[];
  /** With `agent_sign_in_not_found`: the redirect URI to register at your OpenID provider. */
  readonly redirectUri: string | undefined;

  /** @internal */
  constructor(message: string, details: ErrorDetails = {}) {
    super(message, details);
    this.suggestions = details.suggestions ?? [];
    this.redirectUri = details.redirectUri;
  }
}
/** A connection with this key already exists (409). */
export class ConflictError extends VaultError {
  /** The id of the existing connection. */
  readonly connectionId: string | undefined;

  /** @internal */
  constructor(message: string, details: ErrorDetails = {}) {
    super(message, details);
    this.connectionId = details.connectionId;
  }
}
/** The connection has changed since you read it (412), so nothing was written. */
export class PreconditionError extends VaultError {}
/** The key sends too many requests (429). */
export class RateLimitError extends TemporaryError {}
/**
 * The service failed (500 and above), or the response does not come from a connector-vault. In the second case `code`
 * is `unexpected_response`, a code that errors of the other classes can also have.
 */
export class ServerError extends TemporaryError {}
/** The service could not be reached. `cause` is the error of `fetch`. */
export class ConnectionError extends VaultError {}
/** The call took longer than `timeoutMs`. The service may have executed it. */
export class TimeoutError extends VaultError {}
/** `connect` did not connect an account. `code` has the reason. */
export class ConnectError extends VaultError {
  /** The id of the attempt; undefined if none was started at the platform. */
  readonly attempt: string | undefined;

  /** @internal */
  constructor(message: string, details: ErrorDetails = {}) {
    super(message, details);
    this.attempt = details.attempt;
  }
}
/** Your signal aborted the call; `cause` is the signal's reason. The service may have executed the call. */
export class AbortError extends VaultError {}

for (const [name, type] of Object.entries({
  ValidationError,
  AuthenticationError,
  PermissionError,
  NotFoundError,
  ConflictError,
  PreconditionError,
  RateLimitError,
  ServerError,
  ConnectionError,
  TimeoutError,
  ConnectError,
  AbortError,
})) {
  setClassName(name, type);
}
