"""`is_endless`: whether a value of Python is so much larger when written out than in memory that no walk may begin.

JSON that was parsed never is. Objects that a program built may be: 28 lists, each of which contains the next one twice,
are a quarter of a billion leaves for every encoder and validator, and a list that contains itself has no end.
"""

import gc
from typing import TYPE_CHECKING, Final, TypeGuard, cast

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# Values read once more because several containers share them. A program that repeats a row may well reach thousands.
_MOST_REPEATED: Final = 1_000_000
# A value with fewer parts and levels, counted as often as they are reached, is written out without harm.
_FEW: Final = 1_000_000
_SHALLOW: Final = 500
_CONTAINERS: Final = (dict, list, tuple)
_LEAVES: Final = frozenset((str, bytes, int, float, bool, type(None)))
_PLAIN: Final = _LEAVES | frozenset(_CONTAINERS)


def is_endless(value: object) -> bool:
    """Return whether `value` contains itself, or shares its parts so often that writing it out has no end. Total.

    Takes time in proportion to the containers in memory, and at most a fixed time more for those that are shared.

    >>> row = [1, 2]
    >>> is_endless([row, row])
    False
    >>> row.append(row)
    >>> is_endless(row)
    True
    """
    if type(value) is dict and _LEAVES.issuperset(map(type, cast("dict[object, object]", value).values())):
        # An object of plain values, as the arguments of most calls are.
        return False
    if not isinstance(value, _CONTAINERS):
        return False
    container = cast("object", value)
    return not is_small(container) and _repeats(container)


def is_flat(value: object) -> TypeGuard["dict[object, object]"]:
    """Return whether this is an object of plain values, as the arguments of most calls are."""
    return type(value) is dict and _LEAVES.issuperset(map(type, cast("dict[object, object]", value).values()))


def count_values(value: object, most: int) -> int:
    """How many values a JSON value holds; some number over `most` where they are more.

    >>> count_values({"a": [1, 2, {"b": 3}]}, 100)
    6
    """
    if is_flat(value):
        return 1 + len(value)
    level: list[object] = [value]
    found = 1
    while level and found <= most:
        level = gc.get_referents(*(each for each in level if isinstance(each, _CONTAINERS)))
        found += len(level)
    return found


def is_small(value: object) -> bool:
    """Return whether this container of plain values has few, counted as often as they are reached; so has all in it.

    Ten times as fast as a walk, and true for nearly all.
    """
    level, count = [value], 0
    for _ in range(_SHALLOW):
        inside = gc.get_referents(*level)
        count += len(inside)
        kinds = set(map(type, inside))
        if kinds <= _LEAVES:
            return count <= _FEW
        if count > _FEW or not kinds <= _PLAIN:
            return False
        level = [each for each in inside if type(each) in _CONTAINERS]
    return False


def _repeats(value: object) -> bool:
    pending: list[object] = [value]
    seen: set[int] = set()
    repeated = 0
    while pending:
        here = cast("Sequence[object]", pending.pop())
        inside = cast("Mapping[object, object]", here).values() if isinstance(here, dict) else here
        if id(here) in seen:
            repeated += 1 + len(here)
            if repeated > _MOST_REPEATED:
                return True
        else:
            seen.add(id(here))
        pending += [each for each in inside if isinstance(each, _CONTAINERS)]
    return False
