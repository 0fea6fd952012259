"""Tests of the clients against the running service."""

from __future__ import annotations

import copy
import inspect
import os
import pickle
import re
import threading
import time
from collections.abc import AsyncIterator, Callable, Generator, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta, timezone
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import httpx
import pytest

from connector_vault import (
    OMITTED,
    AsyncConnectorVault,
    AuthenticationError,
    ConflictError,
    ConnectError,
    ConnectorVault,
    NoResponseError,
    NotFoundError,
    PreconditionError,
    RateLimitError,
    VaultError,
    webhooks,
)
from connector_vault.models import (
    AuthMethodOther,
    Connection,
    ConnectorDetail,
    CredentialsApiKey,
    CredentialsBearer,
    Event,
    EventDataConnection,
    EventDataOther,
    PendingAttempt,
    Session,
)

from .conftest import Visit

URL, KEY = os.environ["VAULT_URL"], os.environ["VAULT_KEY"]
UNKNOWN = "aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa"

Responder = Callable[[httpx.Request], httpx.Response | None]


class FaultyTransport(httpx.BaseTransport):
    """A transport that calls `responders` for the first requests, sends others to the service, and records all requests."""

    def __init__(self, *responders: Responder) -> None:
        self.requests: list[httpx.Request] = []
        self._responders = [*responders]
        self._real = httpx.HTTPTransport()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        response = self._responders.pop(0)(request) if self._responders else None
        return response or self._real.handle_request(request)

    def close(self) -> None:
        self._real.close()


def lose_response(request: httpx.Request) -> httpx.Response:
    raise httpx.ReadError("lost", request=request)


def respond_with(status: int, retry_after: str | None = "0", code: str = "unavailable") -> Responder:
    headers = {} if retry_after is None else {"retry-after": retry_after}
    body = {"code": code, "detail": "Not now.", "status": status}
    return lambda request: httpx.Response(status, headers=headers, json=body)


@contextmanager
def client(transport: FaultyTransport, **options: Any) -> Generator[ConnectorVault, None, None]:
    with httpx.Client(transport=transport) as http:
        yield ConnectorVault(URL, options.pop("secret", KEY), http_client=http, **options)


@pytest.fixture
def bearer(vault: ConnectorVault) -> Iterator[Connection]:
    """A connection to a platform that accepts one token and echoes each request."""
    connection = vault.connections.create(platform="called", identity=f"py-{time.time_ns()}", identity_type="user")
    vault.connections.set_credentials(connection, "bearer", token=os.environ["PLATFORM_TOKEN"])
    yield connection
    vault.connections.delete(connection)


@pytest.fixture
async def async_vault() -> AsyncIterator[AsyncConnectorVault]:
    async with AsyncConnectorVault(URL, KEY) as vault:
        yield vault


# Lists


def test_an_iteration_returns_every_row_once_in_order(vault: ConnectorVault) -> None:
    rows = vault.connections.list().to_list()
    counted = vault.connections.list(limit=1).page()
    assert len(rows) == counted.total >= 230
    assert len({row.id for row in rows}) == len(rows)
    assert [row.created_at for row in rows] == sorted((row.created_at for row in rows), reverse=True)
    assert [len(page.rows) for page in vault.connections.list(limit=100).pages()][:2] == [100, 100]
    assert rows == [*vault.connections.list(limit=37)]


def test_iteration_starts_at_the_given_page_or_cursor(vault: ConnectorVault) -> None:
    rows = vault.connections.list().to_list()
    first = vault.connections.list(limit=50).page()
    assert (first.page, first.pages, first.total_is_minimum) == (1, -(-len(rows) // 50), False)
    assert vault.connections.list(limit=50, after=first.cursor).to_list() == rows[50:]
    assert vault.connections.list(limit=50, page=3).to_list() == rows[100:]
    assert vault.connections.list().to_list(max=7) == rows[:7]
    assert vault.connections.list().to_list(max=0) == []


def test_iterating_a_list_with_page_numbers_visits_all_pages(vault: ConnectorVault) -> None:
    keys = [action.key for action in vault.actions.list("demo-notes", limit=2)]
    page = vault.actions.list("demo-notes", limit=500).page()
    assert keys == [action.key for action in page.rows]
    assert len(keys) == page.total > 4
    assert page.cursor is None


def test_filters_are_encoded_as_the_service_expects(vault: ConnectorVault) -> None:
    all_tags = vault.connections.list(tags=["all", "third"]).page().total
    any_tag = vault.connections.list(tags=["third", "t-1"], tags_match="any").page().total
    one_tag = vault.connections.list(tags="third").page().total
    assert 0 < all_tags == one_tag < any_tag
    assert vault.connections.list(active=False).page().total == 0
    keys = [row.key for row in vault.connections.list(limit=2).page().rows]
    assert {row.key for row in vault.connections.list(key=keys)} == {*keys}


def test_nothing_is_sent_before_a_list_is_read() -> None:
    transport = FaultyTransport()
    with httpx.Client(transport=transport) as http:
        listed = ConnectorVault(URL, KEY, http_client=http).connections.list()
        assert transport.requests == []
        next(iter(listed))
        assert [request.url.params["limit"] for request in transport.requests] == ["100"]


def test_the_event_feed_ends_with_the_latest_event_and_continues_from_a_cursor(vault: ConnectorVault) -> None:
    connection = vault.connections.create(platform="called", identity=f"feed-{time.time_ns()}", identity_type="user")
    vault.connections.update(connection, tags=["x"])
    page = vault.events.list(connection=connection).page()
    assert [event.type for event in page.rows] == ["connection.created", "connection.updated"]
    assert [event.type for event in vault.events.list(connection=connection, limit=1)] == [row.type for row in page.rows]
    assert vault.events.list(connection=connection, after=page.cursor).to_list() == []
    vault.connections.delete(connection)
    (last,) = vault.events.list(connection=connection, after=page.cursor)
    assert last.type == "connection.deleted"
    assert isinstance(last.data, EventDataConnection) and last.data.connection.id == connection.id


def test_iteration_ends_if_the_service_repeats_a_page(vault: ConnectorVault) -> None:
    row = vault.connections.list(limit=1).page().rows[0].model_dump(mode="json", by_alias=True)

    def repeat_page(request: httpx.Request) -> httpx.Response:
        link = f'<{URL}/v1/vault/connections?after=again>; rel="next"'
        body = {"rows": [row], "total": 9, "pages": 9, "page": 1}
        return httpx.Response(200, headers={"link": link}, json=body)

    with httpx.Client(transport=httpx.MockTransport(repeat_page)) as http:
        assert len(ConnectorVault(URL, KEY, http_client=http).connections.list().to_list()) == 2


# Changes


def test_a_connection_is_created_changed_and_deleted(vault: ConnectorVault) -> None:
    identity = f"ann-{time.time_ns()}"
    connection = vault.connections.create(
        platform="called", identity=identity, identity_type="user", tags=["a"], label="b"
    )
    assert (connection.version, connection.active, connection.name, connection.tags) == ("1", True, None, ["a"])
    assert connection.created_at.tzinfo is not None
    assert vault.connections.get(connection.id) == connection
    assert vault.connections.set_name(connection, "Work").name == "Work"
    assert vault.connections.set_name(connection, None).name is None
    failed = vault.connections.set_state(connection, "failed", active=False, reason="Revoked.")
    assert (failed.state, failed.active) == ("failed", False)
    status = vault.connections.status(connection)
    assert status.reason is not None and status.reason.detail == "Revoked."
    vault.connections.delete(connection, if_match=failed)
    with pytest.raises(NotFoundError) as caught:
        vault.connections.get(connection)
    assert caught.value.code == "connection_not_found"


def test_a_change_based_on_an_old_version_is_rejected(vault: ConnectorVault, bearer: Connection) -> None:
    read = vault.connections.get(bearer)
    vault.connections.update(read, tags=["somebody"])
    with pytest.raises(PreconditionError):
        vault.connections.update(read, tags=["me"], if_match=read)
    current = vault.connections.get(read)
    assert vault.connections.update(current, tags=[*current.tags, "me"], if_match=current).tags == ["somebody", "me"]


def test_a_key_conflict_names_the_existing_connection(vault: ConnectorVault, bearer: Connection) -> None:
    with pytest.raises(ConflictError) as caught:
        vault.connections.create(platform="called", identity=bearer.identity, identity_type="user")
    assert (caught.value.code, caught.value.connection_id) == ("connection_exists", bearer.id)


def test_credentials_have_the_class_of_their_type_and_a_repr_without_secrets(vault: ConnectorVault, bearer: Connection) -> None:
    credentials = vault.connections.get_credentials(bearer)
    assert isinstance(credentials, CredentialsBearer)
    assert credentials.headers == {"authorization": f"Bearer {os.environ['PLATFORM_TOKEN']}"}
    session = vault.sessions.create(identity="ann", ttl_seconds=60)
    for shown in (repr(credentials), str(credentials), f"{credentials!r}", repr(session), str(session)):
        assert os.environ["PLATFORM_TOKEN"] not in shown and session.token not in shown


def test_an_oauth_client_keeps_an_omitted_secret(vault: ConnectorVault) -> None:
    clients = vault.oauth_clients
    before = clients.get("demo-notes")
    try:
        with_secret = clients.set("demo-notes", client_id=before.client_id, client_secret="s", scopes=before.scopes)
        assert with_secret.has_secret
        assert clients.set("demo-notes", client_id=before.client_id, client_secret=OMITTED).has_secret
        assert not clients.set("demo-notes", client_id=before.client_id, client_secret=None).has_secret
        assert [one.platform for one in clients.list()] == ["demo-notes"]
        assert clients.set("demo-notes", name="bot", client_id="bot").name == "bot"
        assert clients.get("demo-notes", name="bot").client_id == "bot"
        assert [one.name for one in clients.list()] == ["bot", "default"]
        clients.delete("demo-notes", name="bot")
        assert [one.name for one in clients.list()] == ["default"]
    finally:
        clients.set("demo-notes", client_id=before.client_id, client_secret=None, scopes=before.scopes)


def test_api_keys_are_created_rotated_and_revoked(vault: ConnectorVault) -> None:
    expires_at = datetime.now(timezone.utc) + timedelta(days=1)
    new_key = vault.keys.create(scopes=["connections:read"], name="export", expires_at=expires_at)
    assert new_key.expires_at is not None and abs(new_key.expires_at - expires_at) < timedelta(seconds=1)
    with ConnectorVault(URL, new_key.secret) as limited:
        assert limited.whoami().scopes == ["connections:read"]
        with pytest.raises(VaultError) as forbidden:
            limited.connectors.list().page()
        assert (forbidden.value.code, forbidden.value.status) == ("insufficient_scope", 403)
    successor = vault.keys.rotate(new_key)
    for key in (new_key, successor):
        vault.keys.revoke(key)
    states = {key.id: key.state for key in vault.keys.list(limit=1)}
    assert (states[new_key.id], states[successor.id]) == ("revoked", "revoked")
    with pytest.raises(VaultError) as rejected:
        vault.keys.create(scopes=["connections:read"], expires_at=datetime(2100, 1, 1))
    assert rejected.value.code == "invalid_argument"


# Connecting


def test_entered_credentials_connect_immediately(vault: ConnectorVault) -> None:
    identity = f"ada-{time.time_ns()}"
    account: dict[str, Any] = dict(
        platform="demo-notes", auth_method="api-key", identity=identity, identity_type="user"
    )
    with pytest.raises(VaultError) as rejected:
        vault.connect_attempts.start(**account, fields={"apiKey": "wrong"})
    assert (rejected.value.code, rejected.value.status) == ("credentials_rejected", 422)
    connection = vault.connect_attempts.start(**account, fields={"apiKey": os.environ["NOTES_KEY"]})
    assert isinstance(connection, Connection) and connection.state == "operational"
    assert isinstance(vault.connections.get_credentials(connection), CredentialsApiKey)
    assert vault.connections.check(connection).state == "operational"
    vault.connections.delete(connection)


def test_wait_returns_the_connection_or_raises(vault: ConnectorVault, visit: Visit) -> None:
    account: dict[str, Any] = dict(platform="demo-notes", auth_method="oauth2", identity_type="user")
    attempt = vault.connect_attempts.start(**account, identity="ben")
    assert isinstance(attempt, PendingAttempt)
    user = threading.Thread(target=visit, args=(attempt.authorization_url, "allow"))
    user.start()
    connection = vault.connect_attempts.wait(attempt)
    user.join()
    assert (connection.identity, connection.state) == ("ben", "operational")
    denied = vault.connect_attempts.start(**account, identity="carl")
    assert isinstance(denied, PendingAttempt)
    visit(denied.authorization_url, "deny")
    with pytest.raises(ConnectError) as caught:
        vault.connect_attempts.wait(denied.id)
    assert (caught.value.code, caught.value.attempt) == ("denied", denied.id)
    pending = vault.connect_attempts.start(**account, identity="dora")
    assert isinstance(pending, PendingAttempt)
    with pytest.raises(NoResponseError):
        vault.connect_attempts.wait(pending, timeout=0)
    listed = {one.id: one.status for one in vault.connect_attempts.list(platform="demo-notes", limit=1)}
    assert [listed[one.id] for one in (attempt, denied, pending)] == ["succeeded", "failed", "pending"]


# Calling platforms


def test_a_platform_receives_the_request_as_passed(vault: ConnectorVault, bearer: Connection) -> None:
    response = vault.call_platform(bearer, "GET", "/users/a%2Fb?x=%20&y", params={"z": "1&2"})
    assert (response.status_code, response.json()["method"]) == (200, "GET")
    assert response.json()["url"].startswith("/api/users/a%2Fb?x=")
    assert response.json()["url"].endswith("z=1%262")
    sent = vault.call_platform(bearer, "PUT", "things", json={"a": ["é", None]}, headers={"X-Own": "1"})
    echoed = sent.json()
    assert (echoed["method"], echoed["body"]) == ("PUT", '{"a": ["\\u00e9", null]}')
    assert echoed["headers"]["x-own"] == "1"
    assert echoed["headers"]["content-type"] == "application/json"
    assert echoed["headers"]["authorization"] == "Bearer " + os.environ["PLATFORM_TOKEN"]
    assert not any(KEY in value for value in echoed["headers"].values())
    other = vault.call_platform(bearer, "GET", "x", server=f"{os.environ['PLATFORM_URL']}/other")
    assert other.json()["url"] == "/other/x"
    assert vault.call_platform(bearer, "DELETE", "none").status_code == 204


def test_request_and_response_bodies_are_streamed(vault: ConnectorVault, bearer: Connection) -> None:
    size = 3_000_000
    with vault.stream_platform(bearer, "GET", "large", params={"bytes": size}) as response:
        assert sum(len(piece) for piece in response.iter_bytes()) >= size
    pieces = (b"x" * 1000 for _ in range(500))
    assert vault.call_platform(bearer, "POST", "form", content=pieces).json()["size"] == 500_000


@pytest.mark.parametrize("path", ["../x", "a/../../x", "..", "%2e%2E/x", "./x", "a#b", "a\\..\\x"])
def test_a_path_outside_the_platform_is_rejected(path: str) -> None:
    with httpx.Client(transport=httpx.MockTransport(lose_response)) as http:
        vault = ConnectorVault(URL, KEY, http_client=http)
        with pytest.raises(VaultError) as caught:
            vault.call_platform(UNKNOWN, "GET", path)
        assert caught.value.code == "invalid_parameter"
        with pytest.raises(VaultError):
            vault.call_platform("../../sessions", "GET", "x")
        for name in ("..", ".", ""):
            with pytest.raises(VaultError):
                vault.connections.get(name)


def test_an_error_of_the_service_itself_is_raised(vault: ConnectorVault, bearer: Connection) -> None:
    with pytest.raises(NotFoundError):
        vault.call_platform(UNKNOWN, "GET", "x")
    with pytest.raises(VaultError) as server:
        vault.call_platform(bearer, "GET", "x", server="https://example.com")
    assert server.value.status == 400
    with pytest.raises(VaultError) as both:
        vault.call_platform(bearer, "POST", "x", json={}, content=b"")
    assert both.value.code == "invalid_argument"


def test_an_action_runs_with_validated_input(vault: ConnectorVault, bearer: Connection) -> None:
    answer = vault.actions.run(
        bearer, "createThing", path={"owner": "a b"}, query={"tags": ["x", "y"]}, body={"name": "é", "size": 3}
    )
    assert (answer.status, answer.body["url"]) == (200, "/api/owners/a%20b/things?tags=x&tags=y")
    with pytest.raises(VaultError) as caught:
        vault.actions.run(bearer, "createThing", query={"tags": ["X"]}, body={"nme": "x"})
    pointers = {fault.pointer for fault in caught.value.errors}
    assert {"/path", "/query/tags/0", "/body/nme"} <= pointers or len(pointers) >= 3
    with pytest.raises(NotFoundError) as unknown:
        vault.actions.run(bearer, "createThin")
    assert unknown.value.code == "action_not_found"
    detail = vault.actions.get("called", "createThing", responses=True)
    assert detail.responses is not None and detail.input["properties"].keys() == {"path", "query", "body"}


# Errors and retries


def test_errors_have_the_fields_of_the_problem_document(vault: ConnectorVault) -> None:
    with pytest.raises(VaultError) as caught:
        vault.connections.create(platform="demo-note", identity="x", identity_type="usr")
    error = caught.value
    assert (type(error), error.status, error.code) == (VaultError, 400, "invalid_body")
    assert {(fault.pointer, fault.suggestion) for fault in error.errors} == {
        ("/identityType", "user"),
        ("/platform", "demo-notes"),
    }
    assert error.request_id is not None and error.request_id in str(error)
    assert error.headers["content-type"] == "application/problem+json"
    for copied in (copy.deepcopy(error), pickle.loads(pickle.dumps(error))):
        assert (copied.code, copied.errors, str(copied)) == (error.code, error.errors, str(error))
    with pytest.raises(AuthenticationError) as unknown:
        with ConnectorVault(URL, "sk_test_wrong") as wrong:
            wrong.whoami()
    assert unknown.value.code == "invalid_key"
    with pytest.raises(VaultError) as parameter:
        vault.connections.list(limit=501).page()
    assert parameter.value.errors[0].parameter == "limit"


def test_an_error_never_repeats_the_secret() -> None:
    def echo_secret(request: httpx.Request) -> httpx.Response:
        return httpx.Response(400, json={"code": "invalid_body", "detail": f"You sent {KEY}.", "errors": [{"detail": KEY}]})

    with httpx.Client(transport=httpx.MockTransport(echo_secret)) as http:
        with pytest.raises(VaultError) as caught:
            ConnectorVault(URL, KEY, http_client=http).whoami()
        assert KEY not in f"{caught.value} {caught.value!r} {caught.value.errors}"


@pytest.mark.parametrize(
    "answer",
    [
        httpx.Response(200, text="<html>"),
        httpx.Response(200, json=[]),
        httpx.Response(404, text="<html>"),
        httpx.Response(500, json={"code": 1}),
        httpx.Response(302, headers={"location": "https://example.com"}),
    ],
)
def test_a_response_of_another_server_is_unexpected(answer: httpx.Response) -> None:
    with httpx.Client(transport=httpx.MockTransport(lambda request: answer), follow_redirects=True) as http:
        with pytest.raises(VaultError) as caught:
            ConnectorVault(URL, KEY, http_client=http).whoami()
        assert caught.value.code == "unexpected_response"


@pytest.mark.parametrize("failure", [lose_response, respond_with(503), respond_with(429, code="too_many_requests")])
def test_reads_are_retried_and_creates_are_not(failure: Responder) -> None:
    transport = FaultyTransport(failure, failure)
    with client(transport) as vault:
        assert vault.whoami().environment == "test"
        assert len(transport.requests) == 3
    for_create = FaultyTransport(failure)
    with client(for_create) as vault, pytest.raises(VaultError):
        vault.connections.create(platform="called", identity="never", identity_type="user")
    assert len(for_create.requests) == 1
    conditional = FaultyTransport(failure)
    with client(conditional) as vault, pytest.raises(VaultError):
        vault.connections.update(UNKNOWN, tags=[], if_match='"1"')
    assert len(conditional.requests) == 1


def test_a_condition_that_the_service_could_ignore_is_not_sent() -> None:
    transport = FaultyTransport()
    with client(transport) as vault:
        for condition in ("", " ", "1"):
            with pytest.raises(VaultError):
                vault.connections.update(UNKNOWN, tags=[], if_match=condition)
    assert transport.requests == []


def test_a_call_is_retried_at_most_max_retries_times() -> None:
    transport = FaultyTransport(*[respond_with(429, code="too_many_requests")] * 9)
    with client(transport, max_retries=3) as vault, pytest.raises(RateLimitError) as caught:
        vault.whoami()
    assert (len(transport.requests), caught.value.retry_after) == (4, 0)
    # A retry that would exceed the timeout is not sent.
    beyond_timeout = FaultyTransport(respond_with(503, "3600"))
    with client(beyond_timeout) as vault, pytest.raises(VaultError) as later:
        vault.whoami()
    assert (len(beyond_timeout.requests), later.value.retry_after) == (1, 3600)
    other = FaultyTransport(respond_with(500))
    with client(other) as vault, pytest.raises(VaultError):
        vault.whoami()
    assert len(other.requests) == 1


def test_retry_after_is_honoured() -> None:
    transport = FaultyTransport(respond_with(503, "1"))
    started_at = time.monotonic()
    with client(transport) as vault:
        vault.whoami()
    assert time.monotonic() - started_at >= 1


def test_a_delete_whose_response_was_lost_counts_as_done(vault: ConnectorVault) -> None:
    connection = vault.connections.create(platform="called", identity=f"gone-{time.time_ns()}", identity_type="user")

    def delete_and_lose_response(request: httpx.Request) -> httpx.Response:
        vault.connections.delete(connection)
        return lose_response(request)

    with client(FaultyTransport(delete_and_lose_response)) as faulty_vault:
        faulty_vault.connections.delete(connection)
    with client(FaultyTransport()) as reliable_vault, pytest.raises(NotFoundError):
        reliable_vault.connections.delete(connection)


def test_an_unreachable_service_raises_an_error_with_its_cause() -> None:
    with ConnectorVault("http://127.0.0.1:1", KEY, max_retries=0) as vault, pytest.raises(NoResponseError) as caught:
        vault.whoami()
    assert caught.value.code == "no_response"
    assert isinstance(caught.value.__cause__, httpx.ConnectError)
    for wrong in ("localhost:8787", "", "https://x.example/?a", "ftp://x.example"):
        with pytest.raises(VaultError):
            ConnectorVault(wrong, KEY)


# Tokens


def test_a_function_supplies_tokens_and_is_called_again_after_a_rejection(vault: ConnectorVault) -> None:
    supplied: list[str | Session] = ["st_test_rejected", vault.sessions.create(identity="Group-00001")]
    calls: list[str | Session] = []

    def secret() -> str | Session:
        calls.append(supplied[min(len(calls), 1)])
        return calls[-1]

    transport = FaultyTransport()
    with client(transport, secret=secret) as limited:
        rows = limited.connections.list(limit=10).to_list()
        assert len(calls) == 2
        assert {row.identity for row in rows} == {"Group-00001"}
    wrong = FaultyTransport()
    with client(wrong, secret=lambda: "st_test_wrong") as limited, pytest.raises(AuthenticationError):
        limited.whoami()
    assert len(wrong.requests) == 2

    def failing() -> str:
        raise LookupError("no user is signed in")

    with ConnectorVault(URL, failing) as limited, pytest.raises(VaultError) as caught:
        limited.whoami()
    assert caught.value.code == "secret_unavailable"
    assert isinstance(caught.value.__cause__, LookupError)


def test_a_platform_call_is_retried_with_a_new_token(vault: ConnectorVault, bearer: Connection) -> None:
    session = vault.sessions.create(identity=bearer.identity, scopes=["connections:call"])
    supplied: Iterator[str | Session] = iter(["st_test_rejected", session])
    with ConnectorVault(URL, lambda: next(supplied)) as limited:
        assert limited.call_platform(bearer, "POST", "x", content="sent").json()["body"] == "sent"


# Webhooks


def test_webhook_signatures_are_verified(vault: ConnectorVault) -> None:
    received: list[tuple[bytes, dict[str, str]]] = []

    class Receiver(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            received.append((self.rfile.read(int(self.headers["content-length"])), dict(self.headers)))
            self.send_response(204)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Receiver) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            webhook = vault.webhooks.create(f"http://127.0.0.1:{server.server_port}/hooks", types=["connection.failed"])
            assert vault.webhooks.test(webhook).delivered
        finally:
            server.shutdown()
            thread.join()
    body, headers = received[0]
    event = webhooks.verify(body, headers, webhook.secret)
    assert event.type == "webhook.test"
    rotated = vault.webhooks.rotate(webhook)
    assert webhooks.verify(body.decode(), headers, [rotated.secret, webhook.secret]) == event
    forged: list[tuple[bytes, dict[str, str], str]] = [
        (body + b" ", headers, webhook.secret),
        (body, headers, rotated.secret),
        (body, {}, webhook.secret),
        (b"\xff", headers, webhook.secret),
        (body, {**headers, "webhook-timestamp": "9" * 30}, webhook.secret),
        (body, {**headers, "webhook-signature": "v1"}, webhook.secret),
    ]
    for request in forged:
        with pytest.raises(VaultError) as caught:
            webhooks.verify(*request)
        assert caught.value.code == "invalid_signature"
    unusable: list[str | list[str]] = ["", "whsec_", "whsec_é", []]
    for secret in unusable:
        with pytest.raises(VaultError) as rejected:
            webhooks.verify(body, headers, secret)
        assert rejected.value.code == "invalid_argument"
    assert vault.webhooks.update(webhook, types=[], description="x").description == "x"
    assert vault.webhooks.update(webhook, description=None).description is None
    assert [one.id for one in vault.webhooks.list()] == [webhook.id]
    assert vault.webhooks.deliveries(webhook, state="pending").to_list() == []
    first = vault.events.list(limit=1).page().rows[0]
    assert vault.webhooks.replay(webhook, from_=first.id, to=first.id).queued <= 1
    vault.webhooks.delete(webhook)


# Coverage


def sent_operations(document: dict[str, Any]) -> dict[str, Callable[..., Any]]:
    """Calls each method with placeholder arguments. Returns the method for each operation that the document has."""
    operations = {
        f"{method.upper()} {path}": operation["operationId"]
        for path, item in document["paths"].items()
        for method, operation in item.items()
        if method in ("get", "put", "post", "patch", "delete")
    }
    patterns = {
        one: re.compile("".join(re.escape(part) if n % 2 == 0 else (".+" if part == "path" else "[^/]+") for n, part in parts))
        for one in operations
        for parts in [list(enumerate(re.split(r"[{}]", one)))]
    }
    methods: dict[str, Callable[..., Any]] = {}
    current: Callable[..., Any]

    def record_request(request: httpx.Request) -> httpx.Response:
        line = f"{request.method} {request.url.path}"
        # A literal segment takes precedence over a parameter.
        matches = sorted((one for one, pattern in patterns.items() if pattern.fullmatch(line)), key=lambda one: one.count("{"))
        assert matches, line
        methods.setdefault(operations[matches[0]], current)
        return httpx.Response(500, json={"code": "internal", "detail": "Noted."})

    def placeholder_arguments(function: Callable[..., Any]) -> dict[str, Any]:
        needed = inspect.signature(function).parameters.values()
        values = {"scopes": ["x"], "tags": ["x"], "roles": {"x": ["x"]}}
        return {one.name: values.get(one.name, UNKNOWN) for one in needed if one.default is inspect.Parameter.empty}

    with httpx.Client(transport=httpx.MockTransport(record_request)) as http:
        client = ConnectorVault(URL, KEY, http_client=http, max_retries=0)
        resources: list[object] = [one for name, one in vars(client).items() if not name.startswith("_")]
        functions: list[Callable[..., Any]] = [
            function
            for one in resources
            for name, function in inspect.getmembers(one, inspect.ismethod)
            if not name.startswith("_")
        ]
        assert len(resources) >= 11 and len(functions) >= 40
        functions += [client.whoami, client.usage]
        for current in functions:
            with pytest.raises(VaultError):
                current(**placeholder_arguments(current)).page()
        current = client.call_platform
        for method in ("GET", "POST", "PUT", "PATCH", "DELETE"):
            with pytest.raises(VaultError):
                client.call_platform(UNKNOWN, method, "x")
    return methods


def test_every_operation_parameter_and_member_of_a_body_is_covered(vault: ConnectorVault) -> None:
    document = httpx.get(f"{URL}/v1/openapi.json").json()
    methods = sent_operations(document)
    renamed = {"from": "from_", "for": "for_model"}
    included = {"getAction": "responses", "listConnections": "include_account"}

    def members(schema: dict[str, Any]) -> set[str]:
        if "$ref" in schema:
            return members(document["components"]["schemas"][schema["$ref"].split("/")[-1]])
        parts = [members(one) for one in schema.get("oneOf", [])]
        return set(schema.get("properties", {})).union(*parts)

    for path, item in document["paths"].items():
        for operation in item.values():
            if path in ("/health", "/v1/openapi.json"):
                continue
            id = operation["operationId"]
            assert id in methods
            if id.startswith("proxy"):
                continue
            parameters = [one for one in operation.get("parameters", []) if one.get("in") == "query"]
            content = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
            names = {one["name"] for one in parameters} | members(content.get("schema", {}))
            snake = {renamed.get(name) or re.sub("[A-Z]", lambda found: f"_{found[0].lower()}", name) for name in names}
            if "include" in snake:
                snake = {included[id] if name == "include" else name for name in snake}
            if id == "searchActions":
                snake = {"platforms" if name == "platform" else name for name in snake}
            assert snake - set(inspect.signature(methods[id]).parameters) == set(), id


# Other releases of the service


def test_members_that_another_release_adds_or_lacks_are_accepted(vault: ConnectorVault) -> None:
    detail = vault.connectors.get("demo-notes").model_dump(mode="json", by_alias=True)
    detail["authMethods"].append({"id": "x", "type": "passkey", "fields": [], "ceremony": "webauthn"})
    later = ConnectorDetail.model_validate({**detail, "status": "retired", "colour": "red"})
    assert (later.status, later.model_extra) == ("retired", {"colour": "red"})
    added = later.auth_methods[-1]
    assert isinstance(added, AuthMethodOther) and added.type == "passkey"
    assert added.model_extra is not None and added.model_extra["ceremony"] == "webauthn"
    assert not any(isinstance(method, AuthMethodOther) for method in later.auth_methods[:-1])
    without = {name: value for name, value in detail.items() if value is not None}
    assert ConnectorDetail.model_validate(without) == ConnectorDetail.model_validate(detail)
    event = {"id": "evt_1", "type": "moon.risen", "occurredAt": "2030-01-01T00:00:00.000Z", "data": {"moon": 1}}
    assert isinstance(Event.model_validate(event).data, EventDataOther)


# The asynchronous client


@pytest.mark.anyio
async def test_the_asynchronous_client_behaves_like_the_synchronous_one(async_vault: AsyncConnectorVault, visit: Visit) -> None:
    rows = await async_vault.connections.list().to_list()
    assert len({row.id for row in rows}) == (await async_vault.connections.list(limit=1).page()).total >= 230
    connection = await async_vault.connections.create(
        platform="called", identity=f"a-{time.time_ns()}", identity_type="user"
    )
    await async_vault.connections.set_credentials(connection, "bearer", token=os.environ["PLATFORM_TOKEN"])
    response = await async_vault.call_platform(connection, "POST", "x", json=1)
    assert response.json()["body"] == "1"
    async with async_vault.stream_platform(connection, "GET", "large", params={"bytes": 100_000}) as stream:
        assert sum([len(piece) async for piece in stream.aiter_bytes()]) >= 100_000
    assert [page.status_code async for page in async_vault.platform_pages(connection, "x")] == [200]
    with pytest.raises(NotFoundError):
        await async_vault.connectors.get("demo-note")
    await async_vault.connections.delete(connection)


@pytest.mark.anyio
async def test_concurrent_calls_request_one_token(async_vault: AsyncConnectorVault) -> None:
    import asyncio

    session = await async_vault.sessions.create(identity="Group-00002")
    calls: list[Session] = []

    async def secret() -> Session:
        await asyncio.sleep(0)
        calls.append(session)
        return session

    async with AsyncConnectorVault(URL, secret) as limited:
        results = await asyncio.gather(*(limited.whoami() for _ in range(8)))
    assert {one.identity for one in results} == {"Group-00002"}
    assert len(calls) == 1
