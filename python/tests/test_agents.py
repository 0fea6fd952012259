"""The adapters with the real agent libraries: an agent with a scripted model uses each tool."""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Any, cast

import pytest
from agents import Agent as OpenAIAgent
from agents import Runner, set_tracing_disabled
from agents.items import ModelResponse
from agents.models.interface import Model as OpenAIModel
from agents.usage import Usage
from langchain_core.tools import StructuredTool
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText
from pydantic_ai import Agent as PydanticAgent
from pydantic_ai.messages import ModelMessage, ModelRequest, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.messages import ModelResponse as PydanticResponse
from pydantic_ai.models.function import AgentInfo, FunctionModel

from connector_vault import AsyncConnectorVault, ConnectorVault, langchain, openai_agents, pydantic_ai
from connector_vault.models import Connection

URL, KEY = os.environ["VAULT_URL"], os.environ["AGENTS_KEY"]
IDENTITY = "agent@example.com"
SCOPES = ["catalog:read", "connections:read", "connections:call"]
# The tool calls that the scripted model makes, in order. `assert_results` checks their results.
TOOL_CALLS: list[tuple[str, dict[str, Any]]] = [
    ("search_actions", {"query": "create a note"}),
    ("describe_action", {"platform": "demo-notes", "key": "createNote"}),
    ("run_action", {"platform": "demo-notes", "key": "createNote", "input": {"body": {"titel": "x"}}}),
    ("run_action", {"platform": "demo-notes", "key": "createNote", "input": {"body": {"title": "By an agent"}}}),
    ("run_action", {"platform": "called", "key": "getThing"}),
    ("describe_action", {"platform": "demo-note", "key": "createNote"}),
]


def assert_results(results: Sequence[Any]) -> None:
    found, described, refused, created, unconnected, unknown = results
    assert {"platform": "demo-notes", "key": "createNote", "title": "Create a note", "method": "POST"} == found[0]
    assert described["input"]["properties"]["body"]["required"] == ["title"]
    assert refused["error"] == "invalid_body"
    assert {"/body/title", "/body/titel"} == {error["at"] for error in refused["errors"]}
    assert (created["status"], created["body"]["title"]) == (201, "By an agent")
    assert unconnected["error"] == "not_connected"
    assert (unknown["error"], unknown["suggestions"]) == ("platform_not_found", ["demo-notes"])


@pytest.fixture(scope="module")
def token() -> Iterator[str]:
    with ConnectorVault(URL, KEY) as vault:
        connection = vault.connect_attempts.start(
            platform="demo-notes",
            auth_method="api-key",
            identity=IDENTITY,
            identity_type="user",
            fields={"apiKey": os.environ["NOTES_KEY"]},
        )
        yield vault.sessions.create(identity=IDENTITY, scopes=SCOPES).token
        vault.connections.delete(cast(Connection, connection))


@pytest.fixture
async def vault(token: str) -> AsyncIterator[AsyncConnectorVault]:
    async with AsyncConnectorVault(URL, token) as vault:
        yield vault


class ScriptedModel(OpenAIModel):
    """Makes the tool calls of `TOOL_CALLS`."""

    def __init__(self) -> None:
        self.results: list[Any] = []
        self.tools: set[str] = set()

    async def get_response(self, *args: Any, **named: Any) -> ModelResponse:
        all_args = dict(zip(("system_instructions", "input", "model_settings", "tools"), args, strict=False)) | named
        self.tools = {tool.name for tool in all_args["tools"]}
        outputs = [item for item in all_args["input"] if item.get("type") == "function_call_output"]
        self.results = [read(item["output"]) for item in outputs]
        if len(outputs) < len(TOOL_CALLS):
            name, arguments = TOOL_CALLS[len(outputs)]
            call = ResponseFunctionToolCall(
                arguments=json.dumps(arguments), call_id=f"c{len(outputs)}", name=name, type="function_call"
            )
            return ModelResponse(output=[call], usage=Usage(), response_id=None)
        text = ResponseOutputText(annotations=[], text="done", type="output_text")
        message = ResponseOutputMessage(id="m", content=[text], role="assistant", status="completed", type="message")
        return ModelResponse(output=[message], usage=Usage(), response_id=None)

    def stream_response(self, *args: Any, **named: Any) -> Any:
        raise NotImplementedError


def read(output: str) -> Any:
    """The result of a tool, as the SDK serializes it for the model."""
    try:
        return json.loads(output)
    except json.JSONDecodeError:
        import ast

        return ast.literal_eval(output)


@pytest.mark.anyio
async def test_openai_agents_call_each_tool(vault: AsyncConnectorVault) -> None:
    set_tracing_disabled(True)
    model = ScriptedModel()
    agent = OpenAIAgent(name="Assistant", model=model, tools=[*openai_agents.tools(vault)])
    result = await Runner.run(agent, "Create a note.", max_turns=20)
    assert result.final_output == "done"
    assert model.tools == {"search_actions", "describe_action", "run_action"}
    assert_results(model.results)


@pytest.mark.anyio
async def test_pydantic_ai_agents_call_each_tool(vault: AsyncConnectorVault) -> None:
    results: list[Any] = []

    async def scripted_model(messages: list[ModelMessage], info: AgentInfo) -> PydanticResponse:
        assert {tool.name for tool in info.function_tools} == {"search_actions", "describe_action", "run_action"}
        requests = [message for message in messages if isinstance(message, ModelRequest)]
        results[:] = [
            part.content for request in requests for part in request.parts if isinstance(part, ToolReturnPart)
        ]
        if len(results) < len(TOOL_CALLS):
            return PydanticResponse(parts=[ToolCallPart(*TOOL_CALLS[len(results)])])
        return PydanticResponse(parts=[TextPart("done")])

    agent = PydanticAgent(FunctionModel(scripted_model), toolsets=[pydantic_ai.toolset(vault)])
    assert (await agent.run("Create a note.")).output == "done"
    assert_results(results)


def assert_arguments_are_described(tools: Sequence[StructuredTool]) -> None:
    for tool in tools:
        assert tool.description
        assert all(argument.get("description") for argument in tool.args.values()), tool.args


@pytest.mark.anyio
async def test_langchain_agents_call_each_tool_asynchronously(vault: AsyncConnectorVault) -> None:
    tools = langchain.tools(vault)
    assert_arguments_are_described(tools)
    by_name = {tool.name: tool for tool in tools}
    assert by_name.keys() == {"search_actions", "describe_action", "run_action"}
    assert_results([await by_name[name].ainvoke(arguments) for name, arguments in TOOL_CALLS])


def test_langchain_agents_call_each_tool_synchronously(token: str) -> None:
    with ConnectorVault(URL, token) as vault:
        tools = langchain.tools(vault)
        assert_arguments_are_described(tools)
        by_name = {tool.name: tool for tool in tools}
        assert_results([by_name[name].invoke(arguments) for name, arguments in TOOL_CALLS])


def test_an_agent_chooses_among_accounts_and_gets_all_errors(token: str) -> None:
    with ConnectorVault(URL, KEY) as vault:
        second = vault.connections.create(
            platform="demo-notes", identity=IDENTITY, identity_type="user", label="second", name="Second"
        )
        run = {tool.name: tool for tool in langchain.tools(vault)}["run_action"]
        try:
            choice = run.invoke({"platform": "demo-notes", "key": "getMe"})
            ids = [one["connection"] for one in choice["connections"]]
            assert (choice["error"], len(ids)) == ("connection_needed", 2)
            first_id = next(id for id in ids if id != second.id)
            assert run.invoke({"platform": "demo-notes", "key": "getMe", "connection": first_id})["status"] == 200
            rejected = run.invoke({"platform": "demo-notes", "key": "getMe", "input": {"params": {}}})
            assert (rejected["error"], "params" in rejected["detail"]) == ("invalid_body", True)
        finally:
            vault.connections.delete(second)
