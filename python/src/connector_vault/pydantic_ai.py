"""Tools for Pydantic AI: `pip install connector-vault[pydantic-ai]`."""

from __future__ import annotations

from pydantic_ai.toolsets import FunctionToolset

from ._async import AsyncConnectorVault
from ._async_tools import AsyncTools


def toolset(vault: AsyncConnectorVault) -> FunctionToolset[object]:
    """The tools to search, describe and run actions, for `Agent(toolsets=[…])`."""
    agent_tools = AsyncTools(vault)
    return FunctionToolset(
        [agent_tools.search_actions, agent_tools.describe_action, agent_tools.run_action], docstring_format="google"
    )
