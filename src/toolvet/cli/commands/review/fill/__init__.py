"""`toolvet review fill`: look for verdicts that people should see."""

from typing import Annotated

from cyclopts import Parameter

from toolvet.cli.commands.review.options import JsonOption, StoreOption


def command(
    *,
    store: StoreOption = None,
    again: Annotated[
        bool, Parameter(negative="", help="Look at all verdicts, as after a change of the rules, not only at new ones.")
    ] = False,
    json: JsonOption = False,
) -> int:
    """Put the verdicts that the rules want into the queue. Every other command does so for new verdicts."""
    from toolvet.cli.commands.review.run import fill_queue  # noqa: PLC0415 - the heavy half, for this command only

    return fill_queue(store, again=again, as_json=json)
