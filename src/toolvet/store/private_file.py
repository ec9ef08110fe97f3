"""Files that only their owner can read, because arguments and answers of tools are private."""

import os
import stat
from pathlib import Path
from typing import Final

_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO


def make_private(path: Path) -> bool:
    """Remove the rights that others have on a file. Returns False if we may not do that.

    A path that is not a file (a pipe, `/dev/null`) or does not exist is left alone.
    """
    try:
        status = path.stat()
        if stat.S_ISREG(status.st_mode) and status.st_mode & _OTHERS:
            path.chmod(stat.S_IMODE(status.st_mode) & ~_OTHERS)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True


def create_private(path: Path) -> bool:
    """Make a file that only its owner can read. Returns False if others can read it; raises OSError."""
    private = make_private(path)
    # Private from its first moment, also if it is new.
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600))
    return private


def write_private(path: Path, text: str) -> bool:
    """Write a file that only its owner can read. Returns False if others can read it; raises OSError."""
    private = create_private(path)
    path.write_text(text, encoding="utf-8", newline="\n")
    return private
