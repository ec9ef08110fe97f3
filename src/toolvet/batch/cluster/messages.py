"""`WorkRequest` and `Reply`: what goes to a worker, and what comes back, as bytes, whatever carries them."""

import msgspec

from toolvet.batch.chunk import Chunk, ReadPlace, Stretch
from toolvet.batch.judging import Judged


class WorkRequest(msgspec.Struct, frozen=True):
    """Rows to judge by a plan: a chunk, or a stretch of a file that the worker reads.

    `identity` is of the process that asks; a worker that has another one does not judge. `name` is the file's name for
    the output, where that has one.
    """

    identity: str
    plan: bytes
    chunk: Chunk | None = None
    stretch: Stretch | None = None
    name: str | None = None


class JudgedChunk(msgspec.Struct, frozen=True):
    """The output of one chunk, and from where to where it goes."""

    start: ReadPlace
    after: ReadPlace
    judged: list[Judged]


class Reply(msgspec.Struct, frozen=True):
    """What a worker found, or why it did not judge: in words that name the worker."""

    worker: str
    pieces: list[JudgedChunk] = []
    problem: str | None = None
    retries: int = 0
