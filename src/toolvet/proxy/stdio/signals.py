"""Signals as bytes in a pipe, so that a poll loop sees them between two messages and never in the middle of one."""

import os
import signal
from collections.abc import Callable
from types import FrameType
from typing import TypeAlias

_Handler: TypeAlias = Callable[[int, FrameType | None], object] | int | None

# Those that end a process, and the one that tells of a child's end.
_HEARD = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGCHLD)


class Signals:
    """Takes over SIGTERM, SIGINT, SIGHUP and SIGCHLD until `close`. `fd` is readable when one came.

    Only for the main thread, where Python allows it.
    """

    def __init__(self) -> None:
        self.fd, self._write = os.pipe()
        os.set_blocking(self.fd, False)
        os.set_blocking(self._write, False)
        self._old_fd = signal.set_wakeup_fd(self._write, warn_on_full_buffer=False)
        self._old: dict[int, _Handler] = {}
        for number in _HEARD:
            # What we were started to ignore stays ignored: `nohup`, and jobs in the background of a script.
            if signal.getsignal(number) is not signal.SIG_IGN or number == signal.SIGCHLD:
                self._old[number] = signal.signal(number, _heard)
        # A child that ended before we listened.
        os.write(self._write, bytes([signal.SIGCHLD]))

    def take(self) -> bytes:
        """The numbers of the signals that came, oldest first."""
        try:
            return os.read(self.fd, 1024)
        except BlockingIOError:
            return b""

    def close(self) -> None:
        """Give everything back."""
        for number, handler in self._old.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(self._old_fd)
        os.close(self.fd)
        os.close(self._write)


def _heard(number: int, frame: FrameType | None) -> None:
    """Python runs a handler wherever it happens to be; this one leaves it to the pipe."""
    del number, frame
