"""Tools for LangChain and LangGraph: `pip install connector-vault[langchain]`."""

from __future__ import annotations

from typing import Any

from langchain_core.tools import StructuredTool

from ._async import AsyncConnectorVault
from ._async_tools import AsyncTools
from ._sync import ConnectorVault
from ._sync_tools import Tools
from ._tool_definitions import TOOL_DEFINITIONS, ToolDefinition


def tools(vault: ConnectorVault | AsyncConnectorVault) -> list[StructuredTool]:
    """The tools of an agent. With an asynchronous client, run the agent with `ainvoke`."""
    if isinstance(vault, ConnectorVault):
        return [_tool(Tools(vault), definition) for definition in TOOL_DEFINITIONS]
    return [_async_tool(AsyncTools(vault), definition) for definition in TOOL_DEFINITIONS]


def _tool(agent_tools: Tools, definition: ToolDefinition) -> StructuredTool:
    def call(**arguments: Any) -> Any:
        return agent_tools.call(definition, arguments)

    return StructuredTool(
        name=definition.name, description=definition.description, args_schema=definition.parameters, func=call
    )


def _async_tool(agent_tools: AsyncTools, definition: ToolDefinition) -> StructuredTool:
    async def call(**arguments: Any) -> Any:
        return await agent_tools.call(definition, arguments)

    return StructuredTool(
        name=definition.name, description=definition.description, args_schema=definition.parameters, coroutine=call
    )
