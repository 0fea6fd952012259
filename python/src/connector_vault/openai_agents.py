"""Tools for the OpenAI Agents SDK: `pip install connector-vault[openai-agents]`."""

from __future__ import annotations

from agents import FunctionTool
from agents.tool_context import ToolContext

from ._async import AsyncConnectorVault
from ._async_tools import AsyncTools
from ._tool_definitions import TOOL_DEFINITIONS, ToolDefinition


def tools(vault: AsyncConnectorVault) -> list[FunctionTool]:
    """The tools of an agent, for `Agent(tools=…)`."""
    return [_tool(AsyncTools(vault), definition) for definition in TOOL_DEFINITIONS]


def _tool(agent_tools: AsyncTools, definition: ToolDefinition) -> FunctionTool:
    async def call(_context: ToolContext[object], arguments: str) -> str:
        return await agent_tools.call_with_json(definition, arguments)

    return FunctionTool(
        name=definition.name,
        description=definition.description,
        params_json_schema=definition.parameters,
        on_invoke_tool=call,
        # An action's input is an arbitrary object, which a strict schema can't describe.
        strict_json_schema=False,
    )
