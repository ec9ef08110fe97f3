"""`toolvet review skip`: leave an item to others."""

from toolvet.cli.commands.review.options import ItemArgument, ReviewerOption, StoreOption


def command(item: ItemArgument, /, *, store: StoreOption = None, reviewer: ReviewerOption = None) -> int:
    """Give an item back, and do not get it again."""
    from toolvet.cli.commands.review.run import skip_item  # noqa: PLC0415 - the heavy half, for this command only

    return skip_item(store, reviewer, item)
