"""Where `toolvet proxy` runs."""

import os
from typing import Final

from toolvet.errors import UsageError

_IS_POSIX: Final = os.name == "posix"


def check_platform(command: str) -> None:
    """Raise `UsageError` on Windows, naming `command`.

    The proxy needs signals, process groups and poll() on pipes, and the configuration that `install` writes runs it.
    """
    if not _IS_POSIX:
        raise UsageError(
            f"{command} needs Linux or macOS, or Windows with WSL; on Windows itself the library, toolvet check, "
            "toolvet assess and toolvet proxy --explain work"
        )
