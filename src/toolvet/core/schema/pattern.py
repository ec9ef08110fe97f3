"""Texts that a regular expression of JSON Schema (ECMA 262) may accept: suggestions, in bounded work, to be checked.

    list(texts("^[a-z]{3}-(?:eu|us)$"))     # ["abc-eu", "bcd-us", …]

The pattern is parsed once (`syntax.parse_ecma`). Each variation then walks the tree with a wish for the length: a
sequence shares the wish out among its nodes, a group takes one branch that can be as long, a repeat takes as many
rounds as it needs, and a character is the next readable one of its class. In the example, variation 0 wishes for the
shortest length, 6: "a", "b", "c" from the class by their places, "-", and the first of the branches.
"""

import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from toolvet.core.matching.syntax import parse_ecma
from toolvet.core.matching.tree import Assertion, BackReference, Char, CharSet, Group, Look, Node, Repeat, Sequence

_LONGEST: Final = 20_000
_VARIATIONS: Final = 40
# In the order in which they are picked.
_READABLE: Final = (
    "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ-_ ./:@#,+=()[]{}<>!?$%&*'\"\\|~^`;éαд漢"
)


def texts(pattern: str, least: int = 0, most: int | None = None) -> Iterator[str]:
    """Yield candidates for `pattern` with a length between `least` and `most`, the most readable first; maybe none.

    What look-around demands is only guessed at, so every candidate must be put to the real matcher.
    """
    tree = parse_ecma(pattern)
    if tree is None:
        return
    low, high = _width(tree)
    if low > _LONGEST or least > _LONGEST:
        return
    ceiling = _LONGEST if most is None else min(most, _LONGEST)
    ceiling = ceiling if high is None else min(ceiling, high)
    seen: set[str] = set()
    demanded = _demands(tree)
    for variation in range(_VARIATIONS):
        wish = max(low, least, min(ceiling, low + 4 if low < 3 else low) + variation // 6)
        found = _PatternWriter(variation).write(tree, wish)
        for text in (found, *_with_demands(found, demanded, wish)):
            if text not in seen:
                seen.add(text)
                yield text


def _with_demands(found: str, demanded: list[Group], wish: int) -> Iterator[str]:
    """Look-ahead at the start (`(?=.*[A-Z])(?=.*[0-9])`) asks for pieces somewhere in the text: put them first."""
    if not demanded:
        return
    pieces = "".join(_PatternWriter(0).write(node, _width(node)[0]) for node in demanded)
    yield pieces + found
    yield (pieces + found)[: max(wish, len(pieces))]
    yield found + pieces
    yield pieces


def _demands(node: Node) -> list[Group]:
    """The parts that look-aheads ask for, wherever they are."""
    match node:
        case Look(part, ahead=True, negated=False):
            return [part]
        case Group(branches):
            return [found for branch in branches for inner in branch for found in _demands(inner)]
        case Repeat(part):
            return _demands(part)
        case _:
            return []


def _width(node: Node) -> tuple[int, int | None]:
    """The lengths of the shortest and the longest text of a node; None for no limit."""
    match node:
        case Char() | CharSet():
            return 1, 1
        case Group(branches):
            widths = [_width_of_sequence(branch) for branch in branches]
            highs = [high for _, high in widths]
            return min(low for low, _ in widths), None if None in highs else max(high or 0 for high in highs)
        case Repeat(part, least, most):
            low, high = _width(part)
            if high == 0 or most == 0:
                return 0, 0
            return low * least, None if high is None or most is None else high * most
        case Assertion() | BackReference() | Look():
            return 0, 0


def _width_of_sequence(nodes: Sequence) -> tuple[int, int | None]:
    widths = [_width(node) for node in nodes]
    highs = [high for _, high in widths]
    return sum(low for low, _ in widths), None if None in highs else sum(high or 0 for high in highs)


class _PatternWriter:
    """Writes one text: `variation` decides which branches and which characters."""

    def __init__(self, variation: int) -> None:
        self._variation = variation
        self._characters = 0
        self._captured: dict[str, str] = {}

    def write(self, node: Node, wish: int) -> str:
        """Return a text of about `wish` characters; never shorter or longer than the node allows."""
        match node:
            case Char() | CharSet():
                self._characters += 1
                return _pick(node, self._variation, self._characters - 1)
            case Group(branches, _, name):
                text = self._write_sequence(self._choose_branch(branches, wish), wish)
                if name is not None:
                    self._captured[name] = text
                return text
            case Repeat():
                return self._write_repeat(node, wish)
            case BackReference(name):
                return self._captured.get(name, "")
            case Assertion() | Look():
                return ""

    def _choose_branch(self, branches: tuple[Sequence, ...], wish: int) -> Sequence:
        if len(branches) == 1:
            return branches[0]
        fitting = [branch for branch in branches if _reaches(branch, wish)] or branches
        return fitting[self._variation % len(fitting)]

    def _write_sequence(self, nodes: Sequence, wish: int) -> str:
        if len(nodes) == 1:
            return self.write(nodes[0], wish)
        widths = [_width(node) for node in nodes]
        surplus = max(0, wish - sum(low for low, _ in widths))
        pieces: list[str] = []
        for node, (low, high) in zip(nodes, widths, strict=True):
            share = surplus if high is None else min(surplus, high - low)
            surplus -= share
            pieces.append(self.write(node, low + share))
        return "".join(pieces)

    def _write_repeat(self, node: Repeat, wish: int) -> str:
        low, high = _width(node.part)
        times = node.least
        if high != 0 and wish > times * low:
            # As many rounds as the wish needs: short rounds if they may be short, else the longest.
            longest = max(low, 1) if high is None or low > 0 else max(high, 1)
            times = max(times, -(-wish // longest)) if high is not None else max(times, 1)
        if node.most is not None:
            times = min(times, node.most)
        pieces: list[str] = []
        for remaining in range(times, 0, -1):
            share = -(-wish // remaining)
            piece = self.write(node.part, max(low, share if high is None else min(share, high)))
            wish = max(0, wish - len(piece))
            pieces.append(piece)
        return "".join(pieces)


def _reaches(nodes: Sequence, wish: int) -> bool:
    low, high = _width_of_sequence(nodes)
    return low <= wish and (high is None or high >= wish)


def _pick(node: Char | CharSet, variation: int, position: int) -> str:
    """A readable character of the class; another one for another variation or position."""
    pool = _readable(node)
    if not pool:
        pool = _unreadable(node, variation)
    if position == 0 and pool[0] == "0" and len(pool) > 1:
        # A leading zero reads badly in a number.
        pool = (*pool[1:], pool[0])
    return pool[(position + variation) % len(pool)]


@lru_cache(maxsize=1024)
def _readable(node: Char | CharSet) -> tuple[str, ...]:
    return tuple(character for character in _READABLE if _accepts(node, character))


def _unreadable(node: Char | CharSet, variation: int) -> tuple[str]:
    """Some character of a class without a readable one: the first of a range, which is not half of a pair."""
    firsts = [node.character] if isinstance(node, Char) else [] if node.negated else [low for low, _ in node.ranges]
    firsts = [first for first in firsts if not "\ud800" <= first <= "\udfff"]
    return (firsts[variation % len(firsts)] if firsts else "é",)


def _accepts(node: Char | CharSet, character: str) -> bool:
    """Whether the node matches `character`; `fold` is not asked for, because ECMA 262 has no such groups."""
    if isinstance(node, Char):
        return character == node.character
    is_member = any(low <= character <= high for low, high in node.ranges) or any(
        unicodedata.category(character).startswith(name) is wanted for name, wanted in node.categories
    )
    return is_member is not node.negated
