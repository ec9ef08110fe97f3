"""python -m toolvet.agents.hook.asking FILE: asks the server on stdin for its tools, and keeps them in FILE."""

import asyncio
import sys
from pathlib import Path
from typing import Final, Literal

import msgspec

from toolvet.agents.hook.private import write_private
from toolvet.core.json_value import elements, members
from toolvet.errors import ToolvetError
from toolvet.mcp.transport import HttpTarget, StdioTarget, open_session

_SECONDS: Final = 60.0
_MOST_TOOLS: Final = 2_000


def main() -> None:
    """Ask, and keep the answer; a server that does not answer leaves nothing."""
    given: object = msgspec.json.decode(sys.stdin.buffer.read())
    try:
        tools = asyncio.run(asyncio.wait_for(_tools(given), _SECONDS))
    except (ToolvetError, TimeoutError, OSError):
        return
    write_private(Path(sys.argv[1]), msgspec.json.encode(tools))


async def _tools(given: object) -> list[object]:
    held = members(given)
    target: HttpTarget | StdioTarget
    if "url" in held:
        kind: Literal["streamable", "sse"] = "sse" if held.get("kind") == "sse" else "streamable"
        target = HttpTarget(
            f"{held['url']}", {key: f"{value}" for key, value in members(held.get("headers")).items()}, kind
        )
    else:
        cwd = held.get("cwd")
        target = StdioTarget(
            f"{held.get('command')}",
            tuple(f"{each}" for each in elements(held.get("args"))),
            {key: f"{value}" for key, value in members(held.get("env")).items()},
            cwd if isinstance(cwd, str) else None,
        )
    async with open_session(target, timeout=_SECONDS) as session:
        listing = await session.list_tools()
    kept = [
        {key: value for key, value in members(each).items() if key in ("name", "description", "inputSchema")}
        for each in listing.tools[:_MOST_TOOLS]
    ]
    return list(kept)


if __name__ == "__main__":
    main()
