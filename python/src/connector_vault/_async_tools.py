"""The tools of agents, which the adapters for each agent library call. `npm run python -- generate` writes the synchronous ones."""

from __future__ import annotations

import json as jsons
from typing import Any

from ._async import AsyncConnectorVault
from ._core import Json, invalid
from ._tool_definitions import ToolDefinition
from .errors import NoResponseError, VaultError


class AsyncTools:
    """The tools of an agent. If the vault's client uses a token, they are limited to the access of its user."""

    def __init__(self, vault: AsyncConnectorVault) -> None:
        self._vault = vault

    async def call(self, tool: ToolDefinition, arguments: Json) -> Any:
        """Calls a tool. Never fails: an error is a result that says what is wrong, so that the agent can correct its call."""
        try:
            # Models also send numbers that JSON does not have, such as NaN.
            jsons.dumps(arguments, ensure_ascii=False, allow_nan=False).encode()
        except (TypeError, ValueError, RecursionError) as cause:
            return error_result(tool, invalid(f"The arguments are not JSON: {cause}"))
        try:
            return await self._vault.call_tool(tool.name, arguments)
        except VaultError as error:
            return error_result(tool, error)

    async def call_with_json(self, tool: ToolDefinition, arguments: str) -> str:
        """Calls a tool with the JSON that a model has written, and returns the result as JSON."""
        return jsons.dumps(await self.call(tool, parsed_or_text(arguments)), ensure_ascii=False)


def parsed_or_text(arguments: str | bytes | bytearray) -> Json:
    """Parses the arguments that a model has written. Returns them unchanged if they are not JSON: the service then says so."""
    try:
        return jsons.loads(arguments) if arguments.strip() else {}
    except (ValueError, RecursionError):
        return arguments if isinstance(arguments, str) else arguments.decode(errors="replace")


def error_result(tool: ToolDefinition, error: VaultError) -> dict[str, Any]:
    """Converts an error to the result of a tool."""
    result: dict[str, Any] = {"error": error.code, "detail": error.message}
    if error.retry_after is not None:
        result["retryAfterSeconds"] = error.retry_after
    if isinstance(error, NoResponseError) and not tool.only_reads:
        result["hint"] = "The call may have been carried out nevertheless: check that before you repeat it."
    return result
