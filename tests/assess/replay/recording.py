"""Records the library through the real proxy, with the official client."""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any, Literal

import pytest
from mcp.client.stdio import StdioServerParameters, stdio_client

import mcp
from toolvet.cli import run

Mode = Literal["legacy", "auto"]
LIBRARY = (sys.executable, str(Path(__file__).parent / "library_server.py"))
SECRET = "tk-4711-abcdef"
_NOTHING: dict[str, Any] = {}
CALLS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("find_renamed", {"query": "emma"}),
    ("list_enum", {"order": "title"}),
    ("list_enum", {"order": "year"}),
    ("get_hidden_failure", {"id": 99}),
    ("count_output", {"shelf": "a"}),
    ("get_shape", {"id": 1}),
    ("get_news", {"topic": "books"}),
    ("get_news", {"topic": "books"}),
    *([("list_random", _NOTHING)] * 5),
    ("add_book", {"title": "Emma"}),
    ("get_secret", {"api_key": SECRET}),
    ("get_gone", {"id": 1}),
    ("get_crash", {"id": 1}),
)


def record_calls(store: Path, mode: Mode, *server: str, record: str = "calls") -> None:
    """Make all calls through `toolvet proxy`, which keeps them in `store`; `server` is what follows its options."""
    settings = store.with_suffix(".toml")
    settings.write_text(f'[proxy]\nrecord = "{record}"\n')
    words = ["-m", "toolvet", "proxy", "--store", str(store), "--settings", str(settings), *server]

    async def converse() -> None:
        proxy = StdioServerParameters(command=sys.executable, args=words)
        async with mcp.Client(stdio_client(proxy), mode=mode) as client:
            await client.list_tools()
            for tool, arguments in CALLS:
                await client.call_tool(tool, arguments)

    asyncio.run(converse())


# The expected verdict on each tool of the new version; get_shape is changed, all others are worse.
PLANTED = {
    "find_renamed": {"arguments", "outcome"},
    "list_enum": {"arguments", "outcome"},
    "get_hidden_failure": {"outcome"},
    "count_output": {"output_schema", "shape"},
    "get_gone": {"tool"},
    "get_crash": {"outcome"},
}


def replayed(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, Any]:
    code = run(["replay", *words[:1], "--json", *words[1:]])
    return code, json.loads(capsys.readouterr().out)


def told(report: Any) -> dict[str, set[str]]:
    """What changed, by tool."""
    return {
        call["tool"]: {change["kind"] for change in call["changes"]}
        for call in report["calls"]
        if call["comparison"] != "same"
    }
