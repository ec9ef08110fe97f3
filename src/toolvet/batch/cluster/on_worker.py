"""What a worker does: a request in, a reply out, both as bytes.

A worker judges in processes of its own, as the local engine does: a row that ends its process ends none of the
cluster's, and threads of one worker do not wait for each other. The processes stay for the next request, and end when
none came for a minute, or with the worker.
"""

import os
import socket
import threading
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import Final

import msgspec

from toolvet.batch.chunk import Chunk, ReadPlace, Stretch
from toolvet.batch.cluster.identity import batch_identity
from toolvet.batch.cluster.messages import JudgedChunk, Reply, WorkRequest
from toolvet.batch.location import locate
from toolvet.batch.plan import Plan
from toolvet.batch.process import JudgeProcess
from toolvet.batch.reading.opening import open_reader
from toolvet.errors import ToolvetError, UsageError

_IDLE_SECONDS: Final = 60.0

_decode_request: Final = msgspec.msgpack.Decoder(WorkRequest).decode


def answer(request: bytes) -> bytes:
    """Judge what a request asks for. Whatever goes wrong is said in the reply."""
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
            pieces = list(_pieces(asked, process))
            return Reply(worker, pieces, retries=process.deaths - before)
    except (ToolvetError, OSError, ValueError) as error:
        return Reply(worker, problem=f"{error} (on the worker on {worker})")


def _pieces(asked: WorkRequest, process: JudgeProcess) -> Iterator[JudgedChunk]:
    if asked.chunk is not None:
        chunk = msgspec.structs.replace(asked.chunk, name=asked.name)
        yield JudgedChunk(chunk.after, chunk.after, process.judge(chunk))
    if asked.stretch is not None:
        plan = msgspec.msgpack.decode(asked.plan, type=Plan)
        for place, chunk in _read(asked.stretch, plan):
            yield JudgedChunk(place, chunk.after, process.judge(msgspec.structs.replace(chunk, name=asked.name)))


def _read(stretch: Stretch, plan: Plan) -> Iterator[tuple[ReadPlace, Chunk]]:
    """The chunks whose first row is in a stretch, each with its place."""
    try:
        reader = open_reader(locate(stretch.location), stretch.file, stretch.size)
    except UsageError as error:
        raise UsageError(
            f"{error}: a worker reads the input itself, so it must be on a file system that every worker sees under the"
            " same path, or be a URL such as s3://"
        ) from error
    place = stretch.start
    for chunk in reader.chunks(plan.wanted, stretch.start):
        if stretch.end is not None and chunk.row - 1 >= stretch.end:
            return
        if stretch.end is None or chunk.row >= stretch.start.row:
            yield place, chunk
        place = chunk.after


class _Processes:
    """The judging processes of a worker that nobody uses just now, by their plans."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._idle: list[tuple[bytes, JudgeProcess, float]] = []
        self._sweeper: threading.Timer | None = None

    @contextmanager
    def lent(self, plan: bytes) -> Generator[JudgeProcess]:
        """Lend a process to one thread."""
        process = self._taken(plan) or JudgeProcess(plan)
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

    def _taken(self, plan: bytes) -> JudgeProcess | None:
        with self._lock:
            for each in reversed(self._idle):
                if each[0] == plan:
                    self._idle.remove(each)
                    return each[1]
        return None

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
        """End all that are idle."""
        with self._lock:
            old, self._idle = self._idle, []
        for _, process, _ in old:
            process.close()


_processes: Final = _Processes()


def close_processes() -> None:
    """End the judging processes of this worker that nobody uses."""
    _processes.close()
