"""`BatchEngine`: where the rows of a run are judged. Output, manifest and limits are the run's, whatever the engine.

A run cuts its input into `Work`, in order: rows that were read (`Chunk`), or a range of a file that is read where it
is judged (`FileRange`). The engine gives back `Verdicts`, in the same order: one for each chunk, cut as the readers cut
it, so that the output has the same bytes from every engine. It holds only so much work at a time, tries again what a
process or a worker that died did not finish, and is closed to give up what it has begun.
"""

from collections.abc import Iterator
from typing import Protocol

import msgspec

from toolvet.batch.chunk import Chunk, FileRange, ReadPosition
from toolvet.batch.executors.executor import EngineFigures
from toolvet.batch.judging import Judged
from toolvet.batch.plan import Plan

Work = Chunk | FileRange


class Verdicts(msgspec.Struct, frozen=True):
    """The output of a chunk, in one piece or several, and where the next one begins.

    `chunk` is the chunk itself, or, where another process read it, the place to read it at again.
    """

    chunk: Chunk | ReadPosition
    after: ReadPosition
    judged: list[Judged]


class ChunkJudges(Protocol):
    """Judges the work of one output, in order."""

    def judged(self, work: Iterator[Work]) -> Iterator[Verdicts]:
        """Yield the verdicts on all chunks of the work."""
        ...

    def close(self) -> None:
        """Give up what was begun, and end all that was started."""
        ...


class BatchEngine(Protocol):
    """Makes judges for the outputs of a run."""

    figures: EngineFigures

    @property
    def reads(self) -> bool:
        """Whether it takes ranges, which are read where they are judged; else only chunks."""
        ...

    def judges(self, plan: Plan, *, is_small: bool) -> ChunkJudges:
        """Return what judges by a plan; `is_small` says that the input is not worth a second process."""
        ...

    def close(self) -> None:
        """End all that was started."""
        ...
