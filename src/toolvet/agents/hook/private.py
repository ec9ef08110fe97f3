"""Files that are this user's alone: 0600, in folders of 0700 below the user's cache."""

import os
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

from toolvet.core.private import OTHERS, OTHERS_MAY_WRITE, open_own, own_folder

_MOST_LOG_BYTES: Final = 256 * 1024


def private_folder(name: str) -> Path | None:
    """Return a folder of toolvet's below the user's cache, made if it is missing; None if it is not ours alone."""
    base = os.environ.get("XDG_CACHE_HOME")
    try:
        folder = (Path(base) if base else Path.home() / ".cache") / "toolvet" / "hook" / name
        folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not own_folder(str(folder), 0):
            return None
        if hasattr(os, "getuid") and folder.stat().st_mode & OTHERS:
            folder.chmod(0o700)
    except (OSError, RuntimeError):
        return None
    return folder


def read_private(file: Path, most: int, *, newest: float = 0.0) -> bytes | None:
    """Return the content of a file of ours; None if it is missing, too old, too long, or another user's."""
    try:
        handle = open_own(str(file), os.O_RDONLY, OTHERS_MAY_WRITE)
    except OSError:
        return None
    with os.fdopen(handle, "rb") as stream:
        seen = os.fstat(handle)
        if seen.st_mtime < newest or seen.st_size > most:
            return None
        return stream.read()


def write_private(file: Path, content: bytes) -> None:
    """Write a file as a whole, readable by its owner only. Raises OSError."""
    import tempfile  # noqa: PLC0415 - most calls write nothing

    handle, name = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
        Path(name).replace(file)
    except OSError:
        with suppress(OSError):
            Path(name).unlink()
        raise


def log(line: str) -> bool:
    """Add one line to the log of the hooks; return whether it is the first of its words today, as far as is known."""
    folder = private_folder("log")
    if folder is None:
        return True
    file = folder / "hook.log"
    stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    words = " ".join(line.split())[:2000].encode("utf-8", "replace")
    written = read_private(file, 2 * _MOST_LOG_BYTES) or b""
    with suppress(OSError):
        if file.exists() and file.stat().st_size > _MOST_LOG_BYTES:
            file.replace(file.with_suffix(".log.old"))
        handle = open_own(str(file), os.O_WRONLY | os.O_CREAT | os.O_APPEND, OTHERS_MAY_WRITE)
        with os.fdopen(handle, "ab") as stream:
            stream.write(stamp.encode() + b" " + words + b"\n")
    return not any(
        each.startswith(stamp[:10].encode()) and each.partition(b" ")[2] == words for each in written.splitlines()
    )
