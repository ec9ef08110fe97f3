"""`toolvet review skip`: leave an item to others."""

from toolvet.cli.commands.review.options import ItemArgument, JsonOption, ReviewerOption, StoreOption


def command(
    item: ItemArgument, /, *, store: StoreOption = None, reviewer: ReviewerOption = None, json: JsonOption = False
) -> int:
    """Give an item back, and do not get it again; `toolvet review release` gives one back for now."""
    from toolvet.cli.commands.review.run import skip_item  # noqa: PLC0415 - the heavy half, for this command only

    return skip_item(store, reviewer, item, as_json=json)
