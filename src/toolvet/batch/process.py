"""`JudgeProcess`: one process that judges chunks, started anew when it dies; the row that kills it gets a problem."""

import subprocess
import sys
import threading
from contextlib import suppress
from typing import BinaryIO, Final, cast

import msgspec

from toolvet.batch.chunk import Chunk
from toolvet.batch.judging import Judged
from toolvet.batch.reading.parquet import decoded, encoded
from toolvet.batch.worker import read_frame, write_frame
from toolvet.errors import UsageError

_DIED: Final = "the process that judged this row died"


class JudgeProcess:
    """Judges by an encoded plan, one chunk after the other."""

    def __init__(self, plan: bytes) -> None:
        self._plan = plan
        self._process: subprocess.Popen[bytes] | None = None
        self._starting = threading.Lock()
        self._is_ended = False
        self.deaths = 0

    def judge(self, chunk: Chunk) -> list[Judged]:
        """Return the output of a chunk. Where the process dies, of each half, and so the row that kills it is found."""
        found = self._ask(chunk)
        if found is None:
            found = self._ask(chunk)
        if found is not None:
            return [checked(found)]
        if self._is_ended:
            return []
        if chunk.rows > 1:
            return [judged for half in halves(chunk) for judged in self.judge(half)]
        lost = msgspec.structs.replace(chunk, form="lost", body=b"", problem=_DIED)
        last = self._ask(lost)
        if last is None:
            raise UsageError(f"row {chunk.row}: {_DIED}, and so do new ones")
        return [checked(last)]

    def kill(self) -> None:
        """End the process at once, for good; whoever waits for its answer gets none."""
        with self._starting:
            # Whose process dies starts another one, and judges its chunk anew.
            self._is_ended = True
            if self._process is not None:
                self._process.kill()

    def close(self) -> None:
        """End the process, and forget it."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()
            _close(process)

    def _ask(self, chunk: Chunk) -> Judged | str | None:
        """What the process says of a chunk; None where it died."""
        process = self._started()
        if process is None:
            return None
        requests, answers = cast("BinaryIO", process.stdin), cast("BinaryIO", process.stdout)
        try:
            write_frame(requests, msgspec.msgpack.encode((chunk, None)))
            answer = read_frame(answers)
        except OSError:
            answer = None
        if answer is None:
            self.deaths += 1
            self.close()
            return None
        return msgspec.msgpack.decode(answer, type=Judged | str)

    def _started(self) -> subprocess.Popen[bytes] | None:
        """The process; None where it shall not be any more."""
        with self._starting:
            if self._process is not None or self._is_ended:
                return None if self._is_ended else self._process
            command = [sys.executable, "-P", "-m", "toolvet.batch.worker"]
            process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)  # noqa: S603 - our own
            self._process = process
        with suppress(OSError):  # It died: whoever asks it something notices.
            write_frame(cast("BinaryIO", process.stdin), self._plan)
        return process


def checked(found: Judged | str) -> Judged:
    """Return what was judged. Raises UsageError for what cannot be judged as asked."""
    if isinstance(found, str):
        raise UsageError(found)
    return found


def _close(process: subprocess.Popen[bytes]) -> None:
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            try:
                stream.close()
            except OSError:
                continue


def halves(chunk: Chunk) -> tuple[Chunk, Chunk]:
    """The rows of a chunk in two chunks."""
    middle = chunk.rows // 2
    if chunk.form == "arrow":
        batch = decoded(chunk.body)
        bodies = encoded(batch.slice(0, middle)), encoded(batch.slice(middle))
    else:
        lines = chunk.body.split(b"\n")
        bodies = b"\n".join(lines[:middle]) + b"\n", b"\n".join(lines[middle:])
    replace = msgspec.structs.replace
    return (
        replace(chunk, body=bodies[0], rows=middle),
        replace(chunk, body=bodies[1], row=chunk.row + middle, rows=chunk.rows - middle),
    )
