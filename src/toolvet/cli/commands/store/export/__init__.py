"""`toolvet store export`: write what a store has to a file."""

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from toolvet.cli.commands.store.options import StoreOption


def command(
    file: Annotated[Path, Parameter(help="`….jsonl` for lines of JSON, `….parquet` for a table.")],
    /,
    *,
    store: StoreOption = None,
    kind: Annotated[
        Literal["call", "arguments", "result", "envelope", "answer"] | None, Parameter(help="Only these verdicts.")
    ] = None,
    server: Annotated[str | None, Parameter(help="Only those of this server.")] = None,
    newer_than: Annotated[str | None, Parameter(help="Only those of the last `7d`, `12h`, …")] = None,
) -> int:
    """Write what a store has to a file, which `toolvet store import` reads into any other store.

    Verdicts come with their items in the review queue, and what people said of them; without filters, events and
    assessments come as well.
    """
    from toolvet.cli.commands.store.run import export_store  # noqa: PLC0415 - the heavy half, for this command only

    return export_store(store, file, kind=kind, server=server, newer_than=newer_than)
