"""What validators found, kept for a while: until its time is up, or something happened that ends it."""

import json
from collections.abc import Callable

_MOST_KEPT = 1024

Question = tuple[str, str]
"""The tool, and everything else as JSON."""


class Memory:
    """Findings by question. A question that has no JSON form is not remembered."""

    def __init__(self, ttl: float | None, clock: Callable[[], float]) -> None:
        self._ttl = ttl
        self._clock = clock
        self._kept: dict[Question, tuple[float, object]] = {}
        self._generation = 0

    @property
    def generation(self) -> int:
        """Grows with every `forget`: an answer from before it must not be kept after it."""
        return self._generation

    def recall(self, key: Question) -> object:
        """What was kept under `key`, or None."""
        found = self._kept.get(key)
        if found is None:
            return None
        since, value = found
        if self._ttl is not None and self._clock() - since >= self._ttl:
            del self._kept[key]
            return None
        return value

    def keep(self, key: Question, value: object, generation: int) -> None:
        """Remember `value`, unless something was forgotten since `generation`. The oldest makes room."""
        if generation != self._generation:
            return
        self._kept.pop(key, None)
        if len(self._kept) >= _MOST_KEPT:
            del self._kept[next(iter(self._kept))]
        self._kept[key] = (self._clock(), value)

    def forget(self, *, tool: str | None) -> int:
        """Drop what is known of a tool, or of all; how many answers that were."""
        self._generation += 1
        gone = [key for key in self._kept if tool in (None, key[0])]
        for key in gone:
            del self._kept[key]
        return len(gone)


def question(tool: str, *parts: object) -> Question | None:
    """A key for these JSON values, None when one of them is none."""
    try:
        return (tool, json.dumps(parts, sort_keys=True))
    except (TypeError, ValueError, RecursionError):
        return None
