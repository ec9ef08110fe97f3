"""Requests are handled without a task, as long as they wait for nothing but the bytes of a connection.

    bytes of the client → parsed → [turn ends] the handler runs until it waits for the server
    bytes of the server → parsed → [turn ends] the handler goes on, and answers the client

A task goes through the loop whenever it begins and whenever it is woken, which costs a call several rounds of the loop.
A handler that comes to wait for anything of asyncio gets a task, and goes on as any coroutine does.
"""

import asyncio
import threading
from collections.abc import Callable, Coroutine, Generator
from types import coroutine
from typing import Any, Final, cast


class _CallbackTurn(threading.local):
    """What one callback of a connection has woken, until the callback has done all else. One for each loop."""

    woken: "list[Handling] | None" = None


_TURN: Final = _CallbackTurn()


def in_turn(work: Callable[[bytes], None], data: bytes) -> None:
    """Call `work`, then let all go on that it has woken: not within it, where a parser is not done yet."""
    woken: list[Handling] = []
    _TURN.woken = woken
    try:
        work(data)
    finally:
        # What is woken from now on goes through the loop: a client could keep this turn going on for ever.
        _TURN.woken = None
        for handling in woken:
            handling.run()


class OneTimeEvent:
    """Something that happens once. One coroutine may wait for it, with a task or without."""

    __slots__ = ("is_set", "waiting")

    def __init__(self) -> None:
        self.is_set = False
        self.waiting: Callable[[], None] | None = None

    def set(self) -> None:
        """Let the coroutine go on that waits for this."""
        self.is_set = True
        waiting, self.waiting = self.waiting, None
        if waiting is not None:
            waiting()

    def __await__(self) -> Generator[object, None, None]:
        """Wait until it has happened."""
        if not self.is_set and asyncio.current_task() is not None:
            future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self.waiting = lambda: None if future.done() else future.set_result(None)
            yield from future
        while not self.is_set:
            yield self


async def need_task() -> None:
    """Go on in a task, which `asyncio.timeout` needs."""
    if asyncio.current_task() is None:
        await asyncio.sleep(0)


class Handling:
    """One request that is being handled: a coroutine, and the task that it gets when it needs one."""

    __slots__ = (
        "_coroutine",
        "_has_task_begun",
        "_is_cancelled",
        "_is_running",
        "_loop",
        "_over",
        "_task",
        "_waited",
        "is_over",
    )

    def __init__(self, work: Coroutine[Any, Any, None], loop: asyncio.AbstractEventLoop) -> None:
        self._coroutine = work
        self._loop = loop
        self._task: asyncio.Task[None] | None = None
        self._waited: OneTimeEvent | None = None
        self._over: asyncio.Future[None] | None = None
        self._is_running = self._is_cancelled = self._has_task_begun = False
        self.is_over = False

    def start(self) -> None:
        """Begin at the end of this turn; without one, in the next round of the loop."""
        self._wake()

    def cancel(self) -> None:
        """Raise CancelledError where the coroutine waits."""
        if self.is_over:
            return
        if self._task is not None and self._has_task_begun:
            self._task.cancel()
            return
        self._is_cancelled = True
        if self._waited is not None and not self._is_running:
            self._waited.waiting = None
            self.run()

    def over(self) -> "asyncio.Future[None]":
        """Return a future that is done when the coroutine has ended, however it did."""
        if self._over is None:
            self._over = self._loop.create_future()
            if self.is_over:
                self._over.set_result(None)
        return self._over

    def run(self) -> None:
        """Run the coroutine until it waits."""
        if self.is_over or self._task is not None:
            return
        self._waited = None
        self._is_running = True
        try:
            waited = self._step()
        except (StopIteration, asyncio.CancelledError):
            self._end()
        except Exception as error:  # noqa: BLE001 - as for a task: the loop reports what has no waiter
            self._end()
            self._loop.call_exception_handler({"message": "a request could not be handled", "exception": error})
        else:
            self._wait_for(waited)
        finally:
            self._is_running = False

    def _step(self) -> object:
        if self._is_cancelled:
            self._is_cancelled = False
            return cast("object", self._coroutine.throw(asyncio.CancelledError()))
        return cast("object", self._coroutine.send(None))

    def _wait_for(self, waited: object) -> None:
        if not isinstance(waited, OneTimeEvent):
            self._task = self._loop.create_task(self._go_on(waited))
            return
        self._waited = waited
        waited.waiting = self._wake
        if self._is_cancelled:
            self._loop.call_soon(self.run)

    def _wake(self) -> None:
        woken = _TURN.woken
        if woken is not None:
            woken.append(self)
        else:
            self._loop.call_soon(self.run)

    async def _go_on(self, waited: object) -> None:
        """Go on in a task with a coroutine that waits for a future."""
        self._has_task_begun = True
        try:
            if self._is_cancelled:
                if isinstance(waited, asyncio.Future):
                    cast("asyncio.Future[object]", waited).cancel()
                waited = self._step()
            await _rest_of(self._coroutine, waited)
        except StopIteration:
            return
        finally:
            self._end()

    def _end(self) -> None:
        self.is_over = True
        if self._over is not None and not self._over.done():
            self._over.set_result(None)


@coroutine
def _rest_of(work: Coroutine[Any, Any, None], waited: object) -> Generator[object, None, None]:
    """Run a coroutine that has begun, and has yielded `waited`, to its end."""
    while True:
        try:
            yield waited
        except BaseException as error:  # noqa: BLE001 - CancelledError as well: it is raised where the coroutine waits
            step, given = cast("Callable[[object], object]", work.throw), cast("object", error)
        else:
            step, given = work.send, None
        try:
            waited = step(given)
        except StopIteration:
            return
