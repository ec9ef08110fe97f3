"""Signals as bytes in a pipe, so that a poll loop sees them between two messages and not in the middle of one."""

import os
import signal
from collections.abc import Callable
from types import FrameType
from typing import Final, TypeAlias

_Handler: TypeAlias = Callable[[int, FrameType | None], object] | int | None

# Those that end a process, and the one that reports the end of a child.
_WATCHED: Final = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGCHLD)


class Signals:
    """Takes over SIGTERM, SIGINT, SIGHUP and SIGCHLD until `close`. `fd` is readable when a signal came.

    Use it in the main thread: Python allows handlers nowhere else.
    """

    def __init__(self) -> None:
        self.fd, self._write = os.pipe()
        os.set_blocking(self.fd, False)
        os.set_blocking(self._write, False)
        self._old_fd = signal.set_wakeup_fd(self._write, warn_on_full_buffer=False)
        self._old: dict[int, _Handler] = {}
        for number in _WATCHED:
            # A signal that was ignored at the start stays ignored: `nohup`, and background jobs of a script.
            if signal.getsignal(number) is not signal.SIG_IGN or number == signal.SIGCHLD:
                self._old[number] = signal.signal(number, _ignore)
        # For a child that ended before the handlers were set.
        os.write(self._write, bytes([signal.SIGCHLD]))

    def take(self) -> bytes:
        """Return the numbers of the signals that came, oldest first."""
        try:
            return os.read(self.fd, 1024)
        except BlockingIOError:
            return b""

    def close(self) -> None:
        """Restore the handlers from before."""
        for number, handler in self._old.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(self._old_fd)
        os.close(self.fd)
        os.close(self._write)


def _ignore(number: int, frame: FrameType | None) -> None:
    """Do nothing: Python runs handlers at any point of the program; the pipe delivers the signal."""
    del number, frame
