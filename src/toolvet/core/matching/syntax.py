r"""The parser of regular expressions: a pattern in, its tree out (`tree`), in one of two dialects.

`parse` reads our own dialect, and refuses by name and offset what no engine matches in linear time:

    parse(r"no?\b", re.NOFLAG)      # Group((( Char("n"), Repeat(Char("o"), 0, 1), Assertion("\\b") ),))
    parse(r"n(?!o)", re.NOFLAG)     # UnsafePattern: … look-ahead cannot be matched in linear time: at offset 1

`parse_ecma` reads ECMA 262 as JSON Schemas use it, with look-around and back references, to write texts from; matching
is the engine's job. It accepts more than the standard, and returns None for what it cannot read:

    parse_ecma(r"^(?=a)\w$")        # Group((( Assertion("^"), Look(…), CharSet(…), Assertion("$") ),))
    parse_ecma("(")                 # None

Both walk a pattern from left to right with the same steps (`_Parser`); each dialect says what an escape, an opening
parenthesis, a member of a class and a quantifier are.
"""

import re
from abc import ABC, abstractmethod
from functools import lru_cache
from typing import Final, NamedTuple

from toolvet.core.matching.tree import (
    Assertion,
    BackReference,
    Char,
    CharSet,
    Group,
    Look,
    Node,
    Repeat,
    Sequence,
    UnsafePattern,
)

_QUANTIFIER: Final = re.compile(r"\*|\+|\?|\{(\d+)(,?)(\d*)\}")
_CONTROL: Final = {"n": "\n", "r": "\r", "t": "\t", "f": "\f", "v": "\v"}


def parse(pattern: str, flags: re.RegexFlag) -> Group:
    """Return the tree of a `pattern` of our own dialect; raises `UnsafePattern`.

    Of `flags`, `re.IGNORECASE` sets `fold` and `re.DOTALL` decides what `.` is; the others change no node.
    """
    parser = _LinearParser(pattern, fold=bool(flags & re.IGNORECASE), dotall=bool(flags & re.DOTALL))
    return parser.parse()


@lru_cache(maxsize=512)
def parse_ecma(pattern: str) -> Group | None:
    """Return the tree of a `pattern` of ECMA 262; None if it is too long, too deep or not to be read."""
    if len(pattern) > _LONGEST_ECMA:
        return None
    try:
        return _EcmaParser(pattern).parse()
    except (UnsafePattern, IndexError, ValueError):
        return None


class _Opening(NamedTuple):
    """An opening parenthesis: the fields of its `Group`, and of its `Look` if it is a lookaround."""

    name: str | None = None
    flags: str = ""
    look: tuple[bool, bool] | None = None
    """`ahead` and `negated`."""


class _Parser(ABC):
    """The steps that all dialects share. Each method starts at the first character that it reads."""

    deepest: int
    """How many groups may be nested."""
    dot: CharSet
    first_bracket_is_literal: bool
    """Whether `[]a]` is a class of two characters, or an empty class and then `a]`."""

    def __init__(self, pattern: str, *, fold: bool = False) -> None:
        self._pattern = pattern
        self._at = 0
        self._depth = 0
        self._groups = 0
        self._fold = fold

    def parse(self) -> Group:
        """Return the tree of the pattern; raises `UnsafePattern`."""
        branches = self._branches()
        # An escape that the end of the pattern cuts off leaves the place after the end.
        if self._at != len(self._pattern):
            raise self._refuse("a parenthesis is not open:")
        return Group(branches, "")

    def _refuse(self, problem: str) -> UnsafePattern:
        return UnsafePattern(self._pattern, f"{problem} at offset {self._at}")

    def _peek(self, text: str) -> bool:
        return self._pattern.startswith(text, self._at)

    def _take(self, text: str) -> bool:
        """Move past `text` if it is next, and return whether it was."""
        if self._peek(text):
            self._at += len(text)
            return True
        return False

    def _take_until(self, end: str) -> str:
        """Return the text up to `end` and move past `end`; raise ValueError if it is missing."""
        start, self._at = self._at, self._pattern.index(end, self._at) + len(end)
        return self._pattern[start : self._at - len(end)]

    def _branches(self) -> tuple[Sequence, ...]:
        """Everything up to the end of the pattern, or to a parenthesis that closes."""
        done: list[Sequence] = []
        branch: list[Node] = []
        while self._at < len(self._pattern) and (character := self._pattern[self._at]) != ")":
            atom: Node
            match character:
                case "|":
                    self._at += 1
                    done.append(tuple(branch))
                    branch = []
                    continue
                case "(":
                    atom = self._parenthesis()
                case "[":
                    atom = self._class()
                case "\\":
                    atom = self._escape()
                case "^" | "$":
                    self._at += 1
                    atom = Assertion(character)
                case ".":
                    self._at += 1
                    atom = self.dot
                case _:
                    atom = self._literal(character)
            branch.append(self._repeated(atom))
        return (*done, tuple(branch))

    def _literal(self, character: str) -> Char:
        self._at += 1
        return Char(character, self._fold)

    def _parenthesis(self) -> Node:
        opening = self._opening()
        if opening is None:
            return Group(((),), "")
        self._depth += 1
        branches = self._branches()
        self._depth -= 1
        if not self._take(")"):
            raise self._refuse("a parenthesis is not closed:")
        group = Group(branches, opening.flags, opening.name)
        return group if opening.look is None else Look(group, *opening.look)

    def _next_number(self) -> str:
        """The number of the group that begins here."""
        self._groups += 1
        return str(self._groups)

    def _class(self) -> CharSet:
        self._at += 1
        negated = self._take("^")
        members: list[CharSet] = []
        first = self._at
        while not self._peek("]") or (self.first_bracket_is_literal and self._at == first):
            low = self._member()
            if isinstance(low, CharSet):
                members.append(low)
            elif not self._peek("-") or self._peek("-]"):
                members.append(_range(low, low))
            else:
                self._at += 1
                members += self._members_of_range(low, self._member())
        self._at += 1
        ranges: list[tuple[str, str]] = []
        for member in members:
            if not member.negated:
                ranges += member.ranges
                continue
            # Every character outside; nothing for no ranges: then it is a category that is negated.
            start = 0
            for low, high in sorted(member.ranges):
                if ord(low) > start:
                    ranges.append((chr(start), chr(ord(low) - 1)))
                start = ord(high) + 1
            if member.ranges:
                ranges.append((chr(start), chr(0x10FFFF)))
        return CharSet(
            ranges=tuple(ranges),
            named="".join(member.named for member in members),
            negated=negated,
            fold=self._fold,
            categories=tuple((name, not member.negated) for member in members for name, _ in member.categories),
        )

    @abstractmethod
    def _opening(self) -> _Opening | None:
        """Move past what opens a group; None for what is complete in itself, such as `(?i)`."""

    @abstractmethod
    def _escape(self) -> Node:
        """The node of an escape outside of a class."""

    @abstractmethod
    def _member(self) -> str | CharSet:
        r"""One member of a class: a character, or a class of its own such as `\w`."""

    @abstractmethod
    def _members_of_range(self, low: str, high: str | CharSet) -> list[CharSet]:
        """What `low-high` means inside a class."""

    @abstractmethod
    def _repeated(self, node: Node) -> Node:
        """The node with the quantifiers that follow it, if any."""


def _range(low: str, high: str) -> CharSet:
    return CharSet(((low, high),), "", negated=False, fold=False)


def _bounds(quantifier: re.Match[str]) -> tuple[int, int | None]:
    """How often, at least and at most, a match of `_QUANTIFIER` repeats what is before it."""
    sign = quantifier.group()
    if not sign.startswith("{"):
        return int(sign == "+"), 1 if sign == "?" else None
    least, comma, most = quantifier.groups()
    return int(least), (int(most) if most else None) if comma else int(least)


# Our own dialect: what every engine matches in linear time.

_GROUP: Final = re.compile(r"\((?!\?)|\(\?:|\(\?P<(\w+)>|\(\?(-?[is]{1,2}):")
_ESCAPED: Final = re.compile(r"\\(?:x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|([^A-Za-z0-9]))")
_REFUSED_GROUPS: Final = {
    "(?=": "look-ahead",
    "(?!": "look-ahead",
    "(?<=": "look-behind",
    "(?<!": "look-behind",
    "(?>": "an atomic group",
    "(?(": "a condition",
    "(?P=": "a backreference",
    "(?#": "a comment",
}
# Hyperscan unrolls a counted repeat; much beyond this it answers "Pattern is too large".
_MOST_REPEATS: Final = 1000
_ANY: Final = CharSet((), "", negated=True, fold=False)
_ANY_BUT_NEWLINE: Final = CharSet((("\n", "\n"),), "", negated=True, fold=False)


class _LinearParser(_Parser):
    """Our own dialect; refuses what needs backtracking, and what Python and Hyperscan read in two ways."""

    deepest = 50
    first_bracket_is_literal = True

    def __init__(self, pattern: str, *, fold: bool, dotall: bool) -> None:
        super().__init__(pattern, fold=fold)
        self.dot = _ANY if dotall else _ANY_BUT_NEWLINE

    def _parenthesis(self) -> Node:
        # Flags end with their group.
        outer = self._fold, self.dot
        group = super()._parenthesis()
        self._fold, self.dot = outer
        return group

    def _opening(self) -> _Opening:
        match = _GROUP.match(self._pattern, self._at)
        if match is None:
            for opening, name in _REFUSED_GROUPS.items():
                if self._peek(opening):
                    raise self._refuse(f"{name} cannot be matched in linear time:")
            raise self._refuse(f"the group {self._pattern[self._at : self._at + 4]!r} is not known:")
        if self._depth >= self.deepest:
            raise self._refuse("the groups are nested too deeply:")
        self._at = match.end()
        if match.group() == "(":
            return _Opening(self._next_number())
        flags = match.group(2) or ""
        if "i" in flags:
            self._fold = not flags.startswith("-")
        if "s" in flags:
            self.dot = _ANY_BUT_NEWLINE if flags.startswith("-") else _ANY
        # What `s` says is in the node of each `.` already.
        return _Opening(match.group(1), flags.replace("s", "") if "i" in flags else "")

    def _escape(self) -> Node:
        name = self._pattern[self._at + 1 : self._at + 2]
        if name and name in "123456789gk":
            raise self._refuse("a backreference cannot be matched in linear time:")
        if name and name in "bBAzZ":
            self._at += 2
            return Assertion(f"\\{name.lower() if name == 'Z' else name}")
        if name and name in "wdsWDS":
            self._at += 2
            return CharSet((), name.lower(), negated=name.isupper(), fold=False)
        return Char(self._escaped_character(), self._fold)

    def _escaped_character(self) -> str:
        """The character that the escape at this place means; the parser moves past it."""
        name = self._pattern[self._at + 1 : self._at + 2]
        if name in _CONTROL:
            self._at += 2
            return _CONTROL[name]
        match = _ESCAPED.match(self._pattern, self._at)
        if match is None:
            raise self._refuse(f"the escape {self._pattern[self._at : self._at + 2]!r} is not known:")
        code = match.group(1) or match.group(2) or match.group(3)
        if code is None:
            self._at = match.end()
            return match.group(4)
        if int(code, 16) > 0x10FFFF or 0xD800 <= int(code, 16) <= 0xDFFF:
            raise self._refuse("not a character:")
        self._at = match.end()
        return chr(int(code, 16))

    def _member(self) -> str | CharSet:
        character = self._pattern[self._at : self._at + 1]
        if not character:
            raise self._refuse("a character class is not closed:")
        after = self._pattern[self._at + 1 : self._at + 2]
        if character == "[" and after and after in ":=.":
            raise self._refuse("a POSIX class is not known:")
        if character != "\\":
            self._at += 1
            return character
        if after and after in "wds":
            self._at += 2
            return CharSet((), after, negated=False, fold=False)
        if after and after in "SWDbBAZz":
            raise self._refuse(f"the escape '\\{after}' inside a character class is not known:")
        return self._escaped_character()

    def _members_of_range(self, low: str, high: str | CharSet) -> list[CharSet]:
        if isinstance(high, CharSet) or high < low:
            shown = f"\\{high.named}" if isinstance(high, CharSet) else high
            raise self._refuse(f"the range {low}-{shown} is not one:")
        return [_range(low, high)]

    def _repeated(self, node: Node) -> Node:
        quantifier = _QUANTIFIER.match(self._pattern, self._at)
        if quantifier is None or isinstance(node, Assertion):
            return node
        least, most = _bounds(quantifier)
        if least > _MOST_REPEATS or (most or 0) > _MOST_REPEATS:
            raise self._refuse(f"more than {_MOST_REPEATS} repeats:")
        if most is not None and most < least:
            raise self._refuse("not a regular expression, a repeat ends before it begins:")
        self._at = quantifier.end()
        if self._peek("+"):
            raise self._refuse("a possessive quantifier cannot be matched in linear time:")
        self._take("?")
        if _QUANTIFIER.match(self._pattern, self._at) is not None:
            raise self._refuse("not a regular expression, a repeat is repeated:")
        return Repeat(node, least, most)


# ECMA 262, as JSON Schemas use it.

_LONGEST_ECMA: Final = 5_000
_CLASSES: Final[dict[str, tuple[tuple[str, str], ...]]] = {
    "d": (("0", "9"),),
    "w": (("0", "9"), ("A", "Z"), ("_", "_"), ("a", "z")),
    "s": ((" ", " "), ("\t", "\r"), ("\xa0", "\xa0")),
}
_LINE_ENDS: Final = (("\n", "\n"), ("\r", "\r"), ("\u2028", "\u2028"), ("\u2029", "\u2029"))
_LONG_NAMES: Final = {
    name: category
    for category, names in {
        "L": "alphabetic alpha letter latin greek cyrillic",
        "Ll": "lowercase lowercase_letter",
        "Lu": "uppercase uppercase_letter",
        "Lo": "han",
        "M": "mark",
        "N": "number",
        "Nd": "digit decimal_number",
        "P": "punctuation",
        "S": "symbol",
        "Z": "separator",
        "Zs": "space_separator",
    }.items()
    for name in names.split()
}
_CATEGORIES: Final = frozenset(
    "L Ll Lu Lt Lm Lo N Nd Nl No P Pc Pd Ps Pe Po S Sm Sc Sk So Z Zs Zl Zp M Mn Mc Me C Cc".split()  # noqa: SIM905
)


class _EcmaParser(_Parser):
    """ECMA 262 and the additions of other engines. Its exceptions only mean that the pattern cannot be read."""

    deepest = 39
    dot = CharSet(_LINE_ENDS, "", negated=True, fold=False)
    first_bracket_is_literal = False

    def _literal(self, character: str) -> Char:
        if character in "*+?":
            raise self._refuse("nothing is repeated")
        return super()._literal(character)

    def _opening(self) -> _Opening | None:
        self._at += 1
        opening = self._kind_of_group()
        if opening is not None and self._depth >= self.deepest:
            raise self._refuse("the groups are nested too deeply:")
        return opening

    def _kind_of_group(self) -> _Opening | None:
        if self._take("?:"):
            return _Opening()
        for sign, ahead, negated in (
            ("?=", True, False),
            ("?!", True, True),
            ("?<=", False, False),
            ("?<!", False, True),
        ):
            if self._take(sign):
                return _Opening(look=(ahead, negated))
        if self._take("?P<") or self._take("?<"):
            return _Opening(self._take_until(">"))
        if not self._take("?"):
            return _Opening(self._next_number())
        # Inline flags such as (?i) or (?i:...): a text that is written without regard to them matches, too.
        start = self._at
        while self._pattern[self._at] in "imsux-":
            self._at += 1
        flags = self._pattern[start : self._at]
        if self._take(")"):
            return None
        if not self._take(":"):
            raise self._refuse("the group is not known:")
        return _Opening(flags=flags)

    def _escape(self) -> Node:
        self._at += 1
        name = self._pattern[self._at]
        self._at += 1
        if name in "bBAzZG":
            return Assertion(f"\\{name}")
        if name == "k" and self._take("<"):
            return BackReference(self._take_until(">"))
        if name in "123456789":
            return BackReference(name)
        return self._escaped_class(name) or Char(self._escaped_character(name), fold=False)

    def _escaped_class(self, name: str) -> CharSet | None:
        if name not in "pP":
            ranges = _CLASSES.get(name.lower())
            return None if ranges is None else CharSet(ranges, "", negated=name.isupper(), fold=False)
        if self._take("{"):
            long = self._take_until("}").rpartition("=")[2]
        else:
            long, self._at = self._pattern[self._at], self._at + 1
        category = _LONG_NAMES.get(long.lower(), long)
        if category not in _CATEGORIES:
            raise self._refuse("the category is not known:")
        return CharSet((), "", negated=name == "P", fold=False, categories=((category, True),))

    def _escaped_character(self, name: str) -> str:
        """The character that an escape means; the place is after `name`, its first letter."""
        if name in _CONTROL:
            return _CONTROL[name]
        if name == "0":
            return "\0"
        if name in "xu":
            if self._take("{"):
                return chr(int(self._take_until("}"), 16))
            digits = 2 if name == "x" else 4
            self._at += digits
            return chr(int(self._pattern[self._at - digits : self._at], 16))
        if name == "c":
            self._at += 1
            return chr(ord(self._pattern[self._at - 1].upper()) - 64)
        return name

    def _member(self) -> str | CharSet:
        character = self._pattern[self._at]
        self._at += 1
        if character != "\\":
            if character == "[" and self._peek(":"):
                raise self._refuse("a POSIX class is not known:")
            return character
        name = self._pattern[self._at]
        self._at += 1
        if name == "b":
            return "\b"
        return self._escaped_class(name) or self._escaped_character(name)

    def _members_of_range(self, low: str, high: str | CharSet) -> list[CharSet]:
        if isinstance(high, CharSet):
            # The hyphen before a class is a hyphen.
            return [high, _range("-", "-"), _range(low, low)]
        return [_range(low, high)]

    def _repeated(self, node: Node) -> Node:
        while (quantifier := _QUANTIFIER.match(self._pattern, self._at)) is not None:
            node = Repeat(node, *_bounds(quantifier))
            self._at = quantifier.end()
            # A lazy or possessive mark changes how an engine searches, but not which texts it accepts.
            if not self._take("?"):
                self._take("+")
        return node
