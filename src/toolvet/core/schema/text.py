"""`TextRules`: strings that meet lengths, patterns and formats at once.

Texts that a regular expression of JSON Schema (ECMA 262) may accept: suggestions, in bounded work, to be checked.

    list(texts("^[a-z]{3}-(?:eu|us)$"))     # ["abc-eu", "bcd-us", …]

The pattern is parsed once (`syntax.parse_ecma`). Each variation then walks the tree with a wish for the length: a
sequence shares the wish out among its nodes, a group takes one branch that can be as long, a repeat takes as many
rounds as it needs, and a character is the next readable one of its class. In the example, variation 0 wishes for the
shortest length, 6: "a", "b", "c" from the class by their places, "-", and the first of the branches.
"""

import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import islice, permutations
from typing import Final

import msgspec

from toolvet.core.json_value import count
from toolvet.core.matching.syntax import parse_ecma
from toolvet.core.matching.tree import Assertion, BackReference, Char, CharSet, Group, Look, Node, Repeat, Sequence
from toolvet.core.schema.compilation import compiled
from toolvet.core.schema.naming import formats

# A longer minLength is left alone: no reader wants such an example, and it would only cost memory.
LONGEST = 1_000_000


class TextRules(msgspec.Struct):
    """The demands on a string. Lengths are in code points."""

    least: int = 0
    most: int | None = None
    patterns: tuple[str, ...] = ()
    formats: tuple[str, ...] = ()

    def accepts(self, text: str) -> bool:
        """Whether `text` meets all rules, by the judgement of the real engine."""
        if len(text) < self.least or (self.most is not None and len(text) > self.most):
            return False
        return all(matches(pattern, text) for pattern in self.patterns) and all(
            has_format(text, name) for name in self.formats
        )

    def matching_texts(self, wishes: Iterable[object], variation: int = 0) -> Iterator[str]:
        """Yield strings that meet the rules, those of `wishes` first; a bounded number, maybe none."""
        if self.least > LONGEST or (self.most is not None and self.most < self.least):
            return
        seen: set[str] = set()
        for text in self._candidates(wishes, variation):
            if text not in seen and self.accepts(text):
                seen.add(text)
                yield text

    def _candidates(self, wishes: Iterable[object], variation: int) -> Iterator[str]:
        wished = [wish for wish in wishes if isinstance(wish, str)]
        yield from wished
        fill = max(self.least, 3)
        filler = ("example" * (fill // 7 + 1))[: max(1, min(fill, 60))]
        start = 0 if variation == 0 else 1
        for templates in (formats().get(name, ()) for name in self.formats):
            for template in (*templates[start:], *templates[:start]):
                yield template.format(n=variation % 28 + 1, fill=filler)
            for template in templates:
                if fill > 20 and "{fill}" in template:
                    labels = "/".join if "/" in template else ".".join
                    yield template.format(n=1, fill=labels(["example"] * (fill // 8 + 1)))
        for pattern in self.patterns:
            yield from texts(pattern, self.least, self.most)
        yield from self._joined_pieces(variation)
        if self.patterns or any(name in formats() for name in self.formats):
            for wish in wished:
                yield from (wish.lower(), wish.upper(), wish.replace(" ", "-").lower(), wish.replace(" ", "_"))
            yield from _LAST
        yield from self._free_texts(wished[0] if wished else "example", variation)

    def _joined_pieces(self, variation: int) -> Iterator[str]:
        """Pieces of all patterns in one text, with a filler: most patterns ask for a beginning, an end, or a part."""
        pieces = [list(islice(texts(pattern), 3)) for pattern in self.patterns[:4]]
        for order in islice(permutations(pieces), 24) if pieces and all(pieces) else ():
            for choice in range(3):
                chosen = [found[choice % len(found)] for found in order]
                gap = max(0, self.least - sum(map(len, chosen)))
                filler = ("example" * (gap // 7 + 1))[:gap]
                for fill in (filler, "a" * gap, "1" * gap, f"{filler}{variation + 1}", _spell_number(variation, 2)):
                    yield "".join((chosen[0], fill, *chosen[1:]))
                    yield "".join((fill, *chosen))

    def _free_texts(self, base: str, variation: int) -> Iterator[str]:
        """A text of any wording in the demanded length; another one for another variation."""
        most = LONGEST if self.most is None else self.most
        for text in (base, *base.split(), "example", "text", "ab", "a", ""):
            varied = text if variation == 0 else f"{text}-{variation + 1}"
            if self.least <= len(varied) <= most:
                yield varied
        if most < 8 and variation:
            yield from (
                _spell_number(number, max(self.least, min(most, 2))) for number in range(variation, variation + 5)
            )
        mark = "" if variation == 0 else f"{variation + 1} "
        long = (mark + (base + " ") * (self.least // (len(base) + 1) + 1))[: max(self.least, min(most, len(base)))]
        yield long[:-1] + "e" if long.endswith(" ") else long


_LAST = (
    "Example-1",
    "example",
    "Example",
    "EXAMPLE",
    "a",
    "A",
    "1",
    "0",
    "12345",
    "aA1!aA1!aA1!",
    "1.0.0",
    "*",
    "/",
    "a/b",
    " ",
    "",
)


@lru_cache(maxsize=8192)
def matches(pattern: str, text: str) -> bool:
    """Whether `pattern` is found in `text`; a pattern that no engine accepts matches everything."""
    return compiled({"pattern": pattern}).is_valid(text)


@lru_cache(maxsize=8192)
def has_format(text: str, name: str) -> bool:
    """Whether `text` is of the format `name`; a format that no draft names is met by everything."""
    return compiled({"format": name}).is_valid(text)


def text_rules(schemas: Iterable[Mapping[str, object]]) -> TextRules:
    """The rules that all of `schemas` make."""
    rules = TextRules()
    patterns: list[str] = []
    named: list[str] = []
    for schema in schemas:
        least, most = count(schema.get("minLength")), count(schema.get("maxLength"))
        rules.least = max(rules.least, least or 0)
        if most is not None:
            rules.most = most if rules.most is None else min(rules.most, most)
        for keyword, found in (("pattern", patterns), ("format", named)):
            value = schema.get(keyword)
            if isinstance(value, str) and value not in found:
                found.append(value)
    rules.patterns, rules.formats = tuple(patterns), tuple(named)
    return rules


def _spell_number(number: int, length: int) -> str:
    """The number written with letters: for texts too short for words."""
    written = ""
    for _ in range(length):
        number, digit = divmod(number, 26)
        written = chr(97 + digit) + written
    return written


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
    # Look-ahead at the start (`(?=.*[A-Z])(?=.*[0-9])`) asks for pieces somewhere in the text: they are put first.
    demanded = _demands(tree)
    pieces = "".join(_PatternWriter(0).write(node, _width(node)[0]) for node in demanded)
    for variation in range(_VARIATIONS):
        wish = max(low, least, min(ceiling, low + 4 if low < 3 else low) + variation // 6)
        found = _PatternWriter(variation).write(tree, wish)
        texts_found = [found]
        if demanded:
            texts_found += (pieces + found, (pieces + found)[: max(wish, len(pieces))], found + pieces, pieces)
        for text in texts_found:
            if text not in seen:
                seen.add(text)
                yield text


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
                fitting: list[Sequence] = []
                for branch in branches:
                    low, high = _width_of_sequence(branch)
                    if low <= wish and (high is None or high >= wish):
                        fitting.append(branch)
                chosen = fitting or branches
                text = self._write_sequence(chosen[self._variation % len(chosen)], wish)
                if name is not None:
                    self._captured[name] = text
                return text
            case Repeat():
                return self._write_repeat(node, wish)
            case BackReference(name):
                return self._captured.get(name, "")
            case Assertion() | Look():
                return ""

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


def _pick(node: Char | CharSet, variation: int, position: int) -> str:
    """A readable character of the class; another one for another variation or position."""
    pool = _readable(node)
    if not pool:
        # The first character of a range, which is not half of a pair.
        firsts = [node.character] if isinstance(node, Char) else [] if node.negated else [low for low, _ in node.ranges]
        firsts = [first for first in firsts if not "\ud800" <= first <= "\udfff"]
        pool = (firsts[variation % len(firsts)] if firsts else "é",)
    if position == 0 and pool[0] == "0" and len(pool) > 1:
        # A leading zero reads badly in a number.
        pool = (*pool[1:], pool[0])
    return pool[(position + variation) % len(pool)]


@lru_cache(maxsize=1024)
def _readable(node: Char | CharSet) -> tuple[str, ...]:
    # `fold` is not looked at, because ECMA 262 has no such groups.
    if isinstance(node, Char):
        return tuple(character for character in _READABLE if character == node.character)
    found: list[str] = []
    for character in _READABLE:
        is_member = any(low <= character <= high for low, high in node.ranges) or any(
            unicodedata.category(character).startswith(name) is wanted for name, wanted in node.categories
        )
        if is_member is not node.negated:
            found.append(character)
    return tuple(found)
