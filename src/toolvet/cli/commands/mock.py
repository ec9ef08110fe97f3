"""`toolvet mock`: an MCP server that answers recorded calls with their results."""

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
    from toolvet.assess.mock import MockServer, read_definitions  # noqa: PLC0415 - all of these are for this command only
    from toolvet.assess.replay import read_recorded  # noqa: PLC0415
    from toolvet.mcp.serving import serve_stdio  # noqa: PLC0415

    calls = read_recorded(record)
    definitions = tools or Path(f"{record}.lock.json")
    listed = read_definitions(definitions) if tools or definitions.is_file() else ()
    serve_stdio(MockServer(calls, listed, fault or (), unseen=unseen).answer)
    return 0
