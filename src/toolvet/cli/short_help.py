"""The words of `toolvet --help` where they go to no terminal, from the cache: making them loads every command."""

import os
import sys
from io import StringIO
from typing import TYPE_CHECKING, Final

from toolvet.core.discover import cached, fingerprint, keep

if TYPE_CHECKING:
    from collections.abc import Callable

    from cyclopts import App

_HELP: Final[tuple[list[str], ...]] = ([], ["-h"], ["--help"])
_FORMAT: Final = b"help/1"


def short_help(words: list[str], app: "Callable[[], App]") -> str | None:
    """Return what these words print if they ask for the help of the whole command line, and stdout is no terminal."""
    if words not in _HELP or sys.stdout.isatty():
        return None
    # Programs that ask for colours although nothing shows them get what the other path prints.
    if "FORCE_COLOR" in os.environ or "TTY_COMPATIBLE" in os.environ:
        return None
    width = os.environ.get("COLUMNS", "")
    key = b"\0".join((_FORMAT, width.encode("utf-8", "replace"), fingerprint("toolvet.cli", ".py")))
    known = cached(key)
    if known is None:
        known = _render(app()).encode()
        keep(key, known)
    return known.decode()


def _render(app: "App") -> str:
    from rich.console import Console  # noqa: PLC0415 - what the cache saves

    printed = StringIO()
    app.help_print([], console=Console(file=printed))
    return printed.getvalue()
