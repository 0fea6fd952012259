"""The asynchronous client. `npm run python -- generate` writes the synchronous one from it."""

from __future__ import annotations

import asyncio
import builtins
import json as jsons
import time
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from datetime import date, datetime
from types import TracebackType
from typing import Any, Generic, Literal, TypeAlias, TypeVar, cast

import httpx
from typing_extensions import Self

from ._core import (
    NOT_FOUND_CODES,
    OMITTED,
    PAGE_SIZE,
    SECRET_HEADER,
    USER_AGENT,
    Call,
    CountedPage,
    HasId,
    ActiveSecret,
    Json,
    Omitted,
    Page,
    proxy_url,
    api_path,
    normalized_base_url,
    json_body,
    counted_page,
    entity_tag,
    response_error,
    or_omitted,
    request_headers,
    active_secret,
    resource_id,
    invalid,
    to_json,
    no_response,
    next_page_query,
    query_params,
    parse_result,
    retry_delay,
    tool_call,
    tool_result,
)
from ._tool_definitions import TOOL_DEFINITIONS
from .errors import ConnectError, ErrorDetails, NoResponseError, VaultError
from .models import (
    Access,
    Action,
    ActionAnswer,
    ActionDetail,
    ActionMatch,
    ActionPage,
    ActionSearchPage,
    AgentContinuation,
    AgentGrant,
    AgentGrantPage,
    AgentSignIn,
    AgentSignInType,
    ApiKey,
    ApiKeyPage,
    ApiKeyWithSecret,
    AttemptSummary,
    AttemptSummaryPage,
    AuditEntry,
    AuditEntryAction,
    AuditEntryPage,
    Branding,
    ConnectAttempt,
    ConnectAttemptStatus,
    Connection,
    ConnectionPage,
    ConnectionStatus,
    ConnectionSummary,
    Connector,
    ConnectorDetail,
    ConnectorPage,
    ConsoleSession,
    ConsoleSessionPage,
    ConsoleSignIn,
    ConsoleSignInType,
    Credentials,
    Delivery,
    DeliveryPage,
    DeliveryState,
    Event,
    EventPage,
    EventType,
    IdentityType,
    ImportResults,
    ListedConnection,
    Method,
    NewSessionScope,
    OauthClient,
    OauthClientPage,
    PendingAttempt,
    Pkce,
    Replayed,
    Scope,
    Session,
    State,
    StoredOauthClient,
    Usage,
    Webhook,
    WebhookPage,
    WebhookTest,
    WebhookWithSecret,
    Whoami,
)

Row = TypeVar("Row")
Result = TypeVar("Result")
SomePage = TypeVar("SomePage", bound=Page[Any])

AsyncSecret: TypeAlias = str | Callable[[], Awaitable[str | Session]]
"""An API key, a token, or a function that returns a token: it is called when a request needs one, shortly before the token
expires, and when the service rejects it."""


class AsyncSender:
    """Sends calls, and retries idempotent ones after temporary failures."""

    def __init__(
        self, base_url: str, secret: AsyncSecret, client: httpx.AsyncClient, timeout: float, max_retries: int
    ) -> None:
        self.base = normalized_base_url(base_url)
        self.client = client
        self.timeout = timeout
        self._max_retries = max_retries
        self._supply = secret
        self._current = ActiveSecret(secret) if isinstance(secret, str) else None
        self._lock = asyncio.Lock()

    async def secret(self, rejected: ActiveSecret | None = None) -> ActiveSecret:
        """Returns the secret to send. Requests another one from the function if this one was rejected."""
        active = self._current
        if active is not None and active is not rejected and active.is_current:
            return active
        if isinstance(self._supply, str):
            return ActiveSecret(self._supply)
        async with self._lock:
            # Another task has refreshed the secret in the meantime.
            if self._current is not None and self._current is not active and self._current.is_current:
                return self._current
            try:
                supplied = await self._supply()
            except Exception as cause:
                message = "The function in `secret` failed: its own error is the cause."
                raise VaultError("secret_unavailable", message) from cause
            self._current = active_secret(supplied)
            return self._current

    @property
    def can_refresh(self) -> bool:
        return not isinstance(self._supply, str)

    async def send_with_retries(self, call: Call[Any]) -> tuple[httpx.Response, str]:
        """Sends a call, and retries it if necessary. Returns the successful response, and the secret that was sent."""
        deadline = time.monotonic() + self.timeout
        rejected: ActiveSecret | None = None
        may_have_succeeded = False
        tries = 1
        while True:
            active = await self.secret(rejected)
            try:
                response = await self._send(call, active.value)
                if response.is_success:
                    return response, active.value
                error = response_error(response, active.value)
            except NoResponseError as cause:
                error = cause
            if error.status == 401 and self.can_refresh and rejected is None:
                # A request with a rejected secret had no effect, so any call can be sent again.
                rejected = active
                continue
            if call.method == "DELETE" and may_have_succeeded and error.code in NOT_FOUND_CODES:
                # An earlier attempt, whose response was lost, has deleted the resource.
                return httpx.Response(204), active.value
            may_have_succeeded = may_have_succeeded or isinstance(error, NoResponseError) or error.status == 503
            wait = retry_delay(error, tries)
            if not call.repeatable or wait is None or tries > self._max_retries or time.monotonic() + wait >= deadline:
                raise error
            tries += 1
            await asyncio.sleep(wait)

    async def _send(self, call: Call[Any], secret: str) -> httpx.Response:
        body = None if call.body is OMITTED else call.body
        try:
            return await self.client.request(
                call.method,
                self.base + call.path,
                params=call.query or None,
                json=body,
                headers=request_headers(call, secret),
                timeout=max(self.timeout, call.min_timeout),
                follow_redirects=False,
            )
        except httpx.HTTPError as cause:
            raise no_response(cause) from cause

    async def result(self, call: Call[Result]) -> Result:
        response, secret = await self.send_with_retries(call)
        return parse_result(call, response, secret)


class AsyncRows(Generic[Row, SomePage]):
    """A list. Iterate over it or over its `pages()`, or request one `page()`. No request is sent before that.

    Iterating requests 100 rows at a time unless you pass `limit`.
    """

    def __init__(
        self,
        get: Callable[[Mapping[str, str]], Awaitable[SomePage]],
        query: Mapping[str, str],
        next_query: Callable[[SomePage, Mapping[str, str]], Mapping[str, str] | None],
    ) -> None:
        self._get = get
        self._query = query
        self._next_query = next_query

    async def page(self) -> SomePage:
        """Returns the first page, or the one that the argument `page` or a cursor selects."""
        return await self._get(self._query)

    async def pages(self) -> AsyncIterator[SomePage]:
        """Iterates over all pages, starting with the one that `page` returns."""
        query: Mapping[str, str] | None = {**self._query}
        if not self._query.keys() & {"limit", "page", "after", "before"}:
            query = {**self._query, "limit": str(PAGE_SIZE)}
        while query is not None:
            page = await self._get(query)
            yield page
            query = self._next_query(page, query)

    async def __aiter__(self) -> AsyncIterator[Row]:
        async for page in self.pages():
            for row in page.rows:
                yield row

    async def to_list(self, max: int | None = None) -> list[Row]:
        """Collects the rows of all pages, at most `max`."""
        rows: list[Row] = []
        if max is not None and max <= 0:
            return rows
        async for row in self:
            rows.append(row)
            if len(rows) == max:
                break
        return rows


def _counted_list(
    sender: AsyncSender, kind: Any, path: str, query: Mapping[str, str]
) -> AsyncRows[Any, CountedPage[Any]]:
    """A list with a total."""

    async def get(query: Mapping[str, str]) -> CountedPage[Any]:
        call: Call[Any] = Call("GET", path, kind, query=query)
        response, secret = await sender.send_with_retries(call)
        return counted_page(kind, response, call, secret)

    return AsyncRows(get, query, next_page_query)


def _cursor_list(
    sender: AsyncSender, kind: Any, path: str, query: Mapping[str, str], parameter: str
) -> AsyncRows[Any, Page[Any]]:
    """A list with a cursor, which is passed as `parameter`."""

    async def get(query: Mapping[str, str]) -> Page[Any]:
        result = await sender.result(Call[Any]("GET", path, kind, query=query))
        return Page(result.rows, result.next)

    def next_query(page: Page[Any], query: Mapping[str, str]) -> Mapping[str, str] | None:
        if page.cursor is None or page.cursor == query.get(parameter):
            return None
        return {**query, parameter: page.cursor}

    return AsyncRows(get, query, next_query)


class AsyncConnectors:
    """The catalog of connectors. Needs the scope `catalog:read`."""

    def __init__(self, sender: AsyncSender) -> None:
        self._sender = sender

    def list(
        self,
        *,
        platform: str | None = None,
        name: str | None = None,
        category: str | None = None,
        key: str | None = None,
        authkit: bool | None = None,
        connectable: bool | None = None,
        has_oauth_client: bool | None = None,
        q: str | None = None,
        limit: int | None = None,
        page: int | None = None,
    ) -> AsyncRows[Connector, CountedPage[Connector]]:
        """Lists connectors. All given filters must hold; `q` is a ranked search."""
        query = query_params(
            dict(
                platform=platform,
                name=name,
                category=category,
                key=key,
                authkit=authkit,
                connectable=connectable,
                has_oauth_client=has_oauth_client,
                q=q,
                limit=limit,
                page=page,
            )
        )
        return _counted_list(self._sender, ConnectorPage, api_path("available-connectors"), query)

    async def get(self, platform: str) -> ConnectorDetail:
        """Returns a connector with its auth methods."""
        return await self._sender.result(Call("GET", api_path("available-connectors", platform), ConnectorDetail))


class AsyncActions:
    """The actions of platforms. Needs the scope `catalog:read`; running one needs `connections:call`."""

    def __init__(self, sender: AsyncSender) -> None:
        self._sender = sender

    def search(
        self,
        q: str,
        *,
        platforms: Iterable[str] | None = None,
        method: Method | None = None,
        limit: int | None = None,
        page: int | None = None,
    ) -> AsyncRows[ActionMatch, CountedPage[ActionMatch]]:
        """Searches the actions of all platforms by what they do, the best match first."""
        query = query_params(dict(q=q, platform=platforms, method=method, limit=limit, page=page))
        return _counted_list(self._sender, ActionSearchPage, api_path("available-actions"), query)

    def list(
        self,
        platform: str,
        *,
        title: str | None = None,
        key: str | None = None,
        method: Method | None = None,
        q: str | None = None,
        limit: int | None = None,
        page: int | None = None,
    ) -> AsyncRows[Action, CountedPage[Action]]:
        """Lists the actions of a platform."""
        query = query_params(dict(title=title, key=key, method=method, q=q, limit=limit, page=page))
        return _counted_list(self._sender, ActionPage, api_path("available-actions", platform), query)

    async def get(
        self, platform: str, key: str, *, responses: bool = False, for_model: bool = False
    ) -> ActionDetail:
        """Returns an action with its input; with `responses`, also the responses of the platform.

        With `for_model`, `input` is one flat object that the tool definitions of models allow; `run` takes it as `arguments`.
        """
        query = query_params({"include": "responses" if responses else None, "for": "model" if for_model else None})
        return await self._sender.result(Call("GET", api_path("available-actions", platform, key), ActionDetail, query))

    async def run(
        self,
        connection: str | HasId,
        key: str,
        *,
        path: Mapping[str, Json] | None = None,
        query: Mapping[str, Json] | None = None,
        header: Mapping[str, Json] | None = None,
        cookie: Mapping[str, Json] | None = None,
        body: Json = OMITTED,
        arguments: Mapping[str, Json] | None = None,
        select: Iterable[str] | None = None,
        max_bytes: int | None = None,
    ) -> ActionAnswer:
        """Runs an action as a connected account, and returns the platform's response, regardless of its status.

        The service validates the input before it calls the platform, and reports all errors. `path` has the parameters of the
        action's path. `arguments`, instead of these, is the input as `get` describes it with `for_model`. `select` names the
        parts of the response body to return, as JSON pointers in which `*` stands for every item; `max_bytes` is the maximum
        size of the response. Never retried.
        """
        return await self._sender.result(
            Call(
                "POST",
                api_path("vault", "connections", resource_id(connection), "actions", key),
                ActionAnswer,
                body=json_body(
                    dict(
                        path=or_omitted(path),
                        query=or_omitted(query),
                        header=or_omitted(header),
                        cookie=or_omitted(cookie),
                        body=body,
                        arguments=or_omitted(arguments),
                        select=OMITTED if select is None else [*select],
                        max_bytes=or_omitted(max_bytes),
                    )
                ),
                repeatable=False,
            )
        )


class AsyncConnections:
    """The vault of connections. Needs the scope `connections:read`; changes need `connections:write`."""

    def __init__(self, sender: AsyncSender) -> None:
        self._sender = sender

    def list(
        self,
        *,
        platform: str | None = None,
        identity: str | None = None,
        identity_type: IdentityType | None = None,
        key: str | Iterable[str] | None = None,
        name: str | None = None,
        platform_version: str | None = None,
        tags: str | Iterable[str] | None = None,
        tags_match: str | None = None,
        q: str | None = None,
        state: State | None = None,
        active: bool | None = None,
        account: str | None = None,
        include_account: bool = False,
        limit: int | None = None,
        page: int | None = None,
        after: str | None = None,
    ) -> AsyncRows[ListedConnection, CountedPage[ListedConnection]]:
        """Lists connections, the newest first. All given filters must hold; only active ones, unless `active` is False.

        `account` is the ID of the connected account at the platform; `include_account` adds that account to each.
        Iterating returns each connection that exists throughout exactly once, even if others change in the meantime.
        """
        query = query_params(
            dict(
                platform=platform,
                identity=identity,
                identity_type=identity_type,
                key=key,
                name=name,
                platform_version=platform_version,
                tags=tags,
                tags_match=tags_match,
                q=q,
                state=state,
                active=active,
                account=account,
                include="account" if include_account else None,
                limit=limit,
                page=page,
                after=after,
            )
        )
        return _counted_list(self._sender, ConnectionPage, api_path("vault", "connections"), query)

    async def get(self, connection: str | HasId) -> Connection:
        """Returns a connection, active or not."""
        return await self._sender.result(Call("GET", _connection(connection), Connection))

    async def create(
        self,
        *,
        platform: str,
        identity: str,
        identity_type: IdentityType,
        label: str | None = None,
        name: str | None = None,
        tags: Iterable[str] | None = None,
        platform_version: str | None = None,
        state: State | None = None,
        active: bool | None = None,
    ) -> Connection:
        """Creates a connection whose credentials are stored elsewhere. Never retried."""
        body = json_body(
            dict(
                platform=platform,
                identity=identity,
                identity_type=identity_type,
                label=or_omitted(label),
                name=or_omitted(name),
                tags=OMITTED if tags is None else [*tags],
                platform_version=or_omitted(platform_version),
                state=or_omitted(state),
                active=or_omitted(active),
            )
        )
        call = Call[Connection]("POST", api_path("vault", "connections"), Connection, body=body, repeatable=False)
        return await self._sender.result(call)

    async def _change(
        self, method: str, path: str, body: dict[str, Json], if_match: str | Connection | None
    ) -> Connection:
        # With a condition, a retry after a lost response would fail although the first attempt has succeeded.
        call = Call[Connection](
            method,
            path,
            Connection,
            body=body,
            if_match=entity_tag(if_match),
            repeatable=if_match is None,
        )
        return await self._sender.result(call)

    async def update(
        self, connection: str | HasId, *, tags: Iterable[str], if_match: str | Connection | None = None
    ) -> Connection:
        """Replaces all tags.

        With `if_match`, a connection as you read it, this raises a `PreconditionError` and writes nothing if another
        client has changed the connection since.
        """
        return await self._change("PATCH", _connection(connection), {"tags": [*tags]}, if_match)

    async def set_state(
        self,
        connection: str | HasId,
        state: State,
        *,
        active: bool | None = None,
        reason: str | None = None,
        if_match: str | Connection | None = None,
    ) -> Connection:
        """Reports the state of a connection whose credentials are stored elsewhere."""
        body = json_body(dict(state=state, active=or_omitted(active), reason=or_omitted(reason)))
        return await self._change("PUT", _connection(connection, "state"), body, if_match)

    async def set_name(
        self, connection: str | HasId, name: str | None, *, if_match: str | Connection | None = None
    ) -> Connection:
        """Sets the display name; None removes it."""
        return await self._change("PUT", _connection(connection, "name"), {"name": name}, if_match)

    async def delete(self, connection: str | HasId, *, if_match: str | Connection | None = None) -> None:
        """Deletes a connection, and erases its credentials."""
        await self._sender.result(
            Call[None]("DELETE", _connection(connection), None, if_match=entity_tag(if_match))
        )

    async def status(self, connection: str | HasId) -> ConnectionStatus:
        """Returns the state, the reason for it, and who must act."""
        return await self._sender.result(Call("GET", _connection(connection, "status"), ConnectionStatus))

    async def check(self, connection: str | HasId) -> Connection:
        """Checks now whether the credentials work."""
        return await self._sender.result(Call("POST", _connection(connection, "check"), Connection))

    async def get_credentials(self, connection: str | HasId, *, refresh: bool | None = None) -> Credentials:
        """Returns credentials that are fresh and ready to use: `headers` and `query` are what to send.

        Needs the scope `credentials:read`. With `refresh`, the access token is refreshed regardless of its remaining time.
        """
        query = query_params(dict(refresh=refresh))
        return await self._sender.result(
            Call("GET", _connection(connection, "credentials"), Credentials, query)
        )

    async def set_credentials(
        self,
        connection: str | HasId,
        type: str,
        *,
        auth_method: str | None = None,
        access_token: str | None = None,
        refresh_token: str | None = None,
        expires_at: datetime | None = None,
        scopes: Iterable[str] | None = None,
        api_key: str | None = None,
        username: str | None = None,
        password: str | None = None,
        token: str | None = None,
        access_key_id: str | None = None,
        secret_access_key: str | None = None,
        session_token: str | None = None,
        region: str | None = None,
        fields: Mapping[str, str] | None = None,
    ) -> None:
        """Imports credentials from another service. Only the members of their type are allowed. Needs the scope `credentials:write`."""
        body = json_body(
            dict(
                type=type,
                auth_method=or_omitted(auth_method),
                access_token=or_omitted(access_token),
                refresh_token=or_omitted(refresh_token),
                expires_at=or_omitted(expires_at),
                scopes=OMITTED if scopes is None else [*scopes],
                api_key=or_omitted(api_key),
                username=or_omitted(username),
                password=or_omitted(password),
                token=or_omitted(token),
                access_key_id=or_omitted(access_key_id),
                secret_access_key=or_omitted(secret_access_key),
                session_token=or_omitted(session_token),
                region=or_omitted(region),
                fields=or_omitted(fields),
            )
        )
        await self._sender.result(Call[None]("PUT", _connection(connection, "credentials"), None, body=body))

    async def import_connections(
        self,
        connections: Iterable[Mapping[str, object]],
        *,
        cut_over: bool | None = None,
    ) -> ImportResults:
        """Creates connections with the credentials that another service holds, up to 20 in a call.

        Needs the scope `credentials:write`. Without `cut_over`, nothing is refreshed, since the other service may still do so.
        """
        body = json_body(dict(connections=[*connections], cut_over=or_omitted(cut_over)))
        return await self._sender.result(
            Call("POST", api_path("vault", "connections", "import"), ImportResults, body=body)
        )

    async def summary(self) -> ConnectionSummary:
        """Counts connections."""
        return await self._sender.result(Call("GET", api_path("vault", "summary"), ConnectionSummary))


def _connection(connection: str | HasId, *more: str) -> str:
    return api_path("vault", "connections", resource_id(connection), *more)


class AsyncConnectAttempts:
    """Attempts to connect accounts. Needs the scope `connections:connect`."""

    def __init__(self, sender: AsyncSender) -> None:
        self._sender = sender

    async def start(
        self,
        *,
        platform: str | None = None,
        connection: str | HasId | None = None,
        auth_method: str | None = None,
        client: str | None = None,
        identity: str | None = None,
        identity_type: IdentityType | None = None,
        label: str | None = None,
        name: str | None = None,
        tags: Iterable[str] | None = None,
        fields: Mapping[str, str] | None = None,
        fixed_fields: Mapping[str, str] | None = None,
        lang: str | None = None,
        scopes: Iterable[str] | None = None,
        return_url: str | None = None,
        allow_other_account: bool | None = None,
        link: bool | None = None,
    ) -> Connection | PendingAttempt:
        """Connects an account at `platform`, or reconnects `connection`.

        Returns the connection if the user's credentials are in `fields`. If the user must go to the platform, it returns an
        attempt: give its `authorization_url` to the user, then `wait` for the connection. With `link`, it always returns
        an attempt, and the user enters a key or chooses a method on the page of the link. `client` is the name of the
        OAuth client, if the platform has several. On the page, the user can change `fields`, but not `fixed_fields`.
        `lang` is the language of the pages that the user sees (BCP 47), by default that of the browser. Never retried.
        """
        body = json_body(
            dict(
                platform=or_omitted(platform),
                connection=OMITTED if connection is None else resource_id(connection),
                auth_method=or_omitted(auth_method),
                client=or_omitted(client),
                identity=or_omitted(identity),
                identity_type=or_omitted(identity_type),
                label=or_omitted(label),
                name=or_omitted(name),
                tags=OMITTED if tags is None else [*tags],
                fields=or_omitted(fields),
                fixed_fields=or_omitted(fixed_fields),
                lang=or_omitted(lang),
                scopes=OMITTED if scopes is None else [*scopes],
                return_url=or_omitted(return_url),
                allow_other_account=or_omitted(allow_other_account),
                link=or_omitted(link),
            )
        )
        call: Call[Any] = Call("POST", api_path("vault", "connect"), None, body=body, repeatable=False)
        response, secret = await self._sender.send_with_retries(call)
        if response.status_code == 202:
            return parse_result(Call[PendingAttempt]("POST", call.path, PendingAttempt), response, secret)
        return parse_result(Call[Connection]("POST", call.path, Connection), response, secret)

    async def get(self, attempt: str | HasId, *, wait: int | None = None) -> ConnectAttempt:
        """Returns an attempt; with `wait`, the service waits up to 25 seconds for its result."""
        query = query_params(dict(wait=wait))
        return await self._sender.result(
            Call("GET", api_path("vault", "connect", resource_id(attempt)), ConnectAttempt, query)
        )

    async def wait(self, attempt: str | HasId, *, timeout: float = 600) -> Connection:
        """Waits until the user has connected the account, at most `timeout` seconds, and returns the connection.

        Fails with a `ConnectError` if the attempt has failed or expired, and with a `NoResponseError` if it is still pending
        after that time.
        """
        deadline = time.monotonic() + timeout
        while True:
            remaining = deadline - time.monotonic()
            # The wait must end before the client's own timeout.
            seconds = max(1, min(25, int(remaining), int(self._sender.timeout / 2)))
            latest = await self.get(attempt, wait=seconds)
            if latest.connection is not None:
                return latest.connection
            if latest.error is not None:
                raise ConnectError(latest.error.code, latest.error.detail, ErrorDetails(attempt=latest.id))
            if latest.status != "pending":
                message = "The user did not finish in time."
                raise ConnectError("expired", message, ErrorDetails(attempt=latest.id))
            if time.monotonic() >= deadline:
                raise NoResponseError("timeout", "The attempt is still pending.")

    def list(
        self,
        *,
        status: ConnectAttemptStatus | Iterable[ConnectAttemptStatus] | None = None,
        platform: str | None = None,
        identity: str | None = None,
        limit: int | None = None,
        before: str | None = None,
    ) -> AsyncRows[AttemptSummary, Page[AttemptSummary]]:
        """Lists attempts, the newest first. Needs the scope `connections:read`."""
        query = query_params(dict(status=status, platform=platform, identity=identity, limit=limit, before=before))
        return _cursor_list(self._sender, AttemptSummaryPage, api_path("vault", "connect"), query, "before")


class AsyncOauthClients:
    """The registrations of your app at platforms. Needs the scope `clients:read`; changes need `clients:write`."""

    def __init__(self, sender: AsyncSender) -> None:
        self._sender = sender

    def list(
        self, *, limit: int | None = None, page: int | None = None
    ) -> AsyncRows[OauthClient, CountedPage[OauthClient]]:
        """Lists OAuth clients."""
        query = query_params(dict(limit=limit, page=page))
        return _counted_list(self._sender, OauthClientPage, api_path("oauth-clients"), query)

    async def get(self, platform: str, *, name: str | None = None) -> OauthClient:
        """Returns the OAuth client for a platform, or the one with this name, without its secret."""
        query = query_params(dict(name=name))
        return await self._sender.result(Call("GET", api_path("oauth-clients", platform), OauthClient, query))

    async def set(
        self,
        platform: str,
        *,
        name: str | None = None,
        client_id: str,
        client_secret: str | None | Omitted = OMITTED,
        auth_method: str | None = None,
        scopes: Iterable[str] = (),
        authorization_parameters: Mapping[str, str] | None = None,
        variables: Mapping[str, str] | None = None,
        start_url: str | None = None,
        pkce: Pkce | None = None,
    ) -> StoredOauthClient:
        """Replaces the OAuth client for a platform. An omitted secret is kept if `client_id` stays the same.

        With a `name`, a platform can have several clients.
        """
        body = json_body(
            dict(
                client_id=client_id,
                client_secret=client_secret,
                auth_method=or_omitted(auth_method),
                scopes=[*scopes],
                authorization_parameters=or_omitted(authorization_parameters),
                variables=or_omitted(variables),
                start_url=or_omitted(start_url),
                pkce=or_omitted(pkce),
            )
        )
        path, query = api_path("oauth-clients", platform), query_params(dict(name=name))
        call = Call[StoredOauthClient]("PUT", path, StoredOauthClient, query, body=body)
        return await self._sender.result(call)

    async def delete(self, platform: str, *, name: str | None = None) -> None:
        """Deletes the OAuth client for a platform, or the one with this name."""
        query = query_params(dict(name=name))
        await self._sender.result(Call[None]("DELETE", api_path("oauth-clients", platform), None, query))


class AsyncEvents:
    """The events of the vault. Needs the scope `events:read`."""

    def __init__(self, sender: AsyncSender) -> None:
        self._sender = sender

    def list(
        self,
        *,
        types: EventType | Iterable[EventType] | None = None,
        connection: str | HasId | None = None,
        order: str | None = None,
        limit: int | None = None,
        after: str | None = None,
    ) -> AsyncRows[Event, Page[Event]]:
        """Lists events, the oldest first unless `order` is `newest`. Iterating ends with the latest event so far.

        To follow them, keep the `cursor` of a page, and pass it as `after` later.
        """
        connection_id = None if connection is None else resource_id(connection)
        query = query_params(dict(types=types, connection=connection_id, order=order, limit=limit, after=after))
        return _cursor_list(self._sender, EventPage, api_path("events"), query, "after")


class AsyncWebhooks:
    """Webhooks, to which events are sent. Needs the scope `webhooks:read`; changes need `webhooks:write`."""

    def __init__(self, sender: AsyncSender) -> None:
        self._sender = sender

    async def list(self) -> builtins.list[Webhook]:
        """Returns all webhooks, the oldest first."""
        page = await self._sender.result(Call[WebhookPage]("GET", api_path("webhooks"), WebhookPage))
        return page.rows

    async def create(
        self,
        url: str,
        *,
        types: Iterable[EventType] | None = None,
        description: str | None = None,
        active: bool | None = None,
    ) -> WebhookWithSecret:
        """Creates a webhook. Keep its `secret`: it is returned only once. Never retried."""
        body = json_body(
            dict(
                url=url,
                types=OMITTED if types is None else [*types],
                description=or_omitted(description),
                active=or_omitted(active),
            )
        )
        call = Call[WebhookWithSecret]("POST", api_path("webhooks"), WebhookWithSecret, body=body, repeatable=False)
        return await self._sender.result(call)

    async def get(self, webhook: str | HasId) -> Webhook:
        """Returns a webhook."""
        return await self._sender.result(Call("GET", api_path("webhooks", resource_id(webhook)), Webhook))

    async def update(
        self,
        webhook: str | HasId,
        *,
        url: str | None = None,
        types: Iterable[EventType] | None = None,
        description: str | None | Omitted = OMITTED,
        active: bool | None = None,
    ) -> Webhook:
        """Updates a webhook. Omitted arguments do not change."""
        body = json_body(
            dict(
                url=or_omitted(url),
                types=OMITTED if types is None else [*types],
                description=description,
                active=or_omitted(active),
            )
        )
        return await self._sender.result(Call("PATCH", api_path("webhooks", resource_id(webhook)), Webhook, body=body))

    async def delete(self, webhook: str | HasId) -> None:
        """Deletes a webhook."""
        await self._sender.result(Call[None]("DELETE", api_path("webhooks", resource_id(webhook)), None))

    async def rotate(self, webhook: str | HasId) -> WebhookWithSecret:
        """Replaces the secret of a webhook. For 24 hours, the previous one also signs. Never retried."""
        path = api_path("webhooks", resource_id(webhook), "rotate")
        return await self._sender.result(Call("POST", path, WebhookWithSecret, repeatable=False))

    async def test(self, webhook: str | HasId) -> WebhookTest:
        """Sends an event of the type `webhook.test`, and returns the result. Never retried."""
        path = api_path("webhooks", resource_id(webhook), "test")
        return await self._sender.result(Call("POST", path, WebhookTest, repeatable=False))

    async def replay(self, webhook: str | HasId, *, from_: str, to: str | None = None) -> Replayed:
        """Sends events again, from `from_` up to `to`: at most 1,000."""
        body = json_body(dict(from_=from_, to=or_omitted(to)))
        return await self._sender.result(
            Call("POST", api_path("webhooks", resource_id(webhook), "replay"), Replayed, body=body)
        )

    def deliveries(
        self,
        webhook: str | HasId,
        *,
        state: DeliveryState | None = None,
        limit: int | None = None,
        before: str | None = None,
    ) -> AsyncRows[Delivery, Page[Delivery]]:
        """Lists deliveries, those of the latest events first."""
        query = query_params(dict(state=state, limit=limit, before=before))
        return _cursor_list(
            self._sender, DeliveryPage, api_path("webhooks", resource_id(webhook), "deliveries"), query, "before"
        )


class AsyncApiKeys:
    """The API keys of the account and environment. Needs the scope `keys:read`; changes need `keys:write`."""

    def __init__(self, sender: AsyncSender) -> None:
        self._sender = sender

    def list(self, *, limit: int | None = None, before: str | None = None) -> AsyncRows[ApiKey, Page[ApiKey]]:
        """Lists API keys, the newest first."""
        query = query_params(dict(limit=limit, before=before))
        return _cursor_list(self._sender, ApiKeyPage, api_path("keys"), query, "before")

    async def create(
        self, *, scopes: Iterable[Scope], name: str | None = None, expires_at: datetime | None = None
    ) -> ApiKeyWithSecret:
        """Creates a key with some of your key's scopes. Its `secret` is returned only once. Never retried."""
        body = json_body(dict(scopes=[*scopes], name=or_omitted(name), expires_at=or_omitted(expires_at)))
        call = Call[ApiKeyWithSecret]("POST", api_path("keys"), ApiKeyWithSecret, body=body, repeatable=False)
        return await self._sender.result(call)

    async def rotate(self, key: str | HasId) -> ApiKeyWithSecret:
        """Replaces a key with a new one; the old one stays valid for 24 hours. Never retried."""
        path = api_path("keys", resource_id(key), "rotate")
        return await self._sender.result(Call("POST", path, ApiKeyWithSecret, repeatable=False))

    async def revoke(self, key: str | HasId) -> None:
        """Revokes a key immediately, with its tokens and the keys that it created."""
        await self._sender.result(Call[None]("DELETE", api_path("keys", resource_id(key)), None))


class AsyncAgentSignIns:
    """Sign-in for agents. Needs the scope `agents:read`; changes need `agents:write`."""

    def __init__(self, sender: AsyncSender) -> None:
        self._sender = sender

    async def get(self) -> AgentSignIn:
        """Returns the configuration of sign-in."""
        return await self._sender.result(Call("GET", api_path("agent-sign-in"), AgentSignIn))

    async def set(
        self,
        type: AgentSignInType,
        *,
        issuer: str | None = None,
        client_id: str | None = None,
        client_secret: str | None | Omitted = OMITTED,
        identity_claim: str | None = None,
        identity_type: IdentityType | None = None,
        url: str | None = None,
        confirm: Literal["write", "destructive"] | None = None,
    ) -> AgentSignIn:
        """Configures an OpenID provider (`oidc`) or your app (`app`) to authenticate the users of agents.

        With `confirm`, users signed in by an OpenID provider approve each call that it names.
        """
        body = json_body(
            dict(
                type=type,
                issuer=or_omitted(issuer),
                client_id=or_omitted(client_id),
                client_secret=client_secret,
                identity_claim=or_omitted(identity_claim),
                identity_type=or_omitted(identity_type),
                url=or_omitted(url),
                confirm=or_omitted(confirm),
            )
        )
        return await self._sender.result(Call("PUT", api_path("agent-sign-in"), AgentSignIn, body=body))

    async def delete(self) -> None:
        """Disables sign-in, and revokes every grant."""
        await self._sender.result(Call[None]("DELETE", api_path("agent-sign-in"), None))


class AsyncAgentGrants:
    """The grants of agents. Needs the scope `agents:read`; changes need `agents:write`."""

    def __init__(self, sender: AsyncSender) -> None:
        self._sender = sender

    def list(
        self, *, identity: str | None = None, limit: int | None = None, before: str | None = None
    ) -> AsyncRows[AgentGrant, Page[AgentGrant]]:
        """Lists grants, the newest first."""
        query = query_params(dict(identity=identity, limit=limit, before=before))
        return _cursor_list(self._sender, AgentGrantPage, api_path("agent-grants"), query, "before")

    async def create(
        self,
        *,
        request: str,
        identity: str,
        identity_type: IdentityType | None = None,
        platforms: Iterable[str] | None = None,
        access: Access | None = None,
        actions: Iterable[str] | None = None,
        connections: Iterable[str | HasId] | None = None,
        confirm: Literal["write", "destructive"] | None = None,
    ) -> AgentContinuation:
        """Identifies the user whom an agent's `request` has redirected to your app. Redirect them to `continue_url`. Never retried.

        `platforms`, `access`, `actions` (`platform/key` or `platform/prefix*`) and `connections` limit the agent;
        `confirm` names the calls that need the user's approval.
        """
        body = json_body(
            dict(
                request=request,
                identity=identity,
                identity_type=or_omitted(identity_type),
                platforms=OMITTED if platforms is None else [*platforms],
                access=or_omitted(access),
                actions=OMITTED if actions is None else [*actions],
                connections=OMITTED if connections is None else [resource_id(one) for one in connections],
                confirm=or_omitted(confirm),
            )
        )
        call = Call[AgentContinuation]("POST", api_path("agent-grants"), AgentContinuation, body=body, repeatable=False)
        return await self._sender.result(call)

    async def delete(self, grant: str | HasId) -> None:
        """Revokes a grant: the agent's tokens are rejected immediately."""
        await self._sender.result(Call[None]("DELETE", api_path("agent-grants", resource_id(grant)), None))


class AsyncBrandings:
    """How your app is presented to its users. Needs the scope `clients:read`; changes need `clients:write`."""

    def __init__(self, sender: AsyncSender) -> None:
        self._sender = sender

    async def get(self) -> Branding:
        """Returns the branding of the account and environment."""
        return await self._sender.result(Call("GET", api_path("branding"), Branding))

    async def set(
        self,
        *,
        name: str | None = None,
        logo: str | None = None,
        color: str | None = None,
        url: str | None = None,
    ) -> Branding:
        """Replaces the branding. A value of `None` falls back to the service's configuration.

        `logo` is a PNG or WebP image of at most 32 KiB, as a `data:` URL.
        """
        body = json_body(dict(name=name, logo=logo, color=color, url=url))
        return await self._sender.result(Call("PUT", api_path("branding"), Branding, body=body))


class AsyncConsoleSignIns:
    """Sign-in to the console. Needs the scope `console:read`; changes need `console:write`."""

    def __init__(self, sender: AsyncSender) -> None:
        self._sender = sender

    async def get(self) -> ConsoleSignIn:
        """Returns the configuration of sign-in."""
        return await self._sender.result(Call("GET", api_path("console-sign-in"), ConsoleSignIn))

    async def set(
        self,
        type: ConsoleSignInType,
        *,
        claim: str,
        roles: Mapping[str, Iterable[Scope]],
        issuer: str | None = None,
        client_id: str | None = None,
        client_secret: str | None | Omitted = OMITTED,
        scopes: Iterable[str] | None = None,
        team_domain: str | None = None,
        audience: str | None = None,
    ) -> ConsoleSignIn:
        """Configures an OpenID provider (`oidc`) or Cloudflare Access (`access`), and ends all sessions.

        `roles` has the scopes of each value of `claim`. The caller must have each of them.
        """
        body = json_body(
            dict(
                type=type,
                claim=claim,
                roles={role: [*scopes] for role, scopes in roles.items()},
                issuer=or_omitted(issuer),
                client_id=or_omitted(client_id),
                client_secret=client_secret,
                scopes=OMITTED if scopes is None else [*scopes],
                team_domain=or_omitted(team_domain),
                audience=or_omitted(audience),
            )
        )
        return await self._sender.result(Call("PUT", api_path("console-sign-in"), ConsoleSignIn, body=body))

    async def delete(self) -> None:
        """Disables sign-in, and ends all sessions."""
        await self._sender.result(Call[None]("DELETE", api_path("console-sign-in"), None))


class AsyncConsoleSessions:
    """The people who are signed in to the console. Needs the scope `console:read`; ending sessions needs `console:write`."""

    def __init__(self, sender: AsyncSender) -> None:
        self._sender = sender

    def list(
        self, *, limit: int | None = None, before: str | None = None
    ) -> AsyncRows[ConsoleSession, Page[ConsoleSession]]:
        """Lists sessions, the newest first."""
        query = query_params(dict(limit=limit, before=before))
        return _cursor_list(self._sender, ConsoleSessionPage, api_path("console-sessions"), query, "before")

    async def delete(self, session: str | HasId) -> None:
        """Ends a session: its next request is rejected."""
        await self._sender.result(Call[None]("DELETE", api_path("console-sessions", resource_id(session)), None))

    async def sign_out(self) -> None:
        """Ends the caller's own session. Needs the token of a signed-in person."""
        await self._sender.result(Call[None]("DELETE", api_path("console-sessions", "current"), None))


class AsyncAudit:
    """The audit log: changes, and reads of credentials. Needs the scope `audit:read`."""

    def __init__(self, sender: AsyncSender) -> None:
        self._sender = sender

    def list(
        self,
        *,
        actor: str | None = None,
        actions: Iterable[AuditEntryAction] | None = None,
        target: str | None = None,
        connection: str | HasId | None = None,
        from_: datetime | str | None = None,
        to: datetime | str | None = None,
        limit: int | None = None,
        before: str | None = None,
    ) -> AsyncRows[AuditEntry, Page[AuditEntry]]:
        """Lists entries, the newest first."""
        query = query_params(
            dict(
                actor=actor,
                actions=actions,
                target=target,
                connection=None if connection is None else resource_id(connection),
                from_=from_,
                to=to,
                limit=limit,
                before=before,
            )
        )
        return _cursor_list(self._sender, AuditEntryPage, api_path("audit"), query, "before")


class AsyncSessions:
    """Short-lived tokens, for pages and agents. Needs the scope `sessions:create`."""

    def __init__(self, sender: AsyncSender) -> None:
        self._sender = sender

    async def create(
        self,
        *,
        identity: str,
        identity_type: IdentityType | None = None,
        scopes: Iterable[NewSessionScope] | None = None,
        platforms: Iterable[str] | None = None,
        access: Access | None = None,
        actions: Iterable[str] | None = None,
        connections: Iterable[str | HasId] | None = None,
        confirm: Literal["write", "destructive"] | None = None,
        client: str | None = None,
        origins: Iterable[str] | None = None,
        fields: Mapping[str, str] | None = None,
        fixed_fields: Mapping[str, str] | None = None,
        lang: str | None = None,
        ttl_seconds: int | None = None,
    ) -> Session:
        """Creates a token that has access to the connections of one identity, for 15 minutes by default.

        `platforms`, `access`, `actions` (`platform/key` or `platform/prefix*`) and `connections` limit it further.
        `confirm` names the calls of an agent at `POST /mcp` that the user must approve; other endpoints return a 403 for them.
        `client` is the name of the OAuth client with which it connects accounts.
        `fields` are values that the user can change in the connect window, `fixed_fields` ones that the user can't; both need
        `platforms` with one platform. `lang` is the language of the window (BCP 47), by default that of the browser.
        """
        body = json_body(
            dict(
                identity=identity,
                identity_type=or_omitted(identity_type),
                scopes=OMITTED if scopes is None else [*scopes],
                platforms=OMITTED if platforms is None else [*platforms],
                access=or_omitted(access),
                actions=OMITTED if actions is None else [*actions],
                connections=OMITTED if connections is None else [resource_id(one) for one in connections],
                confirm=or_omitted(confirm),
                client=or_omitted(client),
                origins=OMITTED if origins is None else [*origins],
                fields=or_omitted(fields),
                fixed_fields=or_omitted(fixed_fields),
                lang=or_omitted(lang),
                ttl_seconds=or_omitted(ttl_seconds),
            )
        )
        return await self._sender.result(Call("POST", api_path("sessions"), Session, body=body))


class AsyncConnectorVault:
    """A client of one service with one API key or token. Use it with `async with`, or close it.

    `timeout` is the number of seconds to wait for the service; a call is repeated at most `max_retries` times, if that is
    safe. `http_client` is your own `httpx.AsyncClient`, which this class does not close.
    """

    def __init__(
        self,
        base_url: str,
        secret: AsyncSecret,
        *,
        timeout: float = 30,
        max_retries: int = 2,
        http_client: httpx.AsyncClient | None = None,
    ) -> None:
        self._owns_client = http_client is None
        client = http_client or httpx.AsyncClient()
        self._sender = AsyncSender(base_url, secret, client, timeout, max_retries)
        self.connectors = AsyncConnectors(self._sender)
        self.actions = AsyncActions(self._sender)
        self.connections = AsyncConnections(self._sender)
        self.connect_attempts = AsyncConnectAttempts(self._sender)
        self.oauth_clients = AsyncOauthClients(self._sender)
        self.events = AsyncEvents(self._sender)
        self.webhooks = AsyncWebhooks(self._sender)
        self.keys = AsyncApiKeys(self._sender)
        self.sessions = AsyncSessions(self._sender)
        self.agent_sign_in = AsyncAgentSignIns(self._sender)
        self.agent_grants = AsyncAgentGrants(self._sender)
        self.branding = AsyncBrandings(self._sender)
        self.console_sign_in = AsyncConsoleSignIns(self._sender)
        self.console_sessions = AsyncConsoleSessions(self._sender)
        self.audit = AsyncAudit(self._sender)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Closes the connections to the service, unless you passed `http_client`."""
        if self._owns_client:
            await self._sender.client.aclose()

    async def whoami(self) -> Whoami:
        """Returns the account, environment and scopes of the key or the token."""
        return await self._sender.result(Call("GET", api_path("whoami"), Whoami))

    async def usage(
        self,
        *,
        from_: date | str | None = None,
        to: date | str | None = None,
        group_by: Iterable[Literal["day", "endpoint", "platform", "identity", "status"]] | None = None,
        platform: str | None = None,
        identity: str | None = None,
    ) -> Usage:
        """Counts the requests of the account's keys and tokens. Needs the scope `usage:read`."""
        query = query_params(dict(from_=from_, to=to, group_by=group_by, platform=platform, identity=identity))
        return await self._sender.result(Call("GET", api_path("usage"), Usage, query=query))

    async def call_tool(self, name: str, arguments: Json) -> Json:
        """Calls one of the service's tools for agents (`POST /mcp`), as an agent does, and returns its result.

        The modules for agent libraries call the tools with it. A result with the member `error` says what the agent must
        correct. Repeated only if the tool changes nothing.
        """
        only_reads = any(tool.only_reads for tool in TOOL_DEFINITIONS if tool.name == name)
        return tool_result(await self._sender.result(tool_call(name, arguments, only_reads=only_reads)))

    async def call_platform(
        self,
        connection: str | HasId,
        method: Method,
        path: str,
        *,
        params: Mapping[str, str | int | float | bool | None] | None = None,
        json: Json = OMITTED,
        content: bytes | str | AsyncIterable[bytes] | None = None,
        headers: Mapping[str, str] | None = None,
        server: str | None = None,
        retries: int | None = None,
        timeout: float | None = 60,
    ) -> httpx.Response:
        """Sends a request to the platform of a connection, with credentials that stay in the service.

        Returns the platform's response, regardless of its status; raises a `VaultError` if the service
        itself responds instead. The service follows redirects to the same origin; the target of any other is in the header
        `x-platform-location`. `path` is a path below the platform's server, or below `server`, another one of its servers.
        With `retries` (0–3), the service retries a request that is safe to repeat if the platform temporarily refuses it.
        Needs the scope `connections:call`. Never repeated by this package.
        """
        async with self.stream_platform(
            connection,
            method,
            path,
            params=params,
            json=json,
            content=content,
            headers=headers,
            server=server,
            retries=retries,
            timeout=timeout,
        ) as response:
            try:
                await response.aread()
            except httpx.HTTPError as cause:
                raise no_response(cause) from cause
            return response

    @asynccontextmanager
    async def stream_platform(
        self,
        connection: str | HasId,
        method: Method,
        path: str,
        *,
        params: Mapping[str, str | int | float | bool | None] | None = None,
        json: Json = OMITTED,
        content: bytes | str | AsyncIterable[bytes] | None = None,
        headers: Mapping[str, str] | None = None,
        server: str | None = None,
        retries: int | None = None,
        timeout: float | None = 60,
    ) -> AsyncGenerator[httpx.Response, None]:
        """Like `call_platform`, with a streamed response: `async with … as response`."""
        sender = self._sender
        address = httpx.URL(proxy_url(sender.base, resource_id(connection), path))
        if params:
            address = address.copy_merge_params(params)
        if json is not OMITTED and content is not None:
            raise invalid("`json` and `content` exclude each other")
        sent_headers = {"user-agent": USER_AGENT, **{name.lower(): value for name, value in (headers or {}).items()}}
        if json is not OMITTED:
            content = jsons.dumps(to_json(json)).encode()
            sent_headers.setdefault("content-type", "application/json")
        if server is not None:
            sent_headers["x-vault-server"] = server
        if retries is not None:
            sent_headers["x-vault-retries"] = str(retries)
        is_repeatable = sender.can_refresh and (content is None or isinstance(content, (bytes, str)))
        rejected: ActiveSecret | None = None
        while True:
            active = await sender.secret(rejected)
            request = sender.client.build_request(
                method,
                address,
                content=content,
                headers={**sent_headers, SECRET_HEADER: active.value},
                timeout=timeout,
            )
            try:
                response = await sender.client.send(request, stream=True, follow_redirects=False)
            except httpx.HTTPError as cause:
                raise no_response(cause) from cause
            try:
                if response.headers.get("x-vault-source") == "platform":
                    yield response
                    return
                # Without this header, the response is the service's own. With a 401, the service did not call the platform.
                await response.aread()
                if response.status_code != 401 or not is_repeatable or rejected is not None:
                    raise response_error(response, active.value)
                rejected = active
            finally:
                await response.aclose()

    async def platform_pages(
        self,
        connection: str | HasId,
        path: str,
        *,
        params: Mapping[str, str | int | float | bool | None] | None = None,
        headers: Mapping[str, str] | None = None,
        server: str | None = None,
        retries: int | None = None,
    ) -> AsyncIterator[httpx.Response]:
        """Iterates over the pages of a platform's list, each of which names the next one.

        Stops after a response that is not a success.
        """
        requested: set[str] = set()
        next_path: str | None = path
        # Platforms can link to a page that was already returned.
        while next_path is not None and next_path not in requested:
            requested.add(next_path)
            response = await self.call_platform(
                connection,
                "GET",
                next_path,
                params=params if next_path is path else None,
                headers=headers,
                server=server,
                retries=retries,
            )
            next_path = cast("str | None", response.headers.get("x-vault-next"))
            yield response
            if not response.is_success:
                return
