// The errors that every entry exports.
export {
  AbortError,
  AuthenticationError,
  ConflictError,
  ConnectionError,
  NotFoundError,
  PermissionError,
  PreconditionError,
  RateLimitError,
  ServerError,
  TimeoutError,
  ValidationError,
  VaultError,
} from "./errors.js";
