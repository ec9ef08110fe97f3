"""`toolvet replay`: the calls of a record, made again against a new version of the server."""

from typing import Annotated

from cyclopts import Parameter

from toolvet.cli.commands.replay.flags import ReplayFlags


def command(
    record: Annotated[
        str,
        Parameter(
            help='What `toolvet proxy --store` wrote under `record = "calls"` (a file or a URL), or a store or a JSON '
            "report of `toolvet assess`."
        ),
    ],
    *target: Annotated[
        str,
        Parameter(
            allow_leading_hyphen=False,
            help="`-- COMMAND ARGS…` starts the new version and speaks stdio; a URL reaches one over HTTP.",
        ),
    ],
    flags: ReplayFlags | None = None,
) -> int:
    """Make recorded calls again against a new version, and say which of them now end otherwise.

    toolvet replay record.db -- python server.py

    toolvet replay record.db http://127.0.0.1:8000/mcp --report junit=replay.xml

    Ends are compared by verdict, never by text: whether the arguments are still valid, whether the call succeeds, what
    an error says went wrong, whether the result keeps its outputSchema, and its shape. A call that was recorded often
    is made once. As in an assessment, only tools that are known to read are called; `--include TOOL` calls others.
    """
    from toolvet.cli.commands.replay.run import replay_and_report  # noqa: PLC0415 - the heavy half, for this command

    return replay_and_report(record, target, flags or ReplayFlags())
