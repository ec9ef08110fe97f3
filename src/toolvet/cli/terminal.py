"""Lines of styled words and tables on stdout: printed by Rich at a terminal, lines as they are elsewhere.

Rich takes longer to load than a verdict, and without a terminal its styles are left out.
"""

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table


Line = Sequence[tuple[str, str]]
"""Words, each with its style for Rich; "" for none."""

# Programs that set one of these ask for what a terminal gets.
_AS_AT_A_TERMINAL: Final = ("FORCE_COLOR", "TTY_COMPATIBLE")


def is_styled() -> bool:
    """Whether styles are shown, or may be: then Rich decides."""
    return sys.stdout.isatty() or any(name in os.environ for name in _AS_AT_A_TERMINAL)


def line_printer() -> tuple[Callable[[Line], None], bool]:
    """Return what prints a line, and whether it is a terminal that shows its styles."""
    if not is_styled():
        return _print_plain, False
    console = _console()
    return lambda line: _print_styled(line, console), console.is_terminal


def width_of(words: str) -> int:
    """How many columns the words take."""
    if words.isascii():
        return len(words)
    from rich.cells import cell_len  # noqa: PLC0415 - only for other scripts

    return cell_len(words)


def _print_plain(line: Line) -> None:
    words = "".join(each for each, _style in line)
    if "\t" in words:
        # Rich aligns what is behind a tab by the columns of what is before it.
        _print_styled(line, _console())
        return
    sys.stdout.write(words + "\n")
    sys.stdout.flush()


def _print_styled(line: Line, console: "Console") -> None:
    from rich.text import Text  # noqa: PLC0415 - see above

    console.print(Text.assemble(*line))


def _console() -> "Console":
    from rich.console import Console  # noqa: PLC0415 - see above

    return Console(highlight=False, soft_wrap=True)


SEVERITY_STYLE: Final[Mapping[str, str]] = {"error": "red", "warning": "yellow", "info": "cyan"}
"""The style of each `Severity`."""


def new_table(*headings: str, overflow: Literal["ellipsis", "fold"] = "ellipsis") -> "Table":
    """Return an empty table without a frame. `overflow` says what happens to a cell that is wider than its column."""
    from rich.table import Table  # noqa: PLC0415 - see above

    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in headings:
        table.add_column(heading, overflow=overflow)
    return table
