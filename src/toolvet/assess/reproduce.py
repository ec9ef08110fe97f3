"""The command lines that show a finding again: for one call, for a tool with all its calls, and for the server."""

import shlex
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

import orjson

from toolvet.assess.workspace import WorkspaceTarget
from toolvet.mcp.transport import StdioTarget, Target

_LONGEST: Final = 2_000  # Characters of arguments in a command line that people copy.


def reproduce_call(target: Target, tool: str, arguments: Mapping[str, object]) -> str:
    """The command that makes one call again.

    `arguments` come without secrets: the user puts them back before running it. Arguments that are too long for a
    command line are left out, and the command makes all calls of the tool.
    """
    try:
        text = orjson.dumps(dict(arguments), option=orjson.OPT_NON_STR_KEYS).decode()
    except TypeError:
        # An integer over 64 bits, which a schema may demand, or half a surrogate pair.
        return reproduce_tool(target, tool)
    if len(text) > _LONGEST:
        return reproduce_tool(target, tool)
    return _command(target, "--tool", tool, "--arguments", text)


def reproduce_tool(target: Target, tool: str, *flags: str) -> str:
    """The command that makes all calls of a tool again; of the whole server when the tool has no name."""
    return _command(target, "--tool", tool, *flags) if tool else reproduce_server(target)


def reproduce_definition(target: Target, tool: str) -> str:
    """The command that judges the definition of a tool again, without calling it."""
    return _command(target, "--tool", tool, "--plan-only") if tool else reproduce_server(target)


def reproduce_server(target: Target) -> str:
    """The command that assesses the whole server again."""
    return _command(target)


def reproduce_transport(target: Target) -> str:
    """The command that sends the odd requests to a server over HTTP again, and calls no tool."""
    return _command(target, "--exclude", "*")


def _command(target: Target, *flags: str) -> str:
    words = ["toolvet", "assess", *flags]
    if isinstance(target, WorkspaceTarget):
        # The folder as an option: in front of the command it would be looked up in the workspace of the server.
        words, target = [*words, *target.flags], replace(target.given, cwd=None)
    server = f"-- {target.describe()}" if isinstance(target, StdioTarget) else target.describe()
    return f"{shlex.join(words)} {server}"
