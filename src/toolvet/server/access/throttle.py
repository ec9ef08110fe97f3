"""How often somebody may ask: a bucket of requests that fills again with time, for each caller."""

import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Final

_MOST_CALLERS: Final = 10_000


class Throttle:
    """Token buckets (the field's word), one for each caller; the callers that asked longest ago are forgotten first.

    Args:
        rate: Requests a second that the bucket fills by.
        burst: Requests that it holds.
        clock: Seconds of a clock that never jumps.

    Example:
        >>> throttle = Throttle(rate=1, burst=2, clock=lambda: 0.0)
        >>> [throttle.wait("ada") for _ in range(3)]
        [0.0, 0.0, 1.0]
    """

    def __init__(self, rate: float, burst: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.rate = rate
        self.burst = burst
        self._clock = clock
        self._callers: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def wait(self, caller: str) -> float:
        """Take one request of this caller. Returns 0, or how many seconds to wait where the bucket is empty."""
        now = self._clock()
        held = self._held(caller, now)
        if held < 1:
            return (1 - held) / self.rate
        self._keep(caller, held - 1, now)
        return 0.0

    def is_empty(self, caller: str) -> bool:
        """Whether this caller has to wait, without taking anything."""
        return self._held(caller, self._clock()) < 1

    def _held(self, caller: str, now: float) -> float:
        held, at = self._callers.get(caller, (self.burst, now))
        return min(self.burst, held + (now - at) * self.rate)

    def _keep(self, caller: str, held: float, now: float) -> None:
        self._callers[caller] = (held, now)
        self._callers.move_to_end(caller)
        while len(self._callers) > _MOST_CALLERS:
            self._callers.popitem(last=False)
