"""A typed client for connector-vault.

`ConnectorVault` is the client, and `AsyncConnectorVault` the client for asyncio. `models` has the types of responses, `errors` the
exceptions, and `webhooks` verifies webhook requests.
"""

from . import errors, models, webhooks
from ._async import AsyncConnectorVault, AsyncRows
from ._core import OMITTED, CountedPage, Omitted, Page
from ._sync import ConnectorVault, Rows
from .errors import (
    AuthenticationError,
    ConflictError,
    ConnectError,
    Fault,
    NoResponseError,
    NotFoundError,
    PreconditionError,
    RateLimitError,
    VaultError,
)

__all__ = [
    "OMITTED",
    "AsyncConnectorVault",
    "AsyncRows",
    "AuthenticationError",
    "ConflictError",
    "ConnectError",
    "ConnectorVault",
    "CountedPage",
    "Fault",
    "NoResponseError",
    "NotFoundError",
    "Omitted",
    "Page",
    "PreconditionError",
    "RateLimitError",
    "Rows",
    "VaultError",
    "errors",
    "models",
    "webhooks",
]
