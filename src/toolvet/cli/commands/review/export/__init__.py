"""`toolvet review export`: write labels to a file."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from toolvet.cli.commands.review.options import JsonOption, StoreOption


def command(
    file: Annotated[Path | None, Parameter(help="Lines of JSON; without a file they go to stdout.")] = None,
    /,
    *,
    store: StoreOption = None,
    json: JsonOption = False,
) -> int:
    """Write all labels, a line of JSON for each, with the verdict and the text that it is about."""
    from toolvet.cli.commands.review.run import export_labels  # noqa: PLC0415 - the heavy half, for this command only

    return export_labels(store, file, as_json=json)
