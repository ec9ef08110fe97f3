"""`toolvet review show`: print one item of the review queue."""

from typing import Annotated

from cyclopts import Parameter

from toolvet.cli.commands.review.options import ItemArgument, JsonOption, ReviewerOption, StoreOption


def command(
    item: ItemArgument,
    /,
    *,
    store: StoreOption = None,
    reviewer: ReviewerOption = None,
    history: Annotated[bool, Parameter(negative="", help="Every change of its labels, too.")] = False,
    json: JsonOption = False,
) -> int:
    """Print an item with the calls of its turn. The labels of others are left out until yours is there."""
    from toolvet.cli.commands.review.run import show_item  # noqa: PLC0415 - the heavy half, for this command only

    return show_item(store, reviewer, item, with_history=history, as_json=json)
