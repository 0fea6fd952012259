"""Tools for the OpenAI Agents SDK: `pip install connector-vault[openai-agents]`."""

from __future__ import annotations

from agents import FunctionTool, function_tool

from ._async import AsyncConnectorVault
from ._async_tools import AsyncTools


def tools(vault: AsyncConnectorVault) -> list[FunctionTool]:
    """The tools to search, describe and run actions, for `Agent(tools=…)`."""
    agent_tools = AsyncTools(vault)
    # Not strict, because an action's input is an arbitrary object, which a strict schema can't describe.
    return [
        function_tool(agent_tools.search_actions, strict_mode=False),
        function_tool(agent_tools.describe_action, strict_mode=False),
        function_tool(agent_tools.run_action, strict_mode=False),
    ]
