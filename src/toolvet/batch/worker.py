"""A process that judges chunks: a plan and then chunks on stdin, the output for each on stdout.

It ends when its stdin does, so it never outlives the process that started it.
"""

import os
import signal
import sys
from typing import BinaryIO, Final

import msgspec

from toolvet.batch.chunk import Chunk
from toolvet.batch.judging import ChunkJudge, Judged
from toolvet.batch.plan import Plan
from toolvet.errors import ToolvetError

_LENGTH: Final = 8


def write_frame(stream: BinaryIO, content: bytes) -> None:
    """Write content behind its length."""
    stream.write(len(content).to_bytes(_LENGTH))
    stream.write(content)
    stream.flush()


def read_frame(stream: BinaryIO) -> bytes | None:
    """Return the next content; None where the stream ends."""
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
    # What a library prints must not get between the frames.
    os.dup2(2, 1)
    plan = read_frame(frames)
    if plan is None:
        return
    judge = ChunkJudge(msgspec.msgpack.decode(plan, type=Plan))
    encoder, decoder = msgspec.msgpack.Encoder(), msgspec.msgpack.Decoder(tuple[Chunk, int | None])
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
