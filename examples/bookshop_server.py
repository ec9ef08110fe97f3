"""A small bookshop as an MCP server, with faults planted on purpose.

Two tools are fine (`search_books`, `get_book`), one is fine but changes the world (`order_book`), and each of the
others has the fault that its entry in TOOLS names. `toolvet assess -- python examples/bookshop_server.py` finds them.

It is written with the official SDK's low-level server, which checks nothing by itself: every fault here is one that
real servers have. `--http PORT` serves Streamable HTTP on 127.0.0.1 instead of stdio.
"""

import asyncio
import json
import os
import sys
import traceback
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import jsonschema_rs
import mcp.types as mcp
from mcp.server import Server
from mcp.server.stdio import stdio_server

from mcp import MCPError

Arguments = dict[str, Any]
Answer = Callable[[Arguments], Awaitable[mcp.CallToolResult]]

BOOKS: list[dict[str, Any]] = [
    {
        "isbn": "978-0141439518",
        "title": "Pride and Prejudice",
        "author": "Jane Austen",
        "genre": "novel",
        "price": 8.99,
    },
    {
        "isbn": "978-0262510875",
        "title": "Structure and Interpretation",
        "author": "Abelson",
        "genre": "science",
        "price": 49.0,
    },
    {
        "isbn": "978-0747532699",
        "title": "The Philosopher's Stone",
        "author": "J. K. Rowling",
        "genre": "children",
        "price": 12.5,
    },
]
ISBN = {
    "type": "string",
    "pattern": "^97[89]-[0-9]{10}$",
    "description": "ISBN-13 as search_books returns it, e.g. '978-0141439518'.",
}
BOOK = {
    "type": "object",
    "properties": {
        "isbn": {"type": "string"},
        "title": {"type": "string"},
        "author": {"type": "string"},
        "genre": {"type": "string"},
        "price": {"type": "number"},
    },
    "required": ["isbn", "title", "author", "genre", "price"],
}


@dataclass(frozen=True)
class Entry:
    """A tool, what it answers, and the fault planted in it (None: it is fine)."""

    tool: mcp.Tool
    answer: Answer
    fault: str | None = None


def shape(required: list[str], **properties: Any) -> dict[str, Any]:
    """An input schema that forbids arguments it does not name."""
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def text(words: str, *, is_error: bool = False) -> mcp.CallToolResult:
    """A result of one text block."""
    return mcp.CallToolResult(content=[mcp.TextContent(type="text", text=words)], is_error=is_error)


def structured(value: dict[str, Any]) -> mcp.CallToolResult:
    """A structured result with its text mirror."""
    return mcp.CallToolResult(content=[mcp.TextContent(type="text", text=json.dumps(value))], structured_content=value)


# ── the tools ────────────────────────────────────────────────────────────────────────────────────────────────────────


async def search_books(arguments: Arguments) -> mcp.CallToolResult:
    """Fine."""
    query, genre = arguments["query"].lower(), arguments.get("genre")
    found = [b for b in BOOKS if query in f"{b['title']} {b['author']}".lower() and genre in (None, b["genre"])]
    return structured({"books": found[: arguments.get("limit", 10)], "total": len(found)})


async def get_book(arguments: Arguments) -> mcp.CallToolResult:
    """Fine."""
    for book in BOOKS:
        if book["isbn"] == arguments["isbn"]:
            return structured(book)
    return text(f"No book found with the isbn '{arguments['isbn']}'. Use search_books to find one.", is_error=True)


async def order_book(arguments: Arguments) -> mcp.CallToolResult:
    """Fine, but it changes the world: an assessment must not call it unasked."""
    return text(f"Ordered {arguments['quantity']} of {arguments['isbn']}.")


async def recommend_books(arguments: Arguments) -> mcp.CallToolResult:
    """Crashes, and shows the caller its stack trace."""
    try:
        return structured({"books": {}[arguments["reader"]]})
    except KeyError:
        return text(traceback.format_exc(), is_error=True)


async def check_stock(arguments: Arguments) -> mcp.CallToolResult:
    """Fails, and says isError: false."""
    return text(f"Error: could not connect to the warehouse database for {arguments['isbn']}: connection refused")


async def quote_shipping(arguments: Arguments) -> mcp.CallToolResult:
    """Has a schema, and ignores it."""
    return text(f"Shipping to {arguments.get('country')} costs 4.90 EUR.")


async def get_price(arguments: Arguments) -> mcp.CallToolResult:
    """Promises a number and returns a string."""
    return structured({"isbn": arguments["isbn"], "price": "8.99 EUR"})


async def opening_hours(arguments: Arguments) -> mcp.CallToolResult:
    """Promises structured content and returns prose."""
    return text(f"On {arguments['day']} we are open from nine to six.")


async def read_reviews(arguments: Arguments) -> mcp.CallToolResult:
    """Hangs."""
    await asyncio.sleep(3600)
    return text(f"No reviews of {arguments['isbn']}.")


async def export_catalog(arguments: Arguments) -> mcp.CallToolResult:
    """Takes the whole server down."""
    print(f"fatal: cannot map the catalogue as {arguments['format']}", file=sys.stderr, flush=True)
    os._exit(3)


async def convert_price(arguments: Arguments) -> mcp.CallToolResult:
    """Answers bad arguments with a protocol error, which no model ever sees."""
    if not isinstance(arguments.get("amount"), int | float) or not isinstance(arguments.get("currency"), str):
        raise MCPError(code=-32602, message="Invalid params")
    return text(f"{arguments['amount']} EUR are {arguments['amount'] * 1.1:.2f} {arguments['currency']}.")


async def find_author(arguments: Arguments) -> mcp.CallToolResult:
    """Refuses bad arguments without a word of help."""
    if not isinstance(arguments.get("name"), str) or not arguments["name"] or set(arguments) != {"name"}:
        return text("Invalid input", is_error=True)
    return text(
        ", ".join(b["author"] for b in BOOKS if arguments["name"].lower() in b["author"].lower())
        or "No author of that name."
    )


async def gift_card(arguments: Arguments) -> mcp.CallToolResult:
    """Can never be called: nothing satisfies its schema."""
    return text(f"A gift card over {arguments['amount']} EUR.")


async def loyalty_points(arguments: Arguments) -> mcp.CallToolResult:
    """Claims success and says nothing."""
    return text(" " * len(arguments["customer"]))


async def clear_shelf(arguments: Arguments) -> mcp.CallToolResult:
    """Says that it only reads, and deletes."""
    return text(f"Deleted all books on shelf {arguments['shelf']}.")


READS = mcp.ToolAnnotations(read_only_hint=True)
BUYS = mcp.ToolAnnotations(read_only_hint=False, destructive_hint=True)
PERSON = {"type": "string", "minLength": 1, "maxLength": 80, "description": "A name, e.g. 'Jane Austen'."}
DAY = {"enum": ["monday", "saturday", "sunday"], "description": "Day of the week."}

TOOLS = [
    Entry(
        mcp.Tool(
            name="search_books",
            description="Finds books by words of their title or author.",
            input_schema=shape(
                ["query"],
                query={
                    "type": "string",
                    "minLength": 1,
                    "maxLength": 100,
                    "description": "Words to look for, e.g. 'pride'.",
                    "examples": ["pride", "the"],
                },
                genre={
                    "type": "string",
                    "enum": ["novel", "science", "children"],
                    "description": "Only books of this genre.",
                },
                limit={"type": "integer", "minimum": 1, "maximum": 50, "description": "At most this many books."},
            ),
            output_schema={
                "type": "object",
                "properties": {"books": {"type": "array", "items": BOOK}, "total": {"type": "integer"}},
                "required": ["books", "total"],
            },
            annotations=READS,
        ),
        search_books,
    ),
    Entry(
        mcp.Tool(
            name="get_book",
            description="Returns one book.",
            input_schema=shape(["isbn"], isbn=ISBN),
            output_schema=BOOK,
            annotations=READS,
        ),
        get_book,
    ),
    Entry(
        mcp.Tool(
            name="order_book",
            description="Orders a book and charges the customer.",
            input_schema=shape(
                ["isbn", "quantity"],
                isbn=ISBN,
                quantity={"type": "integer", "minimum": 1, "description": "How many copies."},
            ),
            annotations=BUYS,
        ),
        order_book,
    ),
    Entry(
        mcp.Tool(
            name="recommend_books",
            description="Recommends books to a reader.",
            input_schema=shape(["reader"], reader=PERSON),
            annotations=READS,
        ),
        recommend_books,
        "it crashes",
    ),
    Entry(
        mcp.Tool(
            name="check_stock",
            description="Says how many copies are in stock.",
            input_schema=shape(["isbn"], isbn=ISBN),
            annotations=READS,
        ),
        check_stock,
        "it fails with isError: false",
    ),
    Entry(
        mcp.Tool(
            name="quote_shipping",
            description="Quotes the price of sending a parcel.",
            input_schema=shape(
                ["country", "weight_kg"],
                country={"type": "string", "enum": ["DE", "FR", "GB"], "description": "Where the parcel goes."},
                weight_kg={
                    "type": "number",
                    "exclusiveMinimum": 0,
                    "maximum": 30,
                    "description": "Weight in kilograms.",
                },
            ),
            annotations=READS,
        ),
        quote_shipping,
        "it ignores its schema",
    ),
    Entry(
        mcp.Tool(
            name="get_price",
            description="Returns the price of a book.",
            input_schema=shape(["isbn"], isbn=ISBN),
            output_schema={
                "type": "object",
                "properties": {"isbn": {"type": "string"}, "price": {"type": "number"}},
                "required": ["isbn", "price"],
            },
            annotations=READS,
        ),
        get_price,
        "it breaks its outputSchema",
    ),
    Entry(
        mcp.Tool(
            name="opening_hours",
            description="Says when the shop is open.",
            input_schema=shape(["day"], day=DAY),
            output_schema={
                "type": "object",
                "properties": {"opens": {"type": "string"}, "closes": {"type": "string"}},
                "required": ["opens", "closes"],
            },
            annotations=READS,
        ),
        opening_hours,
        "it declares an outputSchema and sends no structured content",
    ),
    Entry(
        mcp.Tool(
            name="read_reviews",
            description="Returns what readers wrote about a book.",
            input_schema=shape(["isbn"], isbn=ISBN),
            annotations=READS,
        ),
        read_reviews,
        "it hangs",
    ),
    Entry(
        mcp.Tool(
            name="export_catalog",
            description="Returns the whole catalogue.",
            input_schema=shape(["format"], format={"enum": ["csv", "json"], "description": "File format."}),
            annotations=READS,
        ),
        export_catalog,
        "it takes the server down",
    ),
    Entry(
        mcp.Tool(
            name="convert_price",
            input_schema=shape(["amount", "currency"], amount={"examples": [10]}, currency={"examples": ["USD"]}),
            annotations=READS,
        ),
        convert_price,
        "it has no description, its parameters have no type, and it answers bad arguments with a protocol error",
    ),
    Entry(
        mcp.Tool(
            name="find_author",
            description="Finds authors by name.",
            input_schema=shape(["name"], name=PERSON),
            annotations=READS,
        ),
        find_author,
        "its error messages help no one",
    ),
    Entry(
        mcp.Tool(
            name="gift_card",
            description="Shows a gift card.",
            input_schema=shape(
                ["amount"], amount={"type": "integer", "minimum": 100, "maximum": 10, "description": "Worth in EUR."}
            ),
            annotations=READS,
        ),
        gift_card,
        "nothing satisfies its schema",
    ),
    Entry(
        mcp.Tool(
            name="loyalty_points",
            description="Returns a customer's points.",
            input_schema=shape(["customer"], customer=PERSON),
            annotations=READS,
        ),
        loyalty_points,
        "it claims success and says nothing",
    ),
    Entry(
        mcp.Tool(
            name="clear_shelf",
            description="Deletes every book on a shelf.",
            input_schema=shape(
                ["shelf"], shelf={"type": "integer", "minimum": 1, "description": "Number of the shelf."}
            ),
            annotations=READS,
        ),
        clear_shelf,
        "it says readOnlyHint and deletes",
    ),
]
BY_NAME = {entry.tool.name: entry for entry in TOOLS}
CHECKS_NOTHING = {"quote_shipping", "convert_price", "find_author"}  # Their faults are in how they check.


# ── the server ───────────────────────────────────────────────────────────────────────────────────────────────────────


def refusal(schema: dict[str, Any], arguments: Arguments) -> str | None:
    """The faults of the arguments, worded so that a model can correct the call; None without a fault."""
    errors = jsonschema_rs.Draft202012Validator(schema).iter_errors(arguments)
    return " ".join(explain(error, schema) for error in errors) or None


def explain(error: jsonschema_rs.ValidationError, schema: dict[str, Any]) -> str:
    """One violation: the field, what is expected, what was received, and what to do."""
    facts = error.kind.as_dict()
    match error.kind.name:
        case "required":
            name = facts["property"]
            rules = schema["properties"][name]
            return f"'{name}' is required, but missing. Provide {wanted(rules)}. {rules['description']}"
        case "additionalProperties":
            unknown = ", ".join(f"'{name}'" for name in facts["unexpected"])
            known = ", ".join(schema["properties"])
            return f"{unknown} is not an argument of this tool. Expected only: {known}. Remove it."
        case _:
            name = str(error.instance_path[0])
            rules = schema["properties"][name]
            received = json.dumps(error.instance)
            return (
                f"'{name}' must be {wanted(rules)}; received {received}. Provide such a value. {rules['description']}"
            )


def wanted(rules: dict[str, Any]) -> str:
    """A property's rules in words: "an integer, at least 1, at most 50"."""
    if "enum" in rules:
        return f"one of {', '.join(json.dumps(value) for value in rules['enum'])}"
    bounds = {
        "minimum": "at least",
        "exclusiveMinimum": "more than",
        "maximum": "at most",
        "minLength": "no shorter than",
        "maxLength": "no longer than",
        "pattern": "matching",
    }
    words = [
        f"{'an' if rules['type'] == 'integer' else 'a'} {rules['type']}",
        *(f"{bounds[key]} {rules[key]}" for key in rules if key in bounds),
    ]
    return ", ".join(words)


async def list_tools(_context: Any, _parameters: Any) -> mcp.ListToolsResult:
    """All tools on one page."""
    return mcp.ListToolsResult(tools=[entry.tool for entry in TOOLS])


async def call_tool(_context: Any, parameters: mcp.CallToolRequestParams) -> mcp.CallToolResult:
    """Checks the arguments (where the tool does) and answers. An unknown tool is answered with a shrug: a fault."""
    entry = BY_NAME.get(parameters.name)
    if entry is None:
        return text("OK")
    arguments = parameters.arguments or {}
    wrong = None if parameters.name in CHECKS_NOTHING else refusal(entry.tool.input_schema, arguments)
    return text(wrong, is_error=True) if wrong else await entry.answer(arguments)


server = Server("bookshop", version="1.0.0", on_list_tools=list_tools, on_call_tool=call_tool)


async def serve_stdio() -> None:
    """Until stdin ends."""
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


if __name__ == "__main__":
    if sys.argv[1:2] == ["--http"]:
        import uvicorn  # Comes with the SDK; only this way of serving needs it.

        uvicorn.run(server.streamable_http_app(), host="127.0.0.1", port=int(sys.argv[2]), log_level="warning")
    else:
        print("Bookshop is open!", flush=True)  # A fault: stdout belongs to the protocol.
        asyncio.run(serve_stdio())
