"""A disk that can be full for a while: a small file system where that can be mounted, else a limit on one process."""

import os
import resource
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

_UNLIMITED: Final = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
_PIECE: Final = 4096


class Disk:
    """A folder on a disk. `how` says how it becomes full; None where it cannot, and `why` says why.

    `pid` is the process that a limit holds for: set it when that process runs.
    """

    def __init__(self, folder: Path, how: str | None, why: str = "") -> None:
        self.folder = folder
        self.how = how
        self.why = why
        self.pid = 0

    def fill(self) -> None:
        """Let no more be written."""
        if self.how == "tmpfs":
            with suppress(OSError), (self.folder / "filler").open("wb", buffering=0) as filler:
                free = os.statvfs(self.folder)
                with suppress(OSError):
                    os.posix_fallocate(filler.fileno(), 0, max(1, (free.f_bavail - 8) * free.f_frsize))
                filler.seek(0, os.SEEK_END)
                while True:
                    filler.write(b"\0" * _PIECE)
        elif self.how == "limit" and sys.platform == "linux":
            # Nothing can grow: not the record, and not what is kept beside it.
            with suppress(ProcessLookupError):
                resource.prlimit(self.pid, resource.RLIMIT_FSIZE, (1, resource.RLIM_INFINITY))

    def free(self) -> None:
        """Let everything be written again."""
        if self.how == "tmpfs":
            (self.folder / "filler").unlink(missing_ok=True)
        elif self.how == "limit" and sys.platform == "linux":
            with suppress(ProcessLookupError):
                resource.prlimit(self.pid, resource.RLIMIT_FSIZE, _UNLIMITED)


@contextmanager
def disk(folder: Path, size: int) -> Generator[Disk]:
    """A disk of `size` bytes at `folder`, which has to exist."""
    if sys.platform != "linux":
        yield Disk(folder, None, "only Linux has a disk here that can be filled")
        return
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size},mode=700", "toolvet-soak", str(folder)]
    try:
        mounted = subprocess.run(mount, capture_output=True, check=False).returncode == 0
    except OSError:
        mounted = False
    if not mounted:
        yield Disk(folder, "limit")
        return
    try:
        yield Disk(folder, "tmpfs")
    finally:
        subprocess.run(["umount", "-l", str(folder)], capture_output=True, check=False)
