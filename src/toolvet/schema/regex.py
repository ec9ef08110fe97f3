"""A regular expression of ECMA 262, read into a tree. Only to write texts from: matching is the engine's job."""

import unicodedata
from functools import lru_cache

import msgspec


class Characters(msgspec.Struct, frozen=True):
    """One character out of `ranges` (inclusive code points) or of Unicode `categories`; `negated`: of the rest."""

    ranges: tuple[tuple[int, int], ...] = ()
    categories: tuple[tuple[str, bool], ...] = ()
    negated: bool = False

    def accepts(self, character: str) -> bool:
        """Whether this class holds `character`."""
        code = ord(character)
        inside = any(low <= code <= high for low, high in self.ranges) or any(
            unicodedata.category(character).startswith(name) is wanted for name, wanted in self.categories
        )
        return inside is not self.negated

    def pick(self, variation: int, position: int) -> str:
        """A readable character of the class; another one for another variation or position."""
        pool = _readable(self)
        if not pool:
            codes = [low for low, _ in self.ranges if not 0xD800 <= low <= 0xDFFF] if not self.negated else []
            pool = (chr(codes[variation % len(codes)]),) if codes else ("é",)
        if position == 0 and pool[0] == "0" and len(pool) > 1:
            # A leading zero reads badly in a number.
            pool = (*pool[1:], pool[0])
        return pool[(position + variation) % len(pool)]


@lru_cache(maxsize=1024)
def _readable(characters: Characters) -> tuple[str, ...]:
    return tuple(character for character in _POOL if characters.accepts(character))


class Sequence(msgspec.Struct, frozen=True):
    """One after the other."""

    nodes: "tuple[Node, ...]"


class Alternatives(msgspec.Struct, frozen=True):
    """One of several."""

    options: "tuple[Node, ...]"


class Repeat(msgspec.Struct, frozen=True):
    """`least` to `most` times the body; None for no limit."""

    body: "Node"
    least: int
    most: int | None


class Group(msgspec.Struct, frozen=True):
    """A capturing group: its number or its name."""

    body: "Node"
    name: str


class BackReference(msgspec.Struct, frozen=True):
    """What the group `name` captured, again."""

    name: str


class Look(msgspec.Struct, frozen=True):
    """Look-around; `wanted` for the positive look-ahead, which demands a text that can be written."""

    body: "Node"
    wanted: bool


class Nothing(msgspec.Struct, frozen=True):
    """An anchor or an empty alternative: takes no character."""


Node = Characters | Sequence | Alternatives | Repeat | Group | BackReference | Look | Nothing


def width(node: Node) -> tuple[int, int | None]:
    """The shortest and the longest text of a node; None for no limit."""
    match node:
        case Characters():
            return 1, 1
        case Sequence(nodes):
            widths = [width(inner) for inner in nodes]
            highs = [high for _, high in widths]
            return sum(low for low, _ in widths), None if None in highs else sum(high or 0 for high in highs)
        case Alternatives(options):
            widths = [width(option) for option in options]
            highs = [high for _, high in widths]
            return min(low for low, _ in widths), None if None in highs else max(high or 0 for high in highs)
        case Repeat(body, least, most):
            low, high = width(body)
            if high == 0 or most == 0:
                return 0, 0
            return low * least, None if high is None or most is None else high * most
        case Group(body):
            return width(body)
        case BackReference() | Look() | Nothing():
            return 0, 0


@lru_cache(maxsize=512)
def parsed(pattern: str) -> Node | None:
    """The tree of `pattern`, or None for one that we cannot read (too long, too deep, or a rare construct)."""
    if len(pattern) > 5_000:
        return None
    try:
        return _Reader(pattern).whole()
    except (_Unreadable, IndexError, ValueError):
        return None


class _Unreadable(Exception):  # noqa: N818 - never leaves this file.
    pass


_DIGIT = ((48, 57),)
_WORD = ((48, 57), (65, 90), (95, 95), (97, 122))
_SPACE = ((32, 32), (9, 13), (0xA0, 0xA0))
_ANY = Characters(((10, 10), (13, 13), (0x2028, 0x2029)), negated=True)
_CONTROL = {"n": 10, "r": 13, "t": 9, "f": 12, "v": 11, "0": 0}
_POOL = "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ-_ ./:@#,+=()[]{}<>!?$%&*'\"\\|~^`;éαд漢"
_DEEPEST = 40


class _Reader:
    """A recursive descent over the pattern's characters."""

    def __init__(self, pattern: str) -> None:
        self.text = pattern
        self.at = 0
        self.groups = 0
        self.depth = 0

    def whole(self) -> Node:
        node = self.alternatives()
        if self.at != len(self.text):
            raise _Unreadable
        return node

    def peek(self, text: str) -> bool:
        return self.text.startswith(text, self.at)

    def take(self, text: str) -> bool:
        if self.peek(text):
            self.at += len(text)
            return True
        return False

    def alternatives(self) -> Node:
        self.depth += 1
        if self.depth > _DEEPEST:
            raise _Unreadable
        options = [self.sequence()]
        while self.take("|"):
            options.append(self.sequence())
        self.depth -= 1
        return options[0] if len(options) == 1 else Alternatives(tuple(options))

    def sequence(self) -> Node:
        nodes: list[Node] = []
        while self.at < len(self.text) and self.text[self.at] not in "|)":
            nodes.append(self.repeated(self.atom()))
        return nodes[0] if len(nodes) == 1 else Sequence(tuple(nodes)) if nodes else Nothing()

    def repeated(self, node: Node) -> Node:
        while self.at < len(self.text):
            here = self.text[self.at]
            if here in "*+?":
                self.at += 1
                node = Repeat(node, int(here == "+"), 1 if here == "?" else None)
            elif here == "{" and (bounds := self.bounds()):
                node = Repeat(node, *bounds)
            else:
                break
            # A lazy or possessive mark changes how the engine searches, not what it accepts.
            if self.at < len(self.text) and self.text[self.at] in "?+":
                self.at += 1
        return node

    def bounds(self) -> tuple[int, int | None] | None:
        end = self.text.find("}", self.at)
        low, comma, high = self.text[self.at + 1 : end].partition(",")
        if end < 0 or not low.isdecimal() or not (high.isdecimal() or high == ""):
            return None
        self.at = end + 1
        return int(low), (int(high) if high else None) if comma else int(low)

    def atom(self) -> Node:
        here = self.text[self.at]
        if here == "(":
            return self.group()
        if here == "[":
            return self.character_class()
        self.at += 1
        if here in "^$":
            return Nothing()
        if here == ".":
            return _ANY
        if here == "\\":
            return self.escape()
        if here in "*+?":
            raise _Unreadable
        return _literal(ord(here))

    def group(self) -> Node:
        self.at += 1
        name: str | None = None
        wrap: bool | None = None
        if self.take("?:"):
            pass
        elif self.take("?="):
            wrap = True
        elif self.take("?!") or self.take("?<=") or self.take("?<!"):
            wrap = False
        elif self.take("?P<") or self.take("?<"):
            end = self.text.index(">", self.at)
            name = self.text[self.at : end]
            self.at = end + 1
        elif self.take("?"):
            # Inline flags such as (?i) or (?i:...): what is written below matches without them, too.
            while self.text[self.at] in "imsux-":
                self.at += 1
            if self.take(")"):
                return Nothing()
            if not self.take(":"):
                raise _Unreadable
        else:
            self.groups += 1
            name = str(self.groups)
        body = self.alternatives()
        if not self.take(")"):
            raise _Unreadable
        if wrap is not None:
            return Look(body, wrap)
        return body if name is None else Group(body, name)

    def escape(self) -> Node:
        here = self.text[self.at]
        self.at += 1
        if here in "bBAzZG":
            return Nothing()
        if here == "k" and self.take("<"):
            end = self.text.index(">", self.at)
            name = self.text[self.at : end]
            self.at = end + 1
            return BackReference(name)
        if here in "123456789":
            return BackReference(here)
        return self.class_escape(here) or _literal(self.code(here))

    def class_escape(self, here: str) -> Characters | None:
        match here:
            case "d" | "D":
                return Characters(_DIGIT, negated=here == "D")
            case "w" | "W":
                return Characters(_WORD, negated=here == "W")
            case "s" | "S":
                return Characters(_SPACE, negated=here == "S")
            case "p" | "P":
                return self.category(negated=here == "P")
            case _:
                return None

    def category(self, *, negated: bool) -> Characters:
        if not self.take("{"):
            name, self.at = self.text[self.at], self.at + 1
        else:
            end = self.text.index("}", self.at)
            name = self.text[self.at : end].rpartition("=")[2]
            self.at = end + 1
        short = _LONG_NAMES.get(name.lower(), name)
        if short not in _CATEGORIES:
            raise _Unreadable
        return Characters(categories=((short, True),), negated=negated)

    def code(self, here: str) -> int:
        if here in _CONTROL:
            return _CONTROL[here]
        if here == "x":
            if self.take("{"):
                end = self.text.index("}", self.at)
                code = int(self.text[self.at : end], 16)
                self.at = end + 1
                return code
            self.at += 2
            return int(self.text[self.at - 2 : self.at], 16)
        if here == "u":
            if self.take("{"):
                end = self.text.index("}", self.at)
                code = int(self.text[self.at : end], 16)
                self.at = end + 1
                return code
            self.at += 4
            return int(self.text[self.at - 4 : self.at], 16)
        if here == "c":
            self.at += 1
            return ord(self.text[self.at - 1].upper()) - 64
        return ord(here)

    def character_class(self) -> Characters:
        self.at += 1
        negated = self.take("^")
        ranges: list[tuple[int, int]] = []
        categories: list[tuple[str, bool]] = []
        first = True
        while first or not self.peek("]"):
            first = False
            if self.peek("]") or self.at >= len(self.text):
                break
            low = self.class_member(ranges, categories)
            if low is None:
                continue
            high = low
            if self.peek("-") and not self.text.startswith("-]", self.at):
                self.at += 1
                member = self.class_member(ranges, categories)
                if member is None:
                    ranges.append((45, 45))
                else:
                    high = member
            ranges.append((low, high))
        if not self.take("]"):
            raise _Unreadable
        return Characters(tuple(ranges), tuple(categories), negated)

    def class_member(self, ranges: list[tuple[int, int]], categories: list[tuple[str, bool]]) -> int | None:
        """The code point of one member; a class of its own is added as a whole, and gives None."""
        here = self.text[self.at]
        self.at += 1
        if here != "\\":
            if here == "[" and self.peek(":"):
                raise _Unreadable
            return ord(here)
        here = self.text[self.at]
        self.at += 1
        if here == "b":
            return 8
        whole = self.class_escape(here)
        if whole is None:
            return self.code(here)
        if whole.negated and whole.ranges:
            ranges.extend(_complement(whole.ranges))
        else:
            ranges.extend(whole.ranges)
            categories.extend((name, not whole.negated) for name, _ in whole.categories)
        return None


def _literal(code: int) -> Characters:
    return Characters(((code, code),))


def _complement(ranges: tuple[tuple[int, int], ...]) -> list[tuple[int, int]]:
    """Every code point outside `ranges`."""
    found: list[tuple[int, int]] = []
    start = 0
    for low, high in sorted(ranges):
        if low > start:
            found.append((start, low - 1))
        start = high + 1
    return [*found, (start, 0x10FFFF)]


_LONG_NAMES = {
    "alphabetic": "L",
    "alpha": "L",
    "letter": "L",
    "lowercase": "Ll",
    "lowercase_letter": "Ll",
    "uppercase": "Lu",
    "uppercase_letter": "Lu",
    "number": "N",
    "digit": "Nd",
    "decimal_number": "Nd",
    "punctuation": "P",
    "symbol": "S",
    "separator": "Z",
    "space_separator": "Zs",
    "latin": "L",
    "mark": "M",
    "greek": "L",
    "cyrillic": "L",
    "han": "Lo",
}
_CATEGORIES = frozenset(
    "L Ll Lu Lt Lm Lo N Nd Nl No P Pc Pd Ps Pe Po S Sm Sc Sk So Z Zs Zl Zp M Mn Mc Me C Cc".split()  # noqa: SIM905
)
