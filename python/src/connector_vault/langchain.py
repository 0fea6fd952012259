"""Tools for LangChain and LangGraph: `pip install connector-vault[langchain]`."""

from __future__ import annotations

from langchain_core.tools import StructuredTool

from ._async import AsyncConnectorVault
from ._async_tools import AsyncTools
from ._sync import ConnectorVault
from ._sync_tools import Tools


def tools(vault: ConnectorVault | AsyncConnectorVault) -> list[StructuredTool]:
    """The tools to search, describe and run actions. With an asynchronous client, run the agent with `ainvoke`."""
    if isinstance(vault, ConnectorVault):
        agent_tools = Tools(vault)
        return [
            StructuredTool.from_function(function, parse_docstring=True)
            for function in (agent_tools.search_actions, agent_tools.describe_action, agent_tools.run_action)
        ]
    async_tools = AsyncTools(vault)
    return [
        StructuredTool.from_function(coroutine=function, parse_docstring=True)
        for function in (async_tools.search_actions, async_tools.describe_action, async_tools.run_action)
    ]
