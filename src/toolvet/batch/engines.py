"""`open_engine`: the name of an engine → it, connected; and `LocalEngine`, which judges in processes of this machine.

Processes, not threads: Hyperscan scans without the interpreter's lock, but the scan is a fifth of what real answers
cost, and the rest is Python, which holds it (benchmarks/batch.py measures both; docs/scale.md has the figures).
"""

import threading
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Final

import msgspec

from toolvet.batch.chunk import Chunk
from toolvet.batch.executors.executor import EngineFigures, cores
from toolvet.batch.executors.opening import open_executor
from toolvet.batch.judging import BatchEngine, ChunkJudge, ChunkJudges, Judged, Verdicts, Work
from toolvet.batch.plan import Plan
from toolvet.batch.process import JudgeProcess, checked
from toolvet.errors import UsageError


def open_engine(name: str, address: str | None = None, jobs: int | None = None) -> BatchEngine:
    """Return the engine "local", "daft" or "dask", on the cluster at `address`; the caller closes it.

    Raises UsageError if it is not installed, and UnreachableError if the address does not answer.
    """
    if name == "local":
        if address is not None:
            raise UsageError("--address: give --engine daft or --engine dask, too")
        return LocalEngine(jobs)
    from toolvet.batch.cluster import WORKER, ClusterEngine  # noqa: PLC0415 - slow to load

    return ClusterEngine(open_executor(name, address, jobs, WORKER))


_AHEAD: Final = 3  # Chunks that wait for each process: enough that none waits for a reader that has a slow file.
_MOST_BYTES: Final = 16 * 2**20  # Of chunks that are read and not judged yet.


class LocalEngine:
    """Judges in several processes; in this one, where the input is not worth a second."""

    reads = False

    def __init__(self, jobs: int | None = None) -> None:
        self._jobs = jobs
        self.figures = EngineFigures()

    def judges(self, plan: Plan, *, is_small: bool) -> ChunkJudges:
        """As of `BatchEngine`."""
        jobs = self._jobs or (1 if is_small else cores())
        return InProcess(plan) if jobs == 1 else Pool(plan, jobs, self.figures)

    def close(self) -> None:
        """Nothing: judges end their processes themselves."""


class InProcess:
    """Judges in this process: for small inputs, which a second process would only delay."""

    def __init__(self, plan: Plan) -> None:
        self._judge = ChunkJudge(plan)

    def judged(self, work: Iterator[Work]) -> Iterator[Verdicts]:
        """As of `ChunkJudges`."""
        for chunk in chunks_of(work):
            yield Verdicts(chunk, chunk.after, [checked(self._judge_one(chunk))])

    def _judge_one(self, chunk: Chunk) -> Judged | str:
        try:
            return self._judge(chunk)
        except TypeError as error:
            return f"{error}"

    def close(self) -> None:
        """Nothing."""


class Pool:
    """Judges in several processes."""

    def __init__(self, plan: Plan, processes: int, figures: EngineFigures) -> None:
        self._plan = msgspec.msgpack.encode(plan)
        self._count = processes
        self._figures = figures
        self._threads = ThreadPoolExecutor(processes, "toolvet-batch")
        self._own = threading.local()
        self._processes: list[JudgeProcess] = []
        self._is_closed = False

    def judged(self, work: Iterator[Work]) -> Iterator[Verdicts]:
        """As of `ChunkJudges`. The input that is read ahead is bounded in chunks and in bytes."""
        waiting: deque[tuple[Chunk, Future[list[Judged]]]] = deque()
        size = 0
        for chunk in chunks_of(work):
            # A chunk of one enormous row is judged alone: each step of judging it needs its size again.
            while waiting and (len(waiting) >= _AHEAD * self._count or size + len(chunk.body) > _MOST_BYTES):
                done, future = waiting.popleft()
                yield Verdicts(done, done.after, future.result())
                size -= len(done.body)
            waiting.append((chunk, self._threads.submit(self._judge, chunk)))
            size += len(chunk.body)
        while waiting:
            done, future = waiting.popleft()
            yield Verdicts(done, done.after, future.result())

    def close(self) -> None:
        """End the processes. Those that still judge are killed: their answers are not needed."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        self._is_closed = True
        for process in list(self._processes):
            process.kill()
        self._threads.shutdown(wait=True)
        for process in list(self._processes):
            # A thread whose process was killed may have started another one meanwhile.
            process.kill()
            process.close()

    def _judge(self, chunk: Chunk) -> list[Judged]:
        process: JudgeProcess | None = getattr(self._own, "process", None)
        if process is None:
            process = self._own.process = JudgeProcess(self._plan)
            self._processes.append(process)
        if self._is_closed:
            process.kill()
        before = process.deaths
        found = process.judge(chunk)
        self._figures.retries += process.deaths - before
        return found


def chunks_of(work: Iterator[Work]) -> Iterator[Chunk]:
    """The chunks of work for an engine that does not read."""
    return (each for each in work if isinstance(each, Chunk))
