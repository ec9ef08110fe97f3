"""`ClusterEngine`: judges on the workers of a cluster. Bytes go to workers, the verdicts come back.

The engine uses an `Executor`, of which Dask and Daft are two: it hands requests to workers, and yields their replies in
the order of the requests. `answer` is what a worker does with a request. A worker judges in processes of its own, as
the local engine does: a row that ends its process ends none of the cluster's, and threads of one worker do not wait for
each other. The processes stay for the next request, and end when none came for a minute, or with the worker.
"""

import os
import socket
import threading
import time
from collections import deque
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import Final

import msgspec

from toolvet.batch.arrow import pa
from toolvet.batch.chunk import Chunk, FileRange, ReadPosition
from toolvet.batch.executors.executor import EngineFigures, Executor
from toolvet.batch.judging import ChunkJudges, Judged, Verdicts, Work
from toolvet.batch.location import locate
from toolvet.batch.plan import Plan
from toolvet.batch.process import JudgeProcess
from toolvet.batch.reading.opening import open_reader
from toolvet.core.decodable import decodable
from toolvet.core.identity import identity
from toolvet.errors import ToolvetError, UnreachableError, UsageError

WORKER: Final = "toolvet.batch.cluster"
"""The module that answers on a worker."""
_MOST_FAILED: Final = 8  # In a row: then it is not the rows.


class JudgedChunk(msgspec.Struct, frozen=True):
    """The output of one chunk, and from where to where it goes."""

    start: ReadPosition
    after: ReadPosition
    judged: list[Judged]


class Reply(msgspec.Struct, frozen=True):
    """The verdicts of a worker, or why it did not judge, in a message that names the worker."""

    worker: str
    pieces: list[JudgedChunk] = []
    problem: str | None = None
    retries: int = 0


_decode_reply: Final = msgspec.msgpack.Decoder(Reply).decode


class ClusterEngine:
    """Judges on workers. What all of its tries fail with is judged in this process's own processes."""

    reads = True

    def __init__(self, executor: Executor) -> None:
        self._executor = executor
        self.figures = EngineFigures()

    def judges(self, plan: Plan, *, is_small: bool) -> ChunkJudges:
        """As of `BatchEngine`."""
        del is_small
        return _ClusterJudges(plan, self._executor, self.figures)

    def close(self) -> None:
        """Leave the cluster."""
        self._executor.close()
        close_processes()


class _ClusterJudges:
    """Judges the work of one output."""

    def __init__(self, plan: Plan, executor: Executor, figures: EngineFigures) -> None:
        self._files = plan.files
        # A request has the name of its own file; there may be thousands.
        self._plan = msgspec.msgpack.encode(msgspec.structs.replace(plan, files=("",) if plan.files else ()))
        self._executor = executor
        self._figures = figures
        self._asked: deque[tuple[Work, bytes]] = deque()
        self._failed = 0
        self._replies: Generator[bytes | str] = self._executor.carried(iter(()), figures)

    def judged(self, work: Iterator[Work]) -> Iterator[Verdicts]:
        covered: ReadPosition | None = None
        self._replies = self._executor.carried(self._requests(work), self._figures)
        for found in self._replies:
            asked, request = self._asked.popleft()
            reply = self._reply(found, request)
            self._figures.retries += reply.retries
            for piece in reply.pieces:
                # Rows behind a damaged page are in the range that has the page, and in those behind it.
                if covered is None or piece.after > covered:
                    yield Verdicts(asked if isinstance(asked, Chunk) else piece.start, piece.after, piece.judged)
                    covered = piece.after

    def close(self) -> None:
        self._replies.close()

    def _requests(self, work: Iterator[Work]) -> Iterator[bytes]:
        for each in work:
            name = self._files[each.file] if self._files else None
            chunk, file_range = (each, None) if isinstance(each, Chunk) else (None, each)
            request = msgspec.msgpack.encode(WorkRequest(batch_identity(), self._plan, chunk, file_range, name))
            self._asked.append((each, request))
            yield request

    def _reply(self, found: bytes | str, request: bytes) -> Reply:
        if isinstance(found, str):
            self._figures.failed += 1
            self._failed += 1
            if self._failed >= _MOST_FAILED:
                raise UnreachableError(f"the workers fail again and again: {found}")
            found = answer(request)
        else:
            self._failed = 0
        if found.startswith(b"!"):
            raise UsageError(
                f"a worker has no toolvet to judge with: {found[1:].decode(errors='replace')}. Install the same"
                " toolvet, with [batch], on all machines"
            )
        reply = _decode_reply(found)
        if reply.problem is not None:
            raise UsageError(reply.problem)
        return reply


_IDLE_SECONDS: Final = 60.0


class WorkRequest(msgspec.Struct, frozen=True):
    """Rows to judge by a plan: a chunk, or a range of a file that the worker reads.

    `identity` is of the process that asks; a worker that has another one does not judge. `name` is the file's name for
    the output, where that has one.
    """

    identity: str
    plan: bytes
    chunk: Chunk | None = None
    file_range: FileRange | None = None
    name: str | None = None


_decode_request: Final = msgspec.msgpack.Decoder(WorkRequest).decode


def answer(request: bytes) -> bytes:
    """Judge the rows of a request. Any failure is reported in the reply."""
    return msgspec.msgpack.encode(_reply(_decode_request(request)))


def _reply(asked: WorkRequest) -> Reply:
    worker = f"{socket.gethostname()}, process {os.getpid()}"
    if asked.identity != batch_identity():
        return Reply(
            worker,
            problem=f"the worker on {worker} has {batch_identity()}; here is {asked.identity}. Verdicts of two versions"
            " must not mix: install the same on all machines",
        )
    try:
        with _processes.lent(asked.plan) as process:
            before = process.deaths
            pieces: list[JudgedChunk] = []
            if asked.chunk is not None:
                chunk = msgspec.structs.replace(asked.chunk, name=asked.name)
                pieces.append(JudgedChunk(chunk.after, chunk.after, process.judge(chunk)))
            if asked.file_range is not None:
                plan = msgspec.msgpack.decode(asked.plan, type=decodable(Plan))
                for place, found in _read(asked.file_range, plan):
                    judged = process.judge(msgspec.structs.replace(found, name=asked.name))
                    pieces.append(JudgedChunk(place, found.after, judged))
            return Reply(worker, pieces, retries=process.deaths - before)
    except (ToolvetError, OSError, ValueError) as error:
        return Reply(worker, problem=f"{error} (on the worker on {worker})")


def _read(file_range: FileRange, plan: Plan) -> Iterator[tuple[ReadPosition, Chunk]]:
    try:
        reader = open_reader(locate(file_range.location), file_range.file, file_range.size)
    except UsageError as error:
        raise UsageError(
            f"{error}: a worker reads the input itself, so it must be on a file system that every worker sees under the"
            " same path, or be a URL such as s3://"
        ) from error
    place = file_range.start
    for chunk in reader.chunks(plan.wanted, file_range.start):
        if file_range.end is not None and chunk.row - 1 >= file_range.end:
            return
        if file_range.end is None or chunk.row >= file_range.start.row:
            yield place, chunk
        place = chunk.after


class _Processes:
    """The judging processes of a worker that are idle, by their plans."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._idle: list[tuple[bytes, JudgeProcess, float]] = []
        self._sweeper: threading.Timer | None = None

    @contextmanager
    def lent(self, plan: bytes) -> Generator[JudgeProcess]:
        with self._lock:
            idle = next((each for each in reversed(self._idle) if each[0] == plan), None)
            if idle is not None:
                self._idle.remove(idle)
        process = JudgeProcess(plan) if idle is None else idle[1]
        try:
            yield process
        except BaseException:
            # Its answers may be out of step with what it is asked.
            process.close()
            raise
        with self._lock:
            self._idle.append((plan, process, time.monotonic()))
            if self._sweeper is None:
                self._sweep_later()

    def _sweep_later(self) -> None:
        self._sweeper = threading.Timer(_IDLE_SECONDS, self._sweep)
        self._sweeper.daemon = True
        self._sweeper.start()

    def _sweep(self) -> None:
        with self._lock:
            old = [each for each in self._idle if time.monotonic() - each[2] >= _IDLE_SECONDS]
            self._idle = [each for each in self._idle if each not in old]
            self._sweeper = None
            if self._idle:
                self._sweep_later()
        for _, process, _ in old:
            process.close()

    def close(self) -> None:
        with self._lock:
            old, self._idle = self._idle, []
        for _, process, _ in old:
            process.close()


_processes: Final = _Processes()


def close_processes() -> None:
    """End the idle judging processes of this worker."""
    _processes.close()


def batch_identity() -> str:
    """Return the identity of this toolvet, and the version of pyarrow."""
    return f"{identity()}, pyarrow {pa.__version__}"
