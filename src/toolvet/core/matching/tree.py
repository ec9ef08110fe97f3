r"""The tree of a pattern: what its nodes are, and the error for a pattern that has none.

It is the same for every dialect: a `Group` of branches, each a sequence of nodes.

`\b(?:an?|the) \w+` read by `syntax.parse` is

    Group(branches=((                                        # one branch, of four nodes
        Assertion("\\b"),
        Group(branches=(
            (Char("a"), Repeat(Char("n"), 0, 1)),
            (Char("t"), Char("h"), Char("e")),
        )),
        Char(" "),
        Repeat(CharSet((), "w", …), 1, None),
    ),))
"""

from typing import NamedTuple, TypeAlias

from toolvet.errors import UsageError

_LONGEST_SHOWN = 100


class UnsafePattern(UsageError, ValueError):  # noqa: N818 - reads as what it says: this pattern is unsafe.
    """This pattern cannot be matched in time that grows linearly with the text, or is not a regular expression."""

    def __init__(self, pattern: str, problem: str) -> None:
        shown = pattern if len(pattern) <= _LONGEST_SHOWN else f"{pattern[:_LONGEST_SHOWN]}…"
        super().__init__(f"pattern {shown!r} is refused: {problem}")
        self.pattern = pattern
        self.problem = problem


class Char(NamedTuple):
    """This very character; `fold`: in upper or lower case."""

    character: str
    fold: bool


class CharSet(NamedTuple):
    r"""One character of a class, of `.` or of an escape such as `\w`.

    `ranges` are inclusive. `named` holds letters of `w`, `d` and `s`, and means the classes of our own dialect: the
    parser of another one writes such classes as ranges. `categories` are prefixes of Unicode categories (`L`, `Lu`),
    each with whether a member has it or lacks it. `negated` turns all of these around, so `\W` is a negated `w`.
    """

    ranges: tuple[tuple[str, str], ...]
    named: str
    negated: bool
    fold: bool
    categories: tuple[tuple[str, bool], ...] = ()


class Assertion(NamedTuple):
    r"""A place: `^`, `$`, `\A`, `\z`, `\b` or `\B`; in ECMA 262 also `\Z` and `\G`."""

    name: str


class Group(NamedTuple):
    """One of several branches; `flags` as in `(?-i:…)`; `name` (or number) is None if nothing is captured."""

    branches: tuple["Sequence", ...]
    flags: str
    name: str | None = None


class Repeat(NamedTuple):
    """A part, from `least` to `most` times; None is without end."""

    part: "Node"
    least: int
    most: int | None


class BackReference(NamedTuple):
    """The text that the group of this name or number captured, again."""

    name: str


class Look(NamedTuple):
    """A look-around: what must follow (`ahead`) or precede this place, or must not (`negated`)."""

    part: Group
    ahead: bool
    negated: bool


Node: TypeAlias = Char | CharSet | Assertion | Group | Repeat | BackReference | Look
Sequence: TypeAlias = tuple[Node, ...]
