"""Verdicts that may be used again: no older than the server allows, none from before something changed."""

from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

V = TypeVar("V")

MOST_ENTRIES = 1024


class Cache(Generic[V]):
    """The least recently used go first. `ttl` is in the seconds of `clock`; None keeps a value until `clear`."""

    def __init__(self, ttl: float | None, clock: Callable[[], float]) -> None:
        self._ttl = ttl
        self._clock = clock
        self._entries: OrderedDict[str, tuple[float, V]] = OrderedDict()
        self._generation = 0

    @property
    def generation(self) -> int:
        """Grows with every `clear`. What was asked for under an older one is not kept."""
        return self._generation

    def get(self, key: str) -> V | None:
        """The value under `key`, unless it is too old."""
        entry = self._entries.get(key)
        if entry is None:
            return None
        kept_at, value = entry
        if self._ttl is not None and self._clock() - kept_at >= self._ttl:
            del self._entries[key]
            return None
        self._entries.move_to_end(key)
        return value

    def keep(self, key: str, value: V, generation: int) -> None:
        """Keep `value`, unless the cache was cleared while it was on its way."""
        if generation != self._generation:
            return
        self._entries[key] = (self._clock(), value)
        self._entries.move_to_end(key)
        if len(self._entries) > MOST_ENTRIES:
            self._entries.popitem(last=False)

    def clear(self) -> None:
        """Forget everything, also what is still on its way."""
        self._entries.clear()
        self._generation += 1
