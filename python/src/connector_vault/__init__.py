"""A typed client of a connector-vault.

`ConnectorVault` is the client; `AsyncConnectorVault` the same for asyncio. `models` has what the service returns, `errors`
what calls fail with, and `webhooks` verifies what the service sends.
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
