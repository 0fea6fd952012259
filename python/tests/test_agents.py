"""The adapters with the real agent libraries: an agent with a scripted model uses each tool."""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Any

import httpx
import pytest
from agents import Agent as OpenAIAgent
from agents import Runner, set_tracing_disabled
from agents.items import ModelResponse
from agents.models.interface import Model as OpenAIModel
from agents.usage import Usage
from langchain_core.messages import ToolMessage
from langchain_core.tools import StructuredTool
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText
from pydantic_ai import Agent as PydanticAgent
from pydantic_ai.messages import ModelMessage, ModelRequest, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.messages import ModelResponse as PydanticResponse
from pydantic_ai.models.function import AgentInfo, FunctionModel

from connector_vault import AsyncConnectorVault, ConnectorVault, langchain, openai_agents, pydantic_ai
from connector_vault._tool_definitions import TOOL_DEFINITIONS
from connector_vault.models import Connection

URL, KEY = os.environ["VAULT_URL"], os.environ["AGENTS_KEY"]
IDENTITY = "agent@example.com"
SCOPES = ["catalog:read", "connections:read", "connections:call", "connections:connect"]
RPC = {"jsonrpc": "2.0", "id": 1}
ALL_TOOLS = {definition.name for definition in TOOL_DEFINITIONS}
NOTE = {"connection": "demo-notes", "key": "createNote"}
# The tool calls that the scripted model makes, in order. `assert_results` checks their results.
TOOL_CALLS: list[tuple[str, dict[str, Any]]] = [
    ("search_actions", {"query": "create a note"}),
    ("describe_action", {"platform": "demo-notes", "key": "createNote"}),
    ("list_connections", {"platform": "demo-notes"}),
    ("run_action", {**NOTE, "input": {"body": {"titel": "x"}}}),
    ("run_action", {**NOTE, "input": {"body": {"title": "By an agent"}}}),
    ("call_platform", {"connection": "demo-notes", "path": "notes", "query": {"limit": 1}}),
    ("run_action", {"connection": "called", "key": "getThing"}),
    ("describe_action", {"platform": "demo-note", "key": "createNote"}),
    ("start_connect", {"platform": "demo-notes"}),
    # Sloppy arguments, which models send: numbers and objects as strings, null, one item in place of a list.
    ("search_actions", {"query": "create a note", "limit": "1", "platform": None}),
    ("run_action", {**NOTE, "input": '{"body": {"title": "Sloppy"}}', "select": "/title", "maxBytes": "1000"}),
    # Invalid arguments.
    ("search_actions", {}),
    ("run_action", {**NOTE, "input": 7, "params": {}}),
    ("run_action", {**NOTE, "input": {"body": {"title": "x" * 70_000}}}),
]


def assert_results(results: Sequence[Any]) -> None:
    found, described, listed, refused, created, called, unconnected, unknown, existing, *others = results
    sloppy_search, sloppy_run, without_query, invalid, too_large = others
    first = found["rows"][0]
    assert (first["platform"], first["key"], first["method"]) == ("demo-notes", "createNote", "POST")
    assert first["connected"] is True
    assert described["input"]["properties"]["body"]["required"] == ["title"]
    assert [row["account"]["name"] for row in listed["rows"]] == ["Ada Example"]
    assert refused["error"] == "invalid_body"
    assert {"/body/title", "/body/titel"} == {error["pointer"] for error in refused["errors"]}
    assert (created["status"], created["body"]["title"]) == (201, "By an agent")
    assert (called["status"], len(called["body"]["notes"])) == (200, 1)
    assert called["next"].startswith("notes?")
    assert unconnected["error"] == "connection_not_found"
    assert (unknown["error"], unknown["suggestions"]) == ("platform_not_found", ["demo-notes"])
    assert (existing["error"], existing["connectionId"]) == ("connection_exists", listed["rows"][0]["id"])
    assert len(sloppy_search["rows"]) == 1
    assert (sloppy_run["status"], sloppy_run["body"]) == (201, {"title": "Sloppy"})
    assert without_query == {"error": "invalid_argument", "detail": "`query` is required."}
    assert invalid["error"] == "invalid_argument"
    assert "`input` must be an object" in invalid["detail"] and "`params`" in invalid["detail"]
    assert too_large["error"] == "invalid_argument" and "64 KiB" in too_large["detail"]


def connect(vault: ConnectorVault, label: str, api_key: str) -> Connection:
    connection = vault.connect_attempts.start(
        platform="demo-notes",
        auth_method="api-key",
        identity=IDENTITY,
        identity_type="user",
        label=label,
        fields={"apiKey": api_key},
    )
    assert isinstance(connection, Connection)
    return connection


@pytest.fixture(scope="module")
def token() -> Iterator[str]:
    with ConnectorVault(URL, KEY) as vault:
        connection = connect(vault, "default", os.environ["NOTES_KEY"])
        yield vault.sessions.create(identity=IDENTITY, identity_type="user", scopes=SCOPES).token
        vault.connections.delete(connection)


@pytest.fixture
async def vault(token: str) -> AsyncIterator[AsyncConnectorVault]:
    async with AsyncConnectorVault(URL, token) as vault:
        yield vault


class ScriptedModel(OpenAIModel):
    """Makes tool calls, each with a name and JSON arguments."""

    def __init__(self, calls: Sequence[tuple[str, str]]) -> None:
        self.calls = calls
        self.results: list[Any] = []
        self.tools: set[str] = set()

    async def get_response(self, *args: Any, **named: Any) -> ModelResponse:
        all_args = dict(zip(("system_instructions", "input", "model_settings", "tools"), args, strict=False)) | named
        self.tools = {tool.name for tool in all_args["tools"]}
        outputs = [item for item in all_args["input"] if item.get("type") == "function_call_output"]
        self.results = [json.loads(item["output"]) for item in outputs]
        if len(outputs) < len(self.calls):
            name, arguments = self.calls[len(outputs)]
            call = ResponseFunctionToolCall(
                arguments=arguments, call_id=f"c{len(outputs)}", name=name, type="function_call"
            )
            return ModelResponse(output=[call], usage=Usage(), response_id=None)
        text = ResponseOutputText(annotations=[], text="done", type="output_text")
        message = ResponseOutputMessage(id="m", content=[text], role="assistant", status="completed", type="message")
        return ModelResponse(output=[message], usage=Usage(), response_id=None)

    def stream_response(self, *args: Any, **named: Any) -> Any:
        raise NotImplementedError


async def openai_results(vault: AsyncConnectorVault, calls: Sequence[tuple[str, str]]) -> list[Any]:
    """The results of tool calls that an agent of the OpenAI Agents SDK makes."""
    set_tracing_disabled(True)
    model = ScriptedModel(calls)
    agent = OpenAIAgent(name="Assistant", model=model, tools=[*openai_agents.tools(vault)])
    result = await Runner.run(agent, "Create a note.", max_turns=40)
    assert result.final_output == "done"
    assert model.tools == ALL_TOOLS
    return model.results


async def pydantic_results(
    vault: AsyncConnectorVault, calls: Sequence[tuple[str, str | dict[str, Any]]]
) -> list[Any]:
    """The results of tool calls that an agent of Pydantic AI makes."""
    results: list[Any] = []

    async def scripted_model(messages: list[ModelMessage], info: AgentInfo) -> PydanticResponse:
        assert {tool.name for tool in info.function_tools} == ALL_TOOLS
        requests = [message for message in messages if isinstance(message, ModelRequest)]
        results[:] = [
            part.content for request in requests for part in request.parts if isinstance(part, ToolReturnPart)
        ]
        if len(results) < len(calls):
            return PydanticResponse(parts=[ToolCallPart(*calls[len(results)])])
        return PydanticResponse(parts=[TextPart("done")])

    agent = PydanticAgent(FunctionModel(scripted_model), toolsets=[pydantic_ai.toolset(vault)])
    assert (await agent.run("Create a note.")).output == "done"
    return results


@pytest.mark.anyio
async def test_openai_agents_call_each_tool(vault: AsyncConnectorVault) -> None:
    calls = [(name, json.dumps(arguments)) for name, arguments in TOOL_CALLS]
    assert_results(await openai_results(vault, calls))


@pytest.mark.anyio
async def test_pydantic_ai_agents_call_each_tool(vault: AsyncConnectorVault) -> None:
    assert_results(await pydantic_results(vault, TOOL_CALLS))


@pytest.mark.anyio
async def test_agents_learn_that_arguments_must_be_an_object(vault: AsyncConnectorVault) -> None:
    written = ['{"query":', "[1]", "NaN", '{"limit": NaN}', json.dumps('{"query": "create a note"}'), ""]
    calls = [("search_actions", arguments) for arguments in written]
    openai = await openai_results(vault, calls)
    for results in (openai, await pydantic_results(vault, calls)):
        *rejected, quoted, empty = results
        assert [result["error"] for result in rejected] == ["invalid_argument"] * 4
        assert rejected[0]["detail"] == "`arguments` must be an object."
        assert quoted["rows"][0]["key"] == "createNote"
        assert empty["detail"] == "`query` is required."


def assert_arguments_are_described(tools: Sequence[StructuredTool]) -> None:
    for tool in tools:
        assert tool.description
        assert all(argument.get("description") for argument in tool.args.values()), tool.args


@pytest.mark.anyio
async def test_langchain_agents_call_each_tool_asynchronously(vault: AsyncConnectorVault) -> None:
    tools = langchain.tools(vault)
    assert_arguments_are_described(tools)
    by_name = {tool.name: tool for tool in tools}
    assert by_name.keys() == ALL_TOOLS
    assert_results([await by_name[name].ainvoke(arguments) for name, arguments in TOOL_CALLS])


def test_langchain_agents_call_each_tool_synchronously(token: str) -> None:
    with ConnectorVault(URL, token) as vault:
        tools = langchain.tools(vault)
        assert_arguments_are_described(tools)
        by_name = {tool.name: tool for tool in tools}
        assert_results([by_name[name].invoke(arguments) for name, arguments in TOOL_CALLS])


def test_langchain_passes_results_to_the_model_as_json(token: str) -> None:
    with ConnectorVault(URL, token) as vault:
        search = langchain.tools(vault)[0]
        call = {"type": "tool_call", "id": "c1", "name": search.name, "args": {"query": "create a note"}}
        message = search.invoke(call)
        assert isinstance(message, ToolMessage) and isinstance(message.content, str)
        assert json.loads(message.content)["rows"][0]["key"] == "createNote"


def test_an_agent_chooses_among_accounts(token: str) -> None:
    with ConnectorVault(URL, KEY) as vault, ConnectorVault(URL, token) as user_vault:
        second = connect(vault, "work", os.environ["SECOND_NOTES_KEY"])
        tools = {tool.name: tool for tool in langchain.tools(user_vault)}
        try:
            choice = tools["run_action"].invoke({"connection": "demo-notes", "key": "getMe"})
            accounts = {one["account"]["name"]: one for one in choice["candidates"]}
            assert accounts.keys() == {"Ada Example", "Ben Example"}
            assert {one["state"] for one in accounts.values()} == {"operational"}
            assert [one["key"].split("::")[2] for one in accounts.values()].count("work") == 1
            ben = accounts["Ben Example"]
            assert (ben["id"], ben["account"]["id"]) == (second.id, "ben")
            me = tools["run_action"].invoke({"connection": ben["id"], "key": "getMe"})
            assert (me["status"], me["body"]["name"]) == (200, "Ben Example")
            assert {row["id"] for row in tools["list_connections"].invoke({})["rows"]} == {
                one["id"] for one in accounts.values()
            }
        finally:
            vault.connections.delete(second)


def test_an_agent_gives_its_user_a_link_to_connect_an_account(token: str) -> None:
    with ConnectorVault(URL, token) as vault:
        start_connect = {tool.name: tool for tool in langchain.tools(vault)}["start_connect"]
        connection = vault.connections.list(platform="demo-notes").page().rows[0].id
        started = start_connect.invoke({"connection": connection})
        assert started["status"] == "pending" and "/connect/" in started["authorizationUrl"]


def test_an_agent_gets_a_file_as_a_link(token: str) -> None:
    with ConnectorVault(URL, KEY) as vault:
        connection = vault.connections.create(platform="called", identity=IDENTITY, identity_type="user")
        vault.connections.set_credentials(connection, "bearer", token=os.environ["PLATFORM_TOKEN"])
        try:
            with ConnectorVault(URL, token) as user_vault:
                call = {"connection": connection.id, "path": "large", "query": {"bytes": 2000}}
                result = user_vault.call_tool("call_platform", call)
                file = result["body"]
                assert (file["contentType"], "base64" in file) == ("application/octet-stream", False)
                assert file["url"].startswith(f"{URL}/download/")
        finally:
            vault.connections.delete(connection)


def test_an_agent_learns_why_the_service_fails() -> None:
    with ConnectorVault("http://127.0.0.1:9", KEY, max_retries=0) as vault:
        for tool in langchain.tools(vault):
            result = tool.invoke({})
            assert result["error"] == "no_response"
            assert ("hint" in result) == (tool.name in {"run_action", "call_platform", "start_connect"})
    with ConnectorVault(URL, "st_test_unknown") as vault:
        assert langchain.tools(vault)[0].invoke({"query": "x"})["error"] == "invalid_key"


def test_each_tool_of_the_service_is_offered(token: str) -> None:
    response = httpx.post(
        f"{URL}/mcp", json={**RPC, "method": "tools/list"}, headers={"authorization": f"Bearer {token}"}, timeout=30
    )
    offered = {tool["name"]: (tool["description"], tool["inputSchema"]) for tool in response.json()["result"]["tools"]}
    assert offered == {tool.name: (tool.description, tool.parameters) for tool in TOOL_DEFINITIONS}
