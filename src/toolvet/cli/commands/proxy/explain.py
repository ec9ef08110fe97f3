"""`toolvet proxy --explain`: which policy is in force for each tool of a server, and what set it."""

import asyncio
import os
import sys
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Literal

import msgspec
from rich.console import Console
from rich.table import Table
from rich.text import Text

from toolvet.errors import UnreachableError
from toolvet.schema import compiled
from toolvet.session import Policies
from toolvet.session.policy import PolicyLine
from toolvet.tool import ToolView, view_of
from toolvet.transport import HttpTarget, Listing, StdioTarget, Target, open_session

# Worth a column each; the rest is the same for nearly all tools, and told where it is not.
_COLUMNS = ("arguments", "repair", "results", "output_schema")


def explain_policies(
    words: Sequence[str],
    environment: Mapping[str, str] | None,
    cwd: Path | None,
    headers: Mapping[str, str],
    policies: Policies,
    *,
    form: Literal["text", "json"],
) -> int:
    """Ask the server for its tools and print what is in force for each; the exit code."""
    target: Target
    if words[0].startswith(("http://", "https://")):
        target = HttpTarget(words[0], headers)
    else:
        # The environment that the proxy would start it with.
        given = dict(os.environ) if environment is None else environment
        target = StdioTarget(words[0], tuple(words[1:]), given, str(cwd) if cwd else None)
    tools = [view_of(tool) for tool in asyncio.run(_listing(target)).tools]
    if form == "json":
        told = {tool.name: _told(policies.explained(tool.name), _unchecked(tool)) for tool in tools}
        sys.stdout.write(msgspec.json.format(msgspec.json.encode(told), indent=2).decode() + "\n")
    else:
        _print(tools, policies)
    return 0


async def _listing(target: Target) -> Listing:
    async with open_session(target) as session:
        listing = await session.list_tools()
    if not listing.tools and listing.problems:
        raise UnreachableError(f"the server's tools could not be read: {listing.problems[0].evidence}")
    return listing


def _unchecked(tool: ToolView) -> str:
    """Why arguments of this tool cannot be checked whatever the policy says; empty where they can."""
    if tool.input_schema is None:
        return "it has no inputSchema"
    problem = compiled(tool.input_schema).problem
    return "" if problem is None else f"its schema is of no use: {problem.message}"


def _told(choices: Sequence[PolicyLine], unchecked: str) -> dict[str, object]:
    told: dict[str, object] = {choice.name: {"value": choice.value, "from": choice.source} for choice in choices}
    return {**told, "unchecked": unchecked} if unchecked else told


def _print(tools: Sequence[ToolView], policies: Policies) -> None:
    console = Console()
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("tool", *_COLUMNS, "set by"):
        table.add_column(heading)
    notes: list[str] = []
    for tool in tools:
        choices = {choice.name: choice for choice in policies.explained(tool.name)}
        given = dict.fromkeys(choice.source for choice in choices.values() if choice.source != "default")
        table.add_row(
            Text(tool.name),
            *(str(choices[name].value) for name in _COLUMNS),
            Text(", ".join(given) or "default"),
        )
        if problem := _unchecked(tool):
            notes.append(f"{tool.name}: arguments pass unchecked, because {problem}")
        notes += [
            f"{tool.name}: {choice.name} = {_written(choice.value)}   ({choice.source})"
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


def _written(value: object) -> str:
    return msgspec.json.encode(value).decode()
