"""The tools of a server, read when first needed, and again when one is missing or the list has changed."""

import asyncio
from collections.abc import Mapping, Sequence
from difflib import get_close_matches

from toolvet.core.tools import view_of
from toolvet.mcp.client.connection import ListTools


class ToolDefinitions:
    """Tool definitions by name. Safe for many tasks at once."""

    def __init__(self, list_tools: ListTools) -> None:
        self._list_tools = list_tools
        self._tools: Mapping[str, object] | None = None
        self._changes = 0
        self._reading = asyncio.Lock()

    def knows(self, name: str) -> bool:
        """Whether the tool was in the list when that was last read."""
        return self._tools is not None and name in self._tools

    async def find(self, name: str) -> object:
        """The definition; None where a list read just now does not have it. Raises what reading the list raises."""
        tools = self._tools
        if tools is None or name not in tools:
            tools = await self._read()
        return tools.get(name)

    def similar(self, name: str) -> tuple[str, ...]:
        """Names of tools that `name` may misspell, the nearest first."""
        return tuple(get_close_matches(name, list(self._tools or ()), n=3, cutoff=0.6))

    def forget(self) -> None:
        """Read the list again before it is next used, because it has changed."""
        self._tools = None
        self._changes += 1

    async def _read(self) -> Mapping[str, object]:
        """Read the list; keep it, unless it changed while it was read."""
        before = self._tools
        async with self._reading:
            # Another task may have read it while we waited for the lock.
            if self._tools is not None and self._tools is not before:
                return self._tools
            changes = self._changes
            tools = _by_name(await self._list_tools())
            if changes == self._changes:
                self._tools = tools
            return tools


def _by_name(listed: Sequence[object]) -> Mapping[str, object]:
    """The tools by name: the first of two with the same name, and none without a name."""
    found: dict[str, object] = {}
    for tool in listed:
        if name := view_of(tool).name:
            found.setdefault(name, tool)
    return found
