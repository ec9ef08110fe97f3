"""Shared by the MCP servers of toolvet: the opening in both protocol eras, and lines from stdin to stdout.

A server decides request by request: `server/discover` and requests whose `_meta` names a protocol version are modern,
`initialize` is legacy.
"""

import os
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Final

from toolvet.core.json_value import members
from toolvet.core.meta import PROTOCOL_VERSION_KEY, SERVER_INFO_KEY
from toolvet.mcp.transport import LEGACY_VERSIONS, MODERN_VERSION
from toolvet.mcp.wire import DEFAULT_MESSAGE_BYTES, LineFramer, Request
from toolvet.version import __version__

# A server that is started with other data must not be taken for the one before.
UNCACHED: Final[Mapping[str, object]] = {"ttlMs": 0, "cacheScope": "private"}


def is_modern(request: Request) -> bool:
    """Return whether a request is of the modern era."""
    meta = members(members(request.params).get("_meta"))
    return request.method == "server/discover" or PROTOCOL_VERSION_KEY in meta


def in_era(request: Request, result: Mapping[str, object]) -> Mapping[str, object]:
    """Return a result in the form of the era of its request."""
    if is_modern(request):
        return {"resultType": "complete", **result}
    return {key: value for key, value in result.items() if key not in ("resultType", *UNCACHED)}


def opening(request: Request, name: str, capabilities: Mapping[str, object]) -> Mapping[str, object] | None:
    """Return the result of `initialize`, `server/discover` or `ping`; None for any other method.

    `name` and `capabilities` are the server's.
    """
    info = {"name": name, "version": __version__}
    if request.method == "server/discover":
        versions = {"supportedVersions": [MODERN_VERSION], "capabilities": capabilities}
        return {**versions, **UNCACHED, "_meta": {SERVER_INFO_KEY: info}}
    if request.method == "initialize":
        wanted = members(request.params).get("protocolVersion")
        version = wanted if wanted in LEGACY_VERSIONS else LEGACY_VERSIONS[-1]
        return {"protocolVersion": version, "capabilities": capabilities, "serverInfo": info}
    return {} if request.method == "ping" else None


def serve_stdio(answer: Callable[[bytes], tuple[bytes, float] | None]) -> None:
    """Answer the lines on stdin until it ends. `answer` returns a line and its delay in seconds; None: no answer."""
    framer = LineFramer(DEFAULT_MESSAGE_BYTES)
    turn = threading.Lock()

    def send(line: bytes) -> None:
        with turn, suppress(BrokenPipeError):
            sys.stdout.buffer.write(line + b"\n")
            sys.stdout.buffer.flush()

    while chunk := os.read(sys.stdin.fileno(), 65536):
        for line in framer.feed(chunk):
            answered = answer(line) if isinstance(line, bytes) else None
            if answered is not None and answered[1]:
                # A thread for each late answer: other requests are answered meanwhile, and the process waits for it.
                threading.Timer(answered[1], send, [answered[0]]).start()
            elif answered is not None:
                send(answered[0])
