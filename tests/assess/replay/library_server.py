"""A library as an MCP server, in several versions: `python library_server.py VERSION [--http PORT]`.

old     the one that is recorded
new     faults planted, one for each tool; the name of each tool says which
text    only texts, times, ids and the order of lists differ from the old one
"""

import json
import os
import sys
import time
import uuid
from random import SystemRandom
from typing import Any

import anyio
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp_types import CallToolRequestParams, CallToolResult, ListToolsResult, TextContent, Tool, ToolAnnotations

VERSION = sys.argv[1]
IS_NEW = VERSION == "new"
READS = ToolAnnotations(read_only_hint=True)
WRITES = ToolAnnotations(read_only_hint=False)
WORD = {"type": "string"}
DICE = SystemRandom()


def tool(name: str, output: dict[str, Any] | None = None, **parameters: Any) -> Tool:
    """A tool of which every parameter is required, and none is allowed that it does not name."""
    schema = {
        "type": "object",
        "properties": parameters,
        "required": list(parameters),
        "additionalProperties": False,
    }
    annotations = WRITES if name.startswith("add_") else READS
    return Tool(
        name=name,
        description=f"{name} of a library.",
        input_schema=schema,
        output_schema=output,
        annotations=annotations,
    )


COUNT = {"type": "object", "properties": {"count": {"type": "integer"}}, "required": ["count"]}
TOOLS = [
    tool("find_renamed", **{"words" if IS_NEW else "query": WORD}),
    tool("list_enum", order={"enum": ["title"] if IS_NEW else ["title", "year"]}),
    tool("get_crash", id={"type": "integer"}),
    tool("get_hidden_failure", id={"type": "integer"}),
    tool("count_output", COUNT, shelf=WORD),
    tool("get_shape", id={"type": "integer"}),
    tool("get_news", topic=WORD),
    tool("list_random"),
    tool("add_book", title=WORD),
    tool("get_secret", api_key=WORD),
    *([] if IS_NEW else [tool("get_gone", id={"type": "integer"})]),
]


def said(text: str, *, failed: bool = False, structured: dict[str, Any] | None = None) -> CallToolResult:
    return CallToolResult(content=[TextContent(text=text)], is_error=failed, structured_content=structured)


async def answer(name: str, arguments: dict[str, Any]) -> CallToolResult:
    """What each tool says. Schemas are not checked here, as the low-level server checks nothing."""
    match name:
        case "find_renamed":
            wanted = arguments.get("words" if IS_NEW else "query")
            if wanted is None:
                return said("missing required parameter 'words'", failed=True)
            return said(json.dumps({"found": [wanted]}))
        case "list_enum":
            order = arguments["order"]
            return (
                said(f"unknown order {order!r}: use title", failed=True) if IS_NEW and order == "year" else said("Emma")
            )
        case "get_crash":
            if IS_NEW:
                os._exit(3)
            return said("Emma, 1815")
        case "get_hidden_failure":
            return said("Error: no book with id 99 was found", failed=not IS_NEW)
        case "count_output":
            count: Any = "seven" if IS_NEW else 7
            return said(json.dumps({"count": count}), structured={"count": count})
        case "get_shape":
            pages: Any = {"total": 474} if IS_NEW else 474
            return said(json.dumps({"title": "Emma", "pages": pages}))
        case "get_news":
            if VERSION == "hangs":
                await anyio.Path(os.environ["MARKER"]).touch()
                await anyio.sleep_forever()
            words = "Nothing happened today." if VERSION == "old" else "All quiet on the shelves, as of this morning."
            return said(words)
        case "list_random":
            return said(json.dumps(random_answer()))
        case "get_secret":
            return said(f"the key {arguments['api_key']} opens the archive")
        case _:
            return said("done")


def random_answer() -> dict[str, Any]:
    """Times, random ids as values and as keys, lists of any order and length, a member that is not always there."""
    books = [{"id": uuid.uuid4().hex, "at": time.time(), "note": DICE.choice([None, "fragile"])} for _ in range(4)]
    DICE.shuffle(books)
    return {
        "asked_at": time.time(),
        "request": uuid.uuid4().hex,
        "books": books[: DICE.randint(1, 4)],
        "by_id": {uuid.uuid4().hex: {"title": "Emma"} for _ in range(DICE.randint(1, 3))},
    }


async def list_tools(_context: Any, _params: Any) -> ListToolsResult:
    return ListToolsResult(tools=TOOLS)


async def call_tool(_context: Any, params: CallToolRequestParams) -> CallToolResult:
    return await answer(params.name, params.arguments or {})


SERVER = Server("library", on_list_tools=list_tools, on_call_tool=call_tool)


async def serve() -> None:
    async with stdio_server() as (reading, writing):
        await SERVER.run(reading, writing, SERVER.create_initialization_options())


if "--http" in sys.argv:
    port = int(sys.argv[sys.argv.index("--http") + 1])
    import uvicorn  # Only here: it takes as long to import as a call.

    uvicorn.run(SERVER.streamable_http_app(), host="127.0.0.1", port=port, log_level="error")
else:
    anyio.run(serve)
