"""Calls that fail again and again with the same arguments: counted, until something happens that may have mended it."""

import json
from typing import TypeAlias, TypeVar

import orjson

Key: TypeAlias = tuple[int, int]
K = TypeVar("K")
V = TypeVar("V")

_MOST_TOOLS = 256
_MOST_CALLS = 64


class Breaker:
    """Identical failing calls in a row. Costs one look-up for a tool that did not fail lately.

    After as many refusals as there were failures the call is let through once: the world may have changed unseen.
    """

    def __init__(self) -> None:
        self._failing: dict[str, dict[Key, _FailureStreak]] = {}

    def blocks(self, tool: str, arguments: object, limit: int) -> int:
        """How often this very call failed, if that is often enough to refuse it now; else 0."""
        rows = self._failing.get(tool)
        if not rows or limit < 1:
            return 0
        row = rows.get(_key(arguments))
        if row is None or row.failures < limit:
            return 0
        if row.refusals >= limit:
            row.refusals = 0
            return 0
        row.refusals += 1
        return row.failures

    def failed(self, tool: str, arguments: object) -> int:
        """This call failed once more. Returns how often it has by now."""
        rows = self._failing.get(tool)
        if rows is None:
            _make_room(self._failing, _MOST_TOOLS)
            rows = self._failing[tool] = {}
        key = _key(arguments)
        row = rows.get(key)
        if row is None:
            _make_room(rows, _MOST_CALLS)
            row = rows[key] = _FailureStreak()
        row.failures += 1
        return row.failures

    def succeeded(self, tool: str, arguments: object, *, changes_things: bool) -> None:
        """This call worked. A tool that may change things may have mended what made others fail."""
        if not self._failing:
            return
        if changes_things:
            self._failing.clear()
        elif rows := self._failing.get(tool):
            rows.pop(_key(arguments), None)

    def clear(self) -> None:
        """Count anew."""
        self._failing.clear()


class _FailureStreak:
    __slots__ = ("failures", "refusals")

    def __init__(self) -> None:
        self.failures = 0
        self.refusals = 0


def _make_room(of: dict[K, V], most: int) -> None:
    """Drop the oldest."""
    if len(of) >= most:
        del of[next(iter(of))]


def _key(arguments: object) -> Key:
    """The same for the same arguments, in whatever order they come. A hash, because arguments may be megabytes."""
    try:
        written = orjson.dumps(arguments, option=orjson.OPT_SORT_KEYS)
    except orjson.JSONEncodeError:
        # Whole numbers beyond 64 bits.
        written = json.dumps(arguments, sort_keys=True).encode()
    # Of bytes it is keyed by a secret of the process (SipHash); hashlib would cost 3 ms of every start.
    return len(written), hash(written)
