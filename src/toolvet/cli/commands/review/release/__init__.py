"""`toolvet review release`: give an item back for now."""

from toolvet.cli.commands.review.options import ItemArgument, JsonOption, ReviewerOption, StoreOption


def command(
    item: ItemArgument = "mine",
    /,
    *,
    store: StoreOption = None,
    reviewer: ReviewerOption = None,
    json: JsonOption = False,
) -> int:
    """Give an item back before your time is over, so that others and you can take it.

    Exits with 1 when you do not have it.
    """
    from toolvet.cli.commands.review.run import release_item  # noqa: PLC0415 - the heavy half, for this command only

    return release_item(store, reviewer, item, as_json=json)
