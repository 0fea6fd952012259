"""A model that needs no account: it makes the tool calls that a real model makes for the default prompt."""

from typing import Any

from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

TOOL_CALLS: list[tuple[str, dict[str, Any]]] = [
    ("search_actions", {"query": "create a note"}),
    ("describe_action", {"platform": "demo-notes", "key": "createNote"}),
    ("run_action", {"connection": "demo-notes", "key": "createNote", "input": {"body": {"title": "Hello from an agent"}}}),
]


def respond(messages: list[ModelMessage], _info: AgentInfo) -> ModelResponse:
    """The next tool call, or the final answer."""
    requests = [message for message in messages if isinstance(message, ModelRequest)]
    results = [part.content for request in requests for part in request.parts if isinstance(part, ToolReturnPart)]
    if len(results) < len(TOOL_CALLS):
        return ModelResponse(parts=[ToolCallPart(*TOOL_CALLS[len(results)])])
    return ModelResponse(parts=[TextPart(f"The platform's response: {results[-1]}")])


def scripted_model() -> FunctionModel:
    return FunctionModel(respond)
