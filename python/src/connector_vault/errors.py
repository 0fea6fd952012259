"""The errors of this package: a base class, and subclasses for failures that programs handle differently."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Fault:
    """One error in a request. Without `parameter` and `pointer`, it concerns the request as a whole."""

    detail: str
    """A human-readable description."""
    parameter: str | None = None
    """The query parameter."""
    pointer: str | None = None
    """The location of the error in the body, as a JSON pointer (RFC 6901)."""
    suggestion: str | None = None
    """The valid name or value nearest to the invalid one."""


@dataclass(frozen=True)
class ErrorDetails:
    """The details of an error, in addition to its code and message."""

    status: int | None = None
    request_id: str | None = None
    errors: Sequence[Fault] = ()
    suggestions: Sequence[str] = ()
    connection_id: str | None = None
    redirect_uri: str | None = None
    retry_after: float | None = None
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    attempt: str | None = None


class VaultError(Exception):
    """The base class of all errors of this package."""

    code: str
    """The error code. The codes of the service are explained at `<base_url>/problems/<code>`; this package
    has `no_response`, `timeout`, `unexpected_response`, `invalid_argument`, `invalid_signature`, `secret_unavailable`, and
    `expired` for an attempt to connect that its user did not finish."""
    message: str
    """A human-readable message."""
    status: int | None
    """The HTTP status; None without a response."""
    request_id: str | None
    """Identifies the request in the service's log; None without a response."""
    errors: Sequence[Fault]
    """All errors in the request."""
    suggestions: Sequence[str]
    """For an unknown platform or action: the nearest known names."""
    connection_id: str | None
    """With `connection_exists`: the id of the connection that has the key."""
    redirect_uri: str | None
    """With `agent_sign_in_not_found`: the redirect URI to register at your OpenID provider."""
    retry_after: float | None
    """The number of seconds to wait before a retry, if the service named one."""
    headers: Mapping[str, str]
    """The headers of the response, with names in lower case; empty without a response."""

    def __init__(self, code: str, message: str, details: ErrorDetails | None = None) -> None:
        super().__init__(code, message, details)
        details = details or ErrorDetails()
        self.code = code
        self.message = message
        self.status = details.status
        self.request_id = details.request_id
        self.errors = details.errors
        self.suggestions = details.suggestions
        self.connection_id = details.connection_id
        self.redirect_uri = details.redirect_uri
        self.retry_after = details.retry_after
        self.headers = details.headers

    def __str__(self) -> str:
        details = [fault.detail for fault in self.errors if fault.detail != self.message]
        request = f" (request {self.request_id})" if self.request_id else ""
        return f"{self.code}: {' '.join([self.message, *details])}{request}"


class AuthenticationError(VaultError):
    """The key or the token is missing, unknown, revoked or expired (401)."""


class NotFoundError(VaultError):
    """The connection, the platform or the action does not exist (404)."""


class ConflictError(VaultError):
    """The connection already exists, has failed, or is in another state that does not allow the call (409)."""


class PreconditionError(VaultError):
    """The connection has changed since you read it (412). Nothing was written."""


class RateLimitError(VaultError):
    """Too many requests (429): `retry_after` is the time to wait."""


class NoResponseError(VaultError):
    """The service could not be reached, or did not respond in time. The call may or may not have been carried out."""


class ConnectError(VaultError):
    """An attempt to connect an account has failed. `code` is the reason."""

    attempt: str | None
    """The id of the attempt."""

    def __init__(self, code: str, message: str, details: ErrorDetails | None = None) -> None:
        super().__init__(code, message, details)
        self.attempt = details.attempt if details else None


ERROR_CLASSES_BY_STATUS: Mapping[int, type[VaultError]] = {
    401: AuthenticationError,
    404: NotFoundError,
    409: ConflictError,
    412: PreconditionError,
    429: RateLimitError,
}
