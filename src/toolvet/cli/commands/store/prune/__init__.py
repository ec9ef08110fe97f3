"""`toolvet store prune`: delete what is old, or too much."""

from typing import Annotated

from cyclopts import Parameter

from toolvet.cli.commands.store.options import StoreOption


def command(
    *,
    store: StoreOption = None,
    older_than: Annotated[
        str | None, Parameter(help="Delete what is older: `30d`, `12h`, `1y`. [default: `[store]` in toolvet.toml]")
    ] = None,
    max_size: Annotated[
        str | None, Parameter(help="Delete the oldest verdicts until the database is no larger: `2GiB`, `500MB`.")
    ] = None,
    labelled: Annotated[
        bool, Parameter(negative="", help="Delete also verdicts that people labelled, with their labels.")
    ] = False,
) -> int:
    """Delete old verdicts, events and assessments, and give their space back.

    The sums of hours stay for the trends; verdicts that people labelled stay with their labels.
    """
    from toolvet.cli.commands.store.run import prune_store  # noqa: PLC0415 - the heavy half, for this command only

    return prune_store(store, older_than=older_than, max_size=max_size, labelled=labelled)
