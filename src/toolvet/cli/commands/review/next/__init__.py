"""`toolvet review next`: take the next item of the review queue."""

from toolvet.cli.commands.review.options import JsonOption, ReviewerOption, StoreOption


def command(*, store: StoreOption = None, reviewer: ReviewerOption = None, json: JsonOption = False) -> int:
    """Take the next item and print it. Others do not get it until you labelled it, gave it back, or your time is over.

    Exits with 1 when nothing is left for you.
    """
    from toolvet.cli.commands.review.run import take_next  # noqa: PLC0415 - the heavy half, for this command only

    return take_next(store, reviewer, as_json=json)
