"""A server on the SDK's low-level `Server` as its documentation teaches to write one, without a fault.

It validates the arguments against its own schemas by hand, as that server has to. With `--annotated` its tools say
readOnlyHint.
"""

import json
import sys
from typing import Any

import anyio
import jsonschema  # type: ignore[import-untyped]
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    CompleteRequestParams,
    CompleteResult,
    Completion,
    GetPromptRequestParams,
    GetPromptResult,
    ListPromptsResult,
    ListResourcesResult,
    ListResourceTemplatesResult,
    ListToolsResult,
    Prompt,
    PromptArgument,
    PromptMessage,
    ReadResourceRequestParams,
    ReadResourceResult,
    Resource,
    ResourceTemplate,
    TextContent,
    TextResourceContents,
    Tool,
    ToolAnnotations,
)

READS = ToolAnnotations(read_only_hint=True) if "--annotated" in sys.argv else None
TRAINS = [{"id": "ic-1", "to": "Bern"}, {"id": "ic-2", "to": "Basel"}, {"id": "re-7", "to": "Chur"}]


def tool(name: str, description: str, properties: dict[str, Any], required: list[str]) -> Tool:
    """A definition that forbids arguments that it does not name."""
    schema = {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
    return Tool(name=name, description=description, input_schema=schema, annotations=READS)


TOOLS = {
    entry.name: entry
    for entry in (
        tool("list_trains", "List all trains.", {}, []),
        tool(
            "get_train",
            "Get one train by its id.",
            {"train_id": {"type": "string", "description": "The id."}},
            ["train_id"],
        ),
        tool(
            "search_trains",
            "Search trains by where they go.",
            {"to": {"type": "string", "minLength": 1, "description": "A part of the name of the place."}},
            ["to"],
        ),
        tool(
            "convert_distance",
            "Convert kilometres to miles.",
            {"kilometres": {"type": "number", "minimum": 0, "description": "The distance."}},
            ["kilometres"],
        ),
        tool(
            "list_departures",
            "List the departures of today, page by page.",
            {"page": {"type": "integer", "minimum": 1, "default": 1, "description": "The page, from 1."}},
            [],
        ),
    )
}


def answer(name: str, arguments: dict[str, Any]) -> object:
    """The result of a tool. Raises LookupError for a train that does not exist."""
    if name == "list_trains":
        return {"trains": TRAINS}
    if name == "get_train":
        for train in TRAINS:
            if train["id"] == arguments["train_id"]:
                return train
        raise LookupError(f"Train '{arguments['train_id']}' not found. Call list_trains for the ids that exist.")
    if name == "search_trains":
        return {"trains": [train for train in TRAINS if arguments["to"].lower() in train["to"].lower()]}
    if name == "convert_distance":
        return {"miles": round(arguments["kilometres"] / 1.609344, 3)}
    page = arguments.get("page", 1)
    times = [f"{hour:02d}:15" for hour in range(5, 24)]
    return {"departures": times[(page - 1) * 5 : page * 5], "page": page}


async def list_tools(context: object, params: object) -> ListToolsResult:
    """All tools on one page."""
    del context, params
    return ListToolsResult(tools=list(TOOLS.values()))


async def call_tool(context: object, params: CallToolRequestParams) -> CallToolResult:
    """Validate, answer, and say in words what is wrong with a call."""
    del context
    if params.name not in TOOLS:
        raise MCPError(-32602, f"Unknown tool: {params.name}")
    arguments = params.arguments or {}
    problem = jsonschema.Draft202012Validator(TOOLS[params.name].input_schema)
    for error in problem.iter_errors(arguments):
        return refusal(f"Input validation error: {error.message}")
    try:
        data = answer(params.name, arguments)
    except LookupError as error:
        return refusal(str(error))
    return CallToolResult(content=[TextContent(type="text", text=json.dumps(data))])


def refusal(words: str) -> CallToolResult:
    """An error that the model reads."""
    return CallToolResult(content=[TextContent(type="text", text=words)], is_error=True)


async def list_resources(context: object, params: object) -> ListResourcesResult:
    """One resource for each train, on one page."""
    del context, params
    return ListResourcesResult(
        resources=[
            Resource(
                uri=f"trains://{train['id']}",
                name=train["id"],
                description=f"The train to {train['to']}.",
                mime_type="application/json",
                size=len(json.dumps(train)),
            )
            for train in TRAINS
        ]
    )


async def list_templates(context: object, params: object) -> ListResourceTemplatesResult:
    """The platforms."""
    del context, params
    words = "The platform of a train; train_id is as list_trains returns it."
    return ListResourceTemplatesResult(
        resource_templates=[ResourceTemplate(uri_template="platforms://{train_id}", name="platform", description=words)]
    )


async def read_resource(context: object, params: ReadResourceRequestParams) -> ReadResourceResult:
    """A train, or its platform."""
    del context
    uri = str(params.uri)
    for number, train in enumerate(TRAINS, start=1):
        if uri == f"trains://{train['id']}":
            text = TextResourceContents(uri=uri, mime_type="application/json", text=json.dumps(train))
            return ReadResourceResult(contents=[text])
        if uri == f"platforms://{train['id']}":
            return ReadResourceResult(
                contents=[TextResourceContents(uri=uri, mime_type="text/plain", text=f"{number}")]
            )
    raise MCPError(-32602, f"Resource not found: {uri}", {"uri": uri})


async def list_prompts(context: object, params: object) -> ListPromptsResult:
    """One prompt."""
    del context, params
    place = PromptArgument(name="place", description="Where to go.", required=True)
    return ListPromptsResult(prompts=[Prompt(name="travel", description="Plan a journey.", arguments=[place])])


async def get_prompt(context: object, params: GetPromptRequestParams) -> GetPromptResult:
    """The prompt, for what it needs."""
    del context
    place = (params.arguments or {}).get("place")
    if params.name != "travel":
        raise MCPError(-32602, f"Unknown prompt: {params.name}")
    if not place:
        raise MCPError(-32602, "Missing required argument: place")
    words = TextContent(type="text", text=f"Plan a journey to {place}.")
    return GetPromptResult(messages=[PromptMessage(role="user", content=words)])


async def complete(context: object, params: CompleteRequestParams) -> CompleteResult:
    """Places, and the ids of trains."""
    del context
    known = {"place": [train["to"] for train in TRAINS], "train_id": [train["id"] for train in TRAINS]}
    if params.argument.name not in known:
        raise MCPError(-32602, f"Unknown argument: {params.argument.name}")
    values = [value for value in known[params.argument.name] if value.startswith(params.argument.value)]
    return CompleteResult(completion=Completion(values=values, total=len(values), has_more=False))


async def main() -> None:
    """Serve over stdio."""
    server = Server(
        "trains",
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_resources=list_resources,
        on_list_resource_templates=list_templates,
        on_read_resource=read_resource,
        on_list_prompts=list_prompts,
        on_get_prompt=get_prompt,
        on_completion=complete,
    )
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


if __name__ == "__main__":
    anyio.run(main)
