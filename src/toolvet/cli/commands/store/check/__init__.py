"""`toolvet store check`: say whether a store is sound."""

from typing import Annotated

from cyclopts import Parameter

from toolvet.cli.commands.store.options import StoreOption


def command(
    *, store: StoreOption = None, json: Annotated[bool, Parameter(negative="", help="JSON on stdout.")] = False
) -> int:
    """Bring a store up to date, take in what killed processes left in the spool, check it, and count what it has.

    Exits with 1 when something is broken.
    """
    from toolvet.cli.commands.store.run import check_store  # noqa: PLC0415 - the heavy half, for this command only

    return check_store(store, as_json=json)
