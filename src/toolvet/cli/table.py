"""The look of tables on a terminal."""

from collections.abc import Mapping
from typing import Final, Literal

from rich.table import Table

from toolvet.findings import Severity

SEVERITY_STYLE: Final[Mapping[Severity, str]] = {
    Severity.ERROR: "red",
    Severity.WARNING: "yellow",
    Severity.INFO: "cyan",
}


def new_table(*headings: str, overflow: Literal["ellipsis", "fold"] = "ellipsis") -> Table:
    """Return an empty table without a frame. `overflow` says what happens to a cell that is wider than its column."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in headings:
        table.add_column(heading, overflow=overflow)
    return table
