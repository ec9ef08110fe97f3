"""`Pool`: processes that judge chunks, and their answers in the order of the chunks.

Processes, not threads: Hyperscan scans without the interpreter's lock, but the scan is an eighth of what real answers
cost; the rest is Python, which holds the lock (benchmarks/batch.py).
"""

import subprocess
import sys
import threading
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import BinaryIO, Final, Protocol, cast

import msgspec

from toolvet.batch.chunk import Chunk
from toolvet.batch.judging import ChunkJudge, Judged
from toolvet.batch.plan import Plan
from toolvet.batch.reading.parquet import decoded, encoded
from toolvet.batch.worker import read_frame, write_frame
from toolvet.errors import UsageError

_AHEAD: Final = 3  # Chunks that wait for each process: enough that none waits for a reader that has a slow file.
_MOST_BYTES: Final = 16 * 2**20  # Of chunks that are read and not judged yet.
_DIED: Final = "the process that judged this row died"

ChunkVerdicts = tuple[Chunk, list[Judged]]


class ChunkJudges(Protocol):
    """Judges chunks, in order."""

    def judged(self, chunks: Iterator[Chunk]) -> Iterator[ChunkVerdicts]:
        """Yield each chunk with its output, in one piece or several."""
        ...

    def close(self) -> None:
        """End all that was started."""
        ...


class InProcess:
    """Judges in this process: for small inputs, which a second process would only delay."""

    def __init__(self, plan: Plan) -> None:
        self._judge = ChunkJudge(plan)

    def judged(self, chunks: Iterator[Chunk]) -> Iterator[ChunkVerdicts]:
        """As of `ChunkJudges`."""
        for chunk in chunks:
            yield chunk, [_checked(self._judge_one(chunk))]

    def _judge_one(self, chunk: Chunk) -> Judged | str:
        try:
            return self._judge(chunk)
        except TypeError as error:
            return f"{error}"

    def close(self) -> None:
        """Nothing."""


class Pool:
    """Judges in so many processes."""

    def __init__(self, plan: Plan, processes: int) -> None:
        self._plan = msgspec.msgpack.encode(plan)
        self._processes = processes
        self._threads = ThreadPoolExecutor(processes, "toolvet-batch")
        self._own = threading.local()
        self._started: set[subprocess.Popen[bytes]] = set()

    def judged(self, chunks: Iterator[Chunk]) -> Iterator[ChunkVerdicts]:
        """As of `ChunkJudges`. What is read ahead is bounded in chunks and in bytes."""
        waiting: deque[tuple[Chunk, Future[list[Judged]]]] = deque()
        size = 0
        for chunk in chunks:
            # A chunk of one enormous row is judged alone: each step of judging it needs its size again.
            while waiting and (len(waiting) >= _AHEAD * self._processes or size + len(chunk.body) > _MOST_BYTES):
                done, future = waiting.popleft()
                yield done, future.result()
                size -= len(done.body)
            waiting.append((chunk, self._threads.submit(self._judge, chunk)))
            size += len(chunk.body)
        while waiting:
            done, future = waiting.popleft()
            yield done, future.result()

    def close(self) -> None:
        """End the processes. Those that still judge are killed: nobody wants their answers."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        for process in list(self._started):
            process.kill()
        self._threads.shutdown(wait=True)
        for process in list(self._started):
            # A thread whose process was killed may have started another one meanwhile.
            process.kill()
            process.wait()
            _close(process)

    def _judge(self, chunk: Chunk) -> list[Judged]:
        """The output of a chunk. Where its process dies, of each half, and so the row that kills it is found."""
        found = self._ask(chunk)
        if found is None:
            found = self._ask(chunk)
        if found is not None:
            return [_checked(found)]
        if chunk.rows > 1:
            return [judged for half in halves(chunk) for judged in self._judge(half)]
        lost = msgspec.structs.replace(chunk, form="lost", body=b"", problem=_DIED)
        last = self._ask(lost)
        if last is None:
            raise UsageError(f"row {chunk.row}: {_DIED}, and so do new ones")
        return [_checked(last)]

    def _ask(self, chunk: Chunk) -> Judged | str | None:
        """What this thread's process says of a chunk; None where it died."""
        process = self._process()
        requests, answers = cast("BinaryIO", process.stdin), cast("BinaryIO", process.stdout)
        try:
            write_frame(requests, msgspec.msgpack.encode((chunk, None)))
            answer = read_frame(answers)
        except OSError:
            answer = None
        if answer is None:
            process.kill()
            process.wait()
            self._started.discard(process)
            _close(process)
            self._own.process = None
            return None
        return msgspec.msgpack.decode(answer, type=Judged | str)

    def _process(self) -> subprocess.Popen[bytes]:
        process: subprocess.Popen[bytes] | None = getattr(self._own, "process", None)
        if process is None:
            command = [sys.executable, "-P", "-m", "toolvet.batch.worker"]
            process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)  # noqa: S603 - our own
            self._started.add(process)
            self._own.process = process
            write_frame(cast("BinaryIO", process.stdin), self._plan)
        return process


def _checked(found: Judged | str) -> Judged:
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
