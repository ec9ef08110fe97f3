"""`parse`: a regular expression in, its parts out; what no engine matches in linear time is refused by name."""

import re
from typing import NamedTuple, TypeAlias

from toolvet.matching.unsafe import UnsafePattern

_CONTROL = {"n": "\n", "r": "\r", "t": "\t", "f": "\f", "v": "\v"}
_QUANTIFIER = re.compile(r"\*|\+|\?|\{(\d+)(,?)(\d*)\}")
_GROUP = re.compile(r"\((?!\?)|\(\?:|\(\?P<\w+>|\(\?(-?[is]{1,2}):")
_ESCAPED = re.compile(r"\\(?:x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|([^A-Za-z0-9]))")
_REFUSED_GROUPS = {
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
_MOST_REPEATS = 1000
_DEEPEST = 50


class Char(NamedTuple):
    """This very character; `fold`: in upper or lower case."""

    character: str
    fold: bool


class CharSet(NamedTuple):
    r"""One character of a class, of `.` or of an escape such as `\w`.

    `named` holds letters of `w`, `d`, `s`, and `W`, `D`, `S` (those stand alone).
    """

    ranges: tuple[tuple[str, str], ...]
    named: str
    negated: bool
    fold: bool


class Assertion(NamedTuple):
    r"""A place: `^`, `$`, `\A`, `\z`, `\b` or `\B`."""

    name: str


class Group(NamedTuple):
    """One of several branches; `flags` as in `(?-i:…)`."""

    branches: tuple["Sequence", ...]
    flags: str


class Repeat(NamedTuple):
    """A part, from `least` to `most` times; None is without end."""

    part: "Node"
    least: int
    most: int | None


Node: TypeAlias = Char | CharSet | Assertion | Group | Repeat
Sequence: TypeAlias = tuple[Node, ...]

_NEWLINE = (("\n", "\n"),)


def parse(pattern: str, flags: re.RegexFlag) -> Group:
    """The parts of `pattern`; raises `UnsafePattern`."""
    parser = _Parser(pattern, fold=bool(flags & re.IGNORECASE), dotall=bool(flags & re.DOTALL))
    branches = parser.branches(0)
    return Group(branches, "")


class _Parser:
    """Walks one pattern from left to right, an atom at a time."""

    def __init__(self, pattern: str, *, fold: bool, dotall: bool) -> None:
        self._pattern = pattern
        self._at = 0
        self._fold = fold
        self._dotall = dotall

    def branches(self, depth: int) -> tuple[Sequence, ...]:
        """Everything up to the end of the pattern, or of the group that is `depth` groups deep."""
        done: list[Sequence] = []
        branch: list[Node] = []
        can_repeat = False
        while self._at < len(self._pattern):
            character = self._pattern[self._at]
            quantifier = _QUANTIFIER.match(self._pattern, self._at)
            if quantifier is not None and can_repeat:
                branch[-1] = self._repeat(branch[-1], quantifier)
                can_repeat = False
                continue
            if character == ")":
                if not depth:
                    raise self._refuse("a parenthesis is not open:")
                self._at += 1
                return (*done, tuple(branch))
            if character == "|":
                self._at += 1
                done.append(tuple(branch))
                branch, can_repeat = [], False
                continue
            node = self._group(depth) if character == "(" else self._atom(character)
            branch.append(node)
            can_repeat = not isinstance(node, Assertion)
        if depth:
            raise self._refuse("a parenthesis is not closed:")
        return (*done, tuple(branch))

    def _refuse(self, problem: str) -> UnsafePattern:
        return UnsafePattern(self._pattern, f"{problem} at offset {self._at}")

    def _atom(self, character: str) -> Node:
        if character == "[":
            return self._class()
        if character == "\\":
            return self._escape()
        self._at += 1
        if character in "^$":
            return Assertion(character)
        if character == ".":
            return CharSet(() if self._dotall else _NEWLINE, "", negated=True, fold=False)
        return Char(character, self._fold)

    def _escape(self) -> Node:
        name = self._pattern[self._at + 1 : self._at + 2]
        if name and name in "123456789gk":
            raise self._refuse("a backreference cannot be matched in linear time:")
        if name and name in "bBAzZ":
            self._at += 2
            return Assertion(f"\\{name.lower() if name == 'Z' else name}")
        if name and name in "wds":
            self._at += 2
            return CharSet((), name, negated=False, fold=False)
        if name and name in "WDS":
            self._at += 2
            return CharSet((), name.lower(), negated=True, fold=False)
        return Char(self._escaped_character(), self._fold)

    def _escaped_character(self) -> str:
        """The character that the escape at this place stands for; moves behind it."""
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

    def _class(self) -> CharSet:
        self._at += 1
        negated = self._pattern.startswith("^", self._at)
        self._at += negated
        ranges: list[tuple[str, str]] = []
        named = ""
        first = self._at
        while not self._pattern.startswith("]", self._at) or self._at == first:
            low = self._member()
            is_range = self._pattern.startswith("-", self._at) and self._pattern[self._at + 1 : self._at + 2] != "]"
            if not is_range or len(low) > 1:
                if len(low) > 1:
                    named += low[1]
                else:
                    ranges.append((low, low))
                continue
            self._at += 1
            high = self._member()
            if len(high) > 1 or high < low:
                raise self._refuse(f"the range {low}-{high} is not one:")
            ranges.append((low, high))
        self._at += 1
        return CharSet(tuple(ranges), named, negated, self._fold)

    def _member(self) -> str:
        r"""One member of a class, or `\w`, `\d` or `\s`."""
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
            return f"\\{after}"
        if after and after in "SWDbBAZz":
            raise self._refuse(f"the escape '\\{after}' inside a character class is not known:")
        return self._escaped_character()

    def _group(self, depth: int) -> Group:
        match = _GROUP.match(self._pattern, self._at)
        if match is None:
            for opening, name in _REFUSED_GROUPS.items():
                if self._pattern.startswith(opening, self._at):
                    raise self._refuse(f"{name} cannot be matched in linear time:")
            raise self._refuse(f"the group {self._pattern[self._at : self._at + 4]!r} is not known:")
        if depth >= _DEEPEST:
            raise self._refuse("the groups are nested too deeply:")
        self._at = match.end()
        flags = match.group(1) or ""
        outer = self._fold, self._dotall
        if "i" in flags:
            self._fold = not flags.startswith("-")
        if "s" in flags:
            self._dotall = not flags.startswith("-")
        branches = self.branches(depth + 1)
        self._fold, self._dotall = outer
        return Group(branches, flags.replace("s", "") if "i" in flags else "")

    def _repeat(self, part: Node, quantifier: re.Match[str]) -> Repeat:
        sign = quantifier.group()
        least, most = {"*": (0, None), "+": (1, None), "?": (0, 1)}.get(sign, (0, 0))
        if sign.startswith("{"):
            least = int(quantifier.group(1))
            most = least if not quantifier.group(2) else int(quantifier.group(3)) if quantifier.group(3) else None
        if least > _MOST_REPEATS or (most or 0) > _MOST_REPEATS:
            raise self._refuse(f"more than {_MOST_REPEATS} repeats:")
        if most is not None and most < least:
            raise self._refuse("not a regular expression, a repeat ends before it begins:")
        self._at = quantifier.end()
        follower = self._pattern[self._at : self._at + 1]
        if follower == "+":
            raise self._refuse("a possessive quantifier cannot be matched in linear time:")
        if follower == "?":
            self._at += 1
        if _QUANTIFIER.match(self._pattern, self._at) is not None:
            raise self._refuse("not a regular expression, a repeat is repeated:")
        return Repeat(part, least, most)
