"""`toolvet review list`: print the review queue."""

from typing import Annotated, Literal

from cyclopts import Parameter

from toolvet.cli.commands.review.options import JsonOption, ReviewerOption, StoreOption


def command(
    *,
    store: StoreOption = None,
    reviewer: ReviewerOption = None,
    state: Annotated[
        Literal["open", "done", "all"], Parameter(help="Items that want reviewers, those that have them, or both.")
    ] = "open",
    kind: Annotated[
        Literal["call", "arguments", "result", "envelope", "answer"] | None, Parameter(help="Only these verdicts.")
    ] = None,
    rule: Annotated[str | None, Parameter(help="Only what this rule wanted.")] = None,
    mine: Annotated[bool, Parameter(negative="", help="Only what you labelled; with `--state all`.")] = False,
    limit: Annotated[int, Parameter(help="How many.")] = 20,
    json: JsonOption = False,
) -> int:
    """Print what people should look at, what comes first on top, and how far the queue is."""
    from toolvet.cli.commands.review.run import list_items  # noqa: PLC0415 - the heavy half, for this command only

    return list_items(store, reviewer, state=state, kind=kind, rule=rule, only_mine=mine, limit=limit, as_json=json)
