"""`toolvet mock`: an MCP server that answers recorded calls with their results."""

import os
import sys
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter


def command(
    record: Annotated[
        str,
        Parameter(
            help="A record of `toolvet record` or `toolvet proxy --record calls` (a file or a URL), or a store or a "
            "JSON report of `toolvet assess`."
        ),
    ],
    *,
    tools: Annotated[
        Path | None,
        Parameter(
            help="The definitions of the tools: a file of `toolvet lock`, or an answer to tools/list. "
            "[default: RECORD.lock.json]"
        ),
    ] = None,
    unseen: Annotated[
        Literal["example", "error"],
        Parameter(
            help="Answer a call that was not recorded with an example that the outputSchema allows, or with an error."
        ),
    ] = "example",
    fault: Annotated[
        list[str] | None,
        Parameter(
            negative="",
            help="`latency=SECONDS`, `outage` (no answer), `malformed` (half of an answer) or `error` (a tool error), "
            "and `:TOOL` for one tool only; may be repeated.",
        ),
    ] = None,
) -> int:
    """Serve a record over stdio: recorded calls get their results, and no server runs.

    toolvet mock record.db --tools toolvet.lock.json --fault latency=2 --fault outage:search

    Use it to test an agent offline. A call that was recorded several times gets its results in the recorded order, and
    then the last one again. Values that were redacted match any value.
    """
    import threading  # noqa: PLC0415 - all of these are for this command only
    from contextlib import suppress  # noqa: PLC0415

    from toolvet.assess.mock import MockServer, read_definitions  # noqa: PLC0415
    from toolvet.assess.replay import read_recorded  # noqa: PLC0415
    from toolvet.mcp.wire import DEFAULT_MESSAGE_BYTES, LineFramer  # noqa: PLC0415

    calls = read_recorded(record)
    definitions = tools or Path(f"{record}.lock.json")
    listed = read_definitions(definitions) if tools or definitions.is_file() else ()
    server = MockServer(calls, listed, fault or (), unseen=unseen)
    framer = LineFramer(DEFAULT_MESSAGE_BYTES)
    turn = threading.Lock()

    def send(line: bytes) -> None:
        with turn, suppress(BrokenPipeError):
            sys.stdout.buffer.write(line + b"\n")
            sys.stdout.buffer.flush()

    while chunk := os.read(sys.stdin.fileno(), 65536):
        for line in framer.feed(chunk):
            answer = server.answer(line) if isinstance(line, bytes) else None
            if answer is not None and answer[1]:
                # A thread for each late answer: other requests are answered meanwhile, and the process waits for it.
                threading.Timer(answer[1], send, [answer[0]]).start()
            elif answer is not None:
                send(answer[0])
    return 0
