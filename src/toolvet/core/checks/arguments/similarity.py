"""Strings that differ from a given one only by case, separators or a slip of the keyboard."""

import re
from collections.abc import Iterable
from typing import Final

_SEPARATORS: Final = re.compile(r"[\s_.-]+")
_LONGEST: Final = 64
_MOST: Final = 500


def similar_strings(sent: str, candidates: Iterable[object]) -> tuple[str, ...]:
    """The candidates that `sent` probably misspells, the closest first: at most two, both equally close.

    Candidates that are not strings are ignored. Distances count insertions, deletions and replacements; one is allowed
    for three characters.

    >>> similar_strings("user_name", ["userName", "email"])
    ('userName',)
    """
    if not sent or len(sent) > _LONGEST:
        return ()
    plain = _normalize(sent)
    found: list[tuple[int, str]] = []
    for number, option in enumerate(candidates):
        if number >= _MOST:
            break
        if not isinstance(option, str) or not option or len(option) > _LONGEST:
            continue
        other = _normalize(option)
        if other == plain:
            found.append((0, option))
            continue
        allowed = max(len(plain), len(other)) // 3
        longer, shorter = (plain, other) if len(plain) > len(other) else (other, plain)
        if len(shorter) >= 4 and shorter in longer:
            found.append((1 + (len(longer) - len(shorter)) // 4, option))
        elif len(longer) - len(shorter) <= allowed and len(set(longer) - set(shorter)) <= allowed:
            distance = _distance(plain, other)
            if distance <= allowed:
                found.append((distance, option))
    if not found:
        return ()
    found.sort(key=lambda pair: pair[0])
    # A second one only if it is as close as the first.
    return tuple(option for distance, option in found[:2] if distance == found[0][0])


def _normalize(text: str) -> str:
    return (text if text.isalnum() else _SEPARATORS.sub("", text)).casefold()


def _distance(left: str, right: str) -> int:
    """The Levenshtein distance, bit-parallel (Myers 1999).

    A column of the matrix is two integers: a bit of `plus` (`minus`) is set where the distance grows (falls) by one
    from one row to the next. `_distance("cat", "cart")` reads c, a, r, t and adds one at `r`: 1.
    """
    size = len(left)
    if not size:
        return len(right)
    places: dict[str, int] = {}
    for index, character in enumerate(left):
        places[character] = places.get(character, 0) | 1 << index
    full = (1 << size) - 1
    top = 1 << (size - 1)
    plus, minus, distance = full, 0, size
    for character in right:
        equal = places.get(character, 0)
        vertical = equal | minus
        horizontal = (((equal & plus) + plus) ^ plus) | equal
        up = minus | (full & ~(horizontal | plus))
        down = plus & horizontal
        if up & top:
            distance += 1
        elif down & top:
            distance -= 1
        up = (up << 1) | 1
        down <<= 1
        plus = full & (down | ~(vertical | up))
        minus = full & up & vertical
    return distance
