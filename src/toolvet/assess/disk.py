"""What a server writes into its place, and the end of the run where that is too much.

async with DiskWatch(place.folder, 1024) as disk:
await run.go()
disk.overfilled     # "" or "wrote 1,100 MiB into its folders, of which at most 1,024 are allowed"
"""

import asyncio
import os
import time
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Final, Self

_LOOK_SECONDS: Final = 0.25
# A folder of a hundred thousand files takes long to measure: so much of the time goes into it at most.
_SHARE: Final = 0.1
_BLOCK: Final = 512  # Bytes, in which POSIX counts, whatever the file system has.


def disk_used(folder: Path) -> int:
    """How many bytes of disk all below `folder` takes; links are not followed, and holes in files are free."""
    found = 0
    waiting = [str(folder)]
    while waiting:
        with suppress(OSError), os.scandir(waiting.pop()) as entries:
            for entry in entries:
                with suppress(OSError):  # It is gone by now.
                    facts = entry.stat(follow_symlinks=False)
                    found += getattr(facts, "st_blocks", -(-facts.st_size // _BLOCK)) * _BLOCK
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
    return found


class DiskWatch:
    """Measures a folder while its body runs, and cancels the body where there is too much in it."""

    def __init__(self, folder: Path | None, most_mib: int | None) -> None:
        """Watch `folder` (None: a server at a URL has none), with at most `most_mib` in it (None: without an end)."""
        self.overfilled = ""
        self._folder = folder
        self._most_mib = most_mib
        self._watching: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        body = asyncio.current_task()
        if self._folder is not None and self._most_mib is not None and body is not None:
            self._watching = asyncio.create_task(self._watch(self._folder, self._most_mib, body))
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._watching is not None:
            self._watching.cancel()
            await asyncio.gather(self._watching, return_exceptions=True)

    async def _watch(self, folder: Path, most_mib: int, body: asyncio.Task[object]) -> None:
        while True:
            began = time.perf_counter()
            used = await asyncio.to_thread(disk_used, folder)
            if used > most_mib << 20:
                self.overfilled = (
                    f"wrote {used >> 20:,} MiB into its folders, of which at most {most_mib:,} are allowed"
                )
                body.cancel()
                return
            await asyncio.sleep(max(_LOOK_SECONDS, (time.perf_counter() - began) / _SHARE))
