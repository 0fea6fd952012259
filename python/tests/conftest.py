"""Fixtures for the service, two platforms and a simulated user, which `tests/e2e/python-package.test.mjs` starts."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator

import httpx
import pytest

from connector_vault import ConnectorVault

Visit = Callable[[str, str], None]


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def vault() -> Iterator[ConnectorVault]:
    with ConnectorVault(os.environ["VAULT_URL"], os.environ["VAULT_KEY"]) as vault:
        yield vault


@pytest.fixture
def visit() -> Visit:
    """Opens a link as its user, who chooses `allow` or `deny` at the platform."""

    def visit(link: str, answer: str) -> None:
        body = json.dumps({"link": link, "answer": answer})
        httpx.post(os.environ["VISITOR_URL"], content=body, timeout=30).raise_for_status()

    return visit
