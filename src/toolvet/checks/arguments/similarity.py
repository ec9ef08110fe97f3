"""Did you mean: names and values that differ from what was sent by case, separators or a slip of the keyboard."""

import re
from collections.abc import Iterable

_SEPARATORS = re.compile(r"[\s_.-]+")
_LONGEST = 64
_MOST = 500


def close(sent: str, legal: Iterable[object]) -> tuple[str, ...]:
    """The legal strings that `sent` may stand for, the closest first: at most two, and none that only look a bit alike.

    Distances count insertions, deletions and replacements; one is allowed per three characters.
    """
    if not sent or len(sent) > _LONGEST:
        return ()
    plain = _plain(sent)
    found: list[tuple[int, str]] = []
    for number, option in enumerate(legal):
        if number >= _MOST:
            break
        if not isinstance(option, str) or not option or len(option) > _LONGEST:
            continue
        other = _plain(option)
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


def _plain(text: str) -> str:
    return _SEPARATORS.sub("", text).casefold()


def _distance(left: str, right: str) -> int:
    """The Levenshtein distance, bit-parallel (Myers 1999): a row of the matrix is one integer."""
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
