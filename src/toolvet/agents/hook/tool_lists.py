"""The tools of a client's server: asked for once, and kept in the user's cache under the fingerprint of its entry.

A server is asked when the client calls one of its tools: then the user has allowed it, and the client runs it already.
A process of its own asks, so that a slow server is known for the next call even where this one does not wait for it.

python -m toolvet.agents.hook.tool_lists FILE      asks the server on stdin for its tools, and keeps them in FILE
"""

import os
import sys
import time
from collections.abc import Iterable
from hashlib import blake2b
from pathlib import Path
from typing import Final, Literal

import msgspec

from toolvet.agents.hook.private import private_folder, read_private, write_private
from toolvet.core.json_value import elements, members
from toolvet.mcp.transport import HttpTarget, StdioTarget, Target

ASKED: Final = "asking"
_FRESH_SECONDS: Final = 24 * 3600
_ASK_AGAIN_SECONDS: Final = 300
_LOOK_SECONDS: Final = 0.02
_MOST_BYTES: Final = 32 * 2**20


def definition_of(target: Target, tool: str, *, wait: float, may_ask: bool) -> tuple[object, str]:
    """Return the definition of a tool of this server, and why the server's tools are not known.

    The definition is None if it is not known within `wait` seconds. The reason is empty if it was given before.
    """
    folder = private_folder("tools")
    if folder is None:
        return None, "its tools cannot be stored, because ~/.cache/toolvet/hook is not writable for you alone" * may_ask
    file = folder / f"{fingerprint(target)}.json"
    failed = file.with_suffix(".failed")
    known = _tools(file)
    why = ""
    if known is None and may_ask:
        if _begin(file):
            failed.unlink(missing_ok=True)
            _ask(target, file)
            until = time.monotonic() + wait
            while known is None and not failed.exists() and time.monotonic() < until:
                time.sleep(_LOOK_SECONDS)
                known = _tools(file)
            why = f"it did not list its tools within {wait:g} s. toolvet waits in the background and checks later calls"
        if (reason := read_private(failed, _MOST_BYTES)) is not None:
            failed.unlink(missing_ok=True)
            why = reason.decode(errors="replace")
    found = next((each for each in known or () if members(each).get("name") == tool), None)
    return found, "" if known is not None else why


def names_of_others(servers: Iterable[Target], target: Target) -> frozenset[str]:
    """Return the names of the tools of all these servers but `target`, as far as their lists are kept; none is asked.

    A name that `target` has as well is its own.
    """
    folder = private_folder("tools")
    if folder is None:
        return frozenset()

    def names(server: Target) -> set[object]:
        known = _tools(folder / f"{fingerprint(server)}.json") or ()
        return {members(each).get("name") for each in known}

    found = set[object]().union(*(names(each) for each in servers if each != target)) - names(target)
    return frozenset(name for name in found if isinstance(name, str))


def fingerprint(target: Target) -> str:
    """Return the name under which the tools of this server are kept; nothing of its secrets can be read from it."""
    return blake2b(repr(described(target)).encode("utf-8", "replace"), digest_size=16).hexdigest()


def described(target: Target) -> dict[str, object]:
    """Return a target as JSON, for the process that asks."""
    if isinstance(target, StdioTarget):
        return {"command": target.command, "args": list(target.args), "env": dict(target.env or {}), "cwd": target.cwd}
    return {"url": target.url, "headers": dict(target.headers or {}), "kind": target.kind}


def _tools(file: Path) -> list[object] | None:
    content = read_private(file, _MOST_BYTES, newest=time.time() - _FRESH_SECONDS)
    if content is None:
        return None
    try:
        return list(elements(msgspec.json.decode(content)))
    except msgspec.DecodeError:
        return None


def _begin(file: Path) -> bool:
    """Whether this process is to ask: no other has for some minutes."""
    mark = file.with_suffix(f".{ASKED}")
    try:
        if time.time() - mark.stat().st_mtime < _ASK_AGAIN_SECONDS:
            return False
    except OSError:
        pass
    try:
        mark.unlink(missing_ok=True)
        os.close(os.open(mark, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    except OSError:
        return False
    return True


def _ask(target: Target, file: Path) -> None:
    """Start the process that asks. It gets the target over stdin: secrets do not belong on a command line."""
    import subprocess  # noqa: PLC0415 - most lists are known

    command = [sys.executable, "-P", "-m", "toolvet.agents.hook.tool_lists", str(file)]
    package = str(Path(__file__).resolve().parents[3])
    try:
        process = subprocess.Popen(  # noqa: S603 - our own module
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, (package, os.environ.get("PYTHONPATH"))))},
        )
    except OSError:
        return
    if process.stdin is not None:
        process.stdin.write(msgspec.json.encode(described(target)))
        process.stdin.close()
    # From here on we do not wait for it.
    process.returncode = 0


_MOST_SECONDS: Final = 60.0
_MOST_TOOLS: Final = 2_000


def main() -> None:
    """Ask the server on stdin, and keep its tools in the file of the command line, or why it has none beside it."""
    import asyncio  # noqa: PLC0415 - only the process that asks needs it

    from toolvet.core.redact import redact_text  # noqa: PLC0415 - as above
    from toolvet.errors import ToolvetError, could_not_check  # noqa: PLC0415 - as above
    from toolvet.mcp.transport import adopt_orphans  # noqa: PLC0415 - as above

    # A daemon of the server ends with the server, as in `assess`.
    adopt_orphans()
    given: object = msgspec.json.decode(sys.stdin.buffer.read())
    try:
        tools = asyncio.run(asyncio.wait_for(_listed(given), _MOST_SECONDS))
    except Exception as error:  # noqa: BLE001 - whatever it is, the next hook says it
        why = f"{error}" if isinstance(error, ToolvetError | OSError) else could_not_check(error)
        if isinstance(error, TimeoutError):
            why = f"it did not list its tools within {_MOST_SECONDS:g} s"
        write_private(Path(sys.argv[1]).with_suffix(".failed"), redact_text(why).encode("utf-8", "replace"))
        return
    write_private(Path(sys.argv[1]), msgspec.json.encode(tools))


async def _listed(given: object) -> list[object]:
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
    from toolvet.mcp.transport import open_session  # noqa: PLC0415 - as above

    async with open_session(target, timeout=_MOST_SECONDS) as session:
        listing = await session.list_tools()
    kept = [
        {key: value for key, value in members(each).items() if key in ("name", "description", "inputSchema")}
        for each in listing.tools[:_MOST_TOOLS]
    ]
    return list(kept)


if __name__ == "__main__":
    main()
