"""A server's process with its pipes on the event loop, and processes that are started ahead of time.

`BridgedProcess`: lines in, lines out, and an end that leaves nothing behind.

`SpareProcesses`: a session begins with the start of a process, which takes a second for many servers in Python. So when
a session is opened soon after another, the next processes are started before they are asked for. A client that keeps
its session, as most do, causes no spare.
"""

import asyncio
import os
import signal
import sys
from collections import deque
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from time import monotonic
from typing import Final

from toolvet.errors import UnreachableError
from toolvet.mcp.wire import DEFAULT_MESSAGE_BYTES, LineFramer, Oversize, reply_hint
from toolvet.proxy.stdio.process import ServerProcess

# Seconds that a process has to end by itself: one half from the end of its stdin, one from a signal.
PATIENCE: Final = 4.0
# Starting more at once would only make each of them slower on a small machine.
_MOST: Final = 2
# Sessions that were opened within this many seconds count, and a spare waits this long.
_RECENT_SECONDS: Final = 15.0


class BridgedProcess(asyncio.Protocol):
    """A process behind the bridge. `over` is set once it ended. Raises UnreachableError if it cannot be started.

    Lines that it writes before `connect` are kept until then. A line of more than `limit` bytes is not kept: it comes
    as an `Oversize`.
    """

    def __init__(
        self,
        command: Sequence[str],
        env: Mapping[str, str] | None,
        cwd: str | None,
        limit: int = DEFAULT_MESSAGE_BYTES,
    ) -> None:
        self._process = ServerProcess(command, env, cwd)
        self._framer = LineFramer(limit)
        # Whether the unfinished line, which is too long, was reported already.
        self._is_reported = False
        self._has_complained = False
        self._receive: Callable[[bytes | Oversize], None] | None = None
        self._ended: Callable[[], None] | None = None
        self._early: list[bytes | Oversize] = []
        self._writing: asyncio.WriteTransport | None = None
        self._reading: asyncio.ReadTransport | None = None
        self.over = asyncio.Event()

    async def start(self) -> None:
        """Put the pipes of the process on the event loop."""
        loop = asyncio.get_running_loop()
        # Both the transports and the process close their descriptors, so each gets its own.
        written, read = os.dup(self._process.stdin.fd), os.dup(self._process.stdout)
        self._process.stdin.close()
        self._writing, _ = await loop.connect_write_pipe(_IgnoringProtocol, os.fdopen(written, "wb", 0))
        self._reading, _ = await loop.connect_read_pipe(lambda: self, os.fdopen(read, "rb", 0))

    def connect(self, receive: Callable[[bytes | Oversize], None], ended: Callable[[], None]) -> None:
        """Call `receive` with each line that the server writes, and `ended` once when it has ended."""
        self._receive, self._ended = receive, ended
        for line in self._early:
            receive(line)
        self._early.clear()
        if self.over.is_set():
            ended()

    def send(self, message: bytes) -> None:
        """Send a message as one line, however the client wrote it."""
        if self._writing is not None and not self._writing.is_closing():
            # JSON has line feeds only between its tokens.
            line = message.replace(b"\n", b" ").replace(b"\r", b" ") if b"\n" in message else message
            self._writing.write(line + b"\n")

    async def close(self, seconds: float = PATIENCE) -> None:
        """End the process within this many seconds: by the end of its stdin, then by signals; if cancelled, at once."""
        if self._writing is not None:
            self._writing.close()
        try:
            for number in (signal.SIGTERM, signal.SIGKILL):
                with suppress(TimeoutError):
                    async with asyncio.timeout(seconds / 2):
                        await self.over.wait()
                    break
                self._process.send_signal(number)
        finally:
            await self._reap()

    async def _reap(self) -> None:
        if self._reading is not None:
            self._reading.close()
        # The process leads a group of its own: this kills everything that it started, too.
        self._process.send_signal(signal.SIGKILL)
        # It was killed, and nothing else reports when that is done.
        while self._process.exit_code is None:  # noqa: ASYNC110 - as above
            await asyncio.sleep(0.01)
        # It waits for what the process started; other clients must not wait with it.
        await asyncio.to_thread(self._process.close)

    # asyncio.Protocol, for its stdout

    def data_received(self, data: bytes) -> None:
        """The server wrote something: pass on the lines that it completes."""
        for line in self._framer.feed(data):
            if isinstance(line, Oversize):
                if not self._is_reported:
                    self._report(line)
                self._is_reported = False
            elif line.strip():
                self._pass_on(line)
        begun = self._framer.oversize
        if begun is not None and not self._is_reported and (begun.is_endless or reply_hint(begun.head) is not None):
            # The end of such a line may never come, and its client must not wait for it.
            self._is_reported = True
            self._report(begun)

    def connection_lost(self, exc: Exception | None) -> None:
        """The server ended."""
        del exc
        self.over.set()
        if self._ended is not None:
            self._ended()

    def _report(self, line: Oversize) -> None:
        if not self._has_complained:
            self._has_complained = True
            words = f"longer than the limit of {line.limit} bytes (max_message_bytes)"
            sys.stderr.write(f"toolvet: a message of the server is {words}: it was dropped\n")
        self._pass_on(line)

    def _pass_on(self, line: bytes | Oversize) -> None:
        if self._receive is not None:
            self._receive(line)
        else:
            self._early.append(line)


class _IgnoringProtocol(asyncio.BaseProtocol):
    """For the pipe that is only written to."""


class SpareProcesses:
    """Gives out processes. `make` makes one that is not started."""

    def __init__(self, make: Callable[[], BridgedProcess]) -> None:
        self._make = make
        self._spares: deque[BridgedProcess] = deque()
        self._opened: deque[float] = deque(maxlen=_MOST + 1)
        self._starting = 0
        self._timer: asyncio.TimerHandle | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._closed = False
        # Seconds that a process has to end by itself.
        self.patience = PATIENCE

    async def start(self) -> BridgedProcess:
        """Start a process and return it. Raises UnreachableError if it cannot be started."""
        process = self._make()
        await process.start()
        return process

    async def take(self) -> BridgedProcess:
        """Return a process for a new session, a spare one if possible. Raises UnreachableError."""
        process = self._take_spare() or await self.start()
        self._opened.append(monotonic())
        self._start_task(self._fill())
        return process

    def end(self, process: BridgedProcess) -> None:
        """End a process in the background."""
        self._start_task(process.close(self.patience))

    async def close(self) -> None:
        """End all spares, and wait for all processes that are ending."""
        self._closed = True
        self._drop()
        while self._tasks:
            await asyncio.gather(*self._tasks, return_exceptions=True)

    def _take_spare(self) -> BridgedProcess | None:
        while self._spares:
            process = self._spares.popleft()
            if not process.over.is_set():
                return process
            self.end(process)
        return None

    async def _fill(self) -> None:
        recent = sum(monotonic() - moment < _RECENT_SECONDS for moment in self._opened)
        while len(self._spares) + self._starting < min(recent - 1, _MOST) and not self._closed:
            self._starting += 1
            try:
                process = await self.start()
            except UnreachableError:
                # The next session reports it.
                return
            finally:
                self._starting -= 1
            self._spares.append(process)
        if self._closed:
            self._drop()
            return
        if self._timer is not None:
            self._timer.cancel()
        if self._spares:
            self._timer = asyncio.get_running_loop().call_later(_RECENT_SECONDS, self._drop)

    def _drop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        while self._spares:
            self.end(self._spares.pop())

    def _start_task(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
