"""JSON values as Python holds them: read without trusting their shape, addressed by path, changed in a copy."""

import gc
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, TypeGuard, cast

EMPTY: Mapping[str, object] = {}
_TEXT = frozenset((str,))
# The types of plain JSON values; a float need not be a number.
_SIMPLE = frozenset((str, int, bool, type(None)))


def is_object(value: object) -> TypeGuard[Mapping[str, object]]:
    """Whether `value` is a JSON object."""
    return isinstance(value, dict)


def is_array(value: object) -> TypeGuard[Sequence[object]]:
    """Whether `value` is a JSON array."""
    return isinstance(value, list)


def members(value: object) -> Mapping[str, object]:
    """The object that `value` is, or an empty one: looking into junk finds nothing."""
    # Narrowed by the plainest means: this runs a dozen times for every value that is written.
    return value if isinstance(value, dict) else EMPTY  # pyright: ignore[reportUnknownVariableType]


def elements(value: object) -> Sequence[object]:
    """The array that `value` is, or an empty one."""
    return value if isinstance(value, list) else ()  # pyright: ignore[reportUnknownVariableType]


def names(value: object) -> tuple[str, ...]:
    """The strings in the array that `value` is."""
    return tuple([name for name in elements(value) if isinstance(name, str)])


def number(value: object) -> int | float | None:
    """The finite number that `value` is, or None; a boolean is not a number in JSON."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value if isinstance(value, int) or math.isfinite(value) else None


def real(value: object) -> float | None:
    """The finite number that `value` is, as a float; None also for a whole number that no float holds."""
    found = number(value)
    try:
        return None if found is None else float(found)
    except OverflowError:
        return None


def count(value: object) -> int | None:
    """The non-negative whole number that `value` is (`3.0` is one), or None."""
    found = number(value)
    return int(found) if found is not None and found >= 0 and found == int(found) else None


def whole(text: str) -> int | None:
    """The number that decimal digits of any script write; None for other text (`\u00b2`, `-1`) and above 19 digits."""
    # Python refuses to convert more than 4,300 digits.
    return int(text) if len(text) < 20 and text.isdecimal() else None


def type_name(value: object) -> str:
    """The JSON type: `integer` for a number without a fraction, as JSON Schema has it."""
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int():
            return "integer"
        case float():
            return "integer" if value.is_integer() else "number"
        case str():
            return "string"
        case list():
            return "array"
        case _:
            return "object"


def same(left: object, right: object) -> bool:
    """JSON equality: `1` is `1.0`, `True` is not `1`, and the order of members does not count."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if is_array(left) and is_array(right):
        return len(left) == len(right) and all(map(same, left, right))
    if is_object(left) and is_object(right):
        return left.keys() == right.keys() and all(same(value, right[key]) for key, value in left.items())
    return left == right


def unique(values: Iterable[object]) -> list[object]:
    """`values` without those that JSON calls equal to an earlier one."""
    kept: list[object] = []
    for value in values:
        if not any(same(value, other) for other in kept):
            kept.append(value)
    return kept


def is_json(value: object, most: int = 20_000) -> bool:
    """Whether JSON can hold `value`: text keys, finite numbers, and nothing else of Python. Reads `most` values."""
    given = value
    if type(value) is dict:
        held = cast("dict[object, object]", value)
        if _SIMPLE.issuperset(map(type, held.values())) and len(held) < most - 1:
            return _TEXT.issuperset(map(type, held))
    pending: list[object] = [given]
    for _ in range(most):
        if not pending:
            return True
        here = pending.pop()
        if isinstance(here, float):
            if not math.isfinite(here):
                return False
        elif is_object(here):
            if not all(isinstance(name, str) for name in here):  # pyright: ignore[reportUnnecessaryIsInstance]
                return False
            pending.extend(here.values())
        elif isinstance(here, list | tuple):
            pending.extend(cast("Sequence[object]", here))
        elif not (here is None or isinstance(here, str | int)):
            return False
    return True


Path = tuple[str | int, ...]


def pointer(path: Sequence[str | int]) -> str:
    """The JSON Pointer (RFC 6901) of a path: `("a/b", 0)` is `/a~1b/0`."""
    try:
        # Nearly all are of names alone without a sign to escape: a fifth of the time.
        written = "/".join(("", *cast("Sequence[str]", path)))
    except TypeError:
        written = "~"
    if "~" not in written and written.count("/") == len(path):
        return written
    return "".join(
        ["/" + part.replace("~", "~0").replace("/", "~1") if isinstance(part, str) else f"/{part}" for part in path]
    )


def path_of(value: object, pointer: str) -> Path:
    """The path of a JSON Pointer into `value`: digits are an index only in an array."""
    path: list[str | int] = []
    for raw in pointer.split("/")[1:]:
        part = raw.replace("~1", "/").replace("~0", "~")
        step = int(part) if is_array(value) else part
        path.append(step)
        value = at(value, (step,))
    return tuple(path)


def pointer_steps(text: str) -> tuple[str, ...]:
    """The steps of a JSON Pointer, unescaped: `/a~1b/0` is `("a/b", "0")`, and "" is `()`."""
    steps = text.split("/")[1:]
    return tuple(step.replace("~1", "/").replace("~0", "~") for step in steps) if "~" in text else tuple(steps)


def at(value: object, path: Iterable[str | int]) -> object:
    """The value at `path`, or None."""
    for part in path:
        if isinstance(part, int):
            items = elements(value)
            value = items[part] if 0 <= part < len(items) else None
        else:
            value = members(value).get(part)
    return value


def without(value: object, name: str) -> dict[str, object]:
    """A copy of the object that `value` is without the member `name`."""
    return {key: item for key, item in members(value).items() if key != name}


def replaced(value: object, path: Sequence[str | int], other: object) -> object:
    """A copy of `value` with `other` at `path`."""
    return changed(value, path, lambda _: other)


def changed(value: object, path: Sequence[str | int], change: Callable[[object], object]) -> object:
    """A copy of `value` with `change` applied to the value at `path`; only the containers on the way are copied."""
    if not path:
        return change(value)
    first, rest = path[0], path[1:]
    if isinstance(first, int):
        items = list(elements(value))
        items[first] = changed(items[first], rest, change)
        return items
    return {**members(value), first: changed(members(value).get(first), rest, change)}


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

    Parsed JSON never does. Objects that a program built may: 28 lists, each of which contains the next one twice, are a
    quarter of a billion leaves for every encoder and validator.

    Takes time in proportion to the containers in memory, and at most a fixed time more for those that are shared.

    >>> row = [1, 2]
    >>> is_endless([row, row])
    False
    >>> row.append(row)
    >>> is_endless(row)
    True
    """
    if type(value) is dict:
        inside = cast("dict[object, object]", value).values()
        if _LEAVES.issuperset(map(type, inside)):
            # An object of plain values, as the arguments of most calls are.
            return False
        # Most others have a few members that are containers.
        others = [each for each in inside if type(each) not in _LEAVES]
        if _PLAIN.issuperset(map(type, others)) and _are_small(others):
            return False
    elif not isinstance(value, _CONTAINERS) or is_small(cast("object", value)):
        return False
    return _repeats(cast("object", value))


def is_flat(value: object) -> TypeGuard["dict[object, object]"]:
    """Return whether this is an object of plain values, as the arguments of most calls are."""
    return type(value) is dict and _LEAVES.issuperset(map(type, cast("dict[object, object]", value).values()))


def count_values(value: object, most: int) -> int:
    """Return how many values a JSON value holds; if they are more than `most`, some number over `most`.

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
    return _are_small([value])


def _are_small(level: list[object]) -> bool:
    """Return whether these containers are small together."""
    count = len(level)
    for _ in range(_SHALLOW):
        inside = gc.get_referents(*level)
        count += len(inside)
        level = [each for each in inside if type(each) not in _LEAVES]
        if not level:
            return count <= _FEW
        if count > _FEW or not _PLAIN.issuperset(map(type, level)):
            return False
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
