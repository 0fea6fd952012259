"""The tools for agents: their names, descriptions and parameters, which are those of the service's `POST /mcp`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

_CONNECTION: Final = {"type": "string", "description": "The connection's id, or its platform"}
_POINTERS: Final = {"type": "array", "items": {"type": "string"}}
_BYTES: Final = {"type": "integer", "minimum": 500, "maximum": 8_388_608}


def _text(description: str) -> dict[str, Any]:
    return {"type": "string", "description": description}


def _up_to(maximum: int, description: str) -> dict[str, Any]:
    return {"type": "integer", "minimum": 1, "maximum": maximum, "description": description}


@dataclass(frozen=True)
class ToolDefinition:
    """A tool, as agent libraries need it."""

    name: str
    description: str
    properties: Mapping[str, Mapping[str, Any]]
    """The JSON Schema of each parameter."""
    required: tuple[str, ...] = ()
    only_reads: bool = False
    """Whether the tool changes nothing, so that its calls can be repeated."""

    @property
    def parameters(self) -> dict[str, Any]:
        """The JSON Schema of all parameters. The adapters don't enforce it, because the service also accepts sloppy arguments."""
        properties = {name: {**schema} for name, schema in self.properties.items()}
        return {
            "type": "object",
            "properties": properties,
            "required": [*self.required],
            "additionalProperties": False,
        }


TOOL_DEFINITIONS: Final = (
    ToolDefinition(
        "search_actions",
        "Find which actions of platforms do something, such as sending an email or deleting a contact. Returns the platform, "
        "key, title and method of each, the best match first; those of the user's `connected` platforms before others.",
        {
            "query": _text("What to do, such as `create github issue`"),
            "platform": _text("Only these platforms, comma-separated"),
            "limit": _up_to(50, "How many. Default: 10"),
            "page": _up_to(100, "Default: 1"),
        },
        required=("query",),
        only_reads=True,
    ),
    ToolDefinition(
        "describe_action",
        "Get what an action takes: `input` is the JSON Schema of run_action's `input`. Long schemas are shown in part: "
        "`omitted` is the `path` of what is missing.",
        {
            "platform": _text("The action's platform"),
            "key": _text("The action's key"),
            "for": {
                "type": "string",
                "enum": ["model"],
                "description": "`model`: `input` is one flat object, for run_action's `arguments`",
            },
            "path": _text("Only this part of `input`, as `omitted` names it"),
        },
        required=("platform", "key"),
        only_reads=True,
    ),
    ToolDefinition(
        "list_connections",
        "List which accounts are connected, with their ids and states; `account` is whose account at the platform it is. One "
        "in state `failed` must be connected again, by start_connect.",
        {
            "platform": _text("Only of this platform"),
            "identity": _text("Only of this identity"),
            "active": {
                "type": "boolean",
                "description": "false: those not in use, such as failed ones. Default: true",
            },
            "limit": _up_to(100, "How many. Default: 20"),
        },
        only_reads=True,
    ),
    ToolDefinition(
        "run_action",
        "Run an action as a connected account. May change or delete data if the action's method is not GET. Returns the "
        "platform's status, headers and body; `omitted` names what is left out of a long body; a file is a link for the user. "
        "If the account must be connected first, the error has the user's link as `authorizationUrl`. Another error lists "
        "everything that is wrong with the input.",
        {
            "connection": _CONNECTION,
            "key": _text("The action's key"),
            "input": {
                "type": "object",
                "description": "`path`, `query`, `header`, `cookie`, `body`, as describe_action says",
            },
            "arguments": {
                "type": "object",
                "description": "Instead of `input`: as describe_action says for `model`",
            },
            "select": {
                **_POINTERS,
                "description": "Only these parts of the body: up to 20 JSON Pointers of at most 16 steps, in which `*` is every "
                "item, such as `/items/*/id`",
            },
            "maxBytes": {
                **_BYTES,
                "description": "The most bytes of the result; `omitted` names the rest. Default: 24000",
            },
            "approval": _text("Instead of `input`: the id of a call that waited for the user, to get its result"),
        },
        required=("connection", "key"),
    ),
    ToolDefinition(
        "call_platform",
        "Send a request to a platform's own API as a connected account, if no action does it, or for the next page of a "
        "result, whose path is `next`. Returns the same as run_action.",
        {
            "connection": _CONNECTION,
            "method": {
                "type": "string",
                "enum": ["GET", "POST", "PUT", "PATCH", "DELETE"],
                "description": "Default: GET. All others may change or delete data",
            },
            "path": _text("The path below the API's base address, such as `/v1/tickets`"),
            "query": {"type": "object", "description": "The query parameters"},
            "body": {"description": "The JSON body"},
            "select": {**_POINTERS, "description": "As in run_action"},
            "maxBytes": {**_BYTES, "description": "As in run_action"},
        },
        required=("connection", "path"),
    ),
    ToolDefinition(
        "start_connect",
        "Start to connect an account, or to connect it again. Give the returned `authorizationUrl` to the user, who signs in "
        "or enters a key there within 10 minutes; never ask for a key yourself. Then call this with the returned `id` as "
        "`attempt`, which waits for the user and returns how it ended.",
        {
            "platform": _text("The platform"),
            "connection": _text("Instead: the id of a connection to connect again"),
            "identity": _text("Whose account it is; not with a user's token"),
            "identityType": _text("`user`, `team`, `organization` or `project`; not with a user's token"),
            "authMethod": _text("Which of the connector's methods; usually omitted"),
            "label": _text("For another account of the platform"),
            "attempt": _text("Instead of all other arguments: the `id` of an attempt to wait for, up to 25 s"),
        },
    ),
)
