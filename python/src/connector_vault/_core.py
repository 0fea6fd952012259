"""Shared by the synchronous and the asynchronous client: building requests and parsing responses."""

from __future__ import annotations

import json as jsons
import random
import re
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timezone
from email.utils import parsedate_to_datetime
from typing import Any, Final, Generic, Protocol, TypeAlias, TypeVar, cast, final
from urllib.parse import parse_qs, quote, urlsplit

import httpx
from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic.alias_generators import to_camel

from ._version import __version__
from .errors import ERROR_CLASSES_BY_STATUS, ErrorDetails, Fault, NoResponseError, VaultError
from .models import Connection, Session

Row = TypeVar("Row")
Result = TypeVar("Result")

Json: TypeAlias = Any
"""A JSON value."""

SECRET_HEADER: Final = "x-service-secret"
USER_AGENT: Final = f"connector-vault-python/{__version__}"
MCP_VERSION: Final = "2026-07-28"
"""The version of the Model Context Protocol in which this package calls tools. It has no sessions."""
TOOL_SECONDS: Final = 60.0
"""How long a tool may take: some wait 25 seconds for the user, others for a platform."""
MIN_BACKOFF: Final = 0.5
MAX_BACKOFF: Final = 8.0
PAGE_SIZE: Final = 100
# A token is refreshed when this fraction of its lifetime is left, or this many seconds if that is less.
REFRESH_FRACTION: Final = 0.1
REFRESH_MARGIN: Final = 30.0
UUID: Final = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
# `*`, or entity tags separated by commas (RFC 9110). The runtime of Workers drops an empty condition.
CONDITION: Final = re.compile(r'\*|(W/)?"[!#-~]*"( *, *(W/)?"[!#-~]*")*')
# If a retried deletion gets one of these codes, an earlier attempt whose response was lost has succeeded.
NOT_FOUND_CODES: Final = frozenset(
    {
        "agent_grant_not_found",
        "agent_sign_in_not_found",
        "connection_not_found",
        "console_session_not_found",
        "console_sign_in_not_found",
        "key_not_found",
        "oauth_client_not_found",
        "webhook_not_found",
    }
)


@final
class Omitted:
    """The type of `OMITTED`, which distinguishes an omitted argument from None."""

    def __repr__(self) -> str:
        return "OMITTED"


OMITTED: Final = Omitted()


class HasId(Protocol):
    """Anything with an id, such as a connection."""

    @property
    def id(self) -> str: ...


@dataclass(frozen=True)
class Page(Generic[Row]):
    """A page of a list."""

    rows: list[Row]
    """The rows of this page."""
    cursor: str | None
    """The cursor of the next page, to store and to pass with the same filters. None on the last page of a list, and in
    lists without cursors. The feed of events always has one: pass it as `after` later."""


@dataclass(frozen=True)
class CountedPage(Page[Row]):
    """A page of a list with a total."""

    total: int
    """The number of rows in the whole list."""
    total_is_minimum: bool
    """Whether there are more rows than `total`: only a search over all actions does not count all of its matches."""
    notes: list[str]
    """Messages for users about parts of a search over all actions that matched nothing; empty in other lists."""
    page: int
    """The number of this page, from 1."""
    pages: int
    """The number of pages in the whole list."""


@dataclass(frozen=True)
class Call(Generic[Result]):
    """A call to the API."""

    method: str
    path: str
    result: Any
    """The type of the result; None for a call that returns nothing."""
    query: Mapping[str, str] = field(default_factory=dict[str, str])
    body: Json = OMITTED
    if_match: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    """Headers in addition to those of all calls."""
    min_timeout: float = 0
    """The number of seconds that the service may need for this call, if the client's own timeout is shorter."""
    repeatable: bool = True
    """Whether the call is idempotent and can be retried."""


@dataclass(frozen=True)
class ActiveSecret:
    """A secret that can be sent, and when to refresh it (`time.monotonic`); None for never."""

    value: str
    refresh_at: float | None = None

    @property
    def is_current(self) -> bool:
        return self.refresh_at is None or time.monotonic() < self.refresh_at


def api_path(*segments: str) -> str:
    """Joins and encodes the segments of a path below `/v1`. Rejects `.` and `..`, which would change the path."""
    for segment in segments:
        if segment in ("", ".", ".."):
            raise invalid(f"`{segment}` is not an id or a name")
    return "/v1/" + "/".join(quote(segment, safe="") for segment in segments)


def resource_id(resource: str | HasId) -> str:
    """Returns the id of a resource, which callers pass as an id or as an object."""
    return resource if isinstance(resource, str) else resource.id


def query_params(arguments: Mapping[str, object]) -> dict[str, str]:
    """Converts named arguments to query parameters. Omits None."""
    values = {to_camel(name.rstrip("_")): value for name, value in arguments.items() if value is not None}
    return {name: _text(name, value) for name, value in values.items()}


def _text(name: str, value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime):
        return str(to_json(value))
    if isinstance(value, (str, int, date)):
        return str(value)
    if isinstance(value, Iterable):
        return ",".join(str(item) for item in cast("Iterable[object]", value))
    raise invalid(f"`{name}` must be a string, a number, a boolean or a list of strings")


def json_body(arguments: Mapping[str, object]) -> dict[str, Json]:
    """Converts named arguments to a JSON body. Omits `OMITTED`."""
    return {to_camel(name.rstrip("_")): to_json(value) for name, value in arguments.items() if value is not OMITTED}


def or_omitted(value: Result | None) -> Result | Omitted:
    """Converts None to `OMITTED`, for arguments that cannot be null."""
    return OMITTED if value is None else value


def to_json(value: object) -> Json:
    """Converts a value to JSON."""
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", by_alias=True, exclude_unset=True)
    if isinstance(value, datetime):
        if value.tzinfo is None:
            raise invalid("a date and time must have a time zone")
        return value.astimezone(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    if isinstance(value, Mapping):
        return {str(name): to_json(member) for name, member in cast("Mapping[object, object]", value).items()}
    if isinstance(value, Sequence) and not isinstance(value, (str, bytes, bytearray)):
        return [to_json(item) for item in cast("Sequence[object]", value)]
    return value


def entity_tag(if_match: str | Connection | None) -> str | None:
    """Returns the value of `If-Match` for a connection that was read earlier, or for an entity tag."""
    if isinstance(if_match, Connection):
        return f'"{if_match.id}-{if_match.version}"'
    if if_match is not None and not CONDITION.fullmatch(if_match):
        raise invalid("`if_match` must be a connection, an entity tag in double quotes, or `*`")
    return if_match


def invalid(message: str) -> VaultError:
    return VaultError("invalid_argument", message)


def normalized_base_url(base_url: str) -> str:
    """Validates the URL of the service, and removes its trailing slash."""
    parts = urlsplit(base_url)
    if parts.scheme not in ("http", "https") or not parts.netloc or parts.query or parts.fragment:
        raise invalid("`base_url` must be the address of a service, such as https://vault.example.com")
    return base_url.rstrip("/")


def request_headers(call: Call[Any], secret: str) -> dict[str, str]:
    headers = {SECRET_HEADER: secret, "accept": "application/json", "user-agent": USER_AGENT, **call.headers}
    if call.if_match is not None:
        headers["if-match"] = call.if_match
    return headers


def proxy_url(base: str, connection: str, path: str) -> str:
    """The URL of a call to a platform. Rejects paths such as `../x`: they would send the secret to another endpoint."""
    if not UUID.fullmatch(connection):
        raise VaultError("connection_not_found", "`connection` must be the id of a connection", ErrorDetails(status=404))
    prefix = f"{base}/v1/vault/connections/{connection}/proxy/"
    path = path.removeprefix("/")
    segments = re.split(r"[/\\]", path.split("?")[0])
    if "#" in path or any(re.sub("(?i)%2e", ".", segment) in (".", "..") for segment in segments):
        message = "`path` must be a path below the platform's server, without `.`, `..` and `#`"
        raise VaultError("invalid_parameter", message, ErrorDetails(status=400))
    return prefix + path


def parse_result(call: Call[Result], response: httpx.Response, secret: str) -> Result:
    """Returns the result of a call. Raises the error of an unsuccessful response."""
    if not response.is_success:
        raise response_error(response, secret)
    if call.result is None:
        return cast("Result", None)
    try:
        return cast("Result", type_adapter(call.result).validate_python(response.json()))
    except (ValueError, ValidationError) as cause:
        raise unexpected(response, "The response does not come from a connector-vault.") from cause


_adapters: dict[Any, TypeAdapter[Any]] = {}


def type_adapter(kind: Any) -> TypeAdapter[Any]:
    """Returns the parser of a type. Caches it, because it is slow to create."""
    adapter = _adapters.get(kind)
    if adapter is None:
        adapter = _adapters[kind] = TypeAdapter(kind)
    return adapter


def response_error(response: httpx.Response, secret: str) -> VaultError:
    """The error of an unsuccessful response."""
    if response.is_redirect:
        return unexpected(response, "The response is a redirect, which is not followed.")
    try:
        # Removes the secret: a service or a proxy may echo the request.
        json = TypeAdapter(dict[str, Any]).validate_json(response.text.replace(secret, "…"))
    except ValidationError:
        json = {}
    code, detail = json.get("code"), json.get("detail")
    rejected = _rpc_error(json) if json.get("jsonrpc") == "2.0" else None
    if rejected is not None:
        code, detail = "invalid_argument", rejected
    if not isinstance(code, str) or not isinstance(detail, str):
        return unexpected(response, f"The response has the status {response.status_code} and no problem document.")
    connection, redirect_uri = json.get("connectionId"), json.get("redirectUri")
    details = ErrorDetails(
        status=response.status_code,
        request_id=response.headers.get("x-request-id"),
        errors=tuple(_faults(json.get("errors"))),
        suggestions=tuple(text for text in _list(json.get("suggestions")) if isinstance(text, str)),
        connection_id=connection if isinstance(connection, str) else None,
        redirect_uri=redirect_uri if isinstance(redirect_uri, str) else None,
        retry_after=retry_after(response.headers),
        headers=dict(response.headers),
    )
    return ERROR_CLASSES_BY_STATUS.get(response.status_code, VaultError)(code, detail, details)


def tool_call(name: str, arguments: Json, *, only_reads: bool) -> Call[Mapping[str, Any]]:
    """The call of a tool of `POST /mcp`."""
    meta = {
        "protocolVersion": MCP_VERSION,
        "clientCapabilities": {},
        "clientInfo": {"name": "connector-vault-python", "version": __version__},
    }
    params = {
        "name": name,
        "arguments": to_json(arguments),
        "_meta": {f"io.modelcontextprotocol/{member}": value for member, value in meta.items()},
    }
    return Call(
        "POST",
        "/mcp",
        dict[str, Any],
        body={"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params},
        headers={
            "accept": "application/json, text/event-stream",
            "mcp-protocol-version": MCP_VERSION,
            "mcp-method": "tools/call",
            "mcp-name": name,
        },
        min_timeout=TOOL_SECONDS,
        repeatable=only_reads,
    )


def tool_result(message: Mapping[str, Any]) -> Json:
    """The result in the response to the call of a tool. An error of the tool has the members `error` and `detail`."""
    if "error" in message:
        raise VaultError("invalid_argument", _rpc_error(message) or "The service rejected the call.")
    result = message.get("result")
    members = cast("dict[str, Any]", result) if isinstance(result, dict) else {}
    content = [cast("dict[str, Any]", part) for part in _list(members.get("content")) if isinstance(part, dict)]
    text = "".join(part["text"] for part in content if isinstance(part.get("text"), str))
    try:
        value = jsons.loads(text)
    except ValueError:
        value = text
    if members.get("isError") is not True:
        return value
    if not isinstance(value, dict):
        return {"error": "invalid_argument", "detail": text}
    problem = cast("dict[str, Any]", value)
    if "code" not in problem:
        # The response of a GraphQL API, with its errors.
        return problem
    kept = {name: member for name, member in problem.items() if name not in ("type", "title", "status", "code", "detail")}
    return {"error": problem["code"], "detail": problem.get("detail"), **kept}


def _rpc_error(message: Mapping[str, Any]) -> str | None:
    """The message of an error of JSON-RPC."""
    error = message.get("error")
    text = cast("dict[str, Any]", error).get("message") if isinstance(error, dict) else None
    return text if isinstance(text, str) else None


def _list(value: object) -> list[object]:
    return cast("list[object]", value) if isinstance(value, list) else []


def _faults(value: object) -> Iterable[Fault]:
    for item in _list(value):
        if isinstance(item, dict):
            members = cast("dict[str, object]", item)
            texts = {name: text for name, text in members.items() if isinstance(text, str)}
            optional = {name: texts.get(name) for name in ("parameter", "pointer", "suggestion")}
            yield Fault(detail=texts.get("detail", ""), **optional)


def unexpected(response: httpx.Response, what: str) -> VaultError:
    details = ErrorDetails(
        status=response.status_code,
        request_id=response.headers.get("x-request-id"),
        retry_after=retry_after(response.headers),
        headers=dict(response.headers),
    )
    kind = ERROR_CLASSES_BY_STATUS.get(response.status_code, VaultError)
    return kind("unexpected_response", f"{what} Is `base_url` the address of a connector-vault?", details)


def no_response(cause: httpx.HTTPError) -> NoResponseError:
    if isinstance(cause, httpx.TimeoutException):
        return NoResponseError("timeout", "The service did not respond in time.")
    message = "The service could not be reached. Is `base_url` right, and is there a network?"
    return NoResponseError("no_response", message)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """The seconds until the time of `Retry-After`, which is a number or a date."""
    value = headers.get("retry-after", "").strip()
    if value.isascii() and value.isdigit():
        return float(value)
    try:
        seconds = (parsedate_to_datetime(value) - datetime.now(timezone.utc)).total_seconds()
    except (ValueError, TypeError):
        return None
    return max(seconds, 0.0)


def retry_delay(error: VaultError, tries: int) -> float | None:
    """Seconds to wait before a retry; None if the failure is permanent."""
    if not isinstance(error, NoResponseError) and error.status not in (429, 503):
        return None
    if error.retry_after is not None:
        return error.retry_after
    # With jitter, so that calls that failed together are not retried together.
    max_delay: float = min(MIN_BACKOFF * 2 ** (tries - 1), MAX_BACKOFF)
    return max_delay * random.uniform(0.5, 1)


def active_secret(supplied: str | Session) -> ActiveSecret:
    """Converts the result of a function that supplies secrets to a `Secret` with its refresh time."""
    if isinstance(supplied, str):
        return ActiveSecret(supplied)
    lifetime = (supplied.expires_at - datetime.now(timezone.utc)).total_seconds()
    # A shorter lifetime means that the clock is wrong or the token was delayed: it is used until the service rejects it.
    if lifetime < REFRESH_MARGIN:
        return ActiveSecret(supplied.token)
    return ActiveSecret(supplied.token, time.monotonic() + lifetime - min(lifetime * REFRESH_FRACTION, REFRESH_MARGIN))


def next_cursor(response: httpx.Response) -> str | None:
    """The cursor of the next page in the header `Link`."""
    address = response.links.get("next", {}).get("url")
    return parse_qs(urlsplit(address).query).get("after", [None])[0] if address else None


def counted_page(kind: Any, response: httpx.Response, call: Call[Any], secret: str) -> CountedPage[Any]:
    result = parse_result(call, response, secret)
    return CountedPage(
        rows=result.rows,
        cursor=next_cursor(response),
        total=result.total,
        total_is_minimum=getattr(result, "total_is_minimum", None) is True,
        notes=getattr(result, "notes", None) or [],
        page=result.page,
        pages=result.pages,
    )


def next_page_query(page: CountedPage[Any], query: Mapping[str, str]) -> dict[str, str] | None:
    """The query of the next page; None after the last page."""
    filters = {name: value for name, value in query.items() if name not in ("page", "after")}
    if not page.rows:
        return None
    if page.cursor is not None:
        return None if page.cursor == query.get("after") else {**filters, "after": page.cursor}
    # If a page was requested with a cursor but has none, it is the last. Only lists without cursors continue by page number.
    if "after" in query or page.page >= page.pages or page.page < int(query.get("page", "1")):
        return None
    return {**filters, "page": str(page.page + 1)}
