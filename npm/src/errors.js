// What calls fail with: one class for each kind of failure, all of them `VaultError`s.

export class VaultError extends Error {
  /**
   * @param {string} message for a person
   * @param {{ code?: string, status?: number, requestId?: string, errors?: object[], headers?: Headers, cause?: unknown }} facts
   */
  constructor(message, { code = "internal", status, requestId, errors = [], headers, cause } = {}) {
    super(message, cause === undefined ? undefined : { cause });
    Object.assign(this, { code, status, requestId, errors, headers });
  }
}
// On the prototype, as the names of the platform's own errors are, and on the class, for whoever prints one; written out,
// since minifiers rename classes.
const named = (name, type) => {
  for (const place of [type, type.prototype])
    Object.defineProperty(place, "name", { value: name, configurable: true, writable: true });
};
named("VaultError", VaultError);

/** A failure that may pass by itself. */
class PassingError extends VaultError {
  constructor(message, facts = {}) {
    super(message, facts);
    this.retryAfter = facts.retryAfter;
  }
}

export class ValidationError extends VaultError {}
export class AuthenticationError extends VaultError {}
export class PermissionError extends VaultError {}
export class NotFoundError extends VaultError {
  constructor(message, facts = {}) {
    super(message, facts);
    this.suggestions = facts.suggestions ?? [];
  }
}
export class ConflictError extends VaultError {
  constructor(message, facts = {}) {
    super(message, facts);
    this.connectionId = facts.connectionId;
  }
}
export class PreconditionError extends VaultError {}
export class RateLimitError extends PassingError {}
export class ServerError extends PassingError {}
export class ConnectionError extends VaultError {}
export class TimeoutError extends VaultError {}
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
  AbortError,
})) {
  named(name, type);
}

const BY_STATUS = {
  401: AuthenticationError,
  403: PermissionError,
  404: NotFoundError,
  409: ConflictError,
  412: PreconditionError,
  429: RateLimitError,
};

/** The class of an answer that tells a problem. */
export function ofStatus(status) {
  return BY_STATUS[status] ?? (status >= 400 && status < 500 ? ValidationError : ServerError);
}

/** Runs what WebAssembly checks: a problem that it finds becomes the error that the service's answer would. */
export function checked(body) {
  try {
    return body();
  } catch (error) {
    if (error instanceof VaultError) throw error;
    const { status, code, detail, errors } = error ?? {};
    if (typeof detail === "string") throw new ValidationError(detail, { status, code, errors });
    // Nothing that is known does this; whoever meets it should see a reason all the same.
    throw new VaultError("This package failed.", { code: "internal", cause: error });
  }
}
