"""`toolvet review undo`: take your last label or skip back."""

from toolvet.cli.commands.review.options import JsonOption, ReviewerOption, StoreOption


def command(*, store: StoreOption = None, reviewer: ReviewerOption = None, json: JsonOption = False) -> int:
    """Take your last label or skip back, and again the one before it. The history keeps both.

    Exits with 1 when there is nothing to take back.
    """
    from toolvet.cli.commands.review.run import undo_last  # noqa: PLC0415 - the heavy half, for this command only

    return undo_last(store, reviewer, as_json=json)
