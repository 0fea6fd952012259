"""The base class of all models."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pydantic import BaseModel, ConfigDict

_SECRET = frozenset(
    {
        "access_token",
        "api_key",
        "authorization_url",
        "connect_url",
        "password",
        "secret",
        "secret_access_key",
        "session_token",
        "token",
    }
)
_PUBLIC = frozenset({"type", "auth_method", "token_type", "expires_at", "scopes"})


class Model(BaseModel):
    """An object that the service returns.

    Its attributes are in snake case; `model_dump(by_alias=True)` has the names of the API. Members that this version does
    not know are in `model_extra`. Its `repr` does not contain secrets.
    """

    model_config = ConfigDict(
        validate_by_name=True, validate_by_alias=True, extra="allow", frozen=True, protected_namespaces=()
    )

    def __repr_args__(self) -> Iterable[tuple[str | None, Any]]:
        is_credentials = type(self).__name__.startswith("Credentials")
        for name, value in super().__repr_args__():
            hidden = name not in _PUBLIC if is_credentials else name in _SECRET and isinstance(value, str)
            yield name, "…" if hidden and value else value
