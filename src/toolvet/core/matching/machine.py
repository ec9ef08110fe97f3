"""`Machine`: the matcher that no pattern makes slow; it follows all ways through a pattern side by side.

`re` tries one way after the other, which some patterns turn into exponentially many. Where a pattern could (a repeat
inside a repeat, several gaps in a row) this matcher decides instead: at most one step per state of the pattern and
character of the text, after Thompson and Pike (https://swtch.com/~rsc/regexp/regexp2.html). Its answer is that of `re`:
the leftmost match, and of those the one whose choices come first in the pattern.

A step costs microseconds, and texts take the same ones again and again: so each is worked out once for each set of
ways and each kind of character, and kept (`_Ways`). Then a character costs a look-up.
"""

import re
from collections.abc import Callable
from typing import Literal, NamedTuple

import msgspec


class PatternPart(msgspec.Struct, frozen=True, array_like=True):
    """A part of a pattern: one character, a place, all parts in a row, any of the parts, or its part several times."""

    kind: Literal["one", "at", "all", "any", "times"]
    source: str = ""
    """The expression that the character or the place must match, for `re`."""
    parts: tuple["PatternPart", ...] = ()
    least: int = 0
    most: int | None = 0


_LARGEST = 20_000
# The most steps kept for one machine and for one set of ways. Beyond that, they are dropped and computed again.
_MOST_KEPT = 2_000
_MOST_STEPS = 4_000
_MOST_CLASSES = 20_000
# One character of every kind that a border of words distinguishes. Two characters are alike if no probe separates them.
_PROBES = ("a", "\uac00", "\u4e00", " ", "\n", "")


class _MachineState(NamedTuple):
    """One state: a character that is read (`reads`), a place that is asked for (`asks`), or a choice of next states."""

    reads: int | None
    """The number of the characters that it reads, in the list of the machine."""
    asks: re.Pattern[str] | None
    targets: tuple[int, ...]


class MatchOpening(NamedTuple):
    """What every match of a pattern begins with, and how long that is at most: `re` finds it far sooner."""

    pattern: re.Pattern[str]
    reach: int

    def next(self, text: str, at: int, limit: int) -> int:
        """The first place from `at` on, and by `limit`, where a match may begin; -1 if there is none."""
        # What follows the opening may be asked for, too: a border of words.
        found = self.pattern.search(text, at, limit + self.reach + 2)
        return found.start() if found is not None and found.start() <= limit else -1


class _Ways:
    """The ways that are open between two characters, in order: the state that each is in, and its beginning's number.

    `steps` has what was worked out so far: by the characters before and after a place, and by their classes.
    """

    __slots__ = ("beginning", "by_class", "open", "steps")

    def __init__(self, ways: tuple[tuple[int, int], ...]) -> None:
        self.open = ways
        self.steps: dict[str, _Step] = {}
        # The same where a match may begin.
        self.beginning: dict[str, _Step] = {}
        self.by_class: dict[tuple[bool, int, int, int], _Step] = {}


class _Step(NamedTuple):
    """What one place and the character after it make of some ways.

    `ended` is the number of the beginning whose match ends at the place, or -1. `kept` are the beginnings that are
    still open, by their numbers before; None for all of them.
    """

    ways: _Ways
    ended: int
    kept: tuple[int, ...] | None


class Machine:
    """The states of one pattern; state 0 is the match."""

    def __init__(
        self, tree: PatternPart, begins: MatchOpening, width: int, compiled: Callable[[str], re.Pattern[str]]
    ) -> None:
        """Raises `OverflowError` for a pattern that has too many states.

        Where `begins` does not match, nothing begins. `compiled` compiles what a part must match. A match that goes on
        `width` beyond what is known of it is given up.
        """
        self._width = width
        self._begins = begins
        self._compiled = compiled
        self._classes = _Classes()
        self._states: list[_MachineState] = [_MachineState(None, None, ())]
        self._start = self._build(tree, 0)
        self._none = _Ways(())
        self._known: dict[tuple[tuple[int, int], ...], _Ways] = {(): self._none}

    def search(self, text: str, start: int, limit: int) -> tuple[int, int] | None:
        """The first match that begins from `start` on, and by `limit`."""
        begins = self._begins.next(text, start, limit)
        best: tuple[int, int] | None = None
        last, size = limit + self._width, len(text)
        ways = self._none
        beginnings: list[int] = []
        at = begins
        while True:
            if not ways.open:
                if best is not None or begins < 0:
                    return best
                at = begins
            is_inside = 0 < at < size - 1
            pair = text[at - 1 : at + 1] if is_inside else ""
            if at == begins and best is None:
                beginnings.append(at)
                begins = self._begins.next(text, at + 1, limit)
                step = (ways.beginning.get(pair) if is_inside else None) or self._step(ways, text, at, begins=True)
            else:
                step = (ways.steps.get(pair) if is_inside else None) or self._step(ways, text, at, begins=False)
            ways, ended, kept = step
            if ended >= 0:
                best = (beginnings[ended], at)
                last = max(last, 2 * at - best[0] + self._width)
            if kept is not None:
                beginnings = [beginnings[number] for number in kept]
            if at >= last or at >= size:
                return best
            at += 1

    def _step(self, ways: _Ways, text: str, at: int, *, begins: bool) -> _Step:
        """The step at a place, from those that are known by class or worked out; kept for the next time."""
        size = len(text)
        classes = self._classes
        before = classes.of(text[at - 1]) if at else -1
        behind = classes.of(text[at]) if at < size else -1
        # The end of the text, and what is right before it, may be asked for.
        key = begins, before, behind, size - at if at >= size - 1 else 2
        step = ways.by_class.get(key)
        if step is None:
            step = self._worked_out(ways, text, at, begins=begins)
            if len(ways.by_class) < _MOST_STEPS:
                ways.by_class[key] = step
        if 0 < at < size - 1:
            known = ways.beginning if begins else ways.steps
            if len(known) >= _MOST_STEPS:
                known.clear()
            known[text[at - 1 : at + 1]] = step
        return step

    def _worked_out(self, ways: _Ways, text: str, at: int, *, begins: bool) -> _Step:
        current: list[tuple[int, int]] = []
        seen: set[int] = set()
        ended = -1
        beginnings = 1 + max((beginning for _state, beginning in ways.open), default=-1)
        for state, beginning in ways.open:
            if self._follow(state, beginning, text, at, current, seen):
                ended = beginning
                break
        if begins:
            if ended < 0:
                self._follow(self._start, beginnings, text, at, current, seen)
            beginnings += 1
        readable = self._classes.read_by(text[at]) if at < len(text) else frozenset[int]()
        following: dict[int, int] = {}
        for state, beginning in current:
            reads, _asks, targets = self._states[state]
            if reads in readable:
                # Of two ways in one state the first one counts.
                following.setdefault(targets[0], beginning)
        kept = tuple(sorted(set(following.values())))
        numbers = {beginning: number for number, beginning in enumerate(kept)}
        open_after = tuple((state, numbers[beginning]) for state, beginning in following.items())
        ways_after = self._known.get(open_after)
        if ways_after is None:
            if len(self._known) >= _MOST_KEPT:
                self._none = _Ways(())
                self._known = {(): self._none}
            ways_after = self._known[open_after] = _Ways(open_after)
        return _Step(ways_after, ended, None if kept == tuple(range(beginnings)) else kept)

    def _follow(  # noqa: PLR0917 - The inner loop: names cost.
        self, state: int, begun: int, text: str, at: int, current: list[tuple[int, int]], seen: set[int]
    ) -> bool:
        """Adds every state that is reached from `state` without reading, in order; says whether the match is one."""
        waiting = [state]
        while waiting:
            number = waiting.pop()
            if number in seen:
                continue
            seen.add(number)
            if number == 0:
                return True
            reads, asks, targets = self._states[number]
            if reads is not None:
                current.append((number, begun))
            elif asks is None or asks.match(text, at) is not None:
                waiting.extend(reversed(targets))
        return False

    def _add(self, state: _MachineState) -> int:
        if len(self._states) >= _LARGEST:
            raise OverflowError("it is too large")
        self._states.append(state)
        return len(self._states) - 1

    def _build(self, part: PatternPart, then: int) -> int:
        """The state that begins `part`, after which `then` follows."""
        if part.kind == "one":
            return self._add(_MachineState(self._classes.reader(part.source, self._compiled), None, (then,)))
        if part.kind == "at":
            return self._add(_MachineState(None, self._classes.asked(part.source, self._compiled), (then,)))
        if part.kind == "all":
            for each in reversed(part.parts):
                then = self._build(each, then)
            return then
        if part.kind == "any":
            return self._add(_MachineState(None, None, tuple(self._build(each, then) for each in part.parts)))
        if part.most is None:
            loop = self._add(_MachineState(None, None, ()))
            self._states[loop] = _MachineState(None, None, (self._build(part.parts[0], loop), then))
            then = loop
        else:
            after = then
            for _ in range(part.most - part.least):
                then = self._add(_MachineState(None, None, (self._build(part.parts[0], then), after)))
        for _ in range(part.least):
            then = self._build(part.parts[0], then)
        return then


class _Classes:
    """The classes of characters of a machine: characters of one class have the same states, and bound words alike."""

    def __init__(self) -> None:
        self._readers: dict[str, int] = {}
        self._patterns: list[re.Pattern[str]] = []
        self._asked: dict[str, re.Pattern[str]] = {}
        self._numbers: dict[tuple[frozenset[int], tuple[bool, ...]], int] = {}
        self._known: dict[str, tuple[int, frozenset[int]]] = {}

    def reader(self, source: str, compiled: Callable[[str], re.Pattern[str]]) -> int:
        """The number of the characters that match `source`."""
        number = self._readers.get(source)
        if number is None:
            number = self._readers[source] = len(self._patterns)
            self._patterns.append(compiled(source))
        return number

    def asked(self, source: str, compiled: Callable[[str], re.Pattern[str]]) -> re.Pattern[str]:
        """The place that `source` asks for; it sees one character on either side, and the ends of the text."""
        if source not in self._asked:
            self._asked[source] = compiled(source)
        return self._asked[source]

    def of(self, character: str) -> int:
        """The class of a character."""
        return (self._known.get(character) or self._looked_at(character))[0]

    def read_by(self, character: str) -> frozenset[int]:
        """The numbers of the readers that read a character."""
        return (self._known.get(character) or self._looked_at(character))[1]

    def _looked_at(self, character: str) -> tuple[int, frozenset[int]]:
        readers = frozenset(
            number for number, pattern in enumerate(self._patterns) if pattern.fullmatch(character) is not None
        )
        borders = tuple(
            pattern.match(words, at) is not None
            for pattern in self._asked.values()
            for probe in _PROBES
            for words, at in ((probe + character, len(probe)), (character + probe, 1))
        )
        number = self._numbers.setdefault((readers, borders), len(self._numbers))
        if len(self._known) >= _MOST_CLASSES:
            self._known.clear()
        known = self._known[character] = number, readers
        return known
