"""Counts calls that fail again and again with the same arguments, until something happens that may change that."""

import json
from typing import Final, TypeAlias, TypeVar

import orjson

from toolvet.core.causes import State

Key: TypeAlias = tuple[int, int]
K = TypeVar("K")
V = TypeVar("V")

_MOST_TOOLS: Final = 256
_MOST_CALLS: Final = 64


class Breaker:
    """Identical failing calls in a row. Costs one look-up for a tool that did not fail lately.

    After as many refusals as the limit allows failures, the call is let through once: its cause may be gone.

        >>> breaker = Breaker()
        >>> [breaker.count_failure("read", {"path": "x"}) for _ in range(2)]
        [1, 2]
        >>> [breaker.check("read", {"path": "x"}, 2) for _ in range(4)]
        [2, 2, 0, 2]
    """

    def __init__(self) -> None:
        self._failing: dict[str, dict[Key, _FailureStreak]] = {}
        # Names that no tool has: their calls fail whatever the arguments.
        self._unknown: dict[str, _FailureStreak] = {}

    def check(self, tool: str, arguments: object, limit: int) -> int:
        """Return how often this very call failed, if that reaches `limit` and it is to be refused now; else 0."""
        rows = self._failing.get(tool)
        if not rows or limit < 1:
            return 0
        return _refused(rows.get(call_key(arguments)), limit)

    def check_name(self, tool: str, limit: int) -> int:
        """Return how often calls of this name failed because no tool has it, as `check` does; 0 before `limit`."""
        return _refused(self._unknown.get(tool), limit)

    def cause(self, tool: str, arguments: object) -> State | None:
        """Return why this call failed the last time, None where that is not known."""
        row = self._failing.get(tool, {}).get(call_key(arguments))
        return None if row is None else row.state

    def count_failure(self, tool: str, arguments: object, state: State | None = None) -> int:
        """Count a failure of this call, whose cause is `state`. Returns how often it failed by now."""
        rows = self._failing.get(tool)
        if rows is None:
            _make_room(self._failing, _MOST_TOOLS)
            rows = self._failing[tool] = {}
        key = call_key(arguments)
        row = rows.get(key)
        if row is None:
            _make_room(rows, _MOST_CALLS)
            row = rows[key] = _FailureStreak()
        row.failures += 1
        row.state = state
        return row.failures

    def count_name(self, tool: str) -> None:
        """Count a call that failed because there is no tool of this name."""
        row = self._unknown.get(tool)
        if row is None:
            _make_room(self._unknown, _MOST_TOOLS)
            row = self._unknown[tool] = _FailureStreak()
        row.failures += 1

    def note_success(self, tool: str, arguments: object, *, changes_things: bool) -> None:
        """Note that this call worked. A tool that changes things may have removed the cause of all failures."""
        if self._unknown:
            self._unknown.pop(tool, None)
        if not self._failing:
            return
        if changes_things:
            self._failing.clear()
        elif rows := self._failing.get(tool):
            rows.pop(call_key(arguments), None)

    def clear(self) -> None:
        """Forget all failures."""
        self._failing.clear()
        self._unknown.clear()


class _FailureStreak:
    __slots__ = ("failures", "refusals", "state")

    def __init__(self) -> None:
        self.failures = 0
        self.refusals = 0
        self.state: State | None = None


def _refused(row: _FailureStreak | None, limit: int) -> int:
    """Return the failures of this row, and count a refusal; 0 where the call may be sent."""
    if row is None or row.failures < limit:
        return 0
    if row.refusals >= limit:
        row.refusals = 0
        return 0
    row.refusals += 1
    return row.failures


def _make_room(of: dict[K, V], most: int) -> None:
    """Drop the oldest entry of a full dictionary."""
    if len(of) >= most:
        del of[next(iter(of))]


def call_key(arguments: object) -> Key:
    """Return the same key for the same arguments in any order. A hash, because arguments may be megabytes."""
    try:
        written = orjson.dumps(arguments, option=orjson.OPT_SORT_KEYS)
    except orjson.JSONEncodeError:
        # Integers beyond 64 bits.
        written = json.dumps(arguments, sort_keys=True).encode()
    # The hash of bytes is keyed by a secret of the process (SipHash); hashlib would cost 3 ms of every start.
    return len(written), hash(written)
