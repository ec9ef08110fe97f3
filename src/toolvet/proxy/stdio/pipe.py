"""The writing ends of pipes: a write never waits, and bytes that the pipe does not take yet are kept in order."""

import fcntl
import os
import stat
from collections import deque
from collections.abc import Sequence
from itertools import islice
from typing import Final

from toolvet.errors import OutputError

# Linux allows 1024 buffers in one call; more than a few dozen gain nothing.
_BUFFERS: Final = 64
_PIPE_BYTES: Final = 1 << 20


class PipeWriter:
    """The writing end of a pipe.

    `size` is how many bytes are kept; `broken` is set once the reader closed its end, `lost` once something was written
    that will never be read.
    """

    def __init__(self, fd: int) -> None:
        self.fd = fd
        self.size = 0
        self.broken = False
        self.lost = False
        self.closed = False
        self._queue: deque[bytes | memoryview] = deque()

    def write(self, buffers: Sequence[bytes]) -> None:
        """Write the buffers in order: what the pipe takes at once, the rest when `drain` is called."""
        if self.broken or self.closed:
            self.lost = True
            return
        if not self._queue and len(buffers) == 1:
            data = buffers[0]
            written = self._take([data])
            if written == len(data) or self.broken:
                return
            self._keep(memoryview(data)[written:] if written else data)
            return
        idle = not self._queue
        for data in buffers:
            self._keep(data)
        if idle:
            self.drain()

    def drain(self) -> None:
        """Write as many of the kept bytes as the pipe takes now."""
        queue = self._queue
        while queue:
            batch = list(islice(queue, _BUFFERS))
            written = self._take(batch)
            self.size -= written
            for data in batch:
                if written < len(data):
                    break
                written -= len(data)
                queue.popleft()
            else:
                continue
            if written:
                queue[0] = memoryview(queue[0])[written:]
            return

    def close(self) -> None:
        """Close the pipe; bytes that it did not take are lost. Closing it twice is allowed."""
        if not self.closed:
            self.closed = True
            self.lost = self.lost or bool(self.size)
            self._drop()
            os.close(self.fd)

    def _keep(self, data: bytes | memoryview) -> None:
        self._queue.append(data)
        self.size += len(data)

    def _take(self, buffers: Sequence[bytes | memoryview]) -> int:
        try:
            return os.write(self.fd, buffers[0]) if len(buffers) == 1 else os.writev(self.fd, buffers)
        except BlockingIOError:
            return 0
        except OSError:
            # EPIPE from a pipe, ECONNRESET from a socket, EIO from a terminal that hung up: the reader is gone.
            self._drop()
            self.broken = True
            self.lost = True
            return 0

    def _drop(self) -> None:
        self._queue.clear()
        self.size = 0


def check_stdout() -> None:
    """Raise OutputError when our stdout was closed before we started: no client could read what we answer."""
    try:
        mode = fcntl.fcntl(1, fcntl.F_GETFL) & os.O_ACCMODE
    except OSError:
        mode = os.O_RDONLY
    if mode == os.O_RDONLY:
        raise OutputError("stdout is closed, so no client can read what the proxy answers; nothing was started")


def private_stdout() -> int:
    """Return a non-blocking descriptor of our stdout; what is printed from now on goes to stderr instead.

    MCP reserves stdout for messages, and a stray `print` of some library would break the connection.
    """
    fd = _nonblocking(os.dup(1))
    enlarge(fd)
    os.dup2(2, 1)
    return fd


def enlarge(fd: int) -> None:
    """Give a pipe a mebibyte where the system can: a sixteenth of the wake-ups for large messages."""
    resize = getattr(fcntl, "F_SETPIPE_SZ", None)
    if resize is not None:
        try:
            fcntl.fcntl(fd, resize, _PIPE_BYTES)
        except OSError:
            # The user's quota of pipe memory is used up, or it is a socket.
            return


def _nonblocking(fd: int) -> int:
    """Return a non-blocking descriptor in place of `fd`.

    O_NONBLOCK belongs to the open file, not to the descriptor, so a pipe is opened again where /proc allows it. Without
    that, a stderr that goes to the same pipe would refuse what the server writes there. A terminal or a file is left
    as it is: neither makes a writer wait for a reader that waits for the proxy.
    """
    mode = os.fstat(fd).st_mode
    if stat.S_ISFIFO(mode):
        try:
            own = os.open(f"/proc/self/fd/{fd}", os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError:
            os.set_blocking(fd, False)
            return fd
        os.close(fd)
        return own
    if stat.S_ISSOCK(mode):
        os.set_blocking(fd, False)
    return fd
