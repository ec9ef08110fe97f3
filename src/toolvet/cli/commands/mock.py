"""`toolvet mock`: an MCP server that answers recorded calls with their results."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

if TYPE_CHECKING:
    from toolvet.assess.replay import MockServer


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

    toolvet mock record.db

    toolvet mock record.db --tools toolvet.lock.json --fault latency=2 --fault outage:search

    Use it to test an agent offline. A call that was recorded several times gets its results in the recorded order, and
    then the last one again. Values that were redacted match any value.
    """
    from toolvet.assess.replay import MockServer, read_definitions, read_fault, read_recorded  # noqa: PLC0415 - the heavy half
    from toolvet.cli.options import definitions_beside  # noqa: PLC0415 - as above
    from toolvet.errors import UsageError  # noqa: PLC0415 - as above

    faults = [read_fault(text) for text in fault or ()]
    calls = read_recorded(record)
    definitions = tools or definitions_beside(record)
    try:
        listed = read_definitions(definitions.read_bytes()) if tools or definitions.is_file() else ()
    except OSError as error:
        raise UsageError(f"--tools {definitions}: {error.strerror}") from error
    except UsageError as error:
        raise UsageError(f"{definitions}: {error}") from error
    server = MockServer(calls, listed, faults, unseen=unseen)
    sys.stderr.write("toolvet mock: {} tools, {} recorded calls\n".format(*server.size))
    return _serve(server)


def _serve(server: "MockServer") -> int:
    """Answer each line of stdin until it ends. Delayed answers are sent by a thread each, so that others go on."""
    import threading  # noqa: PLC0415 - as above
    from contextlib import suppress  # noqa: PLC0415 - as above

    from toolvet.mcp.wire import DEFAULT_MESSAGE_BYTES, LineFramer  # noqa: PLC0415 - as above

    framer = LineFramer(DEFAULT_MESSAGE_BYTES)
    turn = threading.Lock()
    late = list[threading.Timer]()

    def send(line: bytes) -> None:
        with turn, suppress(BrokenPipeError):
            sys.stdout.buffer.write(line + b"\n")
            sys.stdout.buffer.flush()

    while chunk := sys.stdin.buffer.read1(65536):
        for line in framer.feed(chunk):
            answer = server.answer(line) if isinstance(line, bytes) else None
            if answer is None:
                continue
            if not answer.delay:
                send(answer.line)
                continue
            late = [each for each in late if each.is_alive()]
            late.append(threading.Timer(answer.delay, send, [answer.line]))
            late[-1].start()
    for timer in late:
        timer.join()
    return 0
