"""`toolvet trace`: print one turn from a store as a story."""

from typing import Annotated

from cyclopts import Parameter


def command(
    trace_id: Annotated[
        str | None,
        Parameter(help="The id of the turn, or how it begins; without one, the latest turns are listed."),
    ] = None,
    /,
    *,
    store: Annotated[
        str | None,
        Parameter(
            env_var="TOOLVET_STORE",
            help="The file or URL of the store. [default: `store` in toolvet.toml, else toolvet.db]",
        ),
    ] = None,
    json: Annotated[bool, Parameter(negative="", help="JSON on stdout.")] = False,
) -> int:
    """Say what happened in one turn: its calls, what was refused and why, the results, and the answer.

    The id is in the store, in `_meta["dev.toolvet/trace"]` of what the proxy answered, and in the caller's own
    `traceparent`. The answer is there once it was handed in: `toolvet check answer --store FILE`.
    """
    from toolvet.cli.commands.trace.story import list_turns, tell_turn  # noqa: PLC0415 - the heavy half, for this command

    return list_turns(store, as_json=json) if trace_id is None else tell_turn(store, trace_id, as_json=json)
