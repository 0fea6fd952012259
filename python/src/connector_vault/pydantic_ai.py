"""Tools for Pydantic AI: `pip install connector-vault[pydantic-ai]`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

from pydantic_ai import RunContext, Tool
from pydantic_ai.toolsets import FunctionToolset, ToolsetTool

from ._async import AsyncConnectorVault
from ._async_tools import AsyncTools, parsed_or_text
from ._core import Json
from ._tool_definitions import TOOL_DEFINITIONS, ToolDefinition

_UNREAD = "unread arguments"
"""The name under which the tool gets arguments that are not an object."""


def toolset(vault: AsyncConnectorVault) -> FunctionToolset[object]:
    """The tools of an agent, for `Agent(toolsets=[…])`."""
    return _Toolset([_tool(AsyncTools(vault), definition) for definition in TOOL_DEFINITIONS])


def _tool(agent_tools: AsyncTools, definition: ToolDefinition) -> Tool[object]:
    async def call(**arguments: Any) -> Any:
        return await agent_tools.call(definition, arguments.get(_UNREAD, arguments))

    tool: Tool[object] = Tool.from_schema(
        call, name=definition.name, description=definition.description, json_schema=definition.parameters
    )
    return tool


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
        return input if isinstance(input, dict) else {_UNREAD: input}


class _Toolset(FunctionToolset[object]):
    """A toolset whose tools check their own arguments."""

    async def get_tools(self, ctx: RunContext[object]) -> dict[str, ToolsetTool[object]]:
        all_tools = await super().get_tools(ctx)
        return {name: replace(tool, args_validator=_AnyArguments()) for name, tool in all_tools.items()}
