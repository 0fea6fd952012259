"""The asynchronous client. `npm run python -- generate` writes the synchronous one from it."""

from __future__ import annotations

import asyncio
import builtins
import json as jsons
import time
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from datetime import datetime
from types import TracebackType
from typing import Any, Generic, Literal, TypeAlias, TypeVar, cast

import httpx
from typing_extensions import Self

from ._core import (
    GONE,
    OMITTED,
    ROWS_AT_A_TIME,
    SECRET_HEADER,
    USER_AGENT,
    Call,
    CountedPage,
    HasId,
    Held,
    Json,
    Omitted,
    Page,
    address_of,
    at,
    base_of,
    body_of,
    counted_page,
    entity_tag,
    error_of,
    given,
    headers_of,
    held_of,
    id_of,
    invalid,
    json_of,
    no_response,
    query_after,
    query_of,
    result_of,
    wait_before_retry,
)
from .errors import ConnectError, Facts, NoResponseError, VaultError
from .models import (
    Access,
    Action,
    ActionAnswer,
    ActionDetail,
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
    ConnectAttempt,
    ConnectAttemptStatus,
    Connection,
    ConnectionPage,
    ConnectionStatus,
    ConnectionSummary,
    Connector,
    ConnectorDetail,
    ConnectorPage,
    Credentials,
    Delivery,
    DeliveryPage,
    DeliveryState,
    Event,
    EventPage,
    EventType,
    IdentityType,
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
    """Sends calls, and repeats them where that is safe and may help."""

    def __init__(
        self, base_url: str, secret: AsyncSecret, client: httpx.AsyncClient, timeout: float, max_retries: int
    ) -> None:
        self.base = base_of(base_url)
        self.client = client
        self.patience = timeout
        self._max_retries = max_retries
        self._supply = secret
        self._held = Held(secret) if isinstance(secret, str) else None
        self._lock = asyncio.Lock()

    async def secret(self, rejected: Held | None = None) -> Held:
        """The secret to send: another one than that which the service rejected, if there can be one."""
        held = self._held
        if held is not None and held is not rejected and held.is_current:
            return held
        if isinstance(self._supply, str):
            return Held(self._supply)
        async with self._lock:
            # Waiting callers get the result of the first one.
            if self._held is not None and self._held is not held and self._held.is_current:
                return self._held
            try:
                supplied = await self._supply()
            except Exception as cause:
                message = "The function in `secret` failed: its own error is the cause."
                raise VaultError("secret_unavailable", message) from cause
            self._held = held_of(supplied)
            return self._held

    @property
    def can_renew(self) -> bool:
        return not isinstance(self._supply, str)

    async def respond(self, call: Call[Any]) -> tuple[httpx.Response, str]:
        """The response to a call that has succeeded, and the secret that was sent."""
        until = time.monotonic() + self.patience
        rejected: Held | None = None
        is_lost = False
        tries = 1
        while True:
            held = await self.secret(rejected)
            try:
                response = await self._send(call, held.text)
                if response.is_success:
                    return response, held.text
                error = error_of(response, held.text)
            except NoResponseError as cause:
                error = cause
            if error.status == 401 and self.can_renew and rejected is None:
                # A request with a rejected secret has done nothing, so that any call can be sent again.
                rejected = held
                continue
            if call.method == "DELETE" and is_lost and error.code in GONE:
                # An earlier try whose response was lost has deleted it.
                return httpx.Response(204), held.text
            is_lost = is_lost or isinstance(error, NoResponseError) or error.status == 503
            wait = wait_before_retry(error, tries)
            if not call.repeatable or wait is None or tries > self._max_retries or time.monotonic() + wait >= until:
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
                headers=headers_of(call, secret),
                timeout=self.patience,
                follow_redirects=False,
            )
        except httpx.HTTPError as cause:
            raise no_response(cause) from cause

    async def result(self, call: Call[Result]) -> Result:
        response, secret = await self.respond(call)
        return result_of(call, response, secret)


class AsyncRows(Generic[Row, SomePage]):
    """A list: iterate over it for all of its rows, page by page, or ask for one page. Nothing is sent before that.

    Iterating requests 100 rows at a time unless you pass `limit`.
    """

    def __init__(
        self,
        get: Callable[[Mapping[str, str]], Awaitable[SomePage]],
        query: Mapping[str, str],
        following: Callable[[SomePage, Mapping[str, str]], Mapping[str, str] | None],
    ) -> None:
        self._get = get
        self._query = query
        self._following = following

    async def page(self) -> SomePage:
        """The first page, or the one that `page` or a cursor names."""
        return await self._get(self._query)

    async def pages(self) -> AsyncIterator[SomePage]:
        """All pages from there on."""
        query: Mapping[str, str] | None = {**self._query}
        if not self._query.keys() & {"limit", "page", "after", "before"}:
            query = {**self._query, "limit": str(ROWS_AT_A_TIME)}
        while query is not None:
            page = await self._get(query)
            yield page
            query = self._following(page, query)

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


def _counted(
    sender: AsyncSender, kind: Any, path: str, query: Mapping[str, str]
) -> AsyncRows[Any, CountedPage[Any]]:
    """A list that says how many rows there are."""

    async def get(query: Mapping[str, str]) -> CountedPage[Any]:
        call: Call[Any] = Call("GET", path, kind, query=query)
        response, secret = await sender.respond(call)
        return counted_page(kind, response, call, secret)

    return AsyncRows(get, query, query_after)


def _walked(
    sender: AsyncSender, kind: Any, path: str, query: Mapping[str, str], parameter: str
) -> AsyncRows[Any, Page[Any]]:
    """A list whose pages have a cursor, which `parameter` takes."""

    async def get(query: Mapping[str, str]) -> Page[Any]:
        answer = await sender.result(Call[Any]("GET", path, kind, query=query))
        return Page(answer.rows, answer.next)

    def following(page: Page[Any], query: Mapping[str, str]) -> Mapping[str, str] | None:
        if page.cursor is None or page.cursor == query.get(parameter):
            return None
        return {**query, parameter: page.cursor}

    return AsyncRows(get, query, following)


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
        query = query_of(
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
        return _counted(self._sender, ConnectorPage, at("available-connectors"), query)

    async def get(self, platform: str) -> ConnectorDetail:
        """Returns a connector, with how users connect."""
        return await self._sender.result(Call("GET", at("available-connectors", platform), ConnectorDetail))


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
    ) -> AsyncRows[Action, CountedPage[Action]]:
        """Searches the actions of all platforms by what they do, the best match first."""
        query = query_of(dict(q=q, platform=platforms, method=method, limit=limit, page=page))
        return _counted(self._sender, ActionSearchPage, at("available-actions"), query)

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
        query = query_of(dict(title=title, key=key, method=method, q=q, limit=limit, page=page))
        return _counted(self._sender, ActionPage, at("available-actions", platform), query)

    async def get(
        self, platform: str, key: str, *, responses: bool = False, for_model: bool = False
    ) -> ActionDetail:
        """Returns an action with what it takes; with `responses`, also what the platform answers.

        With `for_model`, `input` is one flat object that the tool definitions of models allow; `run` takes it as `arguments`.
        """
        query = query_of({"include": "responses" if responses else None, "for": "model" if for_model else None})
        return await self._sender.result(Call("GET", at("available-actions", platform, key), ActionDetail, query))

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
        """Runs an action as a connected account, and returns what the platform answers, whatever its status.

        The input is checked before anything is sent; the error lists everything that is wrong. `path` has the parameters
        of the action's path. `arguments`, in place of these, is the input as `get` describes it with `for_model`. `select` names the parts of the answer's body to return, as JSON pointers in which `*` stands
        for every item; `max_bytes` is the longest that the answer may be. Never retried.
        """
        return await self._sender.result(
            Call(
                "POST",
                at("vault", "connections", id_of(connection), "actions", key),
                ActionAnswer,
                body=body_of(
                    dict(
                        path=given(path),
                        query=given(query),
                        header=given(header),
                        cookie=given(cookie),
                        body=body,
                        arguments=given(arguments),
                        select=OMITTED if select is None else [*select],
                        max_bytes=given(max_bytes),
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
        Iterating returns each connection that exists throughout exactly once, whatever changes meanwhile.
        """
        query = query_of(
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
        return _counted(self._sender, ConnectionPage, at("vault", "connections"), query)

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
        """Creates a connection whose credentials are held elsewhere. Never retried."""
        body = body_of(
            dict(
                platform=platform,
                identity=identity,
                identity_type=identity_type,
                label=given(label),
                name=given(name),
                tags=OMITTED if tags is None else [*tags],
                platform_version=given(platform_version),
                state=given(state),
                active=given(active),
            )
        )
        call = Call[Connection]("POST", at("vault", "connections"), Connection, body=body, repeatable=False)
        return await self._sender.result(call)

    async def _change(
        self, method: str, path: str, body: dict[str, Json], if_match: str | Connection | None
    ) -> Connection:
        # With a condition, a repetition after a lost response would fail, although the first try has succeeded.
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

        With `if_match`, a connection as you read it, nothing is written if somebody has changed it since: a
        `PreconditionError`.
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
        """Reports the state of a connection whose credentials are held elsewhere."""
        body = body_of(dict(state=state, active=given(active), reason=given(reason)))
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
        """Returns the state, why, and who must act."""
        return await self._sender.result(Call("GET", _connection(connection, "status"), ConnectionStatus))

    async def check(self, connection: str | HasId) -> Connection:
        """Finds out at once whether the credentials work."""
        return await self._sender.result(Call("POST", _connection(connection, "check"), Connection))

    async def get_credentials(self, connection: str | HasId, *, refresh: bool | None = None) -> Credentials:
        """Returns credentials that are fresh and ready to use: `headers` and `query` are what to send.

        Needs the scope `credentials:read`. With `refresh`, the access token is renewed whatever time it has left.
        """
        query = query_of(dict(refresh=refresh))
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
        """Stores credentials that you or another service held: those of their type. Needs the scope `credentials:write`."""
        body = body_of(
            dict(
                type=type,
                auth_method=given(auth_method),
                access_token=given(access_token),
                refresh_token=given(refresh_token),
                expires_at=given(expires_at),
                scopes=OMITTED if scopes is None else [*scopes],
                api_key=given(api_key),
                username=given(username),
                password=given(password),
                token=given(token),
                access_key_id=given(access_key_id),
                secret_access_key=given(secret_access_key),
                session_token=given(session_token),
                region=given(region),
                fields=given(fields),
            )
        )
        await self._sender.result(Call[None]("PUT", _connection(connection, "credentials"), None, body=body))

    async def summary(self) -> ConnectionSummary:
        """Counts connections."""
        return await self._sender.result(Call("GET", at("vault", "summary"), ConnectionSummary))


def _connection(connection: str | HasId, *more: str) -> str:
    return at("vault", "connections", id_of(connection), *more)


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
        identity: str | None = None,
        identity_type: IdentityType | None = None,
        label: str | None = None,
        name: str | None = None,
        tags: Iterable[str] | None = None,
        fields: Mapping[str, str] | None = None,
        scopes: Iterable[str] | None = None,
        return_url: str | None = None,
        allow_other_account: bool | None = None,
        link: bool | None = None,
    ) -> Connection | PendingAttempt:
        """Connects an account at `platform`, or reconnects `connection`.

        Returns the connection if the user's credentials are in `fields`. If the user must go to the platform, it returns an
        attempt: give its `authorization_url` to the user, then `wait` for the connection. With `link`, it does so in each
        case: the user enters a key, or chooses a method, on the page of the link. Never retried.
        """
        body = body_of(
            dict(
                platform=given(platform),
                connection=OMITTED if connection is None else id_of(connection),
                auth_method=given(auth_method),
                identity=given(identity),
                identity_type=given(identity_type),
                label=given(label),
                name=given(name),
                tags=OMITTED if tags is None else [*tags],
                fields=given(fields),
                scopes=OMITTED if scopes is None else [*scopes],
                return_url=given(return_url),
                allow_other_account=given(allow_other_account),
                link=given(link),
            )
        )
        call: Call[Any] = Call("POST", at("vault", "connect"), None, body=body, repeatable=False)
        response, secret = await self._sender.respond(call)
        if response.status_code == 202:
            return result_of(Call[PendingAttempt]("POST", call.path, PendingAttempt), response, secret)
        return result_of(Call[Connection]("POST", call.path, Connection), response, secret)

    async def get(self, attempt: str | HasId, *, wait: int | None = None) -> ConnectAttempt:
        """Returns what has become of an attempt; with `wait`, the service waits up to 25 seconds for its outcome."""
        query = query_of(dict(wait=wait))
        return await self._sender.result(
            Call("GET", at("vault", "connect", id_of(attempt)), ConnectAttempt, query)
        )

    async def wait(self, attempt: str | HasId, *, timeout: float = 600) -> Connection:
        """Waits until the user has connected the account, at most `timeout` seconds, and returns the connection.

        Fails with a `ConnectError` if the attempt has failed or expired, and with a `NoResponseError` if it is still pending
        after that time.
        """
        until = time.monotonic() + timeout
        while True:
            left = until - time.monotonic()
            # A response must come before the client gives up.
            seconds = max(1, min(25, int(left), int(self._sender.patience / 2)))
            found = await self.get(attempt, wait=seconds)
            if found.connection is not None:
                return found.connection
            if found.error is not None:
                raise ConnectError(found.error.code, found.error.detail, Facts(attempt=found.id))
            if found.status != "pending":
                message = "The user did not finish in time."
                raise ConnectError("expired", message, Facts(attempt=found.id))
            if time.monotonic() >= until:
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
        query = query_of(dict(status=status, platform=platform, identity=identity, limit=limit, before=before))
        return _walked(self._sender, AttemptSummaryPage, at("vault", "connect"), query, "before")


class AsyncOauthClients:
    """The registrations of your app at platforms. Needs the scope `clients:read`; changes need `clients:write`."""

    def __init__(self, sender: AsyncSender) -> None:
        self._sender = sender

    def list(
        self, *, limit: int | None = None, page: int | None = None
    ) -> AsyncRows[OauthClient, CountedPage[OauthClient]]:
        """Lists OAuth clients."""
        query = query_of(dict(limit=limit, page=page))
        return _counted(self._sender, OauthClientPage, at("oauth-clients"), query)

    async def get(self, platform: str) -> OauthClient:
        """Returns the OAuth client for a platform, without its secret."""
        return await self._sender.result(Call("GET", at("oauth-clients", platform), OauthClient))

    async def set(
        self,
        platform: str,
        *,
        client_id: str,
        client_secret: str | None | Omitted = OMITTED,
        auth_method: str | None = None,
        scopes: Iterable[str] = (),
        authorization_parameters: Mapping[str, str] | None = None,
        variables: Mapping[str, str] | None = None,
        start_url: str | None = None,
        pkce: Pkce | None = None,
    ) -> StoredOauthClient:
        """Sets the OAuth client for a platform, all of it. A secret that is left out stays as long as `client_id` does."""
        body = body_of(
            dict(
                client_id=client_id,
                client_secret=client_secret,
                auth_method=given(auth_method),
                scopes=[*scopes],
                authorization_parameters=given(authorization_parameters),
                variables=given(variables),
                start_url=given(start_url),
                pkce=given(pkce),
            )
        )
        call = Call[StoredOauthClient]("PUT", at("oauth-clients", platform), StoredOauthClient, body=body)
        return await self._sender.result(call)

    async def delete(self, platform: str) -> None:
        """Deletes the OAuth client for a platform."""
        await self._sender.result(Call[None]("DELETE", at("oauth-clients", platform), None))


class AsyncEvents:
    """What happened in the vault. Needs the scope `events:read`."""

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
        of = None if connection is None else id_of(connection)
        query = query_of(dict(types=types, connection=of, order=order, limit=limit, after=after))
        return _walked(self._sender, EventPage, at("events"), query, "after")


class AsyncWebhooks:
    """Where events are sent. Needs the scope `webhooks:read`; changes need `webhooks:write`."""

    def __init__(self, sender: AsyncSender) -> None:
        self._sender = sender

    async def list(self) -> builtins.list[Webhook]:
        """Returns all webhooks, the oldest first."""
        page = await self._sender.result(Call[WebhookPage]("GET", at("webhooks"), WebhookPage))
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
        body = body_of(
            dict(
                url=url,
                types=OMITTED if types is None else [*types],
                description=given(description),
                active=given(active),
            )
        )
        call = Call[WebhookWithSecret]("POST", at("webhooks"), WebhookWithSecret, body=body, repeatable=False)
        return await self._sender.result(call)

    async def get(self, webhook: str | HasId) -> Webhook:
        """Returns a webhook."""
        return await self._sender.result(Call("GET", at("webhooks", id_of(webhook)), Webhook))

    async def update(
        self,
        webhook: str | HasId,
        *,
        url: str | None = None,
        types: Iterable[EventType] | None = None,
        description: str | None | Omitted = OMITTED,
        active: bool | None = None,
    ) -> Webhook:
        """Updates a webhook: what is left out stays."""
        body = body_of(
            dict(
                url=given(url),
                types=OMITTED if types is None else [*types],
                description=description,
                active=given(active),
            )
        )
        return await self._sender.result(Call("PATCH", at("webhooks", id_of(webhook)), Webhook, body=body))

    async def delete(self, webhook: str | HasId) -> None:
        """Deletes a webhook."""
        await self._sender.result(Call[None]("DELETE", at("webhooks", id_of(webhook)), None))

    async def rotate(self, webhook: str | HasId) -> WebhookWithSecret:
        """Gives a webhook a new secret. For 24 hours, the one before signs too. Never retried."""
        place = at("webhooks", id_of(webhook), "rotate")
        return await self._sender.result(Call("POST", place, WebhookWithSecret, repeatable=False))

    async def test(self, webhook: str | HasId) -> WebhookTest:
        """Sends an event of the type `webhook.test`, and returns what the receiver answered. Never retried."""
        place = at("webhooks", id_of(webhook), "test")
        return await self._sender.result(Call("POST", place, WebhookTest, repeatable=False))

    async def replay(self, webhook: str | HasId, *, from_: str, to: str | None = None) -> Replayed:
        """Sends events once more, from an event on, at most 1,000."""
        body = body_of(dict(from_=from_, to=given(to)))
        return await self._sender.result(
            Call("POST", at("webhooks", id_of(webhook), "replay"), Replayed, body=body)
        )

    def deliveries(
        self,
        webhook: str | HasId,
        *,
        state: DeliveryState | None = None,
        limit: int | None = None,
        before: str | None = None,
    ) -> AsyncRows[Delivery, Page[Delivery]]:
        """Lists what became of events, those of the latest events first."""
        query = query_of(dict(state=state, limit=limit, before=before))
        return _walked(
            self._sender, DeliveryPage, at("webhooks", id_of(webhook), "deliveries"), query, "before"
        )


class AsyncApiKeys:
    """The API keys of the account and environment. Needs the scope `keys:read`; changes need `keys:write`."""

    def __init__(self, sender: AsyncSender) -> None:
        self._sender = sender

    def list(self, *, limit: int | None = None, before: str | None = None) -> AsyncRows[ApiKey, Page[ApiKey]]:
        """Lists API keys, the newest first."""
        query = query_of(dict(limit=limit, before=before))
        return _walked(self._sender, ApiKeyPage, at("keys"), query, "before")

    async def create(
        self, *, scopes: Iterable[Scope], name: str | None = None, expires_at: datetime | None = None
    ) -> ApiKeyWithSecret:
        """Creates a key with some of your key's scopes. Its `secret` is returned only once. Never retried."""
        body = body_of(dict(scopes=[*scopes], name=given(name), expires_at=given(expires_at)))
        call = Call[ApiKeyWithSecret]("POST", at("keys"), ApiKeyWithSecret, body=body, repeatable=False)
        return await self._sender.result(call)

    async def rotate(self, key: str | HasId) -> ApiKeyWithSecret:
        """Replaces a key by a new one; the old one stays valid for 24 hours. Never retried."""
        place = at("keys", id_of(key), "rotate")
        return await self._sender.result(Call("POST", place, ApiKeyWithSecret, repeatable=False))

    async def revoke(self, key: str | HasId) -> None:
        """Revokes a key at once, with its tokens and the keys that it created."""
        await self._sender.result(Call[None]("DELETE", at("keys", id_of(key)), None))


class AsyncAgentSignIns:
    """Who authenticates the users of agents. Needs the scope `agents:read`; changes need `agents:write`."""

    def __init__(self, sender: AsyncSender) -> None:
        self._sender = sender

    async def get(self) -> AgentSignIn:
        """Returns who authenticates the users of agents."""
        return await self._sender.result(Call("GET", at("agent-sign-in"), AgentSignIn))

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
    ) -> AgentSignIn:
        """Has an OpenID provider (`oidc`) or your app (`app`) authenticate the users of agents."""
        body = body_of(
            dict(
                type=type,
                issuer=given(issuer),
                client_id=given(client_id),
                client_secret=client_secret,
                identity_claim=given(identity_claim),
                identity_type=given(identity_type),
                url=given(url),
            )
        )
        return await self._sender.result(Call("PUT", at("agent-sign-in"), AgentSignIn, body=body))

    async def delete(self) -> None:
        """Switches sign-in off, and ends every grant."""
        await self._sender.result(Call[None]("DELETE", at("agent-sign-in"), None))


class AsyncAgentGrants:
    """What users granted to agents. Needs the scope `agents:read`; changes need `agents:write`."""

    def __init__(self, sender: AsyncSender) -> None:
        self._sender = sender

    def list(
        self, *, identity: str | None = None, limit: int | None = None, before: str | None = None
    ) -> AsyncRows[AgentGrant, Page[AgentGrant]]:
        """Lists grants, the newest first."""
        query = query_of(dict(identity=identity, limit=limit, before=before))
        return _walked(self._sender, AgentGrantPage, at("agent-grants"), query, "before")

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
        """Says who the user is whom an agent's `request` has sent to your app: send them to `continue_url`. Never retried.

        `platforms`, `access`, `actions` (`platform/key` or `platform/prefix*`) and `connections` limit the agent; `confirm` has
        the user asked before each call that it names.
        """
        body = body_of(
            dict(
                request=request,
                identity=identity,
                identity_type=given(identity_type),
                platforms=OMITTED if platforms is None else [*platforms],
                access=given(access),
                actions=OMITTED if actions is None else [*actions],
                connections=OMITTED if connections is None else [id_of(one) for one in connections],
                confirm=given(confirm),
            )
        )
        call = Call[AgentContinuation]("POST", at("agent-grants"), AgentContinuation, body=body, repeatable=False)
        return await self._sender.result(call)

    async def delete(self, grant: str | HasId) -> None:
        """Ends a grant: the agent's tokens are rejected at once."""
        await self._sender.result(Call[None]("DELETE", at("agent-grants", id_of(grant)), None))


class AsyncAudit:
    """Who changed what, and who read credentials. Needs the scope `audit:read`."""

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
        query = query_of(
            dict(
                actor=actor,
                actions=actions,
                target=target,
                connection=None if connection is None else id_of(connection),
                from_=from_,
                to=to,
                limit=limit,
                before=before,
            )
        )
        return _walked(self._sender, AuditEntryPage, at("audit"), query, "before")


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
        origins: Iterable[str] | None = None,
        ttl_seconds: int | None = None,
    ) -> Session:
        """Creates a token that has access to the connections of one identity, for 15 minutes unless told otherwise.

        `platforms`, `access`, `actions` (`platform/key` or `platform/prefix*`) and `connections` limit it further.
        """
        body = body_of(
            dict(
                identity=identity,
                identity_type=given(identity_type),
                scopes=OMITTED if scopes is None else [*scopes],
                platforms=OMITTED if platforms is None else [*platforms],
                access=given(access),
                actions=OMITTED if actions is None else [*actions],
                connections=OMITTED if connections is None else [id_of(one) for one in connections],
                origins=OMITTED if origins is None else [*origins],
                ttl_seconds=given(ttl_seconds),
            )
        )
        return await self._sender.result(Call("POST", at("sessions"), Session, body=body))


class AsyncConnectorVault:
    """A client of one service with one API key or token. Use it with `async with`, or close it.

    `timeout` is the number of seconds to wait for the service; a call is repeated at most `max_retries` times, if that is
    safe. `http_client` is an `httpx.AsyncClient` of your own: it stays open.
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
        """Returns what the key or the token has access to."""
        return await self._sender.result(Call("GET", at("whoami"), Whoami))

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

        Returns what the platform answers, whatever its status; fails with a `VaultError` if the service itself answers.
        `path` is a path below the platform's server, or below `server`, another one of its servers. With `retries` (0–3), the
        service repeats a request that is safe to repeat when the platform refuses it for now. Needs the scope
        `connections:call`. Never repeated by this package.
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
        """The same as `call_platform`, for an answer that is read piece by piece: `async with … as response`."""
        sender = self._sender
        address = httpx.URL(address_of(sender.base, id_of(connection), path))
        if params:
            address = address.copy_merge_params(params)
        if json is not OMITTED and content is not None:
            raise invalid("`json` and `content` exclude each other")
        own = {"user-agent": USER_AGENT, **{name.lower(): value for name, value in (headers or {}).items()}}
        if json is not OMITTED:
            content = jsons.dumps(json_of(json)).encode()
            own.setdefault("content-type", "application/json")
        if server is not None:
            own["x-vault-server"] = server
        if retries is not None:
            own["x-vault-retries"] = str(retries)
        is_repeatable = sender.can_renew and (content is None or isinstance(content, (bytes, str)))
        rejected: Held | None = None
        while True:
            held = await sender.secret(rejected)
            request = sender.client.build_request(
                method,
                address,
                content=content,
                headers={**own, SECRET_HEADER: held.text},
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
                # What the service itself answers is a problem. A request with a rejected secret has gone no further.
                await response.aread()
                if response.status_code != 401 or not is_repeatable or rejected is not None:
                    raise error_of(response, held.text)
                rejected = held
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
        """The pages of a list of a platform: goes on with the next page that the platform names in `Link`.

        Ends after an answer that is no success.
        """
        seen: set[str] = set()
        following: str | None = path
        # A platform that names the same page again and again must not keep anybody busy for ever.
        while following is not None and following not in seen:
            seen.add(following)
            response = await self.call_platform(
                connection,
                "GET",
                following,
                params=params if following is path else None,
                headers=headers,
                server=server,
                retries=retries,
            )
            following = cast("str | None", response.headers.get("x-vault-next"))
            yield response
            if not response.is_success:
                return
