"""`toolvet review add`: put a verdict into the review queue."""

from typing import Annotated

from cyclopts import Parameter

from toolvet.cli.commands.review.options import JsonOption, StoreOption


def command(
    verdict: Annotated[str, Parameter(help="The id of the verdict.")],
    /,
    *,
    priority: Annotated[int, Parameter(help="More is sooner.")] = 0,
    reviewers: Annotated[int, Parameter(help="How many people should see it.")] = 1,
    store: StoreOption = None,
    json: JsonOption = False,
) -> int:
    """Put a verdict into the queue by hand; one that is there stays as it is."""
    from toolvet.cli.commands.review.run import add_item  # noqa: PLC0415 - the heavy half, for this command only

    return add_item(store, verdict, priority=priority, reviewers=reviewers, as_json=json)
