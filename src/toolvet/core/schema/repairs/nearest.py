"""`nearest`: which of some names was meant, by case, separators or spelling; none where two are equally near."""

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache

import msgspec

from toolvet.core.schema.repairs.confidence import Confidence


class Nearest(msgspec.Struct, frozen=True):
    """The option that was meant, and how sure that is."""

    option: str
    confidence: Confidence


def nearest(text: str, options: Sequence[str]) -> Nearest | None:
    """Return the one option that `text` means, or None: each way of being alike is tried in turn, a tie ends it."""
    if len(text) > _LONGEST or len(options) > _MOST:
        return None
    for form, confidence in _FORMS:
        wanted = form(text)
        if not wanted:
            return None
        found = [option for option in options if len(option) <= _LONGEST and form(option) == wanted]
        if found:
            return Nearest(found[0], confidence) if len(found) == 1 else None
    return _find_misspelt(text, options)


_LONGEST = 80
_MOST = 2_000
_QUOTES = "\"'`\u201c\u201d\u2018\u2019"


def unquoted(text: str) -> str:
    """Return `text` without white space around it and without one pair of quotation marks."""
    bare = text.strip()
    if len(bare) > 1 and bare[0] in _QUOTES and bare[-1] in _QUOTES:
        bare = bare[1:-1].strip()
    return bare


def _fold_case(text: str) -> str:
    return unquoted(text).casefold()


@lru_cache(maxsize=4096)
def bare(text: str) -> str:
    """Return the letters and digits alone, in lower case: the same for `user_name`, `userName` and `User name`."""
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKC", text).casefold()))


_FORMS: tuple[tuple[Callable[[str], str], Confidence], ...] = (
    (unquoted, "high"),
    (_fold_case, "high"),
    (bare, "high"),
)


def _find_misspelt(text: str, options: Iterable[str]) -> Nearest | None:
    wanted = bare(text)
    near: list[tuple[int, str]] = []
    for option in options:
        other = bare(option)
        most = _most_slips(max(len(wanted), len(other)))
        if (
            not most
            or abs(len(wanted) - len(other)) > most
            or len(option) > _LONGEST
            or _differ_in_digits(wanted, other)
        ):
            continue
        away = distance(wanted, other, most)
        if away <= most:
            near.append((away, option))
    if near:
        near.sort(key=lambda pair: pair[0])
        alone = len(near) == 1 or near[0][0] < near[1][0]
        return Nearest(near[0][1], "medium") if alone else None
    return _find_shortened(wanted, options)


def _most_slips(length: int) -> int:
    """How many letters of a word of this length may be wrong, so that it is still recognised."""
    return 0 if length < 4 else 1 if length < 8 else 2


def _differ_in_digits(left: str, right: str) -> bool:
    """Whether two names contain different numbers: `v1` and `v2` are not one name misspelt."""
    return _NUMBERS.findall(left) != _NUMBERS.findall(right)


_NUMBERS = re.compile(r"\d+")


def _find_shortened(wanted: str, options: Iterable[str]) -> Nearest | None:
    """The one option that begins with the word, or that the word begins with: `desc` for `descending`."""
    found = [
        option
        for option in options
        if (other := bare(option)) and min(len(other), len(wanted)) >= 3 and _one_begins_other(wanted, other)
    ]
    return Nearest(found[0], "medium") if len(found) == 1 else None


def _one_begins_other(left: str, right: str) -> bool:
    return left.startswith(right) or right.startswith(left)


def distance(left: str, right: str, most: int) -> int:
    """How many letters to add, drop, change or swap with a neighbour; counting stops at `most + 1`."""
    if left == right:
        return 0
    before: list[int] = []
    above = list(range(len(right) + 1))
    for row, letter in enumerate(left, 1):
        here = [row]
        for column, other in enumerate(right, 1):
            cost = 0 if letter == other else 1
            least = min(above[column] + 1, here[column - 1] + 1, above[column - 1] + cost)
            if row > 1 and column > 1 and letter == right[column - 2] and left[row - 2] == other:
                least = min(least, before[column - 2] + 1)
            here.append(least)
        if min(here) > most:
            return most + 1
        before, above = above, here
    return above[-1]
