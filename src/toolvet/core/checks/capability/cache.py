"""Verdicts that may be used again: not older than allowed, and none from before something changed."""

import json
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Final, Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

MOST_ENTRIES: Final = 1024


class Cache(Generic[K, V]):
    """Values by key; the least recently used are dropped first.

    `ttl` is in the seconds of `clock`; None keeps a value until `clear`.

    A value that was asked for before a `clear` may arrive after it, and must not be kept then. So take `generation`
    before asking, and give it to `keep`.
    """

    def __init__(self, ttl: float | None, clock: Callable[[], float]) -> None:
        self._ttl = ttl
        self._clock = clock
        self._entries: OrderedDict[K, tuple[float, V]] = OrderedDict()
        self._generation = 0

    @property
    def generation(self) -> int:
        """A number that grows with every `clear`."""
        return self._generation

    def get(self, key: K) -> V | None:
        """The value under `key`, or None for no value or one that is too old."""
        entry = self._entries.get(key)
        if entry is None:
            return None
        kept_at, value = entry
        if self._ttl is not None and self._clock() - kept_at >= self._ttl:
            del self._entries[key]
            return None
        self._entries.move_to_end(key)
        return value

    def keep(self, key: K, value: V, generation: int) -> None:
        """Keep `value`, unless the cache was cleared since `generation`."""
        if generation != self._generation:
            return
        self._entries[key] = (self._clock(), value)
        self._entries.move_to_end(key)
        if len(self._entries) > MOST_ENTRIES:
            self._entries.popitem(last=False)

    def clear(self, matches: Callable[[K], bool] | None = None) -> int:
        """Drop the values whose keys match, or all, also values on their way. Returns how many were dropped."""
        self._generation += 1
        dropped = [key for key in self._entries if matches is None or matches(key)]
        for key in dropped:
            del self._entries[key]
        return len(dropped)


def json_key(*parts: object) -> str | None:
    """A key for these JSON values; None where one of them has no JSON form."""
    try:
        return json.dumps(parts, sort_keys=True)
    except (TypeError, ValueError, RecursionError):
        return None
