"""Calls that a model repeats for nothing: they fail each time, or they work and bring nothing new.

`Breaker` counts calls that fail again and again with the same arguments, until something happens that may change that.
`RepeatWatch` sees a model that goes round in circles with calls that work:

    call 1 of search("x")     → nothing is known
    calls 2 to 5, same result → nothing new, four times in a row
    call 6                    → not sent; the answer says why

A call that is repeated on purpose counts as news (`repeats.toml` has the words): a call of a tool that may change
things, a result that says that a job goes on, a tool that asks for a state or waits. So does a minute without a message
of the client (`note_quiet`), because then a person or another tool may have done something, and a call so soon after an
answer that no model can have read it.
"""

import json
import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import Final, NamedTuple, TypeAlias, TypeVar

import msgspec
import orjson

from toolvet.core.causes import State
from toolvet.core.discover import read_toml
from toolvet.core.json_value import elements, is_object, members
from toolvet.core.redact import word_segments

Key: TypeAlias = tuple[int, int]
K = TypeVar("K")
V = TypeVar("V")

_MOST_FAILING_TOOLS: Final = 256
_MOST_FAILING_CALLS: Final = 64
Effect: TypeAlias = str
"""A tool's effect on the world: `reads`, `sets` (calling again with the same arguments adds nothing), or `changes`."""

_MOST_CALLS: Final = 256
# The first repetition proves nothing, because the result before it was not kept. A lower limit counts as this one.
_LEAST: Final = 3
# A call without arguments asks how things stand, which something else may have changed meanwhile.
_PATIENCE_WITHOUT_ARGUMENTS: Final = 4
_LONGEST_TEXT: Final = 2_000
_MOST_MEMBERS: Final = 64
_FAILED: Final = -1


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
        """Return why this call failed the last time, None if that is not known."""
        row = self._failing.get(tool, {}).get(call_key(arguments))
        return None if row is None else row.state

    def count_failure(self, tool: str, arguments: object, state: State | None = None) -> int:
        """Count a failure of this call, whose cause is `state`. Returns how often it failed by now."""
        rows = self._failing.get(tool)
        if rows is None:
            _make_room(self._failing, _MOST_FAILING_TOOLS)
            rows = self._failing[tool] = {}
        key = call_key(arguments)
        row = rows.get(key)
        if row is None:
            _make_room(rows, _MOST_FAILING_CALLS)
            row = rows[key] = _FailureStreak()
        row.failures += 1
        row.state = state
        return row.failures

    def count_name(self, tool: str) -> None:
        """Count a call that failed because there is no tool of this name."""
        row = self._unknown.get(tool)
        if row is None:
            _make_room(self._unknown, _MOST_FAILING_TOOLS)
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


class RepeatWatch:
    """Calls in a row that brought nothing new. Costs one look-up for a call that was not made lately.

    Pairs and longer circles count like single calls, because only a call or a result that is new ends the row. After
    as many refusals as the limit allows calls, one is let through: something outside may have changed.

        >>> watch = RepeatWatch()
        >>> for _ in range(5):
        ...     watch.note_result("search", {"q": "x"}, effect=lambda: "reads", digest=lambda: 7)
        >>> watch.check("search", {"q": "x"}, 5), watch.check("search", {"q": "y"}, 5)
        (5, 0)
    """

    def __init__(self) -> None:
        self._calls: dict[tuple[str, Key], _RepeatedCall] = {}
        self._stale = 0
        self._refusals = 0
        self._last: tuple[str, Key] | None = None

    def check(self, tool: str, arguments: Mapping[str, object], limit: int) -> int:
        """Return how many calls brought nothing new, if that reaches `limit` and this is one of them; else 0."""
        # The first call, and the second, with which the first cannot be compared, are not in the count.
        repeated = self._stale + 2
        if limit < 1 or repeated < max(limit, _LEAST):
            return 0
        limit = max(limit, _LEAST)
        seen = self._calls.get((tool, call_key(arguments)))
        # A call that fails is the breaker's.
        if seen is None or seen.digest is None or seen.digest == _FAILED:
            return 0
        if not arguments and repeated < limit * _PATIENCE_WITHOUT_ARGUMENTS:
            return 0
        if self._refusals >= limit:
            self._refusals = 0
            return 0
        self._refusals += 1
        return repeated

    def note_result(
        self,
        tool: str,
        arguments: Mapping[str, object],
        *,
        effect: Callable[[], Effect],
        digest: Callable[[], int | None],
    ) -> None:
        """Note a call that worked.

        Args:
            tool: Its name.
            arguments: Its arguments.
            effect: Returns what the tool does to the world. Asked only about a call that was made before.
            digest: Returns a number that differs where results differ; None if the result says that something goes
                on, or cannot be compared. Asked only about a call that was made before.
        """
        key = (tool, call_key(arguments))
        seen = self._calls.get(key)
        if seen is None:
            self._note_news(key)
            self._keep(key, _RepeatedCall())
            return
        does = effect()
        if does == "changes" or (does == "sets" and self._last != key):
            self._note_news(key)
            seen.digest = None
            return
        self._last = key
        found = digest()
        if found is None or (seen.digest is not None and found != seen.digest):
            self._note_news(key)
        elif seen.digest is not None:
            self._stale += 1
        seen.digest = found

    def note_failure(self, tool: str, arguments: Mapping[str, object]) -> None:
        """Note a call that failed, and would fail again: beside calls that work it is half of a circle."""
        key = (tool, call_key(arguments))
        seen = self._calls.get(key)
        if seen is None:
            self._note_news(key)
            self._keep(key, _RepeatedCall(_FAILED))
            return
        if seen.digest == _FAILED:
            self._stale += 1
        else:
            self._note_news(key)
        self._last = key
        seen.digest = _FAILED

    def note_quiet(self) -> None:
        """Note that something else may have happened: nothing came for a while, or a result could not be compared."""
        self._note_news(None)

    def clear(self) -> None:
        """Forget all calls."""
        self._calls.clear()
        self._note_news(None)

    def _note_news(self, key: tuple[str, Key] | None) -> None:
        self._stale = 0
        self._refusals = 0
        self._last = key

    def _keep(self, key: tuple[str, Key], seen: "_RepeatedCall") -> None:
        if len(self._calls) >= _MOST_CALLS:
            del self._calls[next(iter(self._calls))]
        self._calls[key] = seen


class _RepeatedCall:
    """A call that was made. `digest` is that of its last result; None if that was not looked at."""

    __slots__ = ("digest",)

    def __init__(self, digest: int | None = None) -> None:
        self.digest = digest


def asks_for_a_state(tool: str) -> bool:
    """Whether a tool of this name asks how something goes on, or waits for it."""
    return not _words().asking.isdisjoint(word_segments(tool))


def goes_on(result: object) -> bool:
    """Whether a result says that what was asked about is not over.

    >>> goes_on({"content": [], "structuredContent": {"job": {"state": "IN_PROGRESS"}}})
    True
    """
    held = members(result)
    if _has_unfinished(held.get("structuredContent")):
        return True
    for block in elements(held.get("content"))[:_MOST_MEMBERS]:
        text = members(block).get("text")
        if not isinstance(text, str):
            continue
        if text.lstrip()[:1] in ("{", "["):
            try:
                if _has_unfinished(msgspec.json.decode(text)):
                    return True
                continue
            except (msgspec.DecodeError, ValueError, RecursionError):
                pass
        if _words().phrases.search(text[:_LONGEST_TEXT].lower()) is not None:
            return True
    return False


def says_no_tool(said: str, tool: str) -> bool:
    """Whether an error says that there is no tool of this name."""
    known = said[:_LONGEST_TEXT].lower()
    return _words().no_tool.search(known.replace(tool.lower(), "TOOL") if tool else known) is not None


def _has_unfinished(value: object, depth: int = 3) -> bool:
    """Whether a member down to this depth says that something goes on. Looks at a few members only."""
    if not depth:
        return False
    if is_object(value):
        words = _words()
        for name, inner in list(value.items())[:_MOST_MEMBERS]:
            if isinstance(inner, str):
                if "_".join(word_segments(name)) in words.names and " ".join(word_segments(inner)) in words.values:
                    return True
            elif _has_unfinished(inner, depth - 1):
                return True
        return False
    return any(_has_unfinished(each, depth - 1) for each in elements(value)[:_MOST_MEMBERS])


class _RepeatWords(NamedTuple):
    asking: frozenset[str]
    names: frozenset[str]
    values: frozenset[str]
    phrases: re.Pattern[str]
    no_tool: re.Pattern[str]


class _ProvedWords(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A list of `repeats.toml`, with its proof."""

    hits: tuple[str, ...]
    misses: tuple[str, ...]
    words: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    values: tuple[str, ...] = ()
    phrases: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()


class RepeatTables(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`repeats.toml`: the words of what is repeated on purpose, and their proofs."""

    asking: _ProvedWords
    unfinished: _ProvedWords
    unfinished_text: _ProvedWords
    no_tool: _ProvedWords


@cache
def repeat_tables() -> RepeatTables:
    """Return the tables of `repeats.toml`."""
    return read_toml("toolvet.proxy.session", "repeats.toml", RepeatTables)


@cache
def _words() -> _RepeatWords:
    tables = repeat_tables()
    return _RepeatWords(
        asking=frozenset(tables.asking.words),
        names=frozenset(tables.unfinished.names),
        values=frozenset(tables.unfinished.values),
        phrases=re.compile(rf"\b(?:{'|'.join(map(re.escape, tables.unfinished_text.phrases))})\b"),
        no_tool=re.compile("|".join(tables.no_tool.patterns)),
    )
