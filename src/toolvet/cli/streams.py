"""Our three streams: what cannot be read or written is an error in words, with an exit code, and no traceback.

    stdin closed (`<&-`)        a command that reads it fails with `UsageError` (exit 2)
    stdout closed, full, gone   a command that writes to it fails with `OutputError` (exit 6)
    stderr closed, full, gone   its words are lost, and the command goes on

A stream that was closed before we started still gets a descriptor: the next file that is opened, as a record of
the proxy, would otherwise take its number, and get what is meant for the stream.
"""

import errno
import io
import os
import sys
from typing import TYPE_CHECKING, Final, NoReturn, cast

from toolvet.errors import OutputError, UsageError

if TYPE_CHECKING:
    from typing_extensions import Buffer

_MODES: Final = {"stdin": os.O_RDONLY, "stdout": os.O_RDONLY, "stderr": os.O_WRONLY}


def prepare_streams() -> None:
    """Replace our streams by ones that fail as the head of this file says. Call it once, when the program starts."""
    closed = [name for name in _MODES if getattr(sys, name) is None]
    for number, (name, mode) in enumerate(_MODES.items()):
        if name not in closed:
            continue
        # The null device takes the number, for us and for what we start.
        opened = os.open(os.devnull, mode)
        if opened == number:
            os.set_inheritable(opened, True)  # noqa: FBT003 - the name of the function says what it is
        else:
            os.dup2(opened, number)
            os.close(opened)
    if "stdin" in closed:
        sys.stdin = io.TextIOWrapper(io.BufferedReader(_ClosedInput(0, "r", closefd=False)), encoding="utf-8")
    for name, number, kind in (("stdout", 1, _CheckedOutput), ("stderr", 2, _Complaints)):
        stream = cast("io.TextIOWrapper | None", getattr(sys, name))
        if stream is None:
            setattr(sys, name, io.TextIOWrapper(io.BufferedWriter(kind(number, "w", closefd=False)), encoding="utf-8"))
            continue
        # With PYTHONUNBUFFERED the buffer itself is the file.
        buffer: object = getattr(stream, "buffer", None)
        raw: object = getattr(buffer, "raw", buffer)
        # Only what Python opened for the descriptor, and no stream of a test or of a Windows console.
        if type(raw) is io.FileIO and raw.fileno() == number:
            stream.flush()
            checked = io.TextIOWrapper(
                io.BufferedWriter(kind(number, "w", closefd=False)),
                encoding=stream.encoding,
                errors=stream.errors,
                line_buffering=stream.line_buffering,
                write_through=stream.write_through,
            )
            setattr(sys, name, checked)


class _CheckedOutput(io.FileIO):
    """Stdout. The first failure is raised, later ones are not: Python flushes once more when it ends."""

    _is_lost = False

    def write(self, data: "Buffer", /) -> int:
        if self._is_lost:
            return memoryview(data).nbytes
        try:
            return super().write(data)
        except OSError as error:
            self._is_lost = True
            raise output_error(error) from error


class _Complaints(io.FileIO):
    """Stderr: there is no stream left to report that it fails."""

    def write(self, data: "Buffer", /) -> int:
        try:
            return super().write(data)
        except OSError:
            return memoryview(data).nbytes


class _ClosedInput(io.FileIO):
    """Stdin that was closed before we started."""

    def readinto(self, buffer: "Buffer", /) -> NoReturn:
        del buffer
        raise _no_input()

    def readall(self) -> NoReturn:
        raise _no_input()


def output_error(error: OSError) -> OutputError:
    """Return the error for a stdout that fails in this way."""
    if isinstance(error, BrokenPipeError):
        return OutputError("stdout was closed by its reader before everything was written")
    if error.errno == errno.EBADF:
        return OutputError("stdout is closed, so the output is lost; redirect it to a file")
    return OutputError(f"stdout cannot be written: {error.strerror or error}")


def _no_input() -> UsageError:
    return UsageError("stdin is closed, so there is nothing to read; name a file, or give it something to read")
