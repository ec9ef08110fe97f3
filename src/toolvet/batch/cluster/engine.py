"""`ClusterEngine`: judges on the workers that a executor reaches."""

from collections import deque
from collections.abc import Generator, Iterator
from typing import Final

import msgspec

from toolvet.batch.chunk import Chunk, ReadPlace
from toolvet.batch.cluster import on_worker
from toolvet.batch.cluster.identity import batch_identity
from toolvet.batch.cluster.messages import Reply, WorkRequest
from toolvet.batch.engine import ChunkJudges, Verdicts, Work
from toolvet.batch.executors.executor import EngineFigures, Executor
from toolvet.batch.plan import Plan
from toolvet.errors import UnreachableError, UsageError

WORKER: Final = "toolvet.batch.cluster.on_worker"
"""The module that answers on a worker."""
_MOST_FAILED: Final = 8  # In a row: then it is not the rows.

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
        on_worker.close_processes()


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
        """As of `ChunkJudges`."""
        covered: ReadPlace | None = None
        self._replies = self._executor.carried(self._requests(work), self._figures)
        for found in self._replies:
            asked, request = self._asked.popleft()
            reply = self._reply(found, request)
            self._figures.retries += reply.retries
            for piece in reply.pieces:
                # Rows behind a damaged page are in the stretch that has the page, and in those behind it.
                if covered is None or piece.after > covered:
                    yield Verdicts(asked if isinstance(asked, Chunk) else piece.start, piece.after, piece.judged)
                    covered = piece.after

    def close(self) -> None:
        """Give up what is under way."""
        self._replies.close()

    def _requests(self, work: Iterator[Work]) -> Iterator[bytes]:
        for each in work:
            name = self._files[each.file] if self._files else None
            chunk, stretch = (each, None) if isinstance(each, Chunk) else (None, each)
            request = msgspec.msgpack.encode(WorkRequest(batch_identity(), self._plan, chunk, stretch, name))
            self._asked.append((each, request))
            yield request

    def _reply(self, found: bytes | str, request: bytes) -> Reply:
        if isinstance(found, str):
            self._figures.failed += 1
            self._failed += 1
            if self._failed >= _MOST_FAILED:
                raise UnreachableError(f"the workers fail again and again: {found}")
            found = on_worker.answer(request)
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
