"""`toolvet trace`: print one turn from a store as a story."""

from typing import Annotated

from cyclopts import Parameter


def command(
    trace_id: Annotated[
        str | None,
        Parameter(help="The id of the turn, or its beginning; without one, the latest turns are listed."),
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
    """Show what happened in one turn: its calls, refusals and their reasons, the results, and the answer.

    The id is in the store, in `_meta["dev.toolvet/trace"]` of the proxy's answers, and in the caller's own
    `traceparent`. `toolvet check answer --store FILE` adds the answer of the turn.
    """
    from toolvet.cli.commands.trace.story import list_turns, tell_turn  # noqa: PLC0415 - the heavy half, for this command

    return list_turns(store, as_json=json) if trace_id is None else tell_turn(store, trace_id, as_json=json)
