"""The spool: files beside a database that hold what was acknowledged until the database has it.

    calls.db.spool/
        0193f2…-4711.jsonl     a segment: lines of JSON, appended by one process, which holds its lock
        0193f1…-4002.jsonl     no process holds its lock: the process was killed, and the next one adopts it

A line is in the kernel's hands as soon as `append` returns, so `kill -9` loses none. With `sync` it is on the disk, so
that a power failure loses none either.
"""

import contextlib
import os
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from toolvet.core.private import OTHERS_MAY_WRITE, open_own, own_folder
from toolvet.store.records import new_id

_SUFFIX: Final = ".jsonl"
REFUSED: Final = "refused.lines"
"""The file of records that the database refused."""

# A segment that grew beyond this is finished, and another begun, so that disk space comes back under steady load.
_LONGEST: Final = 32 << 20


class Segment:
    """One file of a spool, whose lock this process holds. `done` is how many of its bytes the database has."""

    def __init__(self, path: Path, fd: int) -> None:
        self.path = path
        self.fd = fd
        self.done = 0

    @property
    def size(self) -> int:
        """The bytes in the file."""
        return os.fstat(self.fd).st_size

    def read(self, length: int) -> bytes:
        """Return the next whole lines that the database does not have yet, about `length` bytes; b"" for none."""
        while True:
            chunk = os.pread(self.fd, length, self.done)
            end = chunk.rfind(b"\n") + 1
            if end or len(chunk) < length:
                return chunk[:end]
            length *= 4

    def remove(self) -> None:
        """Delete the file and give its lock up."""
        with contextlib.suppress(OSError):
            self.path.unlink()
        self.close()

    def close(self) -> None:
        """Give the lock up; the file stays, for the next process."""
        os.close(self.fd)


class Spool:
    """The segments in a folder. `append` may be called from several threads; the rest is for one thread at a time."""

    def __init__(self, folder: Path, *, sync: bool = False) -> None:
        self.folder = folder
        self._sync = sync
        self._lock = threading.Lock()
        self._active: Segment | None = None
        self._process = os.getpid()
        self._finished: list[Segment] = []

    def open(self) -> None:
        """Make the folder and this process's segment. Raises OSError."""
        with self._lock:
            self._open()

    def append(self, lines: bytes) -> None:
        """Keep whole lines: all of them, or none if it raises OSError."""
        with self._lock:
            segment = self._open()
            before = segment.size
            try:
                written = 0
                while written < len(lines):
                    written += os.write(segment.fd, lines[written:] if written else lines)
                if self._sync:
                    os.fsync(segment.fd)
            except OSError:
                # Half a line would spoil the next one. A full disk can always give space back.
                os.ftruncate(segment.fd, before)
                raise
            if before + len(lines) > _LONGEST:
                self._finished.append(segment)
                self._active = None

    def _open(self) -> Segment:
        if self._process != os.getpid():
            # After a fork the parent goes on with its segment; its descriptors must not be closed here.
            self._process, self._active, self._finished = os.getpid(), None, []
        if self._active is None:
            self._active = _new_segment(self.folder)
            if self._sync:
                _sync_folder(self.folder.parent)
                _sync_folder(self.folder)
        return self._active

    def segments(self) -> list[Segment]:
        """Return this process's segments that may hold something, oldest first."""
        with self._lock:
            return [*self._finished, *([self._active] if self._active is not None else [])]

    def finish(self, segment: Segment) -> None:
        """Let a segment go that the database has; unless more was appended meanwhile."""
        with self._lock:
            if segment.size > segment.done:
                return
            if segment is self._active:
                if segment.done:
                    os.ftruncate(segment.fd, 0)
                    segment.done = 0
                return
            self._finished.remove(segment)
        segment.remove()

    def adopt(self) -> Iterator[Segment]:
        """Yield the segments of processes that have ended; the caller removes or closes each."""
        try:
            names = sorted(entry.name for entry in os.scandir(self.folder) if entry.name.endswith(_SUFFIX))
        except OSError:
            return
        own = {segment.path.name for segment in self.segments()}
        for name in names:
            if name in own:
                continue
            path = self.folder / name
            try:
                fd = _open(path, os.O_RDWR | os.O_APPEND)
            except OSError:
                continue
            if try_lock(fd) and _is_at(path, fd):
                yield Segment(path, fd)
            else:
                os.close(fd)

    @property
    def refused(self) -> Path:
        """The file of records that the database refused."""
        return self.folder / REFUSED

    def put_aside(self, lines: bytes) -> None:
        """Keep lines that the database refuses, for a person to look at."""
        fd = _open(self.refused, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        try:
            os.write(fd, lines)
        finally:
            os.close(fd)

    @property
    def waiting(self) -> int:
        """How many bytes wait in the folder, of this and of all other processes."""
        try:
            return sum(entry.stat().st_size for entry in os.scandir(self.folder) if entry.name.endswith(_SUFFIX))
        except OSError:
            return 0

    def close(self) -> None:
        """Delete this process's segments that the database has, and let the others go for the next process."""
        with self._lock:
            if self._process != os.getpid():
                return
            for segment in [*self._finished, *([self._active] if self._active is not None else [])]:
                if segment.size > segment.done:
                    segment.close()
                else:
                    segment.remove()
            self._active, self._finished = None, []
            with contextlib.suppress(OSError):
                self.folder.rmdir()


def _sync_folder(folder: Path) -> None:
    """Put the names of the files in a folder on the disk, where the system can: without its name a file is lost."""
    with contextlib.suppress(OSError):
        fd = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)


def _open(path: Path, flags: int) -> int:
    """Open a file of a spool. Raises OSError if it is neither ours nor of the owner of the database's folder."""
    return open_own(str(path), flags, OTHERS_MAY_WRITE, path.parent.parent.stat().st_uid)


def _new_segment(folder: Path) -> Segment:
    while True:
        folder.parent.mkdir(parents=True, exist_ok=True)
        if not own_folder(str(folder), OTHERS_MAY_WRITE, folder.parent.stat().st_uid):
            raise PermissionError(1, "it is a link, belongs to another user, or others may write to it", str(folder))
        path = folder / f"{new_id()}-{os.getpid()}{_SUFFIX}"
        try:
            fd = _open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_EXCL)
        except FileNotFoundError:
            # Another process removed the empty folder in this moment.
            continue
        # Another process may have adopted the empty file in this moment.
        if try_lock(fd) and _is_at(path, fd):
            return Segment(path, fd)
        os.close(fd)


def _is_at(path: Path, fd: int) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(fd))
    except OSError:
        return False


if sys.platform == "win32":
    import msvcrt

    def try_lock(fd: int) -> bool:
        """Lock the file until it is closed. Returns False if another process holds the lock."""
        try:
            msvcrt.locking(fd, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True
else:
    import fcntl

    def try_lock(fd: int) -> bool:
        """Lock the file until it is closed. Returns False if another process holds the lock."""
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True
