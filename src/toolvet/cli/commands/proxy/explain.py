"""The work of `toolvet proxy --explain`: print the policy of each tool of a server, and what set it."""

import asyncio
import os
import sys
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final, Literal

import msgspec
from rich.console import Console
from rich.text import Text

from toolvet.cli.target import is_url
from toolvet.cli.terminal import new_table
from toolvet.core.schema import compiled
from toolvet.core.tools import ToolView, view_of
from toolvet.core.visible import json_text
from toolvet.errors import UnreachableError
from toolvet.mcp.transport import HttpTarget, Listing, StdioTarget, Target, open_session
from toolvet.proxy.session import Policies

# These get a column each; the other settings are the same for nearly all tools, and are listed where they differ.
_COLUMNS: Final = ("arguments", "repair", "results", "output_schema")


def explain_policies(
    words: Sequence[str],
    environment: Mapping[str, str] | None,
    cwd: Path | None,
    headers: Mapping[str, str],
    policies: Policies,
    *,
    form: Literal["text", "json"],
) -> int:
    """Ask the server for its tools, print the policy of each, and return the exit code."""
    target: Target
    if is_url(words[0]):
        target = HttpTarget(words[0], headers)
    else:
        # The environment that the proxy would start it with.
        given = dict(os.environ) if environment is None else environment
        target = StdioTarget(words[0], tuple(words[1:]), given, str(cwd) if cwd else None)
    tools = [view_of(tool) for tool in asyncio.run(_list_tools(target)).tools]
    if form == "json":
        document: dict[str, dict[str, object]] = {}
        for tool in tools:
            choices = policies.explained(tool.name)
            document[tool.name] = {choice.name: {"value": choice.value, "from": choice.source} for choice in choices}
            if unchecked := _unchecked_reason(tool):
                document[tool.name]["unchecked"] = unchecked
        sys.stdout.write(json_text(document))
    else:
        _print_table(tools, policies)
    return 0


async def _list_tools(target: Target) -> Listing:
    async with open_session(target) as session:
        listing = await session.list_tools()
    if not listing.tools and listing.problems:
        raise UnreachableError(f"the server's tools could not be read: {listing.problems[0].evidence}")
    return listing


def _unchecked_reason(tool: ToolView) -> str:
    if tool.input_schema is None:
        return "it has no inputSchema"
    problem = compiled(tool.input_schema).problem
    return "" if problem is None else f"its schema is of no use: {problem.message}"


def _print_table(tools: Sequence[ToolView], policies: Policies) -> None:
    console = Console()
    table = new_table("tool", *_COLUMNS, "set by")
    notes: list[str] = []
    for tool in tools:
        choices = {choice.name: choice for choice in policies.explained(tool.name)}
        given = dict.fromkeys(choice.source for choice in choices.values() if choice.source != "default")
        table.add_row(
            Text(tool.name),
            *(str(choices[name].value) for name in _COLUMNS),
            Text(", ".join(given) or "default"),
        )
        if problem := _unchecked_reason(tool):
            notes.append(f"{tool.name}: arguments pass unchecked, because {problem}")
        notes += [
            f"{tool.name}: {choice.name} = {msgspec.json.encode(choice.value).decode()}   ({choice.source})"
            for choice in choices.values()
            if choice.source != "default" and choice.name not in _COLUMNS
        ]
    notes += [
        f'[proxy.tools."{pattern}"] speaks of no tool of this server'
        for pattern in policies.settings.tools
        if not any(tool.name == pattern or fnmatchcase(tool.name, pattern) for tool in tools)
    ]
    console.print(table)
    for note in notes:
        console.print(note, style="dim", markup=False, highlight=False)
    console.print(
        "\nPolicies are set in the [proxy] part of toolvet.toml; --json tells all of each.", style="dim", markup=False
    )
