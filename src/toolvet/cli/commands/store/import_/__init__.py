"""`toolvet store import`: add the records of a file to a store."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from toolvet.cli.commands.store.options import StoreOption


def command(
    file: Annotated[Path, Parameter(help="What `toolvet store export` or `toolvet proxy --store ….jsonl` wrote.")],
    /,
    *,
    store: StoreOption = None,
) -> int:
    """Add the records of a file to a store. Records that it has already are left out."""
    from toolvet.cli.commands.store.run import import_file  # noqa: PLC0415 - the heavy half, for this command only

    return import_file(store, file)
