r"""The one regular-expression dialect that both engines match alike, in linear time.

`translate` reads a pattern once and writes it twice, for Hyperscan and for `re`, making explicit where the two
disagree, and refuses by name what cannot be matched in linear time:

- `\w`, `\d`, `\s` and `\b` are ASCII, so that a phrase is found beside Chinese or Japanese text, which has no spaces.
- Curly apostrophes and quotation marks, no-break and ideographic spaces and other look-alikes are read as their ASCII
  forms, in the pattern (here) and in the text (`lookalikes`).
- A lazy quantifier is read as a greedy one.
"""

import re
from typing import NamedTuple

from toolvet.errors import UsageError
from toolvet.text.lookalikes import as_ascii

_IN_CLASS = {"s": r"\t\n\x0b\f\r ", "w": "A-Za-z0-9_", "d": "0-9"}
_CONTROL = frozenset("nrtfv")
_ASCII_ESCAPES = frozenset("bBwWdDsS")
_QUANTIFIER = re.compile(r"\*|\+|\?|\{(\d+)(,?)(\d*)\}")
_GROUP = re.compile(r"\((?!\?)|\(\?:|\(\?P<\w+>|\(\?(-?[is]{1,2}):")
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
_LONGEST_SHOWN = 100
_MEANT_FLAGS = re.IGNORECASE | re.MULTILINE | re.DOTALL
# What counts as a letter is settled by the dialect.
_KNOWN_FLAGS = _MEANT_FLAGS | re.UNICODE | re.ASCII


class UnsafePattern(UsageError, ValueError):  # noqa: N818 - reads as what it says: this pattern is unsafe.
    """This pattern cannot be matched in time that grows linearly with the text, or is no regular expression."""

    def __init__(self, pattern: str, problem: str) -> None:
        shown = pattern if len(pattern) <= _LONGEST_SHOWN else f"{pattern[:_LONGEST_SHOWN]}…"
        super().__init__(f"pattern {shown!r} is refused: {problem}")
        self.pattern = pattern
        self.problem = problem


class Translation(NamedTuple):
    """One pattern in the words of both engines, and as it was given.

    `is_ascii` says that no part of it can match a character beyond ASCII: then bytes may be compared, which is cheaper.
    `nested` says that an unbounded repeat stands inside an unbounded repeat: harmless for Hyperscan, exponential for
    `re`, which therefore must not run it.
    """

    regex: str
    flags: re.RegexFlag
    spans: bool
    hyperscan: str
    python: str
    is_ascii: bool
    nested: bool


def translate(regex: str, flags: re.RegexFlag, *, spans: bool) -> Translation:
    """Write `regex` for both engines; raises `UnsafePattern`. `spans` is passed on: whether starts are wanted."""
    if flags & ~_KNOWN_FLAGS:
        raise UnsafePattern(regex, f"the flags {flags & ~_KNOWN_FLAGS!r} are not known")
    reader = _Reader(regex)
    reader.read()
    return Translation(
        regex, flags & _MEANT_FLAGS, spans, reader.hyperscan, reader.python, reader.is_ascii, reader.nested
    )


class _Reader:
    """Walks one pattern from left to right, an atom at a time."""

    def __init__(self, pattern: str) -> None:
        self._pattern = as_ascii(pattern)
        self.is_ascii = True
        self._at = 0
        self.hyperscan = ""
        self.python = ""
        self.nested = False
        # Per open group: does it hold an unbounded repeat so far? And the same for the atom just read.
        self._open: list[bool] = [False]
        self._atom_repeats = False
        self._can_repeat = False

    def read(self) -> None:
        while self._at < len(self._pattern):
            self._step()
        if len(self._open) > 1:
            raise self._refuse("a parenthesis is not closed:")

    def _step(self) -> None:
        character = self._pattern[self._at]
        quantifier = _QUANTIFIER.match(self._pattern, self._at)
        if quantifier is not None and self._can_repeat:
            self._repeat(quantifier)
        elif character == "(":
            self._open_group()
        elif character == ")":
            self._close_group()
        elif character == "[":
            self._class()
        elif character == "\\":
            self._escape()
        elif character in "^$|":
            self._at += 1
            self._write(character, character, repeatable=False)
        elif character == ".":
            self._at += 1
            self.is_ascii = False
            self._write(".", ".")
        else:
            self._at += 1
            self._literal(character)

    def _write(self, hyperscan: str, python: str, *, repeatable: bool = True) -> None:
        self.hyperscan += hyperscan
        self.python += python
        self._can_repeat = repeatable
        self._atom_repeats = False

    def _refuse(self, problem: str) -> UnsafePattern:
        return UnsafePattern(self._pattern, f"{problem} at offset {self._at}")

    def _literal(self, character: str) -> None:
        self.is_ascii &= character.isascii()
        if character.isascii() and not character.isalnum():
            self._write(_escaped(character), _escaped(character))
        else:
            self._write(character, character)

    def _escape(self) -> None:
        name = self._pattern[self._at + 1 : self._at + 2]
        if name in "123456789gk" and name:
            raise self._refuse("a backreference cannot be matched in linear time:")
        if name in _ASCII_ESCAPES:
            self._at += 2
            self.is_ascii &= name not in "WDS"
            self._write(f"\\{name}", f"(?a:\\{name})", repeatable=name not in "bB")
        elif name == "A":
            self._at += 2
            self._write("\\A", "\\A", repeatable=False)
        elif name in ("z", "Z"):
            self._at += 2
            self._write("\\z", "\\Z", repeatable=False)
        elif name in _CONTROL:
            self._at += 2
            self._write(f"\\{name}" if name != "v" else "\\x0b", f"\\{name}")
        else:
            self._literal(self._escaped_character())

    def _escaped_character(self) -> str:
        """The character that the escape at this place stands for; moves behind it."""
        match = re.compile(r"\\(?:x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|([^A-Za-z0-9]))").match(
            self._pattern, self._at
        )
        if match is None:
            raise self._refuse(f"the escape {self._pattern[self._at : self._at + 2]!r} is not known:")
        self._at = match.end()
        code = match.group(1) or match.group(2) or match.group(3)
        if code is None:
            return match.group(4)
        if int(code, 16) > 0x10FFFF or 0xD800 <= int(code, 16) <= 0xDFFF:
            raise self._refuse("not a character:")
        return chr(int(code, 16))

    def _class(self) -> None:
        end = self._at + 1
        written = "["
        if self._pattern.startswith("^", end):
            written += "^"
            self.is_ascii = False
            end += 1
        self._at = end
        first = True
        while True:
            character = self._pattern[self._at : self._at + 1]
            if not character:
                raise self._refuse("a character class is not closed:")
            if character == "]" and not first:
                break
            first = False
            written += self._class_member(character)
        self._at += 1
        self._write(written + "]", written + "]")

    def _class_member(self, character: str) -> str:
        """One member of a class, or one end of a range, or the hyphen of a range, as both engines read it."""
        before = self._pattern[self._at - 1 : self._at]
        if character == "[" and self._pattern[self._at + 1 : self._at + 2] in (":", "=", "."):
            raise self._refuse("a POSIX class is not known:")
        if character == "\\":
            name = self._pattern[self._at + 1 : self._at + 2]
            if name in _IN_CLASS and name:
                self._at += 2
                return _IN_CLASS[name]
            if name in _CONTROL:
                self._at += 2
                return f"\\{name}" if name != "v" else "\\x0b"
            if name and name in "SWDbBAZz":
                raise self._refuse(f"the escape '\\{name}' inside a character class is not known:")
            return self._member(self._escaped_character())
        self._at += 1
        after = self._pattern[self._at : self._at + 1]
        if character == "-" and after != "]" and before not in "[^":
            return "-"
        return self._member(character)

    def _member(self, character: str) -> str:
        self.is_ascii &= character.isascii()
        return _escaped(character)

    def _open_group(self) -> None:
        match = _GROUP.match(self._pattern, self._at)
        if match is None:
            for opening, name in _REFUSED_GROUPS.items():
                if self._pattern.startswith(opening, self._at):
                    raise self._refuse(f"{name} cannot be matched in linear time:")
            raise self._refuse(f"the group {self._pattern[self._at : self._at + 4]!r} is not known:")
        self._at = match.end()
        opening = "(?:" if match.group(1) is None else f"(?{match.group(1)}:"
        self._write(opening, opening, repeatable=False)
        self._open.append(False)

    def _close_group(self) -> None:
        if len(self._open) == 1:
            raise self._refuse("a parenthesis is not open:")
        repeats = self._open.pop()
        self._at += 1
        self._write(")", ")")
        self._atom_repeats = repeats
        self._open[-1] |= repeats

    def _repeat(self, quantifier: re.Match[str]) -> None:
        unbounded = quantifier.group() in ("*", "+") or (quantifier.group(2) == "," and not quantifier.group(3))
        counts = [int(count) for count in (quantifier.group(1), quantifier.group(3)) if count]
        if any(count > _MOST_REPEATS for count in counts):
            raise self._refuse(f"more than {_MOST_REPEATS} repeats:")
        self._at = quantifier.end()
        follower = self._pattern[self._at : self._at + 1]
        if follower == "+":
            raise self._refuse("a possessive quantifier cannot be matched in linear time:")
        if follower == "?":
            self._at += 1
        self.nested |= unbounded and self._atom_repeats
        self._open[-1] |= unbounded
        self._write(quantifier.group(), quantifier.group(), repeatable=False)


def _escaped(character: str) -> str:
    """The character itself for both engines, in or out of a class."""
    if character.isalnum() or character == "_" or not character.isascii():
        return character
    return f"\\x{ord(character):02x}"
