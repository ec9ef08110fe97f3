"""`toolvet review label`: say whether a verdict is right."""

from typing import Annotated

from cyclopts import Parameter

from toolvet.cli.commands.review.options import ItemArgument, JsonOption, ReviewerOption, StoreOption


def command(
    item: ItemArgument,
    value: Annotated[str, Parameter(help="right, wrong or unsure; for results also what is right instead.")],
    /,
    *,
    signal: Annotated[
        tuple[str, ...],
        Parameter(negative="", help="What you say of one signal: `0:refusal=wrong`. Can be given several times."),
    ] = (),
    note: Annotated[str, Parameter(help="Your words.")] = "",
    second_opinion: Annotated[bool, Parameter(negative="", help="Ask one more reviewer.")] = False,
    store: StoreOption = None,
    reviewer: ReviewerOption = None,
    json: JsonOption = False,
) -> int:
    """Say whether a verdict is right, and which of its signals are.

    toolvet review label 019ab… wrong --signal 0:refusal=wrong --note "it quotes the user"
    """
    from toolvet.cli.commands.review.run import label_item  # noqa: PLC0415 - the heavy half, for this command only

    return label_item(
        store, reviewer, item, value, signals=signal, note=note, second_opinion=second_opinion, as_json=json
    )
