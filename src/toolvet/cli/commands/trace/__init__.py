"""`toolvet trace`: print one turn from a record as a story."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter


def command(
    trace_id: Annotated[
        str | None,
        Parameter(help="The id of the turn, or how it begins; without one, the latest turns are listed."),
    ] = None,
    /,
    *,
    record: Annotated[
        Path, Parameter(env_var="TOOLVET_RECORD", help="The file that `toolvet proxy --record` keeps.")
    ] = Path("calls.db"),
    json: Annotated[bool, Parameter(negative="", help="JSON on stdout.")] = False,
) -> int:
    """Say what happened in one turn: its calls, what was refused and why, the results, and the answer.

    The id is in the record, in `_meta["dev.toolvet/trace"]` of what the proxy answered, and in the caller's own
    `traceparent`. The answer is there once it was handed in: `toolvet check answer --record FILE`.
    """
    from toolvet.cli.commands.trace.run import list_turns, tell_turn  # noqa: PLC0415 - the heavy half, for this command

    return list_turns(record, as_json=json) if trace_id is None else tell_turn(record, trace_id, as_json=json)
