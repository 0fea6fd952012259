"""Tools for Pydantic AI: `pip install connector-vault[pydantic-ai]`."""

from __future__ import annotations

from typing import Any, Literal, cast

from pydantic_ai import RunContext
from pydantic_ai.tools import ToolDefinition
from pydantic_ai.toolsets import AbstractToolset, ToolsetTool

from ._async import AsyncConnectorVault
from ._async_tools import AsyncTools, parsed_or_text
from ._core import Json
from ._tool_definitions import TOOL_DEFINITIONS

_UNREAD = "unread arguments"
"""The name under which the tool gets arguments that are not an object."""


def toolset(vault: AsyncConnectorVault) -> AbstractToolset[object]:
    """The tools of an agent, for `Agent(toolsets=[…])`."""
    return _Toolset(AsyncTools(vault))


class _AnyArguments:
    """Accepts everything that a model writes, because a rejected call counts as a retry, which soon ends the run."""

    def validate_json(
        self,
        input: str | bytes | bytearray,
        *,
        allow_partial: bool | Literal["off", "on", "trailing-strings"] = False,
        **options: Any,
    ) -> dict[str, Json]:
        return self.validate_python(parsed_or_text(input))

    def validate_python(
        self, input: Json, *, allow_partial: bool | Literal["off", "on", "trailing-strings"] = False, **options: Any
    ) -> dict[str, Json]:
        return cast("dict[str, Json]", input) if isinstance(input, dict) else {_UNREAD: input}


class _Toolset(AbstractToolset[object]):
    def __init__(self, agent_tools: AsyncTools) -> None:
        self._agent_tools = agent_tools
        self._definitions = {definition.name: definition for definition in TOOL_DEFINITIONS}

    @property
    def id(self) -> str | None:
        return None

    async def get_tools(self, ctx: RunContext[object]) -> dict[str, ToolsetTool[object]]:
        return {
            name: ToolsetTool(
                toolset=self,
                tool_def=ToolDefinition(
                    name=name, description=definition.description, parameters_json_schema=definition.parameters
                ),
                max_retries=1,
                args_validator=_AnyArguments(),
            )
            for name, definition in self._definitions.items()
        }

    async def call_tool(
        self, name: str, tool_args: dict[str, Any], ctx: RunContext[object], tool: ToolsetTool[object]
    ) -> Any:
        return await self._agent_tools.call(self._definitions[name], tool_args.get(_UNREAD, tool_args))
