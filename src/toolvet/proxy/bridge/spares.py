"""Processes for new sessions, started ahead of time while sessions are opened one after another.

A session begins with the start of a process, which takes a second for many servers in Python. So when a session is
opened soon after another, the next processes are started before they are asked for. A client that keeps its session,
as most do, causes no spare.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine
from time import monotonic
from typing import Final

from toolvet.errors import UnreachableError
from toolvet.proxy.bridge.process import PATIENCE, BridgedProcess

# Starting more at once would only make each of them slower on a small machine.
_MOST: Final = 2
# Sessions that were opened within so many seconds count, and a spare waits for so long.
_RECENT_SECONDS: Final = 15.0


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
        """Return a process for a new session, a spare where there is one. Raises UnreachableError."""
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
