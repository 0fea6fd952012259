// The error classes. All extend `VaultError`.
import type { Names } from "../types/names.js";

/** An error code of the service. Each has a page at `<baseUrl>/problems/<code>`. */
export type ProblemCode = Names["ProblemCode"];

/** An error code of this package. */
export type ClientCode =
  /** An argument or an option does not have the declared type. */
  | "invalid_argument"
  /** A web page uses an API key. */
  | "secret_in_browser"
  /** The function in `secret` returned no secret, or failed: then its error is the `cause`. */
  | "secret_unavailable"
  /** No response: no network, a wrong address, or a page whose origin the service does not allow. */
  | "no_response"
  /** No response within `timeoutMs`. */
  | "timeout"
  /** Your signal aborted the call. */
  | "aborted"
  /** A response that does not come from a connector-vault. Is `baseUrl` right? */
  | "unexpected_response"
  /** `verifyWebhook` got a request that does not come from the service. */
  | "invalid_signature"
  /** The WebAssembly module can't be loaded or compiled, for example because of the page's Content-Security-Policy. */
  | "no_webassembly";

/** The reason for which an account was not connected: a code of a failed attempt, or one of the connect window. */
export type ConnectCode =
  | Names["AttemptErrorCode"]
  /** The user did not finish in time, or the token has expired. */
  | "expired"
  /** The user closed the window. */
  | "closed"
  /** The browser blocked the window: was it opened in a click handler? */
  | "blocked"
  /** Another reason, which the window showed to the user. */
  | "failed";

/** A stable code that identifies the kind of error. */
export type ErrorCode = ProblemCode | ClientCode | ConnectCode;

/** One error in a request. It concerns the request as a whole if it has neither `parameter` nor `pointer`. */
export interface Fault {
  /** The query parameter, argument or option. */
  parameter?: string;
  /** The location of the error in the body: a JSON Pointer (RFC 6901). */
  pointer?: string;
  /** A human-readable description. */
  detail: string;
  /** A similar value that is valid. */
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
  /** The HTTP status: that of the response, or the one that the service would have returned. */
  readonly status: number | undefined;
  /** A stable code that identifies the kind of error. */
  readonly code: ErrorCode;
  /** Identifies the request in the service's log; undefined without a response. */
  readonly requestId: string | undefined;
  /** All errors in the request. */
  readonly errors: readonly Fault[];
  /** The headers of the response; undefined without a response. */
  readonly headers: Headers | undefined;
  /** The error that caused this one, if there is one. */
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
// Built-in errors have their name on the prototype, where `util.inspect` and others read it. It can't be taken from the
// class, because minifiers rename classes.
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
 * The request is invalid (400 and others). The package usually finds this before it sends anything: then `headers` is
 * undefined, and `status` and `code` are those that the service would return, such as 404 and `connection_not_found` for a
 * malformed id.
 */
export class ValidationError extends VaultError {}
/**
 * The key or the token is malformed, unknown, revoked or expired (401). If a function supplies it, the service also rejected the
 * secret that replaced it.
 */
export class AuthenticationError extends VaultError {}
/** The key or the token lacks a scope (403). */
export class PermissionError extends VaultError {}
/** The connection, the platform or the action does not exist (404). */
export class NotFoundError extends VaultError {
  /** For an unknown platform or action: those that you may have meant. */
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
  /** The id of that connection. */
  readonly connectionId: string | undefined;

  /** @internal */
  constructor(message: string, details: ErrorDetails = {}) {
    super(message, details);
    this.connectionId = details.connectionId;
  }
}
/** The connection has changed since you read it (412). Nothing was written. */
export class PreconditionError extends VaultError {}
/** The key sends too many requests (429). */
export class RateLimitError extends TemporaryError {}
/**
 * The service failed (500 and above), or the response does not come from a connector-vault: then `code` is
 * `unexpected_response`, which errors of the other classes can also have.
 */
export class ServerError extends TemporaryError {}
/** The service could not be reached. `cause` is the error of `fetch`. */
export class ConnectionError extends VaultError {}
/** The call took longer than `timeoutMs`. It may or may not have been carried out. */
export class TimeoutError extends VaultError {}
/** `connect` did not connect an account: `code` says why. */
export class ConnectError extends VaultError {
  /** The id of the attempt; undefined if none was started at the platform. */
  readonly attempt: string | undefined;

  /** @internal */
  constructor(message: string, details: ErrorDetails = {}) {
    super(message, details);
    this.attempt = details.attempt;
  }
}
/** Your signal aborted the call; `cause` is its reason. The call may or may not have been carried out. */
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
