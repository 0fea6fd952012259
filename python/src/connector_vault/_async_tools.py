"""Tools for agents. The adapters for each agent library use these functions."""

from __future__ import annotations

from typing import Any

from ._async import AsyncConnectorVault
from ._core import OMITTED
from .errors import VaultError

MAX_BYTES = 24_000
"""The maximum size of a platform's response in bytes: about 6,000 tokens."""


class AsyncTools:
    """The tools of an agent. If the vault's client uses a token, they are limited to the access of its user."""

    def __init__(self, vault: AsyncConnectorVault) -> None:
        self._vault = vault

    async def search_actions(self, query: str, platform: str | None = None, limit: int = 10) -> Any:
        """Find actions of platforms by what they do. Returns the platform, key, title and method of each, the best match first.

        Args:
            query: What to do, such as `create github issue`.
            platform: Only actions of this platform.
            limit: How many to return, from 1 to 50.
        """
        try:
            platforms = [platform] if platform else None
            page = await self._vault.actions.search(query, platforms=platforms, limit=max(1, min(limit, 50))).page()
        except VaultError as error:
            return error_result(error)
        return [{"platform": row.platform, "key": row.key, "title": row.title, "method": row.method} for row in page.rows]

    async def describe_action(self, platform: str, key: str) -> Any:
        """Get what an action takes: `input` is the JSON Schema of the input of run_action.

        Args:
            platform: The action's platform.
            key: The action's key.
        """
        try:
            action = await self._vault.actions.get(platform, key)
        except VaultError as error:
            return error_result(error)
        return action.model_dump(
            mode="json",
            by_alias=True,
            include={"title", "key", "method", "platform", "path", "description", "deprecated", "input"},
        )

    async def run_action(
        self, platform: str, key: str, input: dict[str, Any] | None = None, connection: str | None = None
    ) -> Any:
        """Run an action as a connected account. May change or delete data if the action's method is not GET.

        Returns the platform's status, headers and body; `omitted` names what is left out of a long body. An error lists
        everything that is wrong with the input, or the accounts among which to choose.

        Args:
            platform: The action's platform.
            key: The action's key.
            input: The members `path`, `query`, `header`, `cookie` and `body`, as describe_action says.
            connection: The id of the connected account, if the platform has several.
        """
        members = input or {}
        unknown_members = sorted(members.keys() - {"path", "query", "header", "cookie", "body"})
        if unknown_members:
            detail = f"`input` has no member {', '.join(unknown_members)}: see describe_action"
            return {"error": "invalid_body", "detail": detail}
        try:
            if connection is None:
                accounts = (await self._vault.connections.list(platform=platform, limit=20).page()).rows
                if len(accounts) != 1:
                    return account_choice_result(platform, [(one.id, one.identity, one.name) for one in accounts])
                connection = accounts[0].id
            result = await self._vault.actions.run(
                connection,
                key,
                path=members.get("path"),
                query=members.get("query"),
                header=members.get("header"),
                cookie=members.get("cookie"),
                body=members.get("body", OMITTED),
                max_bytes=MAX_BYTES,
            )
        except VaultError as error:
            return error_result(error)
        return result.model_dump(mode="json", by_alias=True, exclude_unset=True)


def error_result(error: VaultError) -> dict[str, Any]:
    """Converts an error to the result of a tool, so that the agent can correct its call."""
    result: dict[str, Any] = {"error": error.code, "detail": error.message}
    if error.errors:
        places = [(fault.pointer or fault.parameter, fault) for fault in error.errors]
        result["errors"] = [
            {"at": place, "detail": fault.detail, "suggestion": fault.suggestion} for place, fault in places
        ]
    if error.suggestions:
        result["suggestions"] = [*error.suggestions]
    return result


def account_choice_result(platform: str, accounts: list[tuple[str, str, str | None]]) -> dict[str, Any]:
    """Returns the result of a tool that lists the accounts from which the agent must choose."""
    if not accounts:
        return {"error": "not_connected", "detail": f"No account of {platform} is connected: the user must connect one."}
    listed = [{"connection": id, "identity": identity, "name": name} for id, identity, name in accounts]
    return {"error": "connection_needed", "detail": "Choose a `connection`.", "connections": listed}
