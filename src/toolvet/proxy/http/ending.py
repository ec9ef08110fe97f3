"""The end of a proxy that listens: how long each part may take after a signal. A second signal waits for none of them.

At once nothing more is accepted, and connections without a request close. After 1.5 seconds answers that are still
under way are cut; one later, processes behind the bridge are killed. The record gets what is left of 3.5 seconds.
"""

import asyncio
import signal
from collections.abc import Awaitable
from contextlib import suppress
from time import monotonic
from typing import Final

# As on pipes (proxy/stdio/loop.py): clients and supervisors kill a process that does not end within a few seconds.
ANSWER_SECONDS: Final = 1.5
SERVER_SECONDS: Final = 1.0
END_SECONDS: Final = 3.5
_LEAST_SECONDS: Final = 0.25


class ListenerEnd:
    """Takes SIGINT and SIGTERM. `asked` is set by the first of them, `hurried` by the second.

    `exit_code` is 0 where everything came to its end, and 128 and the number of the signal where a second one cut it.
    """

    def __init__(self) -> None:
        self.asked = asyncio.Event()
        self.hurried = asyncio.Event()
        self.exit_code = 0
        self._deadline = 0.0

    def listen(self) -> None:
        """Take the signals of this process, as long as its event loop runs."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self.take, number)

    def take(self, number: int) -> None:
        """Take one signal."""
        if self.asked.is_set():
            self.exit_code = 128 + number
            self.hurried.set()
        else:
            self._deadline = monotonic() + END_SECONDS
            self.asked.set()

    @property
    def seconds_left(self) -> float:
        """How long the record may take at the end."""
        return _LEAST_SECONDS if self.hurried.is_set() else max(_LEAST_SECONDS, self._deadline - monotonic())

    async def allow(self, work: Awaitable[object], seconds: float) -> None:
        """Wait for some work, for so long at most, and not after a second signal; then it is cancelled."""
        working = asyncio.ensure_future(work)
        hurried = asyncio.ensure_future(self.hurried.wait())
        await asyncio.wait({working, hurried}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        for task in (working, hurried):
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
