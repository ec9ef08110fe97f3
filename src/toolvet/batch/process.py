"""`JudgeProcess`: one process that judges chunks, started again when it dies; the row that kills it gets a problem."""

import os
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from typing import BinaryIO, Final, cast

import msgspec

from toolvet.batch.chunk import Chunk
from toolvet.batch.judging import ChunkJudge, Judged
from toolvet.batch.plan import Plan
from toolvet.batch.reading.parquet import decoded, encoded
from toolvet.core.decodable import decodable
from toolvet.errors import ToolvetError, UsageError

_DIED: Final = "the process that judged this row died"
_ANSWER: Final[msgspec.msgpack.Decoder[Judged | str]] = msgspec.msgpack.Decoder(Judged | str)


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
        """End the process at once, for good; a thread that waits for its answer gets none."""
        with self._starting:
            # Whose process dies starts another one, and judges its chunk again.
            self._is_ended = True
            if self._process is not None:
                self._process.kill()

    def close(self) -> None:
        """End the process, and forget it."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()
            for stream in (process.stdin, process.stdout):
                if stream is not None:
                    try:
                        stream.close()
                    except OSError:
                        continue

    def _ask(self, chunk: Chunk) -> Judged | str | None:
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
        return _ANSWER.decode(answer)

    def _started(self) -> subprocess.Popen[bytes] | None:
        with self._starting:
            if self._process is not None or self._is_ended:
                return None if self._is_ended else self._process
            command = [sys.executable, "-P", "-m", "toolvet.batch.process"]
            process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)  # noqa: S603 - our own
            self._process = process
        with suppress(OSError):  # It died: the next request to it fails.
            write_frame(cast("BinaryIO", process.stdin), self._plan)
        return process


def checked(found: Judged | str) -> Judged:
    """Return what was judged. Raises UsageError for what cannot be judged as asked."""
    if isinstance(found, str):
        raise UsageError(found)
    return found


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


_LENGTH: Final = 8


def write_frame(stream: BinaryIO, content: bytes) -> None:
    """Write content behind its length."""
    stream.write(len(content).to_bytes(_LENGTH))
    stream.write(content)
    stream.flush()


def read_frame(stream: BinaryIO) -> bytes | None:
    """Return the next content; None at the end of the stream."""
    length = stream.read(_LENGTH)
    if len(length) < _LENGTH:
        return None
    size = int.from_bytes(length)
    content = stream.read(size)
    return content if len(content) == size else None


def main() -> None:
    """Judge until stdin ends."""
    # Ctrl-C at the terminal reaches every process: the one that started this one decides.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    frames, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    # The output of a library must not get between the frames.
    os.dup2(2, 1)
    plan = read_frame(frames)
    if plan is None:
        return
    judge = ChunkJudge(msgspec.msgpack.decode(plan, type=decodable(Plan)))
    encoder, decoder = msgspec.msgpack.Encoder(), msgspec.msgpack.Decoder(decodable(tuple[Chunk, int | None]))
    while (frame := read_frame(frames)) is not None:
        chunk, most = decoder.decode(frame)
        del frame  # The chunk has a copy of its own, and may be large.
        try:
            found: Judged | str = judge(chunk, most)
        except (ToolvetError, TypeError) as error:
            found = f"{error}"
        write_frame(answers, encoder.encode(found))


if __name__ == "__main__":
    main()
