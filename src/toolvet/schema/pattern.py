"""Texts that a regular expression of JSON Schema (ECMA 262) may accept: suggestions, in bounded work, to be checked."""

from collections.abc import Iterator

from toolvet.schema.regex import (
    Alternatives,
    BackReference,
    Characters,
    Group,
    Look,
    Node,
    Nothing,
    Repeat,
    Sequence,
    parsed,
    width,
)

_LONGEST = 20_000
_VARIATIONS = 40


def texts(pattern: str, least: int = 0, most: int | None = None) -> Iterator[str]:
    """Candidates for `pattern` with a length between `least` and `most`, the most readable first; maybe none.

    What look-around demands is only guessed at, so every candidate must be put to the real matcher.
    """
    node = parsed(pattern)
    if node is None:
        return
    low, high = width(node)
    if low > _LONGEST or least > _LONGEST:
        return
    ceiling = _LONGEST if most is None else min(most, _LONGEST)
    ceiling = ceiling if high is None else min(ceiling, high)
    seen: set[str] = set()
    demanded = _demands(node)
    for variation in range(_VARIATIONS):
        wish = max(low, least, min(ceiling, low + 4 if low < 3 else low) + variation // 6)
        writer = _PatternWriter(variation)
        found = writer.write(node, wish)
        for text in (found, *_with_demands(found, demanded, wish)):
            if text not in seen:
                seen.add(text)
                yield text


def _with_demands(found: str, demanded: list[Node], wish: int) -> Iterator[str]:
    """Look-ahead at the start (`(?=.*[A-Z])(?=.*[0-9])`) asks for pieces somewhere in the text: put them first."""
    if not demanded:
        return
    pieces = "".join(_PatternWriter(0).write(node, width(node)[0]) for node in demanded)
    yield pieces + found
    yield (pieces + found)[: max(wish, len(pieces))]
    yield found + pieces
    yield pieces


def _demands(node: Node) -> list[Node]:
    match node:
        case Look(body, True):
            return [body]
        case Sequence(nodes) | Alternatives(nodes):
            return [found for inner in nodes for found in _demands(inner)]
        case Group(body) | Repeat(body):
            return _demands(body)
        case _:
            return []


class _PatternWriter:
    """Writes one text: `variation` decides which alternative and which characters."""

    def __init__(self, variation: int) -> None:
        self.variation = variation
        self.written = 0
        self.groups: dict[str, str] = {}

    def write(self, node: Node, wish: int) -> str:
        """A text of about `wish` characters; never shorter or longer than the node allows."""
        match node:
            case Characters():
                self.written += 1
                return node.pick(self.variation, self.written - 1)
            case Sequence(nodes):
                return self._sequence(nodes, wish)
            case Alternatives(options):
                return self.write(self._option(options, wish), wish)
            case Repeat():
                return self._repeat(node, wish)
            case Group(body, name):
                text = self.write(body, wish)
                self.groups[name] = text
                return text
            case BackReference(name):
                return self.groups.get(name, "")
            case Look() | Nothing():
                return ""

    def _sequence(self, nodes: tuple[Node, ...], wish: int) -> str:
        widths = [width(node) for node in nodes]
        surplus = max(0, wish - sum(low for low, _ in widths))
        pieces: list[str] = []
        for node, (low, high) in zip(nodes, widths, strict=True):
            share = surplus if high is None else min(surplus, high - low)
            surplus -= share
            pieces.append(self.write(node, low + share))
        return "".join(pieces)

    def _option(self, options: tuple[Node, ...], wish: int) -> Node:
        fitting = [option for option in options if _reaches(option, wish)] or list(options)
        return fitting[self.variation % len(fitting)]

    def _repeat(self, node: Repeat, wish: int) -> str:
        low, high = width(node.body)
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
            piece = self.write(node.body, max(low, share if high is None else min(share, high)))
            wish = max(0, wish - len(piece))
            pieces.append(piece)
        return "".join(pieces)


def _reaches(node: Node, wish: int) -> bool:
    low, high = width(node)
    return low <= wish and (high is None or high >= wish)
