"""`escaping_text`: a text that one regular expression matches and another does not, or the proof that there is none.

Both patterns become automata that are walked at the same time, shortest texts first. The walk is bounded.
"""

from collections import deque
from collections.abc import Callable, Iterator
from typing import Final, Literal, TypeAlias

from toolvet.core.matching.syntax import parse_ecma
from toolvet.core.matching.tree import Assertion, Char, CharSet, Group, Node, Repeat

_MOST_STATES: Final = 1_500
_MOST_PAIRS: Final = 500
_MOST_LETTERS: Final = 200
# Letters that a reader likes to see come first.
_READABLE: Final = "a0A-_. /@"
_SURROGATES: Final = range(0xD800, 0xE000)

States: TypeAlias = frozenset[int]


class _Unsupported(Exception):  # noqa: N818 - a state of the walk, never an error that leaves this file.
    """The pattern has a part that is not regular here, or is too large."""


def escaping_text(matched: str, unmatched: str) -> str | Literal[False] | None:
    """Return a shortest text that `matched` matches and `unmatched` does not; False if there is none; None if unknown.

    >>> escaping_text("^[a-z]+$", "^a+$"), escaping_text("^a+$", "^[a-z]+$")
    ('b', False)
    """
    try:
        left, right = _Automaton(matched), _Automaton(unmatched)
    except _Unsupported:
        return None
    letters = list(_letters({*left.borders, *right.borders}))
    if len(letters) > _MOST_LETTERS:
        return None
    start = left.start(), right.start()
    seen, waiting = {start}, deque([(start, "")])
    while waiting:
        (ours, theirs), text = waiting.popleft()
        if left.accepts(ours, is_start=not text) and not right.accepts(theirs, is_start=not text):
            return text
        for letter in letters:
            pair = left.step(ours, letter), right.step(theirs, letter)
            if pair not in seen:
                if len(seen) >= _MOST_PAIRS:
                    return None
                seen.add(pair)
                waiting.append((pair, text + letter))
    return False


def _letters(borders: set[int]) -> Iterator[str]:
    """One letter of each interval in which no class of the patterns begins or ends."""
    starts = sorted({0, *borders, _SURROGATES.start, _SURROGATES.stop})
    found: list[str] = []
    for start, stop in zip(starts, [*starts[1:], 0x110000], strict=True):
        if start < 0x110000 and start not in _SURROGATES:
            readable = [letter for letter in _READABLE if start <= ord(letter) < stop]
            plain = [chr(code) for code in range(max(start, 33), min(stop, 127))]
            found.append([*readable, *plain, chr(start)][0])
    yield from sorted(found, key=lambda letter: (not letter.isalnum(), not letter.isprintable(), letter))


class _Automaton:
    """A pattern as states with edges. State 0 is the start, and -1 what is accepted: any text may follow it."""

    def __init__(self, pattern: str) -> None:
        tree = parse_ecma(pattern)
        if tree is None:
            raise _Unsupported
        self.borders: set[int] = set()
        # The edges of each state: those without a letter (with their place), and those with a letter.
        self._free: list[list[tuple[str, int]]] = [[]]
        self._edges: list[list[tuple[Callable[[str], bool], int]]] = [[]]
        end = self._add(tree, 0)
        self._free[end].append(("", -1))

    def _state(self) -> int:
        if len(self._free) >= _MOST_STATES:
            raise _Unsupported
        self._free.append([])
        self._edges.append([])
        return len(self._free) - 1

    def _add(self, node: Node, start: int) -> int:
        """Add the states of `node` after `start`. Returns the state after it."""
        if isinstance(node, Char | CharSet):
            end = self._state()
            self._edges[start].append((self._letter(node), end))
            return end
        if isinstance(node, Group) and not node.flags:
            end = self._state()
            for branch in node.branches:
                here = self._state()
                self._free[start].append(("", here))
                for part in branch:
                    here = self._add(part, here)
                self._free[here].append(("", end))
            return end
        if isinstance(node, Assertion) and node.name in ("^", "$"):
            end = self._state()
            self._free[start].append((node.name, end))
            return end
        if not isinstance(node, Repeat):
            raise _Unsupported
        for _ in range(node.least):
            start = self._add(node.part, start)
        end = self._state()
        self._free[start].append(("", end))
        if node.most is None:
            loop = self._state()
            self._free[start].append(("", loop))
            after = self._add(node.part, loop)
            self._free[after] += [("", loop), ("", end)]
        else:
            for _ in range(node.most - node.least):
                start = self._add(node.part, start)
                self._free[start].append(("", end))
        return end

    def _letter(self, node: Char | CharSet) -> Callable[[str], bool]:
        if node.fold or (isinstance(node, CharSet) and (node.named or node.categories)):
            raise _Unsupported
        ranges = ((node.character, node.character),) if isinstance(node, Char) else node.ranges
        negated = isinstance(node, CharSet) and node.negated
        for low, high in ranges:
            self.borders |= {ord(low), ord(high) + 1}
        return lambda letter: any(low <= letter <= high for low, high in ranges) is not negated

    def start(self) -> States:
        """The states before the first letter."""
        return self._closure({0}, {"", "^"})

    def step(self, states: States, letter: str) -> States:
        """The states after another letter. A match may begin at any place, and what follows one does not matter."""
        if -1 in states:
            return frozenset({-1})
        after = {end for state in states for matches, end in self._edges[state] if matches(letter)}
        return self._closure(after | {0}, {""})

    def accepts(self, states: States, *, is_start: bool) -> bool:
        """Whether a text that ends in these states is matched."""
        return -1 in states or -1 in self._closure(set(states), {"", "$", *("^" if is_start else "")})

    def _closure(self, states: set[int], places: set[str]) -> States:
        pending = list(states)
        while pending:
            state = pending.pop()
            for place, end in self._free[state] if state >= 0 else ():
                if place in places and end not in states:
                    states.add(end)
                    pending.append(end)
        return frozenset(states)
